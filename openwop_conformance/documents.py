"""Files of the user's with places in them: JSON may be large, YAML may not, and every finding gets a line."""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from openwop_conformance.dialects.strict_yaml import (
    MAX_BYTES,
    MAX_DEPTH,
    DocumentError,
    parse_yaml,
    read_text,
    read_yaml,
)

__all__ = ["DocumentError", "Located", "parse_yaml", "read_located", "read_text", "read_yaml"]

MAX_JSON_BYTES = 32 * 1024 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_NOT_JSON = object()


@dataclass(frozen=True, slots=True)
class Located:
    """A value and the text that it stands in, so that a place in it can be given a line."""

    value: Any
    text: str = field(repr=False)
    is_json: bool = True

    def line(self, pointer: str) -> int:
        """The line of what a JSON Pointer leads to, or of the nearest thing around it."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        return _json_line(self.text, steps) if self.is_json else _yaml_line(self.text, steps)


def read_located(path: Path) -> Located:
    """A JSON or YAML file with places."""
    text = read_text(path, MAX_JSON_BYTES).removeprefix("\ufeff")
    if text.lstrip(" \t\r\n")[:1] in {"{", "["}:
        value = _read_json(text, path)
        if value is not _NOT_JSON:
            return Located(value, text)
    if len(text) > MAX_BYTES:
        raise DocumentError(f"{path}: larger than {MAX_BYTES} bytes, which only JSON may be")
    return Located(parse_yaml(text, str(path)), text, is_json=False)


def _read_json(text: str, path: Path) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH}") from None
    except UnicodeEncodeError:
        raise DocumentError(f"{path}: half of a surrogate pair, which no text has") from None
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None
    except ValueError as error:
        if path.suffix.lower() != ".json" and len(text) <= MAX_BYTES:
            return _NOT_JSON
        place = (
            f"line {error.lineno} column {error.colno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else error
        )
        raise DocumentError(f"{path}: {place}") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (one for node in level for one in (node.values() if isinstance(node, dict) else node))
        level = [one for one in inner if isinstance(one, dict | list)]
        if not level:
            return value
    raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DocumentError(f"key {twice!r} stands twice")
    return result


def _refuse(constant: str) -> Any:
    raise DocumentError(f"{constant} is not a JSON value")


def _json_line(text: str, steps: list[str]) -> int:
    """Walk along a pointer, jumping over what it does not enter."""
    decoder = json.JSONDecoder()
    place = _after_space(text, 0)
    for step in steps:
        below = _member(text, place, step, decoder)
        if below is None:
            break
        place = below
    return text.count("\n", 0, place) + 1


def _member(text: str, place: int, step: str, decoder: json.JSONDecoder) -> int | None:
    """Where a member of the object, or an item of the array, at `place` begins."""
    opening = text[place]
    if opening not in "{[" or (opening == "[" and not step.isdecimal()):
        return None
    index, place = 0, _after_space(text, place + 1)
    while text[place] not in "}]":
        name = str(index)
        if opening == "{":
            name, place = decoder.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)
        if name == step:
            return place
        _, place = decoder.raw_decode(text, place)
        place = _after_space(text, place)
        place = _after_space(text, place + 1) if text[place] == "," else place
        index += 1
    return None


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


@lru_cache(maxsize=1)
def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _yaml_line(text: str, steps: list[str]) -> int:
    node = _composed(text)
    for step in steps:
        below = None
        if isinstance(node, yaml.MappingNode):
            below = next((value for name, value in node.value if name.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            below = node.value[int(step)]
        if below is None:
            break
        node = below
    return int(node.start_mark.line) + 1 if node is not None else 1
