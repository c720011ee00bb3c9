"""The source filter: for each source exactly the listed tools of that source."""

from collections.abc import Iterator, Mapping

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.listing import Listing, Tool, prerequisite
from openwop_conformance.findings import Finding
from openwop_conformance.wording import listed, shown

REQUIREMENT = "source-filter-exact"
SOURCES = ("node-pack", "workflow", "mcp", "connector", "host-extension")


def check_source_filter(whole: Listing, filtered: Mapping[str, Listing]) -> Iterator[Finding]:
    """`source-filter-exact`: an exact partition of the list; a filter that is ignored is told as such."""
    missing = prerequisite(REQUIREMENT, whole, whole=True)
    if missing:
        yield missing
        return
    everything = set(whole.ids())
    sources = {tool.text("source") for tool in whole.tools or ()}
    if len(sources) > 1 and all(one.tools is not None and set(one.ids()) == everything for one in filtered.values()):
        first = next(iter(filtered.values())).answer
        message = "the source filter is ignored; honor it, so that a picker need not load everything"
        yield Finding(REQUIREMENT, message, first.place, "the tools of one source", "the whole list", first.exchange)
        return
    for source, one in filtered.items():
        wanted = {tool.id for tool in whole.tools or () if tool.text("source") == source and tool.id}
        if one.tools is None:
            seen = f"status {one.answer.status} and no list"
        elif set(one.ids()) != wanted:
            seen = _difference(set(one.ids()), wanted)
        elif len(one.tools) > len(wanted) and len(whole.ids()) == len(whole.tools or ()):
            seen = f"{len(one.tools)} entries, some of them twice"
        elif any(tool.text("source") != source for tool in one.tools):
            seen = "an entry that names another source"
        elif not all(_is_as_listed(tool, whole) for tool in one.tools):
            seen = "an entry that differs from that of the whole list"
        elif whole.answer.is_json and not one.answer.is_json:
            seen = f"{shown(one.answer.header('content-type') or 'no Content-Type')} instead of JSON by name"
        else:
            continue
        message = f"the filter for {source} does not return the listed tools of that source"
        yield Finding(REQUIREMENT, message, one.answer.place, f"{len(wanted)} tools", seen, one.answer.exchange)


def _is_as_listed(tool: Tool, whole: Listing) -> bool:
    """Whether an entry is one of the whole list, as far as both carry a member."""
    return tool.id is None or any(
        all(same_json(tool.value[name], other.value[name], name) for name in tool.value.keys() & other.value.keys())
        for other in whole.named(tool.id)
    )


def _difference(got: set[str], wanted: set[str]) -> str:
    extra, lacking = sorted(got - wanted), sorted(wanted - got)
    parts = [f"{listed(extra)} beyond the list's" if extra else "", f"{listed(lacking)} missing" if lacking else ""]
    return "; ".join(filter(None, parts))
