"""The bracket checker, case by case: what is legal, and what each departure is blamed for."""

from typing import Any

import pytest

from openwop_conformance.checks.event_log import check_log
from openwop_conformance.checks.run_state import Surroundings
from openwop_conformance.checks.secrets import secret_pattern
from openwop_conformance.findings import Weight
from tests.logs import Log, session


def blamed(log: Log, weight: Weight = Weight.VIOLATION, around: Surroundings | None = None) -> set[str]:
    findings, _ = check_log(log.run, log.events, around)
    return {one.requirement for one in findings if one.weight is weight}


def good() -> Log:
    return session(Log().started()).ended()


def changed(log: Log, place: int, **members: Any) -> Log:
    log.events[place] = {**log.events[place], **members}
    return log


LEGAL = {
    "a plain session": good(),
    "calls that name no session": Log().opened().call("c1", None).call("c2", None).closed().ended(),
    "a single-shot call before": session(Log().call("c0", None)).ended(),
    "a single-shot call after": session(Log()).call("c9", None).ended(),
    "a single-shot call across the opening": Log()
    .called("c0", None).opened().returned("c0", None).call("c1").closed().ended(),
    "a loose call across the opening beside one inside": Log()
    .called("c0", None).opened().returned("c0", None).call("c1", None).closed().ended(),
    "a loose call across the close beside one inside": Log()
    .opened().call("c1", None).called("c2", None).closed().returned("c2", None).ended(),
    "a single-shot call across a whole session": Log()
    .called("c0", None).opened().call("c1", None).closed().returned("c0", None).ended(),
    "interleaved sessions": Log()
    .opened("s1").opened("s2").call("a", "s1").call("b", "s2").closed("s1").closed("s2").ended(),
    "nested sessions, loose calls": Log()
    .opened("s1").call("a", None).opened("s2").call("b", None).closed("s2").closed("s1").ended(),
    "overlapping calls": Log().opened().called("a").called("b").returned("b").returned("a").closed().ended(),
    "a refused call that shows only its return": Log()
    .opened().returned("c1", status="forbidden", outcome=None).closed().ended(),
    "a rate-limited call without a session": Log()
    .opened().returned("c1", None, status="rate_limited", outcome=None).closed().ended(),
    "only the return names its session": Log().opened().called("c1", None).returned("c1", "s1").closed().ended(),
    "two refusals that show only their returns": Log()
    .opened("s1").opened("s2").returned("c1", None, status="forbidden", outcome=None)
    .returned("c2", "s2", status="rate_limited", outcome=None).closed("s1").closed("s2").ended(),
    "a broken pair outside of sessions": Log().returned("c9", None).call("c0", None).opened().call().closed().ended(),
    "an unfinished run": Log().opened().called("c1"),
    "an approval in mid-call": Log()
    .opened().called("c1").add("interrupt.requested", kind="approval", interruptId="i")
    .add("interrupt.resolved", interruptId="i", resumeValue={"action": "accept"}).returned("c1").closed().ended(),
    "a rejected call that fails": Log()
    .opened().called("c1").add("approval.rejected", gateId="g", principal="p")
    .returned("c1", status="error", outcome=None, error={"code": "x", "message": "y"}).closed().ended(),
    "a rejection that was overridden": Log()
    .opened().called("c1").add("approval.rejected", gateId="g", principal="p")
    .add("approval.overridden", gateId="g", principal="p", reason="r").returned("c1").closed().ended(),
    "a rejected approval of something else": Log()
    .opened().called("c1").called("c2").add("approval.rejected", gateId="g", principal="p")
    .returned("c1").returned("c2").closed().ended(),
    "an interrupt of an existing kind": Log()
    .opened().called("c1").add("interrupt.requested", kind="clarification").returned("c1").closed().ended(),
    "an approval asked for again after a rejection": Log()
    .opened().called("c1").add("interrupt.requested", kind="approval", interruptId="i", callId="c1")
    .add("interrupt.resolved", interruptId="i", action="reject")
    .add("interrupt.requested", kind="approval", callId="c1").add("interrupt.resolved", callId="c1", action="go")
    .returned("c1").closed().ended(),
    "a rejection and then words that nobody knows": Log()
    .opened().called("c1").add("approval.rejected", callId="c1")
    .add("approval.received", callId="c1", decision="tbd").returned("c1").closed().ended(),
    "an answer to a clarification that says no": Log()
    .opened().called("c1").add("interrupt.requested", kind="clarification", interruptId="q", callId="c1")
    .add("interrupt.resolved", interruptId="q", resumeValue="no").returned("c1").closed().ended(),
    "one of two calls of a session is rejected, and one fails": Log()
    .opened().called("a").called("b").add("approval.rejected", sessionId="s1")
    .returned("a").returned("b", status="error", outcome=None, error={"code": "x", "message": "y"}).closed().ended(),
    "a failed session around the only loose call of another": Log()
    .opened("s1").opened("s2").call("c", None).closed("s2", outcome="failed").closed("s1").ended(),
    "call ids counted anew in each session": Log()
    .opened("s1").call("1", "s1").closed("s1").opened("s2").call("1", "s2").closed("s2").ended(),
    "call ids counted anew in sessions that overlap": Log()
    .opened("s1").opened("s2").called("1", "s1").called("1", "s2").returned("1", "s2").returned("1", "s1")
    .closed("s1").closed("s2").ended(),
    "types of sessions that ask for nothing": Log()
    .opened().add("tool.session.interrupted", sessionId="s1").add("tool.session.credential_masked", sessionId="s1")
    .add("tool.session.approval_not_required", sessionId="s1").call().closed().ended(),
    "members left empty": changed(changed(good(), 1, nodeId=None), 2, causationId=None),
    "a sequence written as a float": changed(good(), 2, sequence=2.0),
    "unknown types": Log().add("vendor.thing").opened().add("vendor.other").call().closed().ended(),
    "gaps in the sequences": Log(start=40).started().opened().call().closed().ended(),
    "an error without a status": Log()
    .opened().called().returned("c1", status=None, outcome=None, error={"code": "x", "message": "y"}).closed().ended(),
}  # fmt: skip


