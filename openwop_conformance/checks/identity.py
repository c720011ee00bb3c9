"""Ids as the spec would like them: a scope, a colon, a name, and a scope that fits the source (R5)."""

import re
from collections.abc import Iterator

from openwop_conformance.checks.descriptors import each_tool
from openwop_conformance.checks.listing import Listing, Tool
from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding
from openwop_conformance.wording import shown

_EXTENSION = re.compile(r"x-host-[^:]+(:.+)?")
_OWN = {"mcp": "mcp", "connector": "connector"}


def check_id_form(listing: Listing) -> Iterator[Finding]:
    """`tool-id-scope-form`: a scope, a colon and a name; `x-host-<vendor>-*` may go without the colon."""

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        scope, colon, name = (tool.id or ":x").partition(":")
        if tool.id is not None and not (scope and colon and name) and not _EXTENSION.fullmatch(tool.id):
            yield Finding(
                "tool-id-scope-form",
                f"the id {shown(tool.id)} has no scope; name tools scope:name",
                f"{tool.pointer}/toolId",
                "scope:name",
                shown(tool.id),
                exchange,
            )

    return each_tool("tool-id-scope-form", listing, check)


def check_id_prefix(listing: Listing) -> Iterator[Finding]:
    """`tool-id-prefix-fits-source`: mcp: and connector: for these alone, x-host-… or vendor.host for extensions."""

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        source = tool.text("source")
        if tool.id is None or source is None or (":" not in tool.id and not _EXTENSION.fullmatch(tool.id)):
            return
        scope = tool.id.partition(":")[0]
        if not _fits(scope, source):
            yield Finding(
                "tool-id-prefix-fits-source",
                f"the scope of {shown(tool.id)} belongs to another source than {shown(source)}",
                f"{tool.pointer}/toolId",
                _wanted(source),
                shown(scope),
                exchange,
            )

    return each_tool("tool-id-prefix-fits-source", listing, check)


def _fits(scope: str, source: str) -> bool:
    extension = scope.startswith("x-host-")
    if source in _OWN:
        return scope == _OWN[source]
    if source == "host-extension":
        return extension or "." in scope
    return scope not in _OWN.values() and not extension


def _wanted(source: str) -> str:
    if source in _OWN:
        return f"{_OWN[source]}:…"
    return (
        "x-host-<vendor>-… or <vendor>.<host>"
        if source == "host-extension"
        else "openwop:… or a scope of the pack's own"
    )
