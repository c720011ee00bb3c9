"""Run events: the words of the wire, and one event as the folds look at it."""

from typing import Any

import msgspec

from openwop_conformance.wording import printable, shown

OPENED = "tool.session.opened"
CLOSED = "tool.session.closed"
CALLED = "agent.toolCalled"
RETURNED = "agent.toolReturned"
SESSION_PREFIX = "tool.session."
RUN_STARTS = frozenset({"run.created", "run.queued", "run.started"})
RUN_ENDS = frozenset({"run.completed", "run.failed", "run.cancelled"})
OUTCOMES = frozenset({"completed", "failed", "cancelled"})
TOLERATED_OUTCOMES = frozenset({"aborted", "expired"})
REFUSED = frozenset({"forbidden", "rate_limited"})
MISNAMED = frozenset({"agentToolCalled", "agentToolReturned"})


class Event(msgspec.Struct, gc=False):
    """One event of a log: the members that the folds need, and the line that it stands on, if it stands in a file.

    A struct, because logs hold millions of them and it is made in a fraction of the time.
    """

    kind: str
    sequence: int
    event_id: str
    payload: dict[str, Any]
    line: int = 0
    node: str = ""
    cause: str = ""

    @property
    def place(self) -> str:
        """Where it stands, as a finding would say."""
        return f"sequence {self.sequence}" + (f", line {self.line}" if self.line else "")

    def text(self, member: str) -> str | None:
        """A member of the payload that is a string with something in it."""
        value = self.payload.get(member)
        return value if type(value) is str and value else None


def event_of(value: dict[str, Any], line: int = 0) -> Event | None:
    """An event from its JSON, as far as it can be read; None where type or sequence cannot."""
    kind, sequence = value.get("type"), value.get("sequence")
    if type(sequence) is float and sequence.is_integer():
        sequence = int(sequence)
    if type(kind) is not str or type(sequence) is not int or sequence < 0:
        return None
    event_id, payload, node = value.get("eventId"), value.get("payload"), value.get("nodeId")
    cause = value.get("causationId")
    return Event(
        kind,
        sequence,
        event_id if type(event_id) is str else "",
        payload if type(payload) is dict else {},
        line,
        node if type(node) is str else "",
        cause if type(cause) is str else "",
    )


def quoted(identifier: str) -> str:
    """An id of the host's as a message would name it."""
    return shown(identifier, 80)


def named(identifier: str) -> str:
    """An id of the host's without quotes, for places."""
    return printable(identifier, 80)
