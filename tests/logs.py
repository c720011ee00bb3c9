"""Event logs for tests: runs with sessions, written as a host would write them."""

import itertools
from typing import Any

Event = dict[str, Any]


class Log:
    """Appends events of one run, with sequences and ids of their own."""

    def __init__(self, run: str = "r1", start: int = 0) -> None:
        self.run = run
        self.events: list[Event] = []
        self._numbers = itertools.count(start)

    def add(self, kind: str, /, **payload: Any) -> "Log":
        sequence = next(self._numbers)
        self.events.append(
            {
                "eventId": f"{self.run}-e{sequence}",
                "runId": self.run,
                "type": kind,
                "payload": payload,
                "timestamp": "2026-05-30T10:00:00.123Z",
                "sequence": sequence,
            }
        )
        return self

    def started(self) -> "Log":
        return self.add("run.started")

    def opened(self, session: str = "s1", tool: str = "mcp:fs.read", **more: Any) -> "Log":
        return self.add("tool.session.opened", sessionId=session, toolId=tool, **more)

    def closed(self, session: str = "s1", tool: str = "mcp:fs.read", outcome: str = "completed", **more: Any) -> "Log":
        return self.add("tool.session.closed", sessionId=session, toolId=tool, outcome=outcome, **more)

    def called(self, call: str = "c1", session: str | None = "s1", **more: Any) -> "Log":
        named = {"sessionId": session} if session else {}
        return self.add("agent.toolCalled", agentId="agent", toolName="fs.read", callId=call, **named, **more)

    def returned(self, call: str = "c1", session: str | None = "s1", **more: Any) -> "Log":
        named = {"sessionId": session} if session else {}
        told = {"status": "ok", "outcome": {"n": 1}, **more}
        kept = {name: value for name, value in told.items() if value is not None}
        return self.add("agent.toolReturned", agentId="agent", toolName="fs.read", callId=call, **named, **kept)

    def call(self, call: str = "c1", session: str | None = "s1", **more: Any) -> "Log":
        return self.called(call, session).returned(call, session, **more)

    def ended(self, how: str = "completed") -> "Log":
        return self.add(f"run.{how}")


def session(log: Log, name: str = "s1", calls: int = 2) -> Log:
    """A whole session with calls that name it."""
    log.opened(name)
    for number in range(calls):
        log.call(f"{name}-c{number}", name)
    return log.closed(name)
