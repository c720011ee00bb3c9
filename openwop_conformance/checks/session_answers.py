"""Runs as a host tells of them: what the seam answered, and the same log by every way and at any time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from openwop_conformance.checks.items import same_json
from openwop_conformance.checks.run_events import CLOSED, OPENED, RUN_ENDS, SESSION_PREFIX, named
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import listed, shown

MATCHES = "session-matches-answer"
AS_ASKED = "session-tool-as-asked"
DURABLE = "event-log-durable"
ABSENT = "sessions-absent-when-unadvertised"
NOT_WIRED_STATUSES = frozenset({404, 405, 501})
_SUCCESS = range(200, 300)
_FOLLOWED = ("tool.session.", "agent.tool", "interrupt.", "approval.", "run.completed", "run.failed", "run.cancelled")


@dataclass(frozen=True, slots=True)
class Started:
    """A request for a session and its answer."""

    asked: str | None
    answer: Answer

    def _told(self, member: str) -> str | None:
        body = self.answer.json
        value = body.get(member) if self.answer.status in _SUCCESS and isinstance(body, dict) else None
        return value if isinstance(value, str) and value else None

    @property
    def run_id(self) -> str | None:
        """The run that was started, where one was."""
        return self._told("runId")

    @property
    def session_id(self) -> str | None:
        """The session, where the answer names it."""
        return self._told("sessionId")

    @property
    def tool_id(self) -> str | None:
        """The tool, where the answer names it."""
        return self._told("toolId")


@dataclass(frozen=True, slots=True)
class Reading:
    """The log of a run, read in one way; `whole` where the way has to show all kinds of events."""

    way: str
    events: tuple[Any, ...]
    answer: Answer
    whole: bool
    remark: str = ""


def _of_sessions(events: Sequence[Any], *kinds: str) -> list[dict[str, Any]]:
    payloads = [one.get("payload") for one in events if isinstance(one, dict) and one.get("type") in kinds]
    return [one for one in payloads if isinstance(one, dict)]


def _values(payloads: Sequence[dict[str, Any]], member: str) -> set[str]:
    return {value for one in payloads if isinstance(value := one.get(member), str)}


def check_answer(started: Started, events: Sequence[Any]) -> Iterator[Finding]:
    """`session-matches-answer`, `session-tool-as-asked`: the events name what was asked for and what was answered."""
    sessions = _of_sessions(events, OPENED, CLOSED)
    run = named(started.run_id or "")
    told = {"sessionId": started.session_id, "toolId": started.tool_id}
    for member, value in told.items():
        seen = _values(sessions, member)
        if sessions and value is not None and value not in seen:
            message = f"the events of run {run} do not name the {member} that the host answered"
            yield Finding(MATCHES, message, f"/{member}", shown(value), listed(sorted(seen)), started.answer.exchange)
    tools = _values(sessions, "toolId")
    if sessions and started.asked is not None and started.asked not in tools:
        message = f"run {run} was asked for with one tool, and its sessions are of another"
        yield Finding(
            AS_ASKED, message, "payload.toolId", shown(started.asked), listed(sorted(tools)), started.answer.exchange
        )


def check_broken(broken: Sequence[Started]) -> Iterator[Finding]:
    """`session-tool-as-asked`: a seam that breaks down over a tool shows no session of it."""
    for one in broken:
        seen = f"status {one.answer.status}"
        message = f"the seam breaks down when it is asked for a session on {shown(one.asked)}; refuse what has none"
        exchange = one.answer.exchange
        yield Finding(AS_ASKED, message, one.answer.place, "a run, or 4xx", seen, exchange, Weight.ADVISORY)


def check_present(run_id: str, reading: Reading, *, waiting: bool = False) -> Iterator[Finding]:
    """`session-opened-once`: a run that the host started for a session holds one, unless it has not come so far."""
    ended = any(isinstance(one, dict) and one.get("type") in RUN_ENDS for one in reading.events)
    shows = bool(_of_sessions(reading.events, OPENED, CLOSED))
    if waiting and not ended:
        message = f"run {named(run_id)} waits for somebody to decide, so its session could not be seen to its end"
        yield Finding("session-closed-once", message, exchange=reading.answer.exchange, weight=Weight.BLOCKED)
    elif not shows and ended:
        message = f"run {named(run_id)} was started for a session and holds no tool.session events"
        expected = "one tool.session.opened, because sessionLifecycle is advertised"
        seen = f"{len(reading.events)} other events"
        yield Finding("session-opened-once", message, reading.way, expected, seen, reading.answer.exchange)
    elif not ended and not _of_sessions(reading.events, CLOSED):
        message = f"run {named(run_id)} neither closes its session nor ends within the time that the suite waits"
        exchange = reading.answer.exchange
        for requirement in ("session-closed-once", *(() if shows else ("session-opened-once",))):
            yield Finding(requirement, message, reading.way, exchange=exchange, weight=Weight.INCONCLUSIVE)


def check_readings(run_id: str, readings: Sequence[Reading]) -> Iterator[Finding]:
    """`event-log-durable`: every way, and every later reading, shows the same events."""
    for one in readings:
        if one.remark:
            message = f"run {named(run_id)}: {one.remark}"
            yield Finding(DURABLE, message, one.way, exchange=one.answer.exchange, weight=Weight.ADVISORY)
    first, *others = readings
    for other in others:
        whole = first.whole and other.whole
        difference = _difference(_followed(first, whole), _followed(other, whole))
        if difference:
            message = f"the log of run {named(run_id)} differs between {first.way} and {other.way}"
            expected, seen = difference
            yield Finding(DURABLE, message, other.way, expected, seen, other.answer.exchange)


def _followed(reading: Reading, whole: bool) -> list[Any]:  # noqa: FBT001 - a filter by its one question
    """All kinds of events, or those that sessions are made of; behind the end of a run, where streams stop, fewer."""
    kinds = [one.get("type") if isinstance(one, dict) else None for one in reading.events]
    end = next((place + 1 for place, kind in enumerate(kinds) if kind in RUN_ENDS), len(kinds))
    told = list(zip(kinds, reading.events, strict=True))
    followed = [isinstance(kind, str) and kind.startswith(_FOLLOWED) for kind in kinds]
    return [
        one
        for place, (_, one) in enumerate(told)
        if (whole or followed[place]) and (place < end or (whole and followed[place]))
    ]


def _difference(one: Sequence[Any], other: Sequence[Any]) -> tuple[str, str] | None:
    """What the first event that differs should have been, and what it was; a run that goes on may have grown."""
    for left, right in zip(one, other, strict=False):
        if not same_json(left, right):
            return _words(left), _words(right)
    ended = any(isinstance(event, dict) and event.get("type") in RUN_ENDS for event in one)
    if len(other) < len(one):
        return _words(one[len(other)]), "no such event"
    if len(other) > len(one) and ended:
        return f"{len(one)} events", f"{len(other)} events"
    return None


def _words(event: Any) -> str:
    if not isinstance(event, dict):
        return shown(event)
    return f"sequence {shown(event.get('sequence'))}, {shown(event.get('type'))}, eventId {shown(event.get('eventId'))}"


def check_absent(run_id: str, reading: Reading) -> Iterator[Finding]:
    """`sessions-absent-when-unadvertised`: a host that promises no sessions shows none."""
    kinds = sorted(
        {str(one["type"]) for one in reading.events if isinstance(one, dict) and _is_session(one.get("type"))}
    )
    if kinds:
        message = f"run {named(run_id)} holds session events, and sessionLifecycle is not advertised; advertise it"
        yield Finding(ABSENT, message, reading.way, "no tool.session events", listed(kinds), reading.answer.exchange)


def _is_session(kind: Any) -> bool:
    return isinstance(kind, str) and kind.startswith(SESSION_PREFIX)
