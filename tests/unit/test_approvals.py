"""What decisions say, which sessions approvals are about, and what names content in session events."""

from typing import Any

import pytest

from openwop_conformance.checks.approvals import asks_for_approval, decision, new_kind
from openwop_conformance.checks.caching import check_shared_caches
from openwop_conformance.checks.event_log import check_log, unseen
from openwop_conformance.checks.run_events import Event
from openwop_conformance.checks.run_state import Surroundings, Tally
from openwop_conformance.checks.session_content import content_findings
from openwop_conformance.findings import Finding, Weight
from tests.answers import answer, only, weights
from tests.logs import Log

ALWAYS = Surroundings({"mcp:fs.read": "always", "mcp:b": "always"})


def event(kind: str, /, **payload: Any) -> Event:
    return Event(kind, 7, "e7", payload)


@pytest.mark.parametrize(
    ("said", "granted"),
    [
        ({"action": "accept"}, True),
        ({"action": " Approved "}, True),
        ({"action": "reject"}, False),
        ({"action": "perhaps"}, None),
        ({"action": "perhaps", "decision": "denied"}, False),
        ({"approved": True}, True),
        ({"approved": "no"}, False),
        ({"approved": 7}, None),
        ({"denied": True}, False),
        ({"denied": False}, True),
        ({"denied": "true", "approved": True}, False),
        ({"resolution": {"value": {"result": {"granted": False}}}}, False),
        ({"value": {"value": {"value": {"value": {"value": {"approved": False}}}}}}, None),
        ({"resumeValue": True}, True),
        ({"resumeValue": "refuse"}, False),
        ({"resumeValue": ["refuse"]}, None),
        ({"kind": "clarification", "approved": False}, None),
        ({"kind": "approval", "approved": False}, False),
        ({}, None),
    ],
)
def test_what_a_decision_says(said: dict[str, Any], *, granted: bool | None) -> None:
    assert decision(event("interrupt.resolved", **said)) is granted


def test_decisions_by_type() -> None:
    assert decision(event("approval.granted", approved=False)) is True
    assert decision(event("approval.overridden")) is True
    assert decision(event("approval.rejected", approved=True)) is False
    assert decision(event("approval.received", approved=True)) is True


def test_who_asks_for_an_approval() -> None:
    assert asks_for_approval(event("approval.requested"))
    assert asks_for_approval(event("interrupt.requested", kind="approval"))
    assert not asks_for_approval(event("interrupt.requested", kind="clarification"))
    assert not asks_for_approval(event("interrupt.resolved", kind="approval"))


@pytest.mark.parametrize(
    ("kind", "new"),
    [
        ("tool.session.approvalRequired", True),
        ("tool.session.authorization_requested", True),
        ("tool.session.oauth.pending", True),
        ("tool.session.interrupt", True),
        ("tool.session.interrupted", False),
        ("tool.session.approval_not_required", False),
        ("tool.session.credential_masked", False),
        ("tool.session.author_asked", False),
        ("tool.session.progress", False),
        ("vendor.approvalRequired", False),
    ],
)
def test_types_that_bring_in_a_kind_of_interrupt(kind: str, *, new: bool) -> None:
    assert (new_kind(event(kind)) == kind) is new


def shown(log: Log) -> set[str]:
    return {
        one.message.split('"')[1] for one in check_log("r1", log.events, ALWAYS)[0] if "approval" in one.requirement
    }


def two_sessions() -> Log:
    return Log().opened("s1").opened("s2", "mcp:b").called("a", "s1").called("b", "s2")


@pytest.mark.parametrize(
    ("asked", "without"),
    [
        ({"sessionId": "s1"}, {"mcp:b"}),
        ({"sessionId": "s2"}, {"mcp:fs.read"}),
        ({"callId": "a"}, {"mcp:b"}),
        ({"callId": "b", "sessionId": "s2"}, {"mcp:fs.read"}),
        ({"callId": "b"}, {"mcp:fs.read"}),
        ({}, set()),
        ({"sessionId": "elsewhere"}, set()),
    ],
)
@pytest.mark.parametrize(
    "kind", ["interrupt.requested", "approval.requested", "approval.granted", "interrupt.resolved"]
)
def test_an_approval_counts_for_the_session_that_it_is_about(
    kind: str, asked: dict[str, str], without: set[str]
) -> None:
    log = two_sessions().add(kind, kind="approval", **asked)
    log.returned("a", "s1").returned("b", "s2").closed("s1").closed("s2", "mcp:b").ended()
    assert shown(log) == without


