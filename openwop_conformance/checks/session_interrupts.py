"""Interrupts and approvals of a run, and the calls and sessions that they are about."""

from openwop_conformance.checks.approvals import (
    APPROVAL,
    LATER_KINDS,
    RESOLVED,
    asks_for_approval,
    decision,
    interrupt_keys,
    new_kind,
)
from openwop_conformance.checks.run_events import Event, quoted
from openwop_conformance.checks.run_state import Call, Doubt, RunState
from openwop_conformance.findings import Weight
from openwop_conformance.wording import shown


class InterruptFold(RunState):
    """Folds interrupts and decisions."""

    def _asking(self, event: Event) -> None:
        named = event.text("sessionId")
        about = self._about(event)
        if self._open or named:
            self.tally.interrupts += 1
            self._judge_kind(event)
        if named in self._closed and named is not None:
            message = f"an interrupt of the session {quoted(named)} follows its close"
            self._say("session-silent-after-close", message, event, "nothing of a session after its close")
        if asks_for_approval(event):
            self._mark_approval(event, about)
            self._ask_anew(event, about)
        kind = event.payload.get("kind")
        self._latest_kind = kind if isinstance(kind, str) else APPROVAL
        for key in interrupt_keys(event):
            self._asked[key] = about or ""
            self._kinds[key] = self._latest_kind

    def _ask_anew(self, event: Event, about: str | None) -> None:
        """A question that is asked again is open again, whatever was decided before."""
        call = self._named_call(about or "", event.text("sessionId"))
        if call is not None:
            call.rejected = None

    def _mark_approval(self, event: Event, about: str | None) -> None:
        call = self._named_call(about or "", event.text("sessionId"))
        named = self._open.get(event.text("sessionId") or "") or (call.bracket if call else None)
        for bracket in [named] if named else self._open.values():
            bracket.approval = True

    def _judge_kind(self, event: Event) -> None:
        kind = new_kind(event)
        if kind is not None:
            later = kind in LATER_KINDS
            message = "an interrupt of a kind that is not defined stands in a session; use the approval interrupt"
            weight = Weight.ADVISORY if later else Weight.VIOLATION
            self._say("session-interrupts-known", message, event, "an existing kind", shown(kind), weight=weight)

    def _about(self, event: Event) -> str | None:
        """The call that an interrupt or a decision is about: the one it names, or the only one that it can mean."""
        if event.text("callId") is not None:
            return event.text("callId")
        known = [self._asked[key] for key in interrupt_keys(event) if key in self._asked]
        if known:
            return known[0] or None
        fitting = self._meant(event)
        named = event.text("sessionId") is not None or self._node(event) or event.cause
        sure = named or len(self._calls) == 1
        return fitting[0].name if len(fitting) == 1 and sure else None

    @staticmethod
    def _node(event: Event) -> str:
        return event.node or event.text("nodeId") or ""

    def _meant(self, event: Event) -> list[Call]:
        """The open calls that an event can be about: that it was caused by, or of its session and node."""
        caused = [one for one in self._calls.values() if event.cause and one.event.event_id == event.cause]
        if caused:
            return caused[:1]
        session, node = event.text("sessionId"), self._node(event)
        of_session = [one for one in self._calls.values() if session is None or one.session in {session, None}]
        of_node = [one for one in of_session if one.event.node == node]
        alone = len(self._calls) == 1 and not (node and of_session and of_session[0].event.node)
        return of_session if alone else of_node

    def _kind(self, event: Event) -> str:
        """The kind of interrupt that a decision is about; one that does not say so is about what was asked last."""
        told = event.payload.get("kind")
        if isinstance(told, str) or event.kind != RESOLVED:
            return told if isinstance(told, str) else APPROVAL
        return next((self._kinds[key] for key in interrupt_keys(event) if key in self._kinds), self._latest_kind)

    def _deciding(self, event: Event) -> None:
        if self._open:
            self._judge_kind(event)
        if self._kind(event) != APPROVAL:
            return
        about, granted = self._about(event), decision(event)
        self._mark_approval(event, about)
        if about is None and granted is False and event.text("sessionId") in self._open:
            self._doubt(event)
        if about is None:
            return
        if granted is None:
            self._ask_anew(event, about)
        else:
            self._decide(event, about, granted=granted)

    def _decide(self, event: Event, about: str, *, granted: bool) -> None:
        call = self._named_call(about, event.text("sessionId"))
        if call is None:
            if granted:
                self._foretold.pop(about, None)
            elif about not in self._done:
                self._foretold[about] = event
        elif granted:
            call.rejected = None
        elif call.bracket is not None or self._open:
            call.rejected = event

    def _doubt(self, event: Event) -> None:
        """A rejection that names a session with several open calls, and none of them."""
        meant = [one for one in self._calls.values() if one.session == event.text("sessionId")]
        doubt = Doubt(event, len(meant))
        for one in meant if len(meant) > 1 else ():
            one.doubts.append(doubt)
