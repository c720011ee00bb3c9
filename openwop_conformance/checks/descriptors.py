"""Checks on the descriptors of a list, one by one and side by side."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from openwop_conformance.checks.listing import FORBIDDEN, Listing, Tool, prerequisite
from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.schema_soundness import dangling_references, unreadable_patterns
from openwop_conformance.validation import DIALECT_2020_12, Violation, knows_dialect, schema_problems, violations
from openwop_conformance.wording import listed, shown

NO_SOURCES = "the host does not say which sources its catalog covers"
ToolCheck = Callable[[Tool, Exchange], Iterator[Finding]]


def each_tool(requirement: str, listing: Listing, check: ToolCheck) -> Iterator[Finding]:
    """Run a check over all listed tools."""
    missing = prerequisite(requirement, listing)
    if missing:
        yield missing
        return
    for tool in listing.tools or ():
        yield from check(tool, listing.answer.exchange)


def check_descriptors_valid(listing: Listing) -> Iterator[Finding]:
    """`listed-descriptors-valid`: every entry is valid against the schema.

    An exec-tier tool of another source is left to `exec-only-host-extension`.
    """

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        return shape_findings("listed-descriptors-valid", tool, exchange)

    return each_tool("listed-descriptors-valid", listing, check)


def shape_findings(requirement: str, tool: Tool, exchange: Exchange, name: str = "") -> Iterator[Finding]:
    """Where one descriptor departs from the schema, the exec rule aside."""
    for violation in violations("tool-descriptor", tool.value):
        if (violation.keyword, violation.pointer) != ("const", "/source"):
            yield Finding(
                requirement,
                f"{name or tool.name} is not a valid descriptor",
                tool.pointer + violation.pointer,
                violation.expected,
                violation.seen,
                exchange,
            )


def check_exec_source(listing: Listing) -> Iterator[Finding]:
    """`exec-only-host-extension`: no protocol-tier source runs arbitrary commands."""
    return each_tool("exec-only-host-extension", listing, exec_findings)


def exec_findings(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
    """Whether one descriptor breaks the exec rule."""
    if tool.text("safetyTier") == "exec" and tool.text("source") != "host-extension":
        yield Finding(
            "exec-only-host-extension",
            f"{tool.name} is exec-tier but not a host extension",
            f"{tool.pointer}/source",
            "host-extension",
            shown(tool.value.get("source")),
            exchange,
        )


def check_sources_advertised(listing: Listing, advertised: frozenset[str] | None) -> Iterator[Finding]:
    """`listed-sources-advertised`: where `sources` is given, nothing comes from elsewhere."""
    if advertised is None:
        return iter([Finding("listed-sources-advertised", NO_SOURCES, weight=Weight.INAPPLICABLE)])

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        source = tool.text("source")
        if source is not None and source not in advertised:
            yield Finding(
                "listed-sources-advertised",
                f"{tool.name} comes from a source that the host does not advertise",
                f"{tool.pointer}/source",
                f"one of {listed(sorted(advertised))}" if advertised else "no tool at all",
                shown(source),
                exchange,
            )

    return each_tool("listed-sources-advertised", listing, check)


def check_sources_seen(listings: list[Listing], advertised: frozenset[str] | None) -> Iterator[Finding]:
    """`advertised-sources-seen`: some principal sees a tool of every advertised source."""
    requirement = "advertised-sources-seen"
    if not advertised:
        yield Finding(requirement, NO_SOURCES, weight=Weight.INAPPLICABLE)
        return
    readable = [one for one in listings if prerequisite(requirement, one, whole=True) is None]
    unreadable = [one for one in listings if one.tools is None and one.answer.status != FORBIDDEN]
    if not readable or unreadable:
        first = (unreadable or listings)[:1]
        yield from filter(None, [prerequisite(requirement, one, whole=True) for one in first])
        return
    seen = {tool.text("source") for one in readable for tool in one.tools or ()}
    for source in sorted(advertised - seen):
        yield Finding(
            requirement,
            f"no principal sees a tool of the advertised source {source}; advertise only what is there",
            "/toolCatalog/sources",
            f"a tool of source {source}",
            "none",
            readable[0].answer.exchange,
        )


def check_ids_unique(listing: Listing) -> Iterator[Finding]:
    """`tool-ids-unique`: no id stands twice."""
    missing = prerequisite("tool-ids-unique", listing)
    if missing:
        yield missing
        return
    places: dict[str, list[str]] = defaultdict(list)
    for tool in listing.tools or ():
        if tool.id is not None:
            places[tool.id].append(tool.pointer)
    for tool_id, pointers in places.items():
        if len(pointers) > 1:
            yield Finding(
                "tool-ids-unique",
                f"{len(pointers)} tools share the id {shown(tool_id)}",
                pointers[1],
                "an id of its own",
                f"the same id at {listed(pointers)}",
                listing.answer.exchange,
            )


def check_ids_mean_one_tool(listings: Sequence[Listing], tenants: Mapping[str, str | None]) -> Iterator[Finding]:
    """`tool-ids-unique`, over what several principals see: an id has one source and one tier, whoever reads it.

    Tenants may have tools of their own, so across them, and where nobody said who belongs together, it is an advisory.
    """
    first: dict[str, tuple[str, Tool]] = {}
    for listing in listings:
        who = listing.answer.exchange.principal
        for tool in listing.tools or ():
            owner, known = first.setdefault(tool.id or "", (who, tool))
            for member in ("source", "safetyTier") if tool.id and owner != who else ():
                if tool.text(member) != known.text(member):
                    same = tenants.get(who) is not None and tenants.get(who) == tenants.get(owner)
                    yield Finding(
                        "tool-ids-unique",
                        f"{tool.name} is one tool for {owner} and another for {who}: the {member} differs",
                        f"{tool.pointer}/{member}",
                        shown(known.text(member)),
                        shown(tool.text(member)),
                        listing.answer.exchange,
                        Weight.VIOLATION if same else Weight.ADVISORY,
                    )


def check_schemas_valid(listing: Listing, member: str) -> Iterator[Finding]:
    """`input-schema-valid`, `output-schema-valid`: the schemas of a tool are schemas (R23)."""
    requirement = f"{member.removesuffix('Schema')}-schema-valid"

    def check(tool: Tool, exchange: Exchange) -> Iterator[Finding]:
        schema = tool.value.get(member) if isinstance(tool.value, dict) else None
        if isinstance(schema, dict):
            for violation, weight in _schema_findings(schema, member):
                pointer = f"{tool.pointer}/{member}{violation.pointer}"
                message = f"the {member} of {tool.name} is not a valid schema"
                yield Finding(requirement, message, pointer, violation.expected, violation.seen, exchange, weight)

    tools = listing.tools or ()
    if tools and not any(isinstance(tool.value, dict) and member in tool.value for tool in tools):
        return iter([Finding(requirement, f"no listed tool has an {member}", weight=Weight.INAPPLICABLE)])
    return each_tool(requirement, listing, check)


def _schema_findings(schema: dict[str, Any], member: str) -> Iterator[tuple[Violation, Weight]]:
    declared = schema.get("$schema", DIALECT_2020_12)
    if member == "inputSchema" and isinstance(declared, str) and declared.rstrip("#") != DIALECT_2020_12:
        yield Violation("/$schema", "$schema", DIALECT_2020_12, shown(declared)), Weight.VIOLATION
    elif isinstance(declared, str) and not knows_dialect(declared):
        yield (
            Violation("/$schema", "$schema", "a published dialect; this one was not judged", shown(declared)),
            Weight.ADVISORY,
        )
    else:
        dialect = declared if isinstance(declared, str) else DIALECT_2020_12
        problems = schema_problems(schema, dialect)
        for violation in problems or dangling_references(schema):
            yield violation, Weight.VIOLATION
        for violation in unreadable_patterns(schema):
            yield violation, Weight.ADVISORY
