"""The catalog can only be read (F-1)."""

from collections.abc import Iterator, Sequence

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.listing import Listing, prerequisite, read_listing
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable

NOT_ALLOWED = 405
UNMET = 412
_SUCCESS = range(200, 300)
_ELSEWHERE = frozenset({302, 303})


def check_writes_refused(requirement: str, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`list-rejects-writes`, `item-rejects-writes`: no attempt to write succeeds."""
    for answer in answers:
        if answer.status in _SUCCESS:
            message = f"{answer.exchange.method} on the catalog succeeds, but it can only be read"
            yield Finding(requirement, message, answer.place, "status 405", f"status {answer.status}", answer.exchange)
        elif answer.status in _ELSEWHERE:
            message = f"{answer.exchange.method} on the catalog leads elsewhere, as after a success; answer 405"
            seen = f"status {answer.status}"
            yield Finding(requirement, message, answer.place, "status 405", seen, answer.exchange, Weight.ADVISORY)


def check_writes_answered(answers: Sequence[Answer]) -> Iterator[Finding]:
    """`writes-answered-405`: the refusal says that the method is the problem, and which ones there are."""
    for answer in answers:
        allow = answer.header("allow")
        if answer.status in _SUCCESS or (answer.status == NOT_ALLOWED and allow is not None):
            continue
        if answer.status == UNMET and any(name == "If-Match" for name, _ in answer.exchange.request_headers):
            continue
        seen = f"status {answer.status}" if answer.status != NOT_ALLOWED else "status 405 without Allow"
        message = f"{answer.exchange.method} is refused, but not with 405 and Allow"
        yield Finding("writes-answered-405", message, answer.place, "status 405 with Allow", seen, answer.exchange)


def check_nothing_changed(
    before: Sequence[Listing], after: Listing, targets: Sequence[tuple[Sequence[Answer], Answer]] = ()
) -> Iterator[Finding]:
    """`writes-change-nothing`: the list is the same after attempts to write, and so is what they were aimed at.

    What changed between readings before anything was written is no consequence of it.
    """
    requirement = "writes-change-nothing"
    missing = next(filter(None, (prerequisite(requirement, one, tools=False) for one in (*before, after))), None)
    if missing:
        yield missing
        return
    earlier, new = [_by_id(one) for one in before], _by_id(after)
    restless = len({frozenset(old) for old in earlier}) > 1
    for tool_id in sorted(new.keys() | {one for old in earlier for one in old}):
        states = [old.get(tool_id) for old in earlier]
        settled = all(same_json(one, states[0]) for one in states) and (states[0] is not None or not restless)
        if settled and not same_json(states[0], new.get(tool_id)):
            what = "is gone" if tool_id not in new else "is new" if states[0] is None else "has changed"
            message = f"after attempts to write, {printable(tool_id, 120)} {what} for {after.answer.exchange.principal}"
            place = after.answer.place
            yield Finding(requirement, message, place, "the same list as before", what, after.answer.exchange)
    for (first, *again), then in targets:
        if any(_differ(first, one) for one in again):
            continue
        if _differ(first, then):
            message = "after attempts to write, a tool by id, or the list of a source, is answered differently"
            seen = f"status {then.status}" if first.status != then.status else "another body"
            yield Finding(requirement, message, then.place, f"status {first.status}, as before", seen, then.exchange)


def _differ(one: Answer, other: Answer) -> bool:
    """Whether two answers have other statuses or, where they succeed, other tools in any order, or other bodies."""
    left, right = read_listing(one), read_listing(other)
    if one.status != other.status or left.tools is None or right.tools is None:
        return one.status != other.status or (one.status in _SUCCESS and not same_json(one.json, other.json))
    return not same_json(_by_id(left), _by_id(right))


def _by_id(listing: Listing) -> dict[str, object]:
    return {tool.id: tool.value for tool in listing.tools or () if tool.id is not None}