def test_an_interrupt_of_another_kind_shows_no_approval() -> None:
    log = two_sessions().add("interrupt.requested", kind="clarification", interruptId="q")
    log.add("interrupt.resolved", interruptId="q", resumeValue="yes")
    log.returned("a", "s1").returned("b", "s2").closed("s1").closed("s2", "mcp:b").ended()
    assert shown(log) == {"mcp:fs.read", "mcp:b"}


def test_interrupts_are_counted() -> None:
    log = two_sessions().add("interrupt.requested", kind="approval").add("interrupt.requested", kind="custom")
    assert check_log("r1", log.events)[1].interrupts == 2
    assert check_log("r1", Log().add("interrupt.requested", kind="custom").events)[1].interrupts == 0
    assert check_log("r1", Log().add("interrupt.requested", sessionId="s1").events)[1].interrupts == 1


@pytest.mark.parametrize("name", ["api_key", "API-KEY", "apiKey", "Inputs", "arguments", "headers", "credentials"])
@pytest.mark.parametrize(
    "deep", [lambda inner: inner, lambda inner: {"meta": [1, inner]}, lambda inner: {"a": {"b": inner}}]
)
def test_members_that_name_content_are_found_at_any_depth(name: str, deep: Any) -> None:
    [finding, *_] = content_findings(event("tool.session.closed", sessionId="s", **deep({name: 1})), ())
    assert finding.weight is Weight.VIOLATION
    assert finding.seen == name


def test_an_empty_member_names_no_content() -> None:
    assert weights(content_findings(event("tool.session.opened", error=None), ())) == {Weight.ADVISORY}
    assert not list(content_findings(event("tool.session.progress", note="x"), ()))


def test_the_place_of_a_credential_does_not_show_it() -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    found = list(content_findings(event("tool.session.closed", **{token: {"deep": token}}), ()))
    places = [one.where for one in found if one.seen.startswith("what looks like")]
    assert places == ["sequence 7, /[redacted]", "sequence 7, /[redacted]/deep"]


def test_values_of_several_members_are_each_compared() -> None:
    log = Log().opened(a="run-1-of-this-kind", b="the-slug-of-the-text").called(inputs={"q": "the-slug-of-the-text"})
    found = check_log("r1", log.returned().closed().ended().events)[0]
    assert [one.seen for one in found if one.weight is Weight.VIOLATION] == ["a value of 20 characters"]
    ids = Log("run-id-number-one").opened(run="run-id-number-one").called(inputs={"q": "run-id-number-one"})
    found = check_log("run-id-number-one", ids.returned().closed().ended().events)[0]
    assert weights(found) == {Weight.ADVISORY}


@pytest.mark.parametrize(
    ("headers", "weight"),
    [
        ({"Cache-Control": "public"}, Weight.VIOLATION),
        ({"Cache-Control": 's-maxage="60"'}, Weight.VIOLATION),
        ({"Cache-Control": "s-maxage=0"}, Weight.ADVISORY),
        ({"Cache-Control": "s-maxage=00"}, Weight.ADVISORY),
        ({"Cache-Control": "must-revalidate"}, Weight.ADVISORY),
        ({"Cache-Control": "max-age=60"}, None),
        ({"Cache-Control": "public, no-cache"}, None),
        ({"Cache-Control": 'public, no-cache="x"'}, Weight.VIOLATION),
        ({"Cache-Control": "public", "Vary": "Accept, Authorization"}, None),
        ({"Cache-Control": "public", "Vary": "accept,*"}, None),
        ({"Cache-Control": "public", "Vary": "Accept"}, Weight.VIOLATION),
        ({"Surrogate-Control": "max-age=60"}, Weight.ADVISORY),
        ({"CDN-Cache-Control": "max-age=60"}, Weight.ADVISORY),
        ({"CDN-Cache-Control": "no-store"}, None),
        ({}, None),
    ],
)
def test_what_lets_a_shared_cache_in(headers: dict[str, str], weight: Weight | None) -> None:
    answers = [answer(200, {}), answer(200, {}, headers=tuple(headers.items()))]
    assert weights(check_shared_caches(answers)) == ({weight} if weight else set())


def test_every_answer_is_looked_at_for_caches() -> None:
    private = answer(200, {}, headers=(("Cache-Control", "private"),))
    public = answer(200, {}, headers=(("Cache-Control", "public, max-age=60"),))
    found = only(check_shared_caches([private, public, private]))
    assert found.seen == "public, max-age=60"
    assert weights(check_shared_caches([])) == {Weight.BLOCKED}


def test_why_a_log_is_no_ground_for_a_verdict() -> None:
    nothing = Finding("", "no list", weight=Weight.BLOCKED)
    missing = unseen("session-closed-once", Tally(events=3, opened=1), None, nothing)
    assert missing == Finding(
        "session-closed-once", "no session was opened and closed in the log", weight=Weight.BLOCKED
    )
    assert unseen("something-else", Tally(), None, nothing) is None


