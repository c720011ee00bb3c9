"""Logs in files: runs that interleave, lines out of order, late, doubled and broken."""

import random
from itertools import chain, zip_longest
from typing import Any

import pytest

from benchmarks.logs import PLANTS, log
from openwop_conformance.checks.event_log import JUDGED_BY_LOG, MAX_ENDED, Gathered, LogFold, unseen
from openwop_conformance.checks.run_state import Tally
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.requirements import load_registry
from openwop_conformance.validation import decider
from tests.logs import Log, session


def folded(events: Any, window: int = 10_000) -> LogFold:
    fold = LogFold(window=window)
    for line, event in enumerate(events, 1):
        fold.take(event, line)
    fold.finish()
    return fold


def found(fold: LogFold) -> set[tuple[str, str]]:
    return {(one.requirement, one.where) for kept in fold.gathered.kept.values() for one in kept}


def runs(count: int, start: int = 0) -> list[list[dict[str, Any]]]:
    return [session(Log(f"r{number}", start).started(), f"s{number}").ended().events for number in range(count)]


def test_interleaved_runs_are_judged_one_by_one() -> None:
    bad = session(Log("bad").started()).closed().ended().events
    mixed = [event for row in zip_longest(*runs(5), bad) for event in row if event is not None]
    fold = folded(mixed)
    assert found(fold) == {("session-closed-once", "run bad, sequence 7, line 48")}
    assert (fold.tally.runs, fold.tally.opened, fold.unfinished, fold.reordered) == (6, 6, 0, 0)


def test_lines_out_of_order_are_put_in_order_and_counted() -> None:
    events = list(chain(*runs(20, start=3)))
    random.Random(7).shuffle(events)
    fold = folded(events)
    assert found(fold) == set()
    assert fold.reordered > 0


def test_a_line_beyond_the_window_makes_its_run_inconclusive() -> None:
    first, *others = runs(30)
    gappy = [{**event, "sequence": event["sequence"] * 3} for event in first]
    late = gappy.pop(2)
    fold = folded([*gappy, *chain(*others), late], window=50)
    assert set(fold.gathered.counts) == {("event-sequences-increase", Weight.INCONCLUSIVE)}


def test_a_doubled_line_is_found_wherever_it_stands() -> None:
    [events] = runs(1)
    for place in range(len(events)):
        fold = folded([*events[: place + 1], *events[place:]])
        assert {name for name, _ in found(fold)} == {"event-ids-unique", "event-sequences-increase"}


def test_stragglers_of_ended_runs_are_known_for_a_while_and_then_forgotten() -> None:
    first, *others = runs(MAX_ENDED + 50)
    straggler = {**first[-1], "type": "tool.session.closed", "sequence": 99, "eventId": "late"}
    straggler["payload"] = {"sessionId": "s0", "toolId": "mcp:fs.read", "outcome": "failed"}
    assert {name for name, _ in found(folded([*first, straggler]))} == {"session-closed-once"}
    fold = folded([*first, *chain(*others), straggler])
    assert {weight for _, weight in fold.gathered.counts} == {Weight.INCONCLUSIVE}


def test_runs_that_have_not_ended_are_no_failure() -> None:
    fold = folded(Log().started().opened().called().events)
    assert found(fold) == set()
    assert fold.unfinished == 1


def test_noise_is_told_and_the_rest_is_read() -> None:
    [events] = runs(1)
    noise: list[Any] = [None, 7, "x", [], {}, {"type": 1}, {"type": "x", "sequence": True}, {"runId": "", "type": "x"}]
    fold = folded([*noise, *events])
    assert {name for name, _ in fold.gathered.counts} == {"events-well-formed"}
    assert fold.tally.opened == 1


def test_planted_violations_are_found_at_their_places_and_nothing_else() -> None:
    places = [10 * number + 5 for number in range(len(PLANTS))]
    planted = {place: plant for place, (_, _, plant) in zip(places, PLANTS, strict=True)}
    lines = [line for lines in log(800, planted) for line in lines]
    decode = __import__("msgspec").json.decode
    names = {(name, where.split(",")[0]) for name, where in found(folded(map(decode, lines)))}
    assert names == {(name, f"run run_{place:032x}") for place, (name, _, _) in zip(places, PLANTS, strict=True)}


def test_a_log_split_by_run_gives_the_same_findings() -> None:
    events = list(chain(*runs(6), session(Log("bad").started()).closed().ended().events))
    apart = [folded(one for one in events if one["runId"] == run) for run in {one["runId"] for one in events}]
    bare = {(name, where.split(", line")[0]) for fold in apart for name, where in found(fold)}
    assert bare == {(name, where.split(", line")[0]) for name, where in found(folded(events))}


def test_of_many_findings_the_first_are_kept_and_all_are_counted() -> None:
    gathered = Gathered()
    gathered.add(Finding("session-closed-once", "twice", f"line {number}") for number in range(500))
    gathered.add(
        Finding("session-content-free", "odd", f"line {number}", weight=Weight.ADVISORY) for number in range(9)
    )
    assert len(gathered.of("session-closed-once")) == 100
    assert gathered.counts[("session-closed-once", Weight.VIOLATION)] == 500
    assert len(gathered.of("session-content-free")) == 1
    assert gathered.counts[("session-content-free", Weight.ADVISORY)] == 9


def test_a_log_without_anything_passes_nothing() -> None:
    nothing = Finding("", "no list", weight=Weight.BLOCKED)
    assert all(unseen(name, Tally(), {}, nothing) is not None for name in JUDGED_BY_LOG)
    full = Tally(1, 1, 1, 1, 1, 1, 1, 1)
    assert all(unseen(name, full, {}, nothing) is None for name in JUDGED_BY_LOG)
    assert unseen("session-tool-in-catalog", full, None, nothing) is nothing
    assert set(JUDGED_BY_LOG) <= set(load_registry().requirements)


@pytest.mark.parametrize("depth", [100, 300])
def test_deep_events_do_not_break_the_fold(depth: int) -> None:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    events = Log().opened().called(inputs=value).returned().closed(meta=value).ended().events
    assert decider("run-event")(events[0])
    folded(events)


def test_the_first_lines_of_a_run_may_change_places() -> None:
    events = session(Log("r1").add("run.created").started()).ended().events
    swapped = [events[1], events[0], *events[2:]]
    fold = folded(swapped)
    assert found(fold) == set()
    assert fold.reordered == 1


def test_what_begins_before_a_log_is_inconclusive_and_nothing_worse() -> None:
    headless = Log("r1", 40).opened("s1").call("c", "s1").closed("s0").closed("s1").ended().events
    weights = {weight for _, weight in folded(headless).gathered.counts}
    assert weights == {Weight.INCONCLUSIVE}
    within = Log("r1", 40).opened("s1").call("c", "s0").closed("s1").ended().events
    assert {weight for _, weight in folded(within).gathered.counts} == {Weight.INCONCLUSIVE}


def test_returns_after_the_end_of_a_run_are_not_judged_as_pairs() -> None:
    events = Log("r1").opened("s1").called("c", "s1").ended().returned("c", "s1").closed("s1").events
    assert {name for name, _ in found(folded(events))} == {"session-closed-before-run-ends"}


def test_a_return_whose_call_is_lost_is_inconclusive() -> None:
    headless = Log("r1", 40).returned("c0", "s0").opened("s1").call("c", "s1").closed("s1").ended().events
    counts = folded(headless).gathered.counts
    assert ("session-calls-paired", Weight.INCONCLUSIVE) in counts
    assert {weight for _, weight in counts} == {Weight.INCONCLUSIVE}
