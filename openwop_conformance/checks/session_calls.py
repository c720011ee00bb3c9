"""Calls and returns of a run: which session they belong to, and whether they pair.

A call belongs to the session that it names. One that names none is *loose*: it may be a single-shot call or belong to
any session around it, so it counts against a session only where no other explanation is left.
"""

from openwop_conformance.checks.hooks import status_problems
from openwop_conformance.checks.run_events import REFUSED, Event, quoted
from openwop_conformance.checks.run_state import Bracket, Call, RunState
from openwop_conformance.checks.session_content import distinctive
from openwop_conformance.findings import Finding
from openwop_conformance.wording import shown


class CallFold(RunState):
    """Folds call events."""

    def _called(self, event: Event) -> None:
        self._valid(event, "call-payloads-valid")
        self.tally.calls += 1
        distinctive(event.payload.get("inputs"), self._told)
        name, session = event.text("callId"), event.text("sessionId")
        if name is None:
            self._unpaired(session, event, "a call has no callId")
            return
        key = self._key(name, session)
        if key in self._calls or key in self._done:
            self._unpaired(session, event, f"the callId {quoted(name)} is used for another call")
            if key in self._calls:
                return
            self._done.discard(key)
        call = Call(name, session, event, None, self._foretold.pop(name, None))
        self._calls[key] = call
        if session is None:
            self._first_loose = self._first_loose or event
            self._last_loose = event
        else:
            call.bracket = self._attributed(session, event)
            if call.bracket is not None:
                call.bracket.calls += 1
                call.bracket.pending += 1

    def _attributed(self, session: str, event: Event) -> Bracket | None:
        """The open session that an event names; where there is none, that is held against the session."""
        bracket = self._open.get(session)
        if bracket is not None:
            self._judge_tool_of_call(bracket, event)
        elif session in self._closed:
            self._after_close(session, event)
            if session not in self._late:
                self._late.add(session)
                message = f"a call of the session {quoted(session)} follows its close"
                self._say("session-silent-after-close", message, event, "nothing of a session after its close")
        elif session not in self._unclosed:
            self._ghosts.setdefault(session, event)
        return bracket

    def _after_close(self, session: str, event: Event) -> None:
        if session not in self._late:
            message = f"the session {quoted(session)} is closed before its last call event"
            where = f"the close at {self._closed[session].place} after it"
            self._say("session-closed-after-calls", message, event, where)

    def _unpaired(self, session: str | None, event: Event, message: str) -> None:
        """A broken pair is held against sessions where one is named or open."""
        if session is not None or self._open:
            expected = "one call and one return for each callId"
            self._say("session-calls-paired", message, event, expected)

    def _returning(self, event: Event) -> None:
        self._valid(event, "call-payloads-valid")
        for pointer, expected, seen in status_problems(event.payload):
            message = "members of a return contradict each other"
            where = self._at(f"{event.place}, /payload{pointer}")
            self.findings.append(Finding("call-status-consistent", message, where, expected, seen))
        distinctive(event.payload.get("outcome"), self._told)
        name, session = event.text("callId"), event.text("sessionId")
        call = self._returned_call(name, session)
        if call is None:
            self._lone_return(name, session, event)
            return
        key = self._key(call.name, call.session)
        del self._calls[key]
        self._done.add(key)
        if call.session is None and session is not None:
            self._adopt(call, session, event)
        elif call.session is None:
            self._loose_return(call, event)
        elif session is not None and session != call.session:
            message = f"call {quoted(str(name))} and its return name different sessions"
            self._say("session-ids-constant", message, event, shown(call.session), shown(session))
        if call.bracket is not None:
            call.bracket.pending -= 1
            self._judge_tool_of_call(call.bracket, event)
            if call.bracket.closed is not None:
                self._after_close(call.bracket.id, event)
        self._judge_rejected(str(name), call, event)

    def _returned_call(self, name: str | None, session: str | None) -> Call | None:
        """The call that returns; one that was made in another session is told apart later."""
        if name is None:
            return None
        own = self._named_call(name, session)
        if own is not None or self._key(name, session) in self._done:
            return own
        others = [one for one in self._calls.values() if one.name == name]
        return others[0] if len(others) == 1 else None

    def _judge_tool_of_call(self, bracket: Bracket, event: Event) -> None:
        tool = event.text("toolId")
        if tool and bracket.tool and tool != bracket.tool:
            message = f"a call in the session {quoted(bracket.id)} names another toolId than the session"
            self._say("session-ids-constant", message, event, shown(bracket.tool), shown(tool))

    def _adopt(self, call: Call, session: str, event: Event) -> None:
        """Only the return names its session."""
        bracket = self._attributed(session, event)
        if bracket is not None:
            bracket.calls += 1
            if call.event.sequence < bracket.opened.sequence:
                message = f"a call of the session {quoted(session)} stands before its opening"
                self._say("session-opened-before-calls", message, call.event)

    def _loose_return(self, call: Call, event: Event) -> None:
        began = call.event.sequence
        for bracket in self._open.values():
            if began < bracket.opened.sequence:
                bracket.early = bracket.early or call.event
        if self._open:
            self._loose.append((began, event.sequence))
            self._loose.sort()
            self._trim()
        for bracket in self._empty:
            if bracket.unreturned and began in bracket.unreturned.values():
                bracket.late = event

    def _lone_return(self, name: str | None, session: str | None, event: Event) -> None:
        refused = event.payload.get("status") in REFUSED
        bracket = self._attributed(session, event) if session is not None else None
        if name is None:
            self._unpaired(session, event, "a return has no callId")
        elif self._key(name, session) in self._done or name in self._done:
            self._unpaired(session, event, f"the call {quoted(name)} returns twice")
            return
        elif not refused and self._partial:
            self._inconclusive("session-calls-paired", event, f"the return of {quoted(name)}")
        elif not refused and not self.ended:
            self._unpaired(session, event, f"a return names the call {quoted(name)}, which was never made")
        if name is not None:
            self._done.add(self._key(name, session))
        if bracket is not None:
            bracket.calls += refused
            bracket.strays += not refused
        elif session is None and refused:
            self._loose_return(Call(name or "", None, event, None), event)
        elif session is None:
            for one in self._open.values():
                one.strays += 1

    def _judge_rejected(self, name: str, call: Call, event: Event) -> None:
        status, payload = event.payload.get("status"), event.payload
        ok = status == "ok" or (status is None and "outcome" in payload and "error" not in payload)
        for doubt in call.doubts:
            doubt.settle(ok=ok)
            if doubt.broken:
                message = "an approval in the session was rejected, and yet all calls that it can be about return ok"
                expected = f"another status of one of them after the rejection at {doubt.rejected.place}"
                self._say("session-rejected-call-not-ok", message, event, expected, shown(status or "an outcome"))
        if call.rejected is None:
            return
        self.tally.rejections += 1
        if ok:
            message = f"the approval of call {quoted(name)} was rejected, and yet it returns ok"
            expected = f"another status after the rejection at {call.rejected.place}"
            self._say("session-rejected-call-not-ok", message, event, expected, shown(status or "an outcome"))

    def _trim(self) -> None:
        """A session needs one loose call at the most, and of those the latest fit the most sessions."""
        excess = len(self._loose) - len(self._open)
        if excess > 0:
            del self._loose[:excess]