def rejected(log: Log) -> set[str]:
    """The calls that return ok although the approval of them was rejected."""
    found = check_log("r1", log.events)[0]
    return {one.message.split('"')[1] for one in found if one.requirement == "session-rejected-call-not-ok"}


def two_calls(first: str | None = "s1", second: str | None = "s1", **node: str) -> Log:
    log = Log().opened("s1").opened("s2").called("a", first).called("b", second)
    for place, name in ((2, "a"), (3, "b")):
        if name in node:
            log.events[place] = {**log.events[place], "nodeId": node[name]}
    return log


def returned(log: Log, first: str | None = "s1", second: str | None = "s1") -> Log:
    log.returned("a", first).returned("b", second).call("x", "s1").call("y", "s2")
    return log.closed("s1").closed("s2").ended()


@pytest.mark.parametrize("key", ["interruptId", "key", "gateId", "approvalId"])
def test_a_decision_is_about_what_was_asked_under_its_key(key: str) -> None:
    log = two_calls().add("interrupt.requested", kind="approval", callId="a", **{key: "k1"})
    log.add("interrupt.requested", kind="approval", callId="b", **{key: "k2"})
    log.add("interrupt.resolved", action="reject", **{key: "k1"}).add("interrupt.resolved", action="go", **{key: "k2"})
    assert rejected(returned(log)) == {"a"}
    other = two_calls().add("interrupt.requested", kind="clarification", callId="a", **{key: "k1"})
    other.add("interrupt.requested", kind="approval", callId="b", **{key: "k2"})
    assert rejected(returned(other.add("interrupt.resolved", action="reject", **{key: "k1"}))) == set()


def test_a_decision_without_a_key_is_about_what_was_asked_last() -> None:
    asked = Log().opened("s1").called("a").add("interrupt.requested", kind="approval")
    both = asked.add("interrupt.requested", kind="clarification").add("interrupt.resolved", action="reject")
    assert rejected(both.returned("a").closed("s1").ended()) == set()
    log = Log().opened("s1").called("a").add("interrupt.requested").add("interrupt.resolved", action="reject")
    assert rejected(log.returned("a").closed("s1").ended()) == {"a"}


@pytest.mark.parametrize(
    ("told", "calls", "blamed"),
    [
        ({"sessionId": "s2"}, ("s1", "s2"), {"b"}),
        ({"sessionId": "s1"}, ("s1", "s2"), {"a"}),
        ({"sessionId": "s2"}, ("s1", None), {"b"}),
        ({"nodeId": "n2"}, ("s1", "s1"), {"b"}),
        ({"nodeId": "n3"}, ("s1", "s1"), set()),
        ({}, ("s1", "s1"), set()),
        ({"callId": "b"}, ("s1", "s1"), {"b"}),
        ({"callId": "b", "sessionId": "s2"}, ("s1", "s2"), {"b"}),
    ],
)
def test_a_rejection_is_about_the_only_call_that_it_can_mean(
    told: dict[str, str], calls: tuple[str | None, str | None], blamed: set[str]
) -> None:
    nodes = {"a": "n1", "b": "n2"} if "nodeId" in told else {}
    log = two_calls(*calls, **nodes).add("interrupt.resolved", kind="approval", approved=False, **told)
    assert rejected(returned(log, *calls)) == blamed


def test_a_rejection_by_cause_is_about_that_call_alone() -> None:
    log = two_calls().add("approval.rejected").add("approval.rejected", sessionId="s9")
    log.events[4] = {**log.events[4], "causationId": "r1-e3"}
    assert rejected(returned(log)) == {"b"}


def test_one_open_call_and_a_node_that_is_another() -> None:
    log = Log().opened("s1").called("a")
    log.events[1] = {**log.events[1], "nodeId": "n1"}
    log.add("approval.rejected", nodeId="n2").returned("a").closed("s1").ended()
    assert rejected(log) == set()


def test_a_rejection_before_the_call_may_be_taken_back() -> None:
    log = Log().opened("s1").add("approval.rejected", callId="a").add("approval.granted", callId="a").call("a")
    assert rejected(log.closed("s1").ended()) == set()
    late = Log().opened("s1").call("a").add("approval.rejected", callId="a").closed("s1").ended()
    assert rejected(late) == set()


def test_asking_anew_opens_one_question_and_not_the_other() -> None:
    log = two_calls("s1", "s2").add("approval.rejected", callId="a").add("approval.rejected", callId="b")
    log.add("interrupt.requested", kind="approval", callId="b", sessionId="s2")
    assert rejected(returned(log, "s1", "s2")) == {"a"}
