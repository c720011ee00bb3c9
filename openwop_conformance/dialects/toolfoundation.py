"""toolfoundation records: MCP tools with a namespace, a version and tags, and the rules that prose gives them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from openwop_conformance.dialects.notices import Notice, advisory, error, has_errors
from openwop_conformance.dialects.shapes import DIALECT_07, DIALECT_2020_12, escaped, schema_errors, shape_errors

FORMAT = "toolfoundation"
MAX_TAG = 64
MAX_TAGS = 20
_DIALECTS = {DIALECT_2020_12: DIALECT_2020_12, DIALECT_07: DIALECT_07, f"{DIALECT_07}#": DIALECT_07}
_VERSION = re.compile(
    r"v?([0-9]+)\.([0-9]+)\.([0-9]+)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_SPACE}]+")
_EDGES = re.compile(f"^[{_SPACE}]+|[{_SPACE}]+$")
_FORBIDDEN = re.compile(r"[^a-z0-9._-]")


def check_tool(tool: Any) -> list[Notice]:
    """One record."""
    notices = shape_errors(FORMAT, tool)
    if has_errors(notices):
        return notices
    if len(tool["name"].encode()) > 128:  # noqa: PLR2004 - the number is the format's
        notices.append(error("/name", "longer than 128 bytes"))
    for member in ("inputSchema", "outputSchema"):
        if member in tool:
            notices += [one.below(f"/{member}") for one in check_schema(tool[member])]
    if "version" in tool:
        notices += [one.below("/version") for one in check_version(tool["version"])]
    if "tags" in tool and normalize_tags(tool["tags"]) != tool["tags"]:
        notices.append(
            advisory("/tags", f"not normalized; they become {', '.join(normalize_tags(tool['tags'])) or 'none'}")
        )
    return notices


def check_list(document: Any) -> list[Notice]:
    """One record, a list of them, or the answer to `tools/list`."""
    tools = document.get("tools") if isinstance(document, dict) and "inputSchema" not in document else document
    if not isinstance(tools, list):
        return check_tool(document)
    prefix = "/tools" if isinstance(document, dict) else ""
    notices: list[Notice] = []
    seen: dict[str, int] = {}
    for place, tool in enumerate(tools):
        found = check_tool(tool)
        notices += [one.below(f"{prefix}/{place}") for one in found]
        if not has_errors(found):
            own = tool_id(tool)
            if own in seen:
                notices.append(error(f"{prefix}/{place}/name", f"the tool at {prefix}/{seen[own]} has the same id"))
            seen.setdefault(own, place)
    return notices


def tool_id(tool: dict[str, Any]) -> str:
    """`namespace:name`, or the name alone."""
    return f"{tool['namespace']}:{tool['name']}" if "namespace" in tool else str(tool["name"])


def parse_id(text: str) -> tuple[str | None, str]:
    """Namespace and name of an id; raises ValueError for the empty, for an empty part, and for a second colon (R13)."""
    parts = text.split(":")
    if len(parts) > 2 or not all(parts):  # noqa: PLR2004 - a namespace and a name
        raise ValueError(f"{text!r} is not an id: it has to be name or namespace:name")
    return (parts[0], parts[1]) if len(parts) > 1 else (None, parts[0])


def check_version(version: str) -> list[Notice]:
    """A semantic version with or without a v; leading zeros are odd (R17)."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return [error("", "not a semantic version such as 1.2.3 or v1.2.3")]
    if any(len(number) > 1 and number.startswith("0") for number in match.group(1, 2, 3)):
        return [advisory("", "a semantic version has no leading zeros")]
    return []


def normalize_tags(tags: Iterable[str]) -> list[str]:
    """Lower case, no space around, `-` for space within, allowed characters only, cut, no tag twice, at most twenty."""
    found: dict[str, None] = {}
    for tag in tags:
        trimmed = _EDGES.sub("", tag.lower())
        plain = _FORBIDDEN.sub("", _SPACES.sub("-", trimmed))[:MAX_TAG]
        if plain and len(found) < MAX_TAGS:
            found.setdefault(plain)
    return list(found)


def dialect_of(schema: dict[str, Any]) -> str | None:
    """The dialect that the root declares, 2020-12 by default; None for one that is not supported."""
    declared = schema.get("$schema", DIALECT_2020_12)
    return _DIALECTS.get(declared) if isinstance(declared, str) else None


def check_schema(schema: dict[str, Any]) -> list[Notice]:
    """A schema of one of the two dialects, without references to elsewhere."""
    dialect = dialect_of(schema)
    if dialect is None:
        return [error("/$schema", "neither 2020-12 nor draft-07")]
    return schema_errors(schema, dialect) or [
        error(pointer, "a reference to another document; nothing is fetched")
        for pointer in _external(schema, "", _own_ids(schema))
    ]


_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
_VALUES = frozenset({"const", "enum", "default", "examples"})


def _own_ids(node: Any) -> set[str]:
    """Every address that some part of a schema gives itself."""
    if isinstance(node, list):
        return {one for child in node for one in _own_ids(child)}
    if not isinstance(node, dict):
        return set()
    own = {node["$id"].partition("#")[0]} if isinstance(node.get("$id"), str) else set()
    return own.union(*map(_own_ids, node.values()))


def _external(node: Any, at: str, own: set[str]) -> Iterator[str]:
    """References that lead out of the schema; values that only look like schemas are passed over."""
    if isinstance(node, list):
        for place, child in enumerate(node):
            yield from _external(child, f"{at}/{place}", own)
    elif isinstance(node, dict):
        for keyword in ("$ref", "$dynamicRef"):
            reference = node.get(keyword)
            if isinstance(reference, str) and reference.partition("#")[0] not in {"", *own}:
                yield f"{at}/{keyword}"
        for key, child in node.items():
            below = f"{at}/{escaped(key)}"
            if key in _MAPS and isinstance(child, dict):
                for name, part in child.items():
                    yield from _external(part, f"{below}/{escaped(name)}", own)
            elif key not in _VALUES:
                yield from _external(child, below, own)
