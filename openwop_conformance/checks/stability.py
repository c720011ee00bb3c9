"""The catalog stays what it is while it is read; tools may be deployed meanwhile, once (R18)."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.listing import Listing, Tool, prerequisite
from openwop_conformance.earlier import Earlier
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable, shown

_FIXED = ("source", "safetyTier")


def check_ids_stable(readings: Sequence[Listing]) -> Iterator[Finding]:
    """`tool-ids-stable`: the same ids in every reading, in any order."""
    requirement = "tool-ids-stable"
    missing = _missing(requirement, readings)
    if missing:
        yield missing
        return
    for tool_id in sorted({one for listing in readings for one in listing.ids()}):
        presence = [tool_id in listing.ids() for listing in readings]
        yield from _judged(requirement, f"{printable(tool_id, 120)} is listed or not", presence, _answers(readings))


def check_tools_stable(readings: Sequence[Listing]) -> Iterator[Finding]:
    """`reading-changes-nothing`: source and safety tier of a tool stay; other members that change are an advisory."""
    requirement = "reading-changes-nothing"
    missing = _missing(requirement, readings)
    if missing:
        yield missing
        return
    always = set.intersection(*(set(listing.ids()) for listing in readings))
    for tool_id in sorted(always):
        versions = [listing.named(tool_id)[0] for listing in readings]
        name = printable(tool_id, 120)
        for member in _FIXED:
            values = [tool.text(member) for tool in versions]
            yield from _judged(requirement, f"the {member} of {name}", values, _answers(readings))
        if not all(_alike(versions[0], other) for other in versions[1:]):
            message = f"{name} is described differently from one reading to the next"
            yield Finding(requirement, message, readings[-1].answer.place, weight=Weight.ADVISORY)


def check_items_stable(readings: Mapping[str, Sequence[Answer]]) -> Iterator[Finding]:
    """`reading-changes-nothing`: a tool that is read by id again and again stays there, with its source and tier."""
    requirement = "reading-changes-nothing"
    for tool_id, answers in readings.items():
        name = printable(tool_id, 120)
        statuses = [answer.status for answer in answers]
        yield from _judged(requirement, f"the status of {name} by id", statuses, answers)
        for member in _FIXED if len(set(statuses)) == 1 else ():
            values = [Tool("", answer.json).text(member) for answer in answers]
            yield from _judged(requirement, f"the {member} of {name} by id", values, answers)


def check_stable_over_time(
    listings: Sequence[Listing], implementation: tuple[str | None, str | None] | None, earlier: Earlier | None
) -> Iterator[Finding]:
    """`tool-ids-stable-over-time`: what an earlier report on the same host version lists is still there, as it was."""
    requirement = "tool-ids-stable-over-time"
    if earlier is None:
        why = "no earlier report was given to compare with (--openwop-previous)"
    elif earlier.version is None or implementation is None or implementation != (earlier.name, earlier.version):
        why = "the earlier report is not known to be of the same host and version (OPENWOP_IMPLEMENTATION_VERSION)"
    else:
        why = ""
    if earlier is None or why:
        yield Finding(requirement, why, weight=Weight.INAPPLICABLE)
        return
    common = [one for one in listings if one.answer.exchange.principal in earlier.catalog]
    judged = [one for one in common if prerequisite(requirement, one, whole=True, tools=False) is None]
    if not judged or not any(earlier.catalog[one.answer.exchange.principal] for one in judged):
        message = "no principal of the earlier report, by name, has tools there and a whole list now"
        yield Finding(requirement, message, weight=Weight.BLOCKED)
    for listing in judged:
        for tool_id, (source, tier) in earlier.catalog[listing.answer.exchange.principal].items():
            yield from _kept(requirement, listing, tool_id, {"source": source, "safetyTier": tier})


def _kept(requirement: str, listing: Listing, tool_id: str, before: dict[str, str | None]) -> Iterator[Finding]:
    now, place, exchange = listing.named(tool_id), listing.answer.place, listing.answer.exchange
    name = printable(tool_id, 120)
    if not now:
        message = f"{name} was listed to {exchange.principal} by the same host version, and is not any more"
        yield Finding(requirement, message, place, shown(tool_id), "no such tool", exchange)
    for member, value in before.items() if now else ():
        if now[0].text(member) != value:
            message = f"the {member} of {name} has changed within one host version"
            yield Finding(
                requirement, message, f"{now[0].pointer}/{member}", shown(value), shown(now[0].text(member)), exchange
            )


def _missing(requirement: str, readings: Sequence[Listing]) -> Finding | None:
    return next(filter(None, (prerequisite(requirement, one, whole=True) for one in readings)), None)


def _answers(readings: Sequence[Listing]) -> list[Answer]:
    return [one.answer for one in readings]


def _judged(requirement: str, what: str, values: Sequence[Hashable], answers: Sequence[Answer]) -> Iterator[Finding]:
    """Nothing for no change, inconclusive for one that stays, a violation for a value that comes and goes."""
    changes = [place for place in range(1, len(values)) if values[place] != values[place - 1]]
    if not changes:
        return
    answer = answers[changes[0]]
    seen = ", ".join(shown(value) for value in values)
    if len(changes) == 1:
        message = f"{what}: it changed while the catalog was read, and stayed so; run again"
        yield Finding(requirement, message, answer.place, "no change", seen, answer.exchange, Weight.INCONCLUSIVE)
    else:
        message = f"{what}: it differs from one reading to the next"
        yield Finding(requirement, message, answer.place, "the same in every reading", seen, answer.exchange)


def _alike(one: Tool, other: Tool) -> bool:
    left, right = ({name: value for name, value in tool.value.items() if name not in _FIXED} for tool in (one, other))
    return same_json(left, right)
