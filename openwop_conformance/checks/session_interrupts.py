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
from openwop_conformance.checks.run_events import Event
from openwop_conformance.checks.run_state import RunState
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
        if asks_for_approval(event):
            self._mark_approval(event, about)
        kind = event.payload.get("kind")
        self._latest_kind = kind if isinstance(kind, str) else APPROVAL
        for key in interrupt_keys(event):
            self._asked[key] = about or ""
            self._kinds[key] = self._latest_kind

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
        session, node = event.text("sessionId"), event.node or event.text("nodeId") or ""
        fitting = [
            one
            for one in self._calls.values()
            if (session is None or one.session == session) and one.event.node == node
        ]
        sure = session is not None or node or len(self._calls) == 1
        return fitting[0].name if len(fitting) == 1 and sure else None

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
        if about is None or granted is None:
            return
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
