"""Interrupts and approvals in the middle of a session: which kinds there are, and what a decision says."""

import re
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
_REJECTED = frozenset(
    {"reject", "rejected", "deny", "denied", "decline", "declined", "refuse", "refused", "disapproved", "no", "false"}
)
_ACCEPTED = frozenset(
    {
        "accept", "accepted", "approve", "approved", "grant", "granted", "edit-accept", "allow", "allowed", "yes",
        "override", "overridden", "true", "confirm", "confirmed", "proceed", "continue", "ok", "resume",
    }
)  # fmt: skip
_YES = ("approved", "approve", "granted", "accepted", "accept", "allowed")
_NO = ("rejected", "denied", "declined", "refused")
_SAYING = ("action", "decision", "resolution", "outcome", "answer", "result", "status")
_HOLDING = ("resumeValue", "value", "response", "resolution", "result", "decision", "data", "payload", "approval")
_DEPTH = 4
_STEM = re.compile(r"approv|authori[sz]|authenticat|auth$|oauth|consent|permission|confirm|credential")
_ASKING_WORDS = frozenset(
    {
        "require", "required", "requires", "request", "requested", "need", "needed", "needs", "pending", "await",
        "awaiting", "awaited", "ask", "asked", "asking", "challenge", "prompt", "prompted",
    }
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def new_kind(event: Event) -> str | None:
    """The kind of interrupt that an event brings in and that no document knows, if it does."""
    if event.kind in {REQUESTED, RESOLVED}:
        kind = event.payload.get("kind")
        return kind if isinstance(kind, str) and kind not in KINDS else None
    words = [one.lower() for one in _WORDS.findall(event.kind.removeprefix(SESSION_PREFIX))]
    asks = any(map(_STEM.match, words)) and not _ASKING_WORDS.isdisjoint(words) and "not" not in words
    return event.kind if event.kind.startswith(SESSION_PREFIX) and (asks or "interrupt" in words) else None


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
    return _said(event.payload, _DEPTH)


def _said(value: Any, depth: int) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        return False if word in _REJECTED else True if word in _ACCEPTED else None
    if not isinstance(value, dict) or not depth:
        return None
    flags = [bool(_said(value[name], 0)) for name in _YES if isinstance(value.get(name), bool | str)]
    flags += [not _said(value[name], 0) for name in _NO if isinstance(value.get(name), bool | str)]
    if flags:
        return all(flags)
    words = [_said(value[name], 0) for name in _SAYING if isinstance(value.get(name), str | bool)]
    inner = (_said(value.get(name), depth - 1) for name in _HOLDING if isinstance(value.get(name), dict | str | bool))
    return next((one for one in (*words, *inner) if one is not None), None)
