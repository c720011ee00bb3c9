"""Input schemas that every model can be given: the portable subset of JSON Schema (§C, RFC 0030 tier 1)."""

from collections.abc import Iterator
from typing import Any

from openwop_conformance.checks.descriptors import each_tool
from openwop_conformance.checks.listing import Listing, Tool
from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import escape_pointer
from openwop_conformance.wording import listed, printable, shown

REQUIREMENT = "input-schema-portable"
FED_TO_MODELS = frozenset({"mcp", "node-pack"})
MAX_DEPTH = 5
MAX_PROPERTIES = 100
_BRANCHES = frozenset({"oneOf", "allOf", "not", "if", "then", "else"})
_BOUNDS = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
        "minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties",
    }
)  # fmt: skip
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
Remark = tuple[str, str, str]


def check_input_portable(listing: Listing) -> Iterator[Finding]:
    """`input-schema-portable`: of tools that models are handed, those of MCP servers and node packs."""
    fed = [
        tool
        for tool in listing.tools or ()
        if tool.text("source") in FED_TO_MODELS and isinstance(tool.value.get("inputSchema"), dict)
    ]
    if listing.tools and not fed:
        message = "no listed MCP or node-pack tool has an inputSchema"
        return iter([Finding(REQUIREMENT, message, weight=Weight.INAPPLICABLE)])

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        if tool in fed:
            for pointer, expected, seen in remarks(tool.value["inputSchema"]):
                message = f"the inputSchema of {tool.name} leaves the portable subset, so some models cannot take it"
                yield Finding(REQUIREMENT, message, f"{tool.pointer}/inputSchema{pointer}", expected, seen, exchange)

    return each_tool(REQUIREMENT, listing, check)


def remarks(schema: dict[str, Any]) -> Iterator[Remark]:
    """Where a schema leaves the subset."""
    if schema.get("type") != "object":
        yield "/type", "an object at the root", shown(schema.get("type", "no type"))
    properties = 0
    for pointer, node, depth in _nodes(schema, "", 1):
        properties += len(node["properties"]) if isinstance(node.get("properties"), dict) else 0
        yield from _node_remarks(pointer, node)
        if depth == MAX_DEPTH + 1:
            yield pointer, f"at most {MAX_DEPTH} levels", f"level {depth}"
    if properties > MAX_PROPERTIES:
        yield "", f"at most {MAX_PROPERTIES} properties", str(properties)


def _node_remarks(pointer: str, node: dict[str, Any]) -> Iterator[Remark]:
    for keyword in sorted((_BRANCHES | _BOUNDS) & node.keys()):
        what = "no alternatives and conditions" if keyword in _BRANCHES else "no bounds"
        yield f"{pointer}/{keyword}", what, keyword
    properties = node.get("properties")
    kinds = node.get("type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds) or isinstance(properties, dict):
        if node.get("additionalProperties") is not False:
            yield f"{pointer}/additionalProperties", "false", shown(node.get("additionalProperties", "absent"))
        names = properties if isinstance(properties, dict) else {}
        required = node.get("required")
        optional = [name for name in names if name not in (required if isinstance(required, list) else ())]
        if optional:
            yield f"{pointer}/required", "every property", f"without {listed(optional)}"


def _nodes(node: Any, pointer: str, depth: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Every subschema with its place and its depth; definitions count from their own root."""
    if not isinstance(node, dict):
        return
    yield pointer, node, depth
    for keyword in _MAPS:
        children = node.get(keyword)
        for name, child in children.items() if isinstance(children, dict) else ():
            level = 1 if keyword in {"$defs", "definitions"} else depth + 1
            yield from _nodes(child, f"{pointer}/{keyword}/{escape_pointer(printable(str(name), 80))}", level)
    for keyword in _SINGLE:
        yield from _nodes(node.get(keyword), f"{pointer}/{keyword}", depth + 1)
    for keyword in _LISTS:
        children = node.get(keyword)
        for place, child in enumerate(children) if isinstance(children, list) else ():
            yield from _nodes(child, f"{pointer}/{keyword}/{place}", depth)
