"""Logs of runs: one run as it was read from a host, or many runs interleaved in a file of any size.

Of a host the order of the list counts. In a file the sequences alone do: lines of a run are put in order within a
window, and what comes later than that makes the run inconclusive.
"""

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from openwop_conformance.checks.run_events import RUN_STARTS, Event, event_of, named
from openwop_conformance.checks.run_state import Surroundings, Tally
from openwop_conformance.checks.sessions import RunFold
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import decider, is_valid, violations
from openwop_conformance.wording import shown

WELL_FORMED = "events-well-formed"
ONE_RUN = "events-of-one-run"
INCREASE = "event-sequences-increase"
BY_ORDER_ALONE = frozenset({WELL_FORMED, ONE_RUN, INCREASE, "event-ids-unique"})
WINDOW = 10_000
MAX_ENDED = 4_096
MAX_KEPT = 100
MAX_HELD_BACK = 1_000


def check_event(value: Any, place: str) -> Iterator[Finding]:
    """`events-well-formed`: whether a value is a run event at all."""
    if not is_valid("run-event", value):
        for one in violations("run-event", value):
            message = "an entry of the log is not a run event"
            yield Finding(WELL_FORMED, message, f"{place}{one.pointer}", one.expected, one.seen)


def check_log(run_id: str, values: Sequence[Any], around: Surroundings | None = None) -> tuple[list[Finding], Tally]:
    """All that can be said of one run from its log, in the order in which the host gave it."""
    findings: list[Finding] = []
    events: list[Event] = []
    for place, value in enumerate(values):
        findings += check_event(value, f"run {named(run_id)}, /events/{place}")
        event = event_of(value) if isinstance(value, dict) else None
        if event is not None:
            events.append(event)
            told = value.get("runId")
            if told != run_id and isinstance(told, str):
                message = "an event in the log of a run names another run"
                findings.append(
                    Finding(ONE_RUN, message, f"run {named(run_id)}, {event.place}", shown(run_id), shown(told))
                )
    fold = _folded(run_id, events, around)
    found = fold.findings
    if any(later.sequence <= earlier.sequence for earlier, later in pairwise(events)):
        sorted_too = _folded(run_id, sorted(events, key=lambda one: one.sequence), around)
        either_way = BY_ORDER_ALONE | {one.requirement for one in sorted_too.findings}
        found = [one for one in found if one.requirement in either_way]
    return [*findings, *found], fold.tally


def _folded(run_id: str, events: Iterable[Event], around: Surroundings | None) -> RunFold:
    fold = RunFold(run_id, around)
    for event in events:
        fold.take(event)
    fold.finish()
    return fold


