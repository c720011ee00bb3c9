"""YAML and JSON files of the user's, read with bounds: size, encoding, aliases, depth, doubled keys."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 100
MAX_JSON_BYTES = 32 * 1024 * 1024


class DocumentError(ValueError):
    """A file that cannot be used; the message is one line that names the file."""


class _StrictLoader(yaml.SafeLoader):
    """The safe loader without aliases (they can grow a small file without bound) and without doubled keys."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node, refusing aliases and deep nesting."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not accepted here", problem_mark=self.get_mark())
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the signature is PyYAML's
        """Build a mapping, refusing a key that stands twice."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = f"{key_node.tag} {key_node.value}"
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key_node.value!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, name: str) -> Any:
    """The value of a YAML (or JSON) text; `name` stands in the error line."""
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise DocumentError(f"{name}:{place} {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise DocumentError(f"{name}: not readable as YAML: {first}") from None
    except RecursionError:
        raise DocumentError(f"{name}: nested too deeply") from None


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The text of a file of at most `limit` bytes of UTF-8."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(limit + 1)
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        raise DocumentError(f"{str(path)!r}: no file can have that name") from None
    if len(raw) > limit:
        raise DocumentError(f"{path}: larger than {limit} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 at byte {error.start}") from None


def read_yaml(path: Path, limit: int = MAX_BYTES) -> Any:
    """The value of a YAML or JSON file."""
    return parse_yaml(read_text(path, limit), str(path))


@dataclass(frozen=True, slots=True)
class Located:
    """A value and the text that it stands in, so that a place in it can be given a line."""

    value: Any
    text: str = field(repr=False)

    def line(self, pointer: str) -> int:
        """The line of what a JSON Pointer leads to, or of the nearest thing around it."""
        node = _composed(self.text)
        for step in pointer.split("/")[1:]:
            below = _step(node, step.replace("~1", "/").replace("~0", "~"))
            if below is None:
                break
            node = below
        return int(node.start_mark.line) + 1 if node is not None else 1


def read_located(path: Path) -> Located:
    """A JSON or YAML file with places; JSON may be large, YAML may not."""
    text = read_text(path, MAX_JSON_BYTES)
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        value = _read_json(text.lstrip("\ufeff"), path)
        if value is not _NOT_JSON:
            return Located(value, text.lstrip("\ufeff").replace("\t", " "))
    if len(text) > MAX_BYTES:
        raise DocumentError(f"{path}: larger than {MAX_BYTES} bytes, which only JSON may be")
    return Located(parse_yaml(text, str(path)), text)


_NOT_JSON = object()


def _read_json(text: str, path: Path) -> Any:
    try:
        value = json.loads(text)
    except RecursionError:
        raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        if path.suffix.lower() != ".json" and len(text) <= MAX_BYTES:
            return _NOT_JSON
        place = (
            f"line {error.lineno} column {error.colno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else error
        )
        raise DocumentError(f"{path}: {place}") from None
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        inner = (one for node in level for one in (node.values() if isinstance(node, dict) else node))
        level = [one for one in inner if isinstance(one, dict | list)]
        if not level:
            return value
    raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH}")


def _composed(text: str) -> Any:
    """The nodes of a text that has been read before, fast where libyaml is there."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.compose(text, Loader=loader)
    except yaml.YAMLError:
        return None


def _step(node: Any, key: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for name, value in node.value if name.value == key), None)
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        return node.value[int(key)]
    return None
