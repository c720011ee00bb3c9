"""The catalog can only be read (F-1)."""

from collections.abc import Iterator, Sequence

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.listing import Listing, prerequisite
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight

NOT_ALLOWED = 405
_SUCCESS = range(200, 300)


def check_writes_refused(requirement: str, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`list-rejects-writes`, `item-rejects-writes`: no attempt to write succeeds."""
    for answer in answers:
        if answer.status in _SUCCESS:
            message = f"{answer.exchange.method} on the catalog succeeds, but it can only be read"
            yield Finding(requirement, message, answer.place, "status 405", f"status {answer.status}", answer.exchange)


def check_writes_answered(answers: Sequence[Answer]) -> Iterator[Finding]:
    """`writes-answered-405`: the refusal says that the method is the problem, and which ones there are."""
    for answer in answers:
        allow = answer.header("allow")
        if answer.status in _SUCCESS or (answer.status == NOT_ALLOWED and allow is not None):
            continue
        seen = f"status {answer.status}" if answer.status != NOT_ALLOWED else "status 405 without Allow"
        message = f"{answer.exchange.method} is refused, but not with 405 and Allow"
        yield Finding("writes-answered-405", message, answer.place, "status 405 with Allow", seen, answer.exchange)


def check_nothing_changed(before: Listing, after: Listing) -> Iterator[Finding]:
    """`writes-change-nothing`: the list is the same after attempts to write as before."""
    requirement = "writes-change-nothing"
    missing = prerequisite(requirement, before, tools=False) or prerequisite(requirement, after, tools=False)
    if missing:
        yield missing
        return
    old, new = _by_id(before), _by_id(after)
    for tool_id in sorted(old.keys() | new.keys()):
        if tool_id not in new or tool_id not in old or not same_json(old[tool_id], new[tool_id]):
            what = "is gone" if tool_id not in new else "is new" if tool_id not in old else "has changed"
            message = f"after attempts to write, {tool_id} {what}"
            place = after.answer.place
            yield Finding(
                requirement, message, place, "the same list as before", what, after.answer.exchange, Weight.VIOLATION
            )


def _by_id(listing: Listing) -> dict[str, object]:
    return {tool.id: tool.value for tool in listing.tools or () if tool.id is not None}