@dataclass(slots=True)
class Gathered:
    """Findings of a whole log: the first ones of each kind, and how many there were."""

    kept: dict[tuple[str, Weight], list[Finding]] = field(default_factory=dict)
    counts: dict[tuple[str, Weight], int] = field(default_factory=dict)
    _remarks: set[tuple[str, str]] = field(default_factory=set)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take in findings; an advisory that was given before in the same words is only counted."""
        for one in findings:
            key = (one.requirement, one.weight)
            self.counts[key] = self.counts.get(key, 0) + 1
            kept = self.kept.setdefault(key, [])
            if one.weight is Weight.ADVISORY and (one.requirement, one.message) in self._remarks:
                continue
            if len(kept) < MAX_KEPT:
                self._remarks.add((one.requirement, one.message))
                kept.append(one)

    def retract(self, run_id: str) -> None:
        """Take back what was said of a run, as far as it was kept: its log turns out to be out of order."""
        for key, found in self.kept.items():
            own = [one for one in found if one.where.startswith(f"run {named(run_id)},")]
            self.counts[key] -= len(own)
            found[:] = [one for one in found if one not in own]
        self.counts = {key: count for key, count in self.counts.items() if count}

    def of(self, requirement: str) -> list[Finding]:
        """The findings on one requirement."""
        return [one for (name, _), found in self.kept.items() if name == requirement for one in found]


@dataclass(slots=True)
class _Lane:
    """One run of a file: its fold, the sequence that would come next, and what waits for earlier ones."""

    fold: RunFold
    next: int = 0
    first: int = 0
    begun: bool = False
    gaps: bool = False
    lost: bool = False
    highest: int = -1
    held: list[tuple[int, int, Event]] = field(default_factory=list)


class LogFold:
    """Folds a file: runs may interleave, lines of one run may be out of order within a window of lines."""

    def __init__(self, around: Surroundings | None = None, window: int = WINDOW) -> None:
        self._around = around
        self._window = window
        self._is_event = decider("run-event")
        self._lanes: dict[str, _Lane] = {}
        self._ended: OrderedDict[str, _Lane] = OrderedDict()
        self._waiting: deque[tuple[int, str, int]] = deque()
        self.gathered = Gathered()
        self.tally = Tally()
        self.reordered = 0
        self.unfinished = 0

    def take(self, value: Any, line: int) -> None:
        """Take in the value of one line."""
        if not self._is_event(value):
            self.gathered.add(check_event(value, f"line {line}"))
        event = event_of(value, line) if type(value) is dict else None
        run_id = value.get("runId") if event is not None else None
        if event is None or type(run_id) is not str or not run_id:
            return
        lane = self._lanes.get(run_id) or self._lane(run_id)
        if event.sequence == lane.next and not lane.held and not lane.lost:
            lane.next += 1
            lane.begun = True
            lane.fold.take(event)
            if lane.fold.ended or lane.fold.findings:
                self._settle(run_id, lane)
        else:
            self._place(run_id, lane, event)
        if self._waiting and self._waiting[0][0] <= line - self._window:
            self._expire(line)

    def _lane(self, run_id: str) -> _Lane:
        lane = self._ended.pop(run_id, None) or _Lane(RunFold(run_id, self._around, whole=False))
        self._lanes[run_id] = lane
        return lane

    def _place(self, run_id: str, lane: _Lane, event: Event) -> None:
        """An event that is not the next one: to be held, or too late, or there already."""
        if not lane.begun and not lane.held and event.kind in RUN_STARTS:
            lane.first = event.sequence
            self._fold(run_id, lane, event)
        elif event.sequence < lane.first and not lane.gaps and event.kind in RUN_STARTS:
            self.reordered += 1
        elif lane.begun and event.sequence < lane.next:
            if not lane.gaps or event.sequence == lane.next - 1 or lane.fold.knows(event.event_id):
                lane.fold.take(event)
                self._settle(run_id, lane)
            elif not lane.lost:
                lane.lost = True
                self.gathered.retract(run_id)
                message = (
                    f"a line stands more than {self._window} lines behind its place; sort the log, or give --window"
                )
                lane.fold.findings.clear()
                where = f"run {named(run_id)}, {event.place}"
                self.gathered.add([Finding(INCREASE, message, where, weight=Weight.INCONCLUSIVE)])
                self._settle(run_id, lane)
        else:
            self.reordered += event.sequence < lane.highest
            lane.highest = max(lane.highest, event.sequence)
            heapq.heappush(lane.held, (event.sequence, event.line, event))
            self._waiting.append((event.line, run_id, event.sequence))
            self._drain(run_id, lane)

    def _drain(self, run_id: str, lane: _Lane, up_to: int = -1) -> None:
        while lane.held and (lane.held[0][0] <= max(lane.next, up_to)):
            self._fold(run_id, lane, heapq.heappop(lane.held)[2])

    def _fold(self, run_id: str, lane: _Lane, event: Event) -> None:
        lane.gaps = lane.gaps or (lane.begun and event.sequence > lane.next)
        lane.begun = True
        lane.next = max(lane.next, event.sequence + 1)
        if not lane.lost:
            lane.fold.take(event)
        self._settle(run_id, lane)

    def _settle(self, run_id: str, lane: _Lane) -> None:
        if lane.fold.ended and not lane.held:
            self._close(run_id, lane)
        elif len(lane.fold.findings) > MAX_HELD_BACK:
            self._gather(lane)

    def _gather(self, lane: _Lane) -> None:
        self.gathered.add(lane.fold.findings)
        lane.fold.findings.clear()

    def _close(self, run_id: str, lane: _Lane) -> None:
        """A run that has ended keeps little, and only for a while."""
        self._gather(lane)
        self.tally.add(lane.fold.tally)
        lane.fold.tally = Tally()
        lane.fold.forget()
        self._lanes.pop(run_id, None)
        self._ended[run_id] = lane
        if len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)

    def _expire(self, line: int) -> None:
        while self._waiting and self._waiting[0][0] <= line - self._window:
            _, run_id, sequence = self._waiting.popleft()
            lane = self._lanes.get(run_id)
            if lane is not None:
                self._drain(run_id, lane, sequence)

    def finish(self) -> None:
        """The file ends here."""
        for run_id, lane in list(self._lanes.items()):
            while lane.held:
                self._fold(run_id, lane, heapq.heappop(lane.held)[2])
            if not lane.fold.ended:
                self.unfinished += 1
                if not lane.lost:
                    lane.fold.finish()
                self._gather(lane)
                self.tally.add(lane.fold.tally)
        self._lanes.clear()


def unseen(requirement: str, tally: Tally, tools: Mapping[str, Any] | None, no_tools: Finding) -> Finding | None:
    """Why a log is no ground for a verdict on a requirement, where it held nothing to exercise it; else None."""
    if requirement in _NEEDS_CATALOG and tools is None:
        return no_tools
    need, message, weight = _NEEDS.get(requirement, (None, "", Weight.BLOCKED))
    if need is None or any(getattr(tally, name) for name in need):
        return None
    return Finding(requirement, message, weight=weight)


_NEEDS_CATALOG = frozenset({"session-tool-in-catalog", "session-approval-shown"})
_OPENED = (("opened",), "no session was opened in the log", Weight.BLOCKED)
_CLOSED = (("closed",), "no session was opened and closed in the log", Weight.BLOCKED)
_EVENTS = (("events",), "the log holds no event", Weight.BLOCKED)
_CALLS = (("calls",), "no call was made in the log", Weight.BLOCKED)
_NEEDS: dict[str, tuple[tuple[str, ...], str, Weight]] = {
    WELL_FORMED: _EVENTS,
    INCREASE: _EVENTS,
    ONE_RUN: _EVENTS,
    "event-ids-unique": _EVENTS,
    "event-log-durable": _EVENTS,
    "session-payloads-valid": _OPENED,
    "session-content-free": _OPENED,
    "session-opened-before-calls": _OPENED,
    "session-opened-once": _OPENED,
    "session-closed-before-run-ends": _OPENED,
    "session-tool-in-catalog": _OPENED,
    "session-closed-after-calls": _CLOSED,
    "session-closed-once": _CLOSED,
    "session-ids-constant": _CLOSED,
    "session-has-a-call": _CLOSED,
    "session-silent-after-close": _CLOSED,
    "session-calls-returned": _CALLS,
    "session-calls-paired": _CALLS,
    "call-payloads-valid": _CALLS,
    "call-status-consistent": _CALLS,
    "session-interrupts-known": (("interrupts",), "no session was interrupted", Weight.INAPPLICABLE),
    "session-rejected-call-not-ok": (("rejections",), "no approval was rejected in a session", Weight.INAPPLICABLE),
    "session-approval-shown": (
        ("approvals_due",),
        "no session was of a tool that needs an approval always",
        Weight.INAPPLICABLE,
    ),
}
JUDGED_BY_LOG = tuple(name for name in _NEEDS if name not in {ONE_RUN, "event-log-durable"})
FOLDED = tuple(_NEEDS)
