"""The catalog stays what it is while it is read; tools may be deployed meanwhile, once (R18)."""

from collections.abc import Hashable, Iterator, Sequence

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.listing import Listing, Tool, prerequisite
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
        yield from _judged(requirement, f"{printable(tool_id, 120)} is listed or not", presence, readings)


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
            yield from _judged(requirement, f"the {member} of {name}", values, readings)
        if not all(_alike(versions[0], other) for other in versions[1:]):
            message = f"{name} is described differently from one reading to the next"
            yield Finding(requirement, message, readings[-1].answer.place, weight=Weight.ADVISORY)


def _missing(requirement: str, readings: Sequence[Listing]) -> Finding | None:
    return next(filter(None, (prerequisite(requirement, one, whole=True) for one in readings)), None)


def _judged(requirement: str, what: str, values: Sequence[Hashable], readings: Sequence[Listing]) -> Iterator[Finding]:
    """Nothing for no change, inconclusive for one that stays, a violation for a value that comes and goes."""
    changes = [place for place in range(1, len(values)) if values[place] != values[place - 1]]
    if not changes:
        return
    answer = readings[changes[0]].answer
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
