"""Callers without a credential, or with one that the host did not issue, are turned away (R14)."""

from collections.abc import Iterator, Sequence

from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import listed

BAD_REQUEST = 400
UNAUTHORIZED = 401
ITEM_REFUSALS = frozenset({401, 403, 404})
_SUCCESS = range(200, 300)
_FAULT = range(500, 600)
_UNAVAILABLE = 503


def check_list_refused(requirement: str, answer: Answer, *, malformed: bool = False) -> Iterator[Finding]:
    """`list-rejects-…-credential`: 401 is right, another refusal an advisory, anything else a failure.

    A credential that is `malformed` may be a bad request (RFC 6750 §3.1).
    """
    who = answer.exchange.principal
    if answer.status == UNAUTHORIZED or (malformed and answer.status == BAD_REQUEST):
        return
    if answer.status in _SUCCESS:
        message, weight = f"the list is given to {who}", Weight.VIOLATION
    elif answer.status == _UNAVAILABLE:
        message, weight = "the host is not available at the moment", Weight.INCONCLUSIVE
    elif answer.status in _FAULT:
        message, weight = f"the host does not turn {who} away but breaks down", Weight.VIOLATION
    else:
        message, weight = f"{who} is turned away, but not with 401; answer 401 with WWW-Authenticate", Weight.ADVISORY
    yield Finding(requirement, message, answer.place, "status 401", f"status {answer.status}", answer.exchange, weight)


def check_never_given(requirement: str, answer: Answer) -> Iterator[Finding]:
    """`list-rejects-missing-credential`, for other ways to the list: however it is refused, it is not given."""
    if answer.status in _SUCCESS:
        message = f"the list is given to {answer.exchange.principal}"
        seen = f"status {answer.status}"
        yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange)


def check_scheme_minded(requirement: str, answer: Answer) -> Iterator[Finding]:
    """`list-rejects-unknown-credential`: a token counts only under the scheme that it was issued for; an advisory."""
    if answer.status in _SUCCESS:
        message = f"the list is given to {answer.exchange.principal}: look at the scheme before the token"
        seen = f"status {answer.status}"
        yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange, Weight.ADVISORY)


def check_item_refused(
    requirement: str, answers: Sequence[Answer], existing: int, *, malformed: bool = False
) -> Iterator[Finding]:
    """`item-rejects-…-credential`: one and the same of 401, 403 and 404 for every id, `existing` of which are real."""
    if not existing:
        yield Finding(
            requirement, "no id of an existing tool is known, so there was nothing to protect", weight=Weight.BLOCKED
        )
    for answer in answers:
        who = answer.exchange.principal
        seen = f"status {answer.status}"
        if answer.status in _SUCCESS:
            message = f"a tool is given to {who}"
            yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange)
        elif answer.status == _UNAVAILABLE:
            message = "the host is not available at the moment"
            yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange, Weight.INCONCLUSIVE)
        elif answer.status in _FAULT:
            message = f"the host does not turn {who} away but breaks down"
            yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange)
        elif answer.status not in ITEM_REFUSALS and not (malformed and answer.status == BAD_REQUEST):
            message = f"{who} is turned away in an unusual way; answer 401 with WWW-Authenticate"
            yield Finding(requirement, message, answer.place, "status 401", seen, answer.exchange, Weight.ADVISORY)
    refusals = {answer.status for answer in answers if answer.status not in _SUCCESS}
    if len(refusals - {_UNAVAILABLE}) > 1:
        refused = [answer for answer in answers if answer.status in refusals]
        odd = next(answer for answer in refused if answer.status != refused[0].status)
        yield Finding(
            requirement,
            "the refusal depends on the id, which tells a stranger which ids exist",
            odd.place,
            "the same refusal for every id",
            f"statuses {listed(sorted(refusals))}",
            odd.exchange,
        )
