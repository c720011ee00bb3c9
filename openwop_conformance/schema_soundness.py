"""What a meta-schema cannot see: references that lead nowhere, and patterns that are no regular expressions."""

import re
from collections.abc import Iterator
from typing import Any

from openwop_conformance.validation import Violation, escape_pointer
from openwop_conformance.wording import printable, shown

_MAPS = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_ONE = frozenset(
    {
        "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
        "unevaluatedProperties", "unevaluatedItems", "contentSchema",
    }
)  # fmt: skip
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})

_CLASS_IN_RANGE = re.compile(r"range .*\\[wdsWDS]")
_BROKEN = (
    "missing )",
    "unterminated character set",
    "unbalanced parenthesis",
    "nothing to repeat",
    "min repeat greater",
    "bad character range",
    "bad escape (end of pattern)",
    "multiple repeat",
)


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within a schema, itself first, with its place; data in `const`, `default` and the like is none."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for keyword, value in schema.items():
        place = f"{pointer}/{escape_pointer(printable(str(keyword), 80))}"
        if keyword in _MAPS and isinstance(value, dict):
            for name, inner in value.items():
                yield from subschemas(inner, f"{place}/{escape_pointer(printable(str(name), 80))}")
        elif keyword in _LISTS and isinstance(value, list):
            for number, inner in enumerate(value):
                yield from subschemas(inner, f"{place}/{number}")
        elif keyword in _ONE:
            yield from subschemas(value, place)


def dangling_references(schema: dict[str, Any]) -> Iterator[Violation]:
    """References into the schema itself that lead nowhere; with an `$id` inside, bases move, and nothing is said."""
    inside = list(subschemas(schema))
    if any(pointer and isinstance(one.get("$id"), str) for pointer, one in inside):
        return
    anchors = {one.get(name) for _, one in inside for name in ("$anchor", "$dynamicAnchor")}
    own = str(schema.get("$id", "")).partition("#")[0]
    for pointer, one in inside:
        for keyword in ("$ref", "$dynamicRef"):
            target = one.get(keyword)
            base, mark, fragment = target.partition("#") if isinstance(target, str) else ("?", "", "")
            if base in {"", own} and mark and not _leads(schema, fragment, anchors):
                yield Violation(f"{pointer}/{keyword}", keyword, "a schema in this schema", shown(target))


def _leads(schema: Any, fragment: str, anchors: set[Any]) -> bool:
    from_percent = re.sub(r"%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), fragment)
    if from_percent and not from_percent.startswith("/"):
        return from_percent in anchors or any(one.get("$id") == f"#{from_percent}" for _, one in subschemas(schema))
    value = schema
    for step in from_percent.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False
    return isinstance(value, dict | bool)


def unreadable_patterns(schema: dict[str, Any]) -> Iterator[Violation]:
    """Patterns that are not regular expressions in any engine."""
    for pointer, one in subschemas(schema):
        written = [(f"{pointer}/pattern", one.get("pattern"))]
        named = one.get("patternProperties")
        written += [(f"{pointer}/patternProperties", name) for name in named] if isinstance(named, dict) else []
        for place, pattern in written:
            if isinstance(pattern, str) and not _readable(pattern):
                yield Violation(place, "pattern", "a regular expression", shown(pattern))


def _readable(pattern: str) -> bool:
    """Whether no engine could take it: ECMA knows more than Python does, so only what is broken for both counts."""
    ours = re.sub(r"\\k<(\w+)>", r"(?P=\1)", re.sub(r"\(\?<(?=\w)", "(?P<", pattern))
    try:
        re.compile(ours)
    except re.error as error:
        return not error.msg.startswith(_BROKEN) or bool(_CLASS_IN_RANGE.search(error.msg))
    except (OverflowError, RecursionError):
        return True
    return True
