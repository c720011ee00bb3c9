"""Interrupts and approvals of a run, and the calls and sessions that they are about."""

from openwop_conformance.checks.approvals import (
    APPROVAL,
    LATER_KINDS,
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
        if about is not None:
            for key in interrupt_keys(event):
                self._asked[key] = about

    def _mark_approval(self, event: Event, about: str | None) -> None:
        call = self._calls.get(about or "")
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
        """The call that an interrupt or a decision is about: the one it names, or the only one that there is."""
        named = event.text("callId") or next(filter(None, map(self._asked.get, interrupt_keys(event))), None)
        if named is not None:
            return named
        session = event.text("sessionId")
        fitting = [
            name
            for name, call in self._calls.items()
            if (session is None or call.session == session)
            and not (event.node and call.event.node and event.node != call.event.node)
        ]
        return fitting[0] if len(fitting) == 1 and len(self._calls) == 1 else None

    def _deciding(self, event: Event) -> None:
        about, granted = self._about(event), decision(event)
        if event.payload.get("kind", APPROVAL) == APPROVAL:
            self._mark_approval(event, about)
        if about is None or granted is None:
            return
        call = self._calls.get(about)
        if call is None:
            if granted:
                self._foretold.pop(about, None)
            elif about not in self._done:
                self._foretold[about] = event
        elif granted:
            call.rejected = None
        elif call.bracket is not None or self._open:
            call.rejected = event