@pytest.mark.parametrize("name", LEGAL)
def test_legal_logs_are_left_alone(name: str) -> None:
    findings, tally = check_log("r1", LEGAL[name].events)
    assert findings == []
    assert tally.opened >= 1


ILLEGAL: dict[str, tuple[Log, set[str]]] = {
    "opened after the first call": (
        Log().called().opened().returned().closed().ended(), {"session-opened-before-calls"}),
    "opened after the only loose call began": (
        Log().called("c", None).opened().returned("c", None).closed().ended(), {"session-opened-before-calls"}),
    "all loose calls before the opening": (
        Log().call("c", None).opened().closed().ended(), {"session-opened-before-calls", "session-has-a-call"}),
    "a call of a session that is never opened": (
        session(Log().call("x", "s9")).ended(), {"session-opened-before-calls"}),
    "closed before a call returns": (
        Log().opened().called().closed().returned().ended(),
        {"session-closed-after-calls", "session-calls-returned"}),
    "closed before the only loose call returns": (
        Log().opened().called("c", None).closed().returned("c", None).ended(),
        {"session-closed-after-calls", "session-calls-returned"}),
    "all loose calls after the close": (
        Log().opened().closed().call("c", None).ended(), {"session-closed-after-calls", "session-has-a-call"}),
    "closed too early": (
        Log().opened().call("a").closed().call("b").ended(),
        {"session-closed-after-calls", "session-silent-after-close"}),
    "another session id at the close": (
        Log().opened("s1").call("c", "s1").closed("s2").ended(), {"session-ids-constant"}),
    "another tool id at the close": (
        Log().opened(tool="mcp:a").call().closed(tool="mcp:b").ended(), {"session-ids-constant"}),
    "another session id in the calls": (
        Log().opened("s1").call("c", "s2").closed("s1").ended(), {"session-ids-constant"}),
    "call and return of different sessions": (
        Log().opened("s1").opened("s2").call("a", "s2").called("c", "s1").returned("c", "s2").closed("s1")
        .closed("s2").ended(), {"session-ids-constant"}),
    "another tool id in a call": (
        Log().opened(tool="mcp:a").called(toolId="mcp:b").returned().closed(tool="mcp:a").ended(),
        {"session-ids-constant"}),
    "a call before the opening whose return names the session": (
        Log().called("c", None).opened().returned("c", "s1").closed().ended(), {"session-opened-before-calls"}),
    "a return without a call id": (
        Log().opened().call("a").add("agent.toolReturned", agentId="agent", toolName="x", sessionId="s1").closed()
        .ended(), {"session-calls-paired", "call-payloads-valid"}),
    "a call without a call id": (
        Log().opened().call("a").add("agent.toolCalled", agentId="agent", toolName="x", sessionId="s1").closed()
        .ended(), {"session-calls-paired", "call-payloads-valid"}),
    "a refusal told twice": (
        Log().opened().returned("c", status="forbidden", outcome=None).returned("c", status="forbidden", outcome=None)
        .closed().ended(), {"session-calls-paired"}),
    "a loose call that returns twice": (
        Log().opened().call("a", None).returned("a", None).closed().ended(), {"session-calls-paired"}),
    "a loose return without a call": (
        Log().opened().call("a").returned("b", None).closed().ended(), {"session-calls-paired"}),
    "opened twice": (Log().opened().opened().call().closed().ended(), {"session-opened-once"}),
    "never opened": (Log().call("c", None).closed().ended(), {"session-opened-once"}),
    "never opened, with calls that name it": (Log().call().closed().ended(), {"session-opened-once"}),
    "opened again after its close": (
        session(session(Log(), calls=1), calls=0).ended(), {"session-opened-once", "session-has-a-call"}),
    "closed twice": (Log().opened().call().closed().closed().ended(), {"session-closed-once"}),
    "never closed": (Log().opened().call().ended(), {"session-closed-before-run-ends"}),
    "closed after the run": (Log().opened().call().ended().closed(), {"session-closed-before-run-ends"}),
    "opened after the run": (good().opened("s9"), {"session-closed-before-run-ends"}),
    "the last of three is not closed": (
        session(session(Log(), "s1"), "s2").opened("s3").call("x", "s3").ended("failed"),
        {"session-closed-before-run-ends"}),
    "no call in it": (Log().started().opened().closed().ended(), {"session-has-a-call"}),
    "one empty among others": (session(session(Log(), "s1"), "s2", calls=0).ended(), {"session-has-a-call"}),
    "only one loose call for two sessions": (
        Log().opened("s1").opened("s2").call("c", None).closed("s2").closed("s1").ended(), {"session-has-a-call"}),
    "a call that never returns": (Log().opened().called("a").call("b").closed().ended(), {"session-calls-returned"}),
    "a return without a call": (Log().opened().call("a").returned("b").closed().ended(), {"session-calls-paired"}),
    "a return under another call id": (
        Log().opened().called("a").returned("b").closed().ended(), {"session-calls-paired"}),
    "a call that returns twice": (Log().opened().call("a").returned("a").closed().ended(), {"session-calls-paired"}),
    "two calls under one id": (Log().opened().called("a").call("a").closed().ended(), {"session-calls-paired"}),
    "a used id again": (Log().opened().call("a").call("a").closed().ended(), {"session-calls-paired"}),
    "a late event of the session": (
        good().add("tool.session.progress", sessionId="s1"), {"session-silent-after-close"}),
    "a new kind of interrupt": (
        Log().opened().called().add("interrupt.requested", kind="tool-approval").returned().closed().ended(),
        {"session-interrupts-known"}),
    "a new event instead of an interrupt": (
        Log().opened().called().add("tool.session.approvalRequired", sessionId="s1").returned().closed().ended(),
        {"session-interrupts-known"}),
    "a rejected call that returns ok": (
        Log().opened().called().add("approval.rejected", gateId="g", principal="p").returned().closed().ended(),
        {"session-rejected-call-not-ok"}),
    "a call rejected by resolution": (
        Log().opened().called("c1").add("interrupt.requested", kind="approval", interruptId="i", callId="c1")
        .add("interrupt.resolved", interruptId="i", resumeValue={"action": "reject"}).returned("c1").closed().ended(),
        {"session-rejected-call-not-ok"}),
    "one of two calls rejected by name": (
        Log().opened().called("a").called("b").add("interrupt.resolved", kind="approval", callId="a", approved=False)
        .returned("b").returned("a", status=None).closed().ended(), {"session-rejected-call-not-ok"}),
    "a rejection before the call": (
        Log().opened().add("interrupt.resolved", callId="c1", decision="rejected").call("c1").closed().ended(),
        {"session-rejected-call-not-ok"}),
    "a call rejected by cause": (
        changed(
            Log().opened().called("a").called("b").add("approval.rejected").returned("b").returned("a").closed().ended(),
            3, causationId="r1-e1"), {"session-rejected-call-not-ok"}),
    "a rejection that names the node of the only call": (
        Log().opened().called("a").add("approval.rejected", nodeId="n1").returned("a").closed().ended(),
        {"session-rejected-call-not-ok"}),
    "a rejection in the session of a loose call": (
        Log().opened().called("a", None).add("approval.rejected", sessionId="s1").returned("a", None).closed().ended(),
        {"session-rejected-call-not-ok"}),
    "a rejection that names only the session of two calls": (
        Log().opened().called("a").called("b").add("approval.rejected", sessionId="s1").returned("a").returned("b")
        .closed().ended(), {"session-rejected-call-not-ok"}),
    "rejected deep in an answer": (
        Log().opened().called("a").add("interrupt.resolved", kind="approval", resumeValue={"value": {"approved": "no"}})
        .returned("a").closed().ended(), {"session-rejected-call-not-ok"}),
    "denied by a flag": (
        Log().opened().called("a").add("interrupt.resolved", kind="approval", denied=True).returned("a").closed()
        .ended(), {"session-rejected-call-not-ok"}),
    "a rejection among the calls of two sessions": (
        Log().opened("s1").opened("s2").called("1", "s1").called("1", "s2")
        .add("approval.rejected", callId="1", sessionId="s2").returned("1", "s1").returned("1", "s2")
        .closed("s1").closed("s2").ended(), {"session-rejected-call-not-ok"}),
    "an approval asked for after the close": (
        good().add("interrupt.requested", kind="approval", sessionId="s1"), {"session-silent-after-close"}),
    "a resolution of a new kind": (
        Log().opened().called().add("interrupt.resolved", kind="tool-approval").returned().closed().ended(),
        {"session-interrupts-known"}),
    "an event that interrupts": (
        Log().opened().called().add("tool.session.interrupt", sessionId="s1").returned().closed().ended(),
        {"session-interrupts-known"}),
    "a request for authorization of its own": (
        Log().opened().called().add("tool.session.oauth_requested", sessionId="s1").returned().closed().ended(),
        {"session-interrupts-known"}),
    "closed before it is opened": (
        Log().closed().opened().call().ended(), {"session-opened-once", "session-closed-before-run-ends"}),
    "a return that names another tool": (
        Log().opened(tool="mcp:a").called().returned(toolId="mcp:b").closed(tool="mcp:a").ended(),
        {"session-ids-constant"}),
    "a number of a call in a session event": (
        Log().opened().called(inputs={"n": 123456789}).returned().closed(note="123456789").ended(),
        {"session-content-free"}),
    "a value of a call as the name of a member": (
        Log().opened().called(inputs={"who": "jane_at_corp_io"}).returned().closed(jane_at_corp_io=1).ended(),
        {"session-content-free"}),
    "a short value of a call in a longer text": (
        Log().opened().called(inputs={"who": "jane@corp.io"}).returned().closed(note="for jane@corp.io only").ended(),
        {"session-content-free"}),
    "the beginning of a long value": (
        Log().opened().called(inputs={"q": "the quick brown fox jumps over it"}).returned()
        .closed(note="the quick brown fox jum…").ended(), {"session-content-free"}),
    "a fraction of a call in a session event": (
        Log().opened().called().returned(outcome={"x": 3.14159265}).closed(note=3.14159265).ended(),
        {"session-content-free"}),
    "an unknown outcome": (Log().opened().call().closed(outcome="done").ended(), {"session-payloads-valid"}),
    "an opening without a session id": (
        Log().add("tool.session.opened", toolId="mcp:a").call("c", None).closed(tool="mcp:a").ended(),
        {"session-payloads-valid"}),
    "a close without a session id": (
        Log().opened().call().add("tool.session.closed", toolId="mcp:a", outcome="failed").ended(),
        {"session-payloads-valid"}),
    "a call without an agent": (
        Log().opened().add("agent.toolCalled", toolName="x", callId="c", sessionId="s1").returned("c").closed().ended(),
        {"call-payloads-valid"}),
    "a return that contradicts itself": (
        Log().opened().called().returned(error={"code": "x", "message": "y"}).closed().ended(),
        {"call-status-consistent"}),
    "arguments in a session event": (
        Log().opened(inputs={"a": 1}).call().closed().ended(), {"session-content-free"}),
    "a result deep in a session event": (
        Log().opened().call().closed(meta={"last": {"result": 1}}).ended(), {"session-content-free"}),
    "a value of a call in a session event": (
        Log().opened().called(inputs={"q": "canary-77-of-the-mine"}).returned().closed(note="canary-77-of-the-mine")
        .ended(), {"session-content-free"}),
    "a value of a later call in the opening": (
        Log().opened(note="see: the-slug-of-the-text!").called().returned(outcome={"slug": "the-slug-of-the-text"})
        .closed().ended(), {"session-content-free"}),
    "a token for a session id": (
        Log().opened("ghp_" + "a1B2c3D4" * 4 + "e5F6").call("c", None)
        .closed("ghp_" + "a1B2c3D4" * 4 + "e5F6").ended(), {"session-content-free"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_a_departure_is_blamed_for_what_it_is(name: str) -> None:
    log, wanted = ILLEGAL[name]
    assert blamed(log) == wanted


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        (Log().opened().closed(outcome="failed").ended("failed"), "session-has-a-call"),
        (Log().opened().closed(outcome="cancelled").ended("cancelled"), "session-has-a-call"),
        (Log().opened().call().closed(outcome="aborted").ended(), "session-payloads-valid"),
        (Log().opened().called(inputs={"on": "2026-05-30"}).returned().closed(at="2026-05-30T10:00:00Z").ended(),
         "session-content-free"),
        (Log().opened().called(inputs={"n": "1234567890"}).returned().closed(at="x 1234567890 y").ended(),
         "session-content-free"),
        (Log().opened(attempt=1).call().closed().ended(), "session-content-free"),
        (Log().opened().called().add("interrupt.requested", kind="credential").returned().closed().ended(),
         "session-interrupts-known"),
    ],
)  # fmt: skip
def test_oddities_are_only_remarked(log: Log, wanted: str) -> None:
    assert blamed(log) == set()
    assert blamed(log, Weight.ADVISORY) == {wanted}


def test_the_catalog_tells_which_tools_there_are_and_which_need_an_approval() -> None:
    around = Surroundings({"mcp:fs.read": "always"})
    assert blamed(good(), around=around) == {"session-approval-shown"}
    assert blamed(good(), around=Surroundings({"mcp:other": None})) == {"session-tool-in-catalog"}
    assert blamed(good(), around=Surroundings({"mcp:fs.read": "never"})) == set()
    shown = Log().opened().called().add("interrupt.requested", kind="approval").returned().closed().ended()
    assert blamed(shown, around=around) == set()
    refused = Log().opened().closed(outcome="cancelled").ended()
    assert blamed(refused, around=around) == set()


def test_a_planted_secret_in_a_session_event_is_found() -> None:
    around = Surroundings(secrets=(secret_pattern("planted-value-1"),))
    assert blamed(Log().opened("planted-value-1").call("c", None).closed("planted-value-1").ended(), around=around) == {
        "session-content-free"
    }
    assert blamed(good(), around=around) == set()


def test_the_events_of_a_run_are_events_of_that_run_with_ids_and_sequences_of_their_own() -> None:
    assert blamed(changed(good(), 2, runId="r2")) == {"events-of-one-run"}
    assert blamed(changed(good(), 2, eventId="r1-e1")) == {"event-ids-unique"}
    assert blamed(changed(good(), 2, sequence=1)) == {"event-sequences-increase"}
    assert blamed(changed(good(), 2, timestamp="yesterday")) == {"events-well-formed"}
    doubled = good()
    doubled.events.insert(3, doubled.events[3])
    assert blamed(doubled) == {"event-ids-unique", "event-sequences-increase"}
    no_object = good()
    no_object.events.insert(3, "noise")  # type: ignore[arg-type]
    assert blamed(no_object) == {"events-well-formed"}


def test_events_out_of_order_are_blamed_for_that_alone() -> None:
    log = good()
    log.events.reverse()
    assert blamed(log) == {"event-sequences-increase"}
    log = good()
    for place, sequence in ((2, 3), (3, 2)):
        log.events[place] = {**log.events[place], "sequence": sequence}
    assert blamed(log) == {"event-sequences-increase"}


def test_a_wrong_name_on_the_wire_is_hinted_at() -> None:
    log = Log().opened().add("agentToolCalled").add("agentToolReturned").closed().ended()
    [finding] = check_log("r1", log.events)[0]
    assert "agent.toolCalled" in finding.message


def test_a_sequence_below_zero_and_a_missing_run_are_told_once() -> None:
    assert blamed(changed(good(), 2, sequence=-1)) >= {"events-well-formed"}
    assert "event-sequences-increase" not in blamed(changed(good(), 2, sequence=-1))
    nameless = good()
    del nameless.events[2]["runId"]
    assert blamed(nameless) == {"events-well-formed"}


def test_what_is_doubled_after_the_end_of_a_run_is_blamed_for_that_alone() -> None:
    log = good()
    log.events += log.events[2:5]
    assert blamed(log) == {"event-ids-unique", "event-sequences-increase"}


def test_findings_say_where() -> None:
    [finding] = check_log("r1", Log().started().opened().call().ended().events)[0]
    assert finding.where == "run r1, sequence 4"
    assert "sequence 1" in finding.message
