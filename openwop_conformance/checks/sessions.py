"""Tool sessions: one fold over the events of a run, in order, that follows every session and every call in it."""

from collections.abc import Callable
from typing import Any

from openwop_conformance.checks.approvals import ASKING, DECIDING
from openwop_conformance.checks.run_events import (
    CALLED,
    CLOSED,
    MISNAMED,
    OPENED,
    OUTCOMES,
    RETURNED,
    RUN_ENDS,
    SESSION_PREFIX,
    TOLERATED_OUTCOMES,
    Event,
    quoted,
)
from openwop_conformance.checks.run_state import Bracket
from openwop_conformance.checks.session_calls import CallFold
from openwop_conformance.checks.session_content import KNOWN, content_findings, copied_findings, strange_values
from openwop_conformance.checks.session_interrupts import InterruptFold
from openwop_conformance.findings import Weight
from openwop_conformance.wording import listed, shown

MAX_IDS = 1_000_000
MAX_KEPT_AFTER_END = 64


class RunFold(CallFold, InterruptFold):
    """Folds the events of one run, in order; the findings grow as it goes."""

    def take(self, event: Event) -> None:
        """Fold one event."""
        self.tally.events += 1
        if self._first is None:
            self._first = event
        known = event.event_id in self._ids
        if known:
            self._say("event-ids-unique", f"the eventId {quoted(event.event_id)} stands twice in one run", event)
        elif event.event_id:
            if len(self._ids) < MAX_IDS:
                self._ids.add(event.event_id)
            else:
                self.tally.forgotten += 1
        if event.sequence > self._last:
            self._last = event.sequence
        else:
            message = "a sequence does not increase"
            expected = f"a sequence above {self._last}"
            self._say("event-sequences-increase", message, event, expected, str(event.sequence))
            if known or self.ended:
                return
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event)
        elif event.kind.startswith(SESSION_PREFIX):
            self._other_session_event(event)
        elif event.kind in MISNAMED:
            self._misnamed = True

    def knows(self, event_id: str) -> bool:
        """Whether an event with this id was taken in, as far back as ids are kept."""
        return event_id in self._ids

    def _content(self, event: Event) -> None:
        for finding in content_findings(event, self._around.secrets):
            self.findings.append(self._placed(finding))
        if event.payload.keys() - KNOWN:
            self._strange += strange_values(event)

    def _opened(self, event: Event) -> None:
        self.tally.opened += 1
        self._valid(event, "session-payloads-valid")
        self._content(event)
        session = event.text("sessionId")
        if session is None:
            self._unreadable = True
        elif self.ended:
            message = f"the session {quoted(session)} is opened after its run has ended"
            self._say("session-closed-before-run-ends", message, event)
        elif session in self._open or session in self._closed:
            before = self._open[session].opened if session in self._open else self._closed[session]
            message = f"the session {quoted(session)} is opened again"
            expected = f"one opening; there was one before {before.place}"
            self._say("session-opened-once", message, event, expected, "another")
            if session in self._closed:
                del self._closed[session]
                self._open[session] = Bracket(session, event.text("toolId"), event)
        else:
            bracket = Bracket(session, event.text("toolId"), event)
            ghost = self._ghosts.pop(session, None)
            if ghost is not None:
                message = f"a call of the session {quoted(session)} stands before its opening"
                self._say("session-opened-before-calls", message, ghost, f"the opening at {event.place} first")
                bracket.calls += 1
            self._open[session] = bracket

    def _closing(self, event: Event) -> None:
        self._valid(event, "session-payloads-valid")
        outcome = event.payload.get("outcome")
        if isinstance(outcome, str) and outcome in TOLERATED_OUTCOMES:
            message = f"the outcome {outcome} is of an older vocabulary; say completed, failed or cancelled"
            self._say("session-payloads-valid", message, event, weight=Weight.ADVISORY)
        self._content(event)
        session, tool = event.text("sessionId"), event.text("toolId")
        bracket = self._open.pop(session or "", None)
        if session is None:
            self._unreadable = True
        elif bracket is not None:
            self.tally.closed += 1
            self._closed[session] = event
            bracket.closed = event
            self._judge_tool(bracket, tool, event)
            self._judge_calls(bracket, event, outcome)
        elif session in self._closed:
            message = f"the session {quoted(session)} is closed again"
            expected = f"one close, at {self._closed[session].place}"
            self._say("session-closed-once", message, event, expected, "another")
        elif session not in self._unclosed:
            if self.ended:
                message = f"the session {quoted(session)} is closed after its run has ended"
                self._say("session-closed-before-run-ends", message, event)
            else:
                self._orphans.append((session, tool, event))

    def _judge_tool(self, bracket: Bracket, tool: str | None, event: Event) -> None:
        if tool and bracket.tool and tool != bracket.tool:
            message = f"the session {quoted(bracket.id)} is closed under another toolId than it was opened under"
            self._say("session-ids-constant", message, event, shown(bracket.tool), shown(tool))
        tools = self._around.approvals
        if tools is None or bracket.tool is None:
            return
        if bracket.tool not in tools:
            message = f"the tool {quoted(bracket.tool)} of a session is not in the catalog"
            self._say("session-tool-in-catalog", message, bracket.opened, "a toolId of the catalog")
        elif tools[bracket.tool] == "always":
            self.tally.approvals_due += 1
            if not bracket.approval and (bracket.calls or self._inside(bracket)):
                message = (
                    f"{quoted(bracket.tool)} needs an approval always, and its session shows no approval interrupt"
                )
                expected = "interrupt.requested of kind approval between opening and close"
                self._say("session-approval-shown", message, event, expected, "none")

    def _inside(self, bracket: Bracket) -> bool:
        return any(began > bracket.opened.sequence for began, _ in self._loose)

    def _judge_calls(self, bracket: Bracket, event: Event, outcome: Any) -> None:
        opened = bracket.opened.sequence
        if bracket.pending > bracket.strays:
            waiting = [call.name for call in self._calls.values() if call.bracket is bracket]
            message = f"the session {quoted(bracket.id)} is closed before all of its calls have returned"
            self._say("session-calls-returned", message, event, "every call returned", f"not yet: {listed(waiting)}")
        if not bracket.calls:
            bracket.unreturned = {
                call.name: call.event.sequence
                for call in self._calls.values()
                if call.session is None and call.event.sequence > opened
            }
            fitting = [span for span in self._loose if span[0] > opened]
            if fitting and outcome == "completed":
                self._loose.remove(min(fitting))
                self._held += 1
            elif not fitting and outcome in {*OUTCOMES, *TOLERATED_OUTCOMES}:
                bracket.outcome = str(outcome)
                self._empty.append(bracket)
        else:
            self._held += 1
        self._trim()

    def _other_session_event(self, event: Event) -> None:
        """Types that a later document may define; what sets them apart from new interrupts is their name."""
        self._content(event)
        self._judge_kind(event)
        session = event.text("sessionId")
        if session in self._closed and session is not None:
            message = f"an event of the session {quoted(session)} follows its close"
            self._say("session-silent-after-close", message, event, "nothing of a session after its close")

    def _end(self, event: Event) -> None:
        if self.ended:
            return
        self._match_orphans()
        for bracket in self._open.values():
            if not self._unreadable:
                message = (
                    f"the session {quoted(bracket.id)}, opened at {bracket.opened.place}, is open when its run ends"
                )
                self._say("session-closed-before-run-ends", message, event, "tool.session.closed before the end")
        self._unclosed = set(self._open)
        self._open.clear()
        self._conclude()
        self.ended = True

    def finish(self) -> None:
        """The log ends here; what is still open may yet be closed, unless the run has ended."""
        if not self.ended:
            self._match_orphans()
            self._conclude()

    def forget(self) -> None:
        """Keep of an ended run only what its stragglers are judged by."""
        if len(self._ids) > MAX_KEPT_AFTER_END:
            self._ids.clear()
        for kept in (self._calls, self._done, self._told, self._asked, self._foretold):
            kept.clear()
        if len(self._closed) > MAX_KEPT_AFTER_END:
            self._closed.clear()

    def _match_orphans(self) -> None:
        """Closes without an opening: of a session that goes by another id, or of none at all."""
        for session, tool, event in self._orphans:
            before = [one for one in self._open.values() if one.opened.sequence < event.sequence]
            fitting = [one for one in before if one.tool == tool] or before
            if fitting and not self._partial:
                del self._open[fitting[0].id]
                self._closed[fitting[0].id] = event
                self.tally.closed += 1
                self._ghosts.pop(session, None)
                message = "a session is closed under another sessionId than it was opened under"
                self._say("session-ids-constant", message, event, shown(fitting[0].id), shown(session))
            elif self._partial:
                self._inconclusive("session-opened-once", event, f"the close of {quoted(session)}")
            elif not self._unreadable:
                self._ghosts.pop(session, None)
                message = f"the session {quoted(session)} is closed but was never opened"
                self._say("session-opened-once", message, event, "tool.session.opened once", "never")
        self._orphans.clear()

    def _conclude(self) -> None:
        """What can only be told when all of a run is known."""
        for bracket in self._empty:
            self._judge_empty(bracket)
        self._empty.clear()
        for session, event in self._ghosts.items():
            if self._partial:
                self._inconclusive("session-opened-before-calls", event, f"a call of {quoted(session)}")
            elif not self._unreadable:
                message = f"a call names the session {quoted(session)}, which is never opened"
                self._say("session-opened-before-calls", message, event, "tool.session.opened first", "none")
        self._ghosts.clear()
        if self._strange:
            calls = {one.rpartition("\0")[2] for one in (*self._done, *self._calls)}
            ids = {*calls, *self._closed, *self._open, self.run}
            for finding in copied_findings(self._strange, self._told, ids):
                self.findings.append(self._placed(finding))
            self._strange.clear()

    def _judge_empty(self, bracket: Bracket) -> None:
        """A session without a call of its own; the loose calls around it may tell why.

        One that failed or was cancelled may have come to nothing, whatever calls are around it (R21).
        """
        closed = bracket.closed or bracket.opened
        within = range(bracket.opened.sequence, closed.sequence)
        ghost = next((one for one, event in self._ghosts.items() if event.sequence in within), None)
        if bracket.id in self._late or (ghost is not None and self._partial):
            return
        if ghost is not None:
            message = f"the calls in the session {quoted(bracket.id)} name another session"
            self._say("session-ids-constant", message, self._ghosts.pop(ghost), shown(bracket.id), shown(ghost))
        elif bracket.outcome != "completed":
            message = f"a session that ended as {bracket.outcome} holds no call"
            self._say("session-has-a-call", message, closed, "a call", "none", weight=Weight.ADVISORY)
        elif bracket.unreturned:
            message = f"the session {quoted(bracket.id)} is closed before its calls have returned"
            seen = f"not yet: {listed(bracket.unreturned)}"
            self._say("session-calls-returned", message, closed, "every call returned", seen)
            if bracket.late is not None:
                message = f"the session {quoted(bracket.id)} is closed before its last call event"
                self._say("session-closed-after-calls", message, bracket.late, f"the close at {closed.place} after it")
        elif bracket.early is not None:
            self._opened_late(bracket, bracket.early)
        elif bracket.strays:
            return
        else:
            self._judge_callless(bracket, closed)

    def _opened_late(self, bracket: Bracket, call: Event) -> None:
        message = f"a call stands before the opening of the session {quoted(bracket.id)}, which holds no other"
        self._say("session-opened-before-calls", message, call, f"the opening at {bracket.opened.place} first")

    def _judge_callless(self, bracket: Bracket, closed: Event) -> None:
        hint = "; agentToolCalled is the name of a definition, the type on the wire is agent.toolCalled"
        message = f"the completed session {quoted(bracket.id)} holds no call{hint if self._misnamed else ''}"
        self._say("session-has-a-call", message, closed, f"{CALLED} and {RETURNED} in it", "none")
        if self._held:
            return
        before, after = self._first_loose, self._last_loose
        if before is not None and before.sequence < bracket.opened.sequence:
            self._opened_late(bracket, before)
        if after is not None and after.sequence > closed.sequence:
            message = f"a call follows the close of the session {quoted(bracket.id)}, which holds no other"
            self._say("session-closed-after-calls", message, after, "the close after it")


_HANDLERS: dict[str, Callable[[RunFold, Event], None]] = {
    OPENED: RunFold._opened,  # noqa: SLF001 - a table of the class's own methods
    CLOSED: RunFold._closing,  # noqa: SLF001
    CALLED: RunFold._called,  # noqa: SLF001
    RETURNED: RunFold._returning,  # noqa: SLF001
    **dict.fromkeys(ASKING, RunFold._asking),  # noqa: SLF001
    **dict.fromkeys(DECIDING, RunFold._deciding),  # noqa: SLF001
    **dict.fromkeys(RUN_ENDS, RunFold._end),  # noqa: SLF001
}
