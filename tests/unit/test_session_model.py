"""A model of a host that writes legal logs: they pass, and each named mutation is blamed for what it breaks."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from openwop_conformance.checks.event_log import LogFold, check_log
from openwop_conformance.checks.run_state import Surroundings
from openwop_conformance.findings import Weight
from tests.logs import Event, Log

TOOLS = {"mcp:a": None, "mcp:b": "never", "x-host-acme-c": "always"}
AROUND = Surroundings(TOOLS)


class Host(RuleBasedStateMachine):
    """Opens sessions, makes calls in and around them, interrupts, and closes what it opened."""

    sessions = Bundle("sessions")
    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.log = Log().started()
        self.open: dict[str, str] = {}
        self.pending: dict[str, str | None] = {}
        self.held: set[str] = set()
        self.shown: set[str] = set()
        self.made = 0

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    @rule(target=sessions, tool=st.sampled_from(sorted(TOOLS)))
    def open_session(self, tool: str) -> tuple[str, str]:
        session = self.name("s")
        self.log.opened(session, tool)
        self.open[session] = tool
        return session, tool

    @rule(target=calls, session=sessions)
    def call_in_session(self, session: tuple[str, str]) -> tuple[str, str | None]:
        name, _ = session
        if name not in self.open:
            name = ""
        call = self.name("c")
        self.log.called(call, name or None, inputs={"q": f"value {call} of the inputs"})
        if name:
            self.pending[call] = name
            self.held.add(name)
        return call, name or None

    @rule(target=calls)
    def single_shot(self) -> tuple[str, str | None]:
        call = self.name("c")
        self.log.called(call, None)
        return call, None

    @rule(call=consumes(calls), how=st.sampled_from(["ok", "error"]))
    def return_call(self, call: tuple[str, str | None], how: str) -> None:
        name, session = call
        failed = {"status": "error", "outcome": None, "error": {"code": "x", "message": "y"}}
        self.log.returned(name, session, **(failed if how == "error" else {}))
        self.pending.pop(name, None)

    @rule(session=sessions, granted=st.booleans())
    def approve(self, session: tuple[str, str], *, granted: bool) -> None:
        name, _ = session
        waiting = [call for call, own in self.pending.items() if own == name]
        if not waiting:
            return
        self.shown.add(name)
        asked = {"interruptId": self.name("i"), "kind": "approval", "callId": waiting[0]}
        self.log.add("interrupt.requested", **asked)
        self.log.add("interrupt.resolved", **asked, resumeValue={"action": "accept" if granted else "refine"})

    @rule()
    def something_else(self) -> None:
        self.log.add("node.completed", nodeId="n")

    @rule(session=sessions)
    def close(self, session: tuple[str, str]) -> None:
        name, tool = session
        if name in self.open and name not in self.pending.values() and name in self.held:
            if TOOLS[tool] == "always" and name not in self.shown:
                return
            del self.open[name]
            self.log.closed(name, tool)

    @precondition(lambda self: len(self.log.events) % 5 == 0)
    @invariant()
    def the_log_so_far_is_legal(self) -> None:
        assert violations(self.log.events) == set()

    def teardown(self) -> None:
        for call, session in list(self.pending.items()):
            self.log.returned(call, session)
        for name, tool in self.open.items():
            if name not in self.held:
                self.log.call(self.name("c"), name)
            if name not in self.shown:
                self.log.add("interrupt.requested", kind="approval", sessionId=name)
            self.log.closed(name, tool)
        self.log.ended()
        assert violations(self.log.events) == set()
        assert violations_of_file(self.log.events) == set()


TestHost = Host.TestCase
TestHost.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def violations(events: list[Event]) -> set[str]:
    findings, _ = check_log("r1", events, AROUND)
    return {one.requirement for one in findings if one.weight is Weight.VIOLATION}


def violations_of_file(events: list[Event]) -> set[str]:
    fold = LogFold(AROUND)
    for line, event in enumerate(events, 1):
        fold.take(event, line)
    fold.finish()
    return {name for name, weight in fold.gathered.kept if weight is Weight.VIOLATION}


@st.composite
def legal_logs(draw: st.DrawFn) -> list[Event]:
    """Finished runs of sessions that interleave, whose calls name them or not, with single-shot calls around."""
    log = Log().started()
    lanes: list[list[tuple[str, tuple[Any, ...], dict[str, Any]]]] = []
    for number in range(draw(st.integers(1, 3))):
        session, tool = f"s{number}", draw(st.sampled_from(["mcp:a", "mcp:b"]))
        lane: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [("opened", (session, tool), {})]
        for turn in range(draw(st.integers(1, 3))):
            call = f"{session}c{turn}"
            lane.append(("called", (call, session), {"inputs": {"q": f"the value of {call} alone"}}))
            if draw(st.booleans()):
                lane.append(
                    ("add", ("interrupt.requested",), {"kind": "approval", "callId": call, "interruptId": call})
                )
                lane.append(
                    ("add", ("interrupt.resolved",), {"interruptId": call, "resumeValue": {"action": "accept"}})
                )
            lane.append(("returned", (call, session), {}))
        lane.append(("closed", (session, tool), {}))
        lanes.append(lane)
    loose = [f"x{number}" for number in range(draw(st.integers(0, 2)))]
    lanes += [[("called", (name, None), {}), ("returned", (name, None), {})] for name in loose]
    while lanes:
        lane = lanes[draw(st.integers(0, len(lanes) - 1))]
        method, arguments, more = lane.pop(0)
        getattr(log, method)(*arguments, **more)
        lanes = [one for one in lanes if one]
    return log.ended().events


def places(events: list[Event], kind: str, session: str = "s0") -> list[int]:
    return [
        place for place, one in enumerate(events) if one["type"] == kind and one["payload"].get("sessionId") == session
    ]


def numbered(events: list[Event]) -> list[Event]:
    """The same events with ids and sequences in their order."""
    return [{**one, "sequence": place, "eventId": f"e{place}"} for place, one in enumerate(events)]


def moved(events: list[Event], place: int, to: int) -> list[Event]:
    event = events.pop(place)
    events.insert(to if to < place else to - 1, event)
    return numbered(events)


def edited(events: list[Event], place: int, **payload: Any) -> list[Event]:
    events[place]["payload"].update(payload)
    return events


OPENED, CLOSED, CALLED, RETURNED = (
    "tool.session.opened",
    "tool.session.closed",
    "agent.toolCalled",
    "agent.toolReturned",
)
Mutation = Callable[[list[Event]], list[Event]]


def inserted(events: list[Event], place: int, kind: str, /, **payload: Any) -> list[Event]:
    events.insert(place, {**events[0], "type": kind, "payload": payload})
    return numbered(events)


def without(events: list[Event], *gone: int) -> list[Event]:
    return numbered([one for place, one in enumerate(events) if place not in gone])


def late_call(events: list[Event]) -> list[Event]:
    place = places(events, CLOSED)[0] + 1
    named = {"agentId": "agent", "toolName": "x", "callId": "late", "sessionId": "s0"}
    return inserted(inserted(events, place, CALLED, **named), place + 1, RETURNED, **named, status="ok")


def rejected(events: list[Event]) -> list[Event]:
    place = places(events, RETURNED)[0]
    return inserted(events, place, "interrupt.resolved", callId=events[place]["payload"]["callId"], approved=False)


def swapped_members(events: list[Event], place: int, **members: Any) -> list[Event]:
    events[place].update(members)
    return events


MUTATIONS: dict[str, tuple[Mutation, set[str]]] = {
    "opened late": (
        lambda log: moved(log, places(log, OPENED)[0], places(log, CALLED)[0] + 1), {"session-opened-before-calls"}),
    "never opened": (lambda log: without(log, *places(log, OPENED)), {"session-opened-once"}),
    "opened twice": (
        lambda log: inserted(log, places(log, OPENED)[0] + 1, OPENED, sessionId="s0", toolId="mcp:a"),
        {"session-opened-once"}),
    "closed early": (
        lambda log: moved(log, places(log, CLOSED)[0], places(log, RETURNED)[-1]),
        {"session-closed-after-calls", "session-calls-returned"}),
    "never closed": (lambda log: without(log, *places(log, CLOSED)), {"session-closed-before-run-ends"}),
    "closed twice": (
        lambda log: inserted(log, places(log, CLOSED)[0] + 1, CLOSED, sessionId="s0", toolId="mcp:a", outcome="failed"),
        {"session-closed-once"}),
    "closed after the run": (
        lambda log: moved(log, places(log, CLOSED)[0], len(log)), {"session-closed-before-run-ends"}),
    "a call after the close": (late_call, {"session-closed-after-calls", "session-silent-after-close"}),
    "another session at the close": (
        lambda log: edited(log, places(log, CLOSED)[0], sessionId="other"), {"session-ids-constant"}),
    "another tool at the close": (
        lambda log: edited(log, places(log, CLOSED)[0], toolId="mcp:z"), {"session-ids-constant"}),
    "a tool that is not listed": (
        lambda log: edited(edited(log, places(log, CLOSED)[0], toolId="mcp:z"), places(log, OPENED)[0], toolId="mcp:z"),
        {"session-tool-in-catalog"}),
    "an approval that is not shown": (
        lambda log: [
            one
            for one in edited(edited(log, places(log, CLOSED)[0], toolId="x-host-acme-c"), places(log, OPENED)[0],
                              toolId="x-host-acme-c")
            if not one["type"].startswith("interrupt.")
        ],
        {"session-approval-shown"}),
    "a call that never returns": (
        lambda log: without(log, places(log, RETURNED)[-1]), {"session-calls-returned"}),
    "a return of another call": (
        lambda log: edited(log, places(log, RETURNED)[0], callId="other"), {"session-calls-paired"}),
    "a new kind of interrupt": (
        lambda log: inserted(log, places(log, CLOSED)[0], "interrupt.requested", kind="tool-consent"),
        {"session-interrupts-known"}),
    "a rejected call that is ok": (rejected, {"session-rejected-call-not-ok"}),
    "an outcome of its own": (
        lambda log: edited(log, places(log, CLOSED)[0], outcome="finished"), {"session-payloads-valid"}),
    "an opening without a tool": (
        lambda log: edited(log, places(log, OPENED)[0], toolId=7), {"session-payloads-valid"}),
    "arguments in an opening": (
        lambda log: edited(log, places(log, OPENED)[0], arguments=[1]), {"session-content-free"}),
    "a value of a call in a close": (
        lambda log: edited(log, places(log, CLOSED)[0], hint="the value of s0c0 alone"), {"session-content-free"}),
    "an id used twice": (
        lambda log: swapped_members(log, -1, eventId=log[0]["eventId"]), {"event-ids-unique"}),
    "a sequence used twice": (
        lambda log: swapped_members(log, -1, sequence=log[-2]["sequence"]), {"event-sequences-increase"}),
    "no timestamp": (lambda log: swapped_members(log, 1, timestamp=None), {"events-well-formed"}),
    "a call without a tool name": (
        lambda log: edited(log, places(log, CALLED)[0], toolName=None), {"call-payloads-valid"}),
    "an outcome and an error": (
        lambda log: edited(log, places(log, RETURNED)[0], error={"code": "x", "message": "y"}),
        {"call-status-consistent"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
@given(log=legal_logs())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutation_is_blamed_for_what_it_breaks_in_a_live_log_and_in_a_file(name: str, log: list[Event]) -> None:
    mutate, wanted = MUTATIONS[name]
    mutated = mutate(copy.deepcopy(log))
    assert violations(mutated) == wanted
    assert violations_of_file(mutated) == wanted


@given(log=legal_logs())
@settings(max_examples=25, deadline=None)
def test_an_empty_session_among_loose_calls(log: list[Event]) -> None:
    """Its own calls gone, loose calls inside may still be its calls; without any inside, it has none."""
    first, last = places(log, OPENED)[0], places(log, CLOSED)[0]
    own = {place for kind in (CALLED, RETURNED) for place in places(log, kind)}
    loose = any(one["type"] in {CALLED, RETURNED} and "sessionId" not in one["payload"] for one in log[first:last])
    found = violations(without(log, *own, *[p for p, one in enumerate(log) if one["type"].startswith("interrupt.")]))
    assert found <= {
        "session-has-a-call",
        "session-opened-before-calls",
        "session-closed-after-calls",
        "session-calls-returned",
    }
    assert bool(found) or loose


@given(log=legal_logs(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_lines_of_a_file_may_stand_in_any_order_within_the_window(log: list[Event], data: st.DataObject) -> None:
    assert violations_of_file(data.draw(st.permutations(log))) == set()


@given(log=legal_logs(), cut=st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_a_file_that_is_cut_off_at_either_end_accuses_nobody(log: list[Event], cut: int) -> None:
    assert violations_of_file(log[:cut]) == set()
    assert violations_of_file(log[cut:]) == set()
