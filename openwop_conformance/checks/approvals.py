"""Interrupts and approvals in the middle of a session: which kinds there are, and what a decision says."""

from collections.abc import Iterator
from typing import Any

from openwop_conformance.checks.run_events import SESSION_PREFIX, Event

REQUESTED = "interrupt.requested"
RESOLVED = "interrupt.resolved"
APPROVAL = "approval"
KINDS = frozenset(
    {
        APPROVAL, "clarification", "external-event", "custom", "low-confidence",
        "conversation.start", "conversation.exchange", "conversation.close",
    }
)  # fmt: skip
LATER_KINDS = frozenset({"credential"})
DECISIONS = {"approval.granted": True, "approval.overridden": True, "approval.rejected": False}
RECEIVED = "approval.received"
ASKING = frozenset({REQUESTED, "approval.requested"})
DECIDING = frozenset({RESOLVED, RECEIVED, *DECISIONS})
_REJECTED = frozenset({"reject", "rejected", "deny", "denied", "decline", "declined", "refuse", "refused"})
_ACCEPTED = frozenset(
    {"accept", "accepted", "approve", "approved", "grant", "granted", "edit-accept", "allow", "allowed", "overridden"}
)
_SAYING = ("action", "decision", "resolution", "outcome", "result", "status", "approved", "granted", "accepted")
_HOLDING = ("resumeValue", "value", "response", "resolution", "result")
_NEW_WORDS = ("approv", "auth", "interrupt", "consent", "permission", "confirm")


def new_kind(event: Event) -> str | None:
    """The kind of interrupt that an event brings in and that no document knows, if it does."""
    if event.kind == REQUESTED:
        kind = event.payload.get("kind")
        return kind if isinstance(kind, str) and kind not in KINDS else None
    tail = event.kind.removeprefix(SESSION_PREFIX).lower()
    if event.kind.startswith(SESSION_PREFIX) and any(word in tail for word in _NEW_WORDS):
        return event.kind
    return None


def asks_for_approval(event: Event) -> bool:
    """Whether somebody is asked to approve."""
    return event.kind == "approval.requested" or (event.kind == REQUESTED and event.payload.get("kind") == APPROVAL)


def interrupt_keys(event: Event) -> Iterator[str]:
    """By what an interrupt and its resolution know each other."""
    for member in ("interruptId", "key", "gateId", "approvalId"):
        value = event.text(member)
        if value is not None:
            yield f"{member} {value}"


def decision(event: Event) -> bool | None:
    """Whether an approval was given or refused; None where the event says neither."""
    if event.kind in DECISIONS:
        return DECISIONS[event.kind]
    if event.payload.get("kind", APPROVAL) != APPROVAL:
        return None
    return _said(event.payload, 2)


def _said(value: Any, depth: int) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        return False if word in _REJECTED else True if word in _ACCEPTED else None
    if not isinstance(value, dict) or not depth:
        return None
    for member in _SAYING:
        inner = value.get(member)
        told = _said(inner, 0) if isinstance(inner, str | bool) else None
        if told is not None:
            return told
    for member in _HOLDING:
        told = _said(value.get(member), depth - 1)
        if told is not None:
            return told
    return None
