"""What a host answers about its runs, and the same log by every way."""

from dataclasses import replace
from typing import Any

import pytest

from openwop_conformance.checks.session_answers import (
    Reading,
    Started,
    check_absent,
    check_answer,
    check_broken,
    check_present,
    check_readings,
)
from openwop_conformance.client.runs import is_waiting
from openwop_conformance.client.streams import complete_frames, frames
from openwop_conformance.findings import Weight
from tests.answers import answer, only
from tests.logs import Log, session


def told(findings: Any) -> set[str]:
    return {one.requirement for one in findings}


EVENTS = session(Log().started()).ended().events


def reading(events: Any, *, whole: bool = True) -> Reading:
    return Reading("poll", tuple(events), answer(200, {}), whole)


def started(**body: Any) -> Started:
    return Started("mcp:fs.read", answer(200, {"runId": "r1", **body}))


def test_the_events_are_those_of_the_answer_and_of_the_request() -> None:
    assert not list(check_answer(started(sessionId="s1", toolId="mcp:fs.read"), EVENTS))
    assert not list(check_answer(started(), EVENTS))
    assert told(check_answer(started(sessionId="s2"), EVENTS)) == {"session-matches-answer"}
    assert told(check_answer(started(toolId="mcp:other"), EVENTS)) == {"session-matches-answer"}
    other = Started("mcp:other", answer(200, {"runId": "r1"}))
    assert told(check_answer(other, EVENTS)) == {"session-tool-as-asked"}
    assert not list(check_answer(other, Log().started().ended().events))


@pytest.mark.parametrize("body", [{}, {"runId": 7}, {"runId": ""}, [], None])
def test_an_answer_without_a_run_starts_none(body: Any) -> None:
    assert Started(None, answer(200, body)).run_id is None


def test_a_refusal_starts_no_run() -> None:
    assert Started(None, answer(404, {"runId": "r1"})).run_id is None


def test_a_run_that_was_started_for_a_session_holds_one() -> None:
    assert not list(check_present("r1", reading(EVENTS)))
    assert told(check_present("r1", reading(Log().started().ended().events))) == {"session-opened-once"}
    assert only(check_present("r1", reading(Log().opened().events))).weight is Weight.INCONCLUSIVE
    unfinished = list(check_present("r1", reading(Log().started().events)))
    assert {one.weight for one in unfinished} == {Weight.INCONCLUSIVE}
    assert told(unfinished) == {"session-opened-once", "session-closed-once"}
    assert only(check_present("r1", reading(Log().opened().events), waiting=True)).weight is Weight.BLOCKED
    assert not list(check_present("r1", reading(EVENTS), waiting=True))
    assert not list(check_present("r1", reading(session(Log()).events)))


def test_a_seam_that_breaks_down_is_remarked() -> None:
    assert not list(check_broken([]))
    assert only(check_broken([Started("mcp:a", answer(500, {}))])).weight is Weight.ADVISORY


def test_what_a_reading_remarks_is_told() -> None:
    remarked = replace(reading(EVENTS), remark="poll never ends")
    assert only(check_readings("r1", [remarked])).weight is Weight.ADVISORY
    assert len(list(check_readings("r1", [remarked, remarked]))) == 2


def test_what_follows_the_end_of_a_run_counts_where_both_ways_show_it() -> None:
    late = Log().opened("s9").events[0]
    grown = [*EVENTS, {**late, "sequence": 99}]
    assert told(check_readings("r1", [reading(EVENTS), reading(grown)])) == {"event-log-durable"}
    assert not list(check_readings("r1", [reading(grown), reading(EVENTS, whole=False)]))


def test_a_run_waits_where_more_was_asked_than_answered() -> None:
    asking = Log().opened().called().add("interrupt.requested", kind="approval")
    assert is_waiting(asking.events)
    assert not is_waiting(asking.add("interrupt.resolved").events)
    assert not is_waiting(["noise"])


def test_every_reading_shows_the_same() -> None:
    whole = reading(EVENTS)
    assert not list(check_readings("r1", [whole, reading(EVENTS)]))
    assert not list(check_readings("r1", [whole, reading(EVENTS[1:], whole=False)]))
    assert not list(check_readings("r1", [whole, reading([*EVENTS, {"type": "late", "sequence": 99}])]))
    for other in (EVENTS[:-1], EVENTS[1:], [*EVENTS[:3], {**EVENTS[3], "timestamp": "2027"}, *EVENTS[4:]], ["x"]):
        assert told(check_readings("r1", [whole, reading(other)])) == {"event-log-durable"}
    assert told(check_readings("r1", [whole, reading(EVENTS[2:], whole=False)])) == {"event-log-durable"}
    growing = EVENTS[:4]
    assert not list(check_readings("r1", [reading(growing), reading(EVENTS)]))


def test_sessions_that_were_not_promised_are_remarked() -> None:
    assert told(check_absent("r1", reading(EVENTS))) == {"sessions-absent-when-unadvertised"}
    assert not list(check_absent("r1", reading([*Log().call("c", None).events, "noise", {"type": 7}])))


def test_streams_are_taken_apart() -> None:
    body = b': hello\n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\nid:2\r\ndata: no json\r\n\r\nid: 3\ndata: {"y": 2}'
    assert [(one.id, one.event) for one in complete_frames(body)] == [("1", {"x": 1}), ("2", None)]
    assert [(one.id, one.event) for one in frames(body)][-1] == ("3", {"y": 2})
    assert frames(b"") == []


def test_signs_of_life_are_no_events() -> None:
    body = b"event: ping\ndata: 2026-05-30 10:00:00\n\nevent: heartbeat\ndata: {}\n\n"
    body += b'data: {"type": "x"}\n\nid: 7\ndata: oops\n\n'
    assert [(one.id, one.event) for one in complete_frames(body)] == [("", {"type": "x"}), ("7", None)]
