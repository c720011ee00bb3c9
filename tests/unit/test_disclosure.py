"""What sets a hidden id apart from decoys, and what does not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openwop_conformance.checks.disclosure import (
    NOWHERE,
    PLAIN,
    REQUIREMENTS,
    Probe,
    Received,
    Resolution,
    Round,
    check_hidden_like_unknown,
    check_hidden_nowhere,
    check_unlisted,
    names,
)
from openwop_conformance.checks.likeness import Asked, Aspect, marks, masked
from openwop_conformance.checks.tenants import TenantReading, check_within_tenant
from openwop_conformance.checks.timing import check_timing, rank_test
from openwop_conformance.findings import Weight
from tests.answers import JSON, answer, listing, only, told, weights

HIDDEN = "mcp:notes.add"
DECOYS = ("mcp:notef.egg", "mcp:notej.ipp", "mcp:notem.ull")


def asked(tool_id: str, status: int = 404, body: Any = None, headers: Any = JSON, raw: str | None = None) -> Asked:
    body = {"error": "not_found", "message": "No such tool."} if body is None else body
    return Asked(tool_id, answer(status, body, headers=headers, raw=raw, path=f"/v1/tools/{tool_id}"))


def group(**more: Any) -> list[Asked]:
    return [asked(one, **more) for one in DECOYS]


def aspects(one: Asked, others: list[Asked]) -> list[Aspect]:
    return [mark.aspect for mark in marks(one, others)]


def test_like_answers_have_no_marks() -> None:
    assert marks(asked(HIDDEN), group()) == []


@pytest.mark.parametrize(
    ("status", "body", "headers", "aspect"),
    [
        (403, None, JSON, Aspect.STATUS),
        (200, {"toolId": HIDDEN}, JSON, Aspect.STATUS),
        (404, {"error": "not_found", "message": "No such tool. Sorry."}, JSON, Aspect.BODY),
        (404, {"error": "not_found"}, JSON, Aspect.BODY),
        (404, {"error": "not_found", "message": "No such tool.", "hint": 1}, JSON, Aspect.BODY),
        (404, {"message": "No such tool.", "error": "not_found"}, JSON, Aspect.BODY),
        (404, None, (*JSON, ("X-Denied", "1")), Aspect.HEADERS),
        (404, None, (("Content-Type", "application/problem+json"),), Aspect.HEADERS),
        (404, None, (), Aspect.HEADERS),
    ],
)
def test_whatever_sets_one_apart_is_marked(status: int, body: Any, headers: Any, aspect: Aspect) -> None:
    assert set(aspects(asked(HIDDEN, status, body, headers), group())) == {aspect}


def test_what_varies_by_itself_is_not_marked() -> None:
    def chatty(tool_id: str, number: int) -> Asked:
        body = {
            "error": "x",
            "message": f"No {tool_id}",
            "details": {"id": tool_id, "request": f"r-{number}", "n": number},
        }
        headers = (*JSON, ("Date", f"now {number}"), ("ETag", f'W/"{number}"'), ("X-Request-Id", f"a{number}b"))
        return asked(tool_id, body=body, headers=headers)

    others = [chatty(one, 10 + place) for place, one in enumerate(DECOYS)]
    assert marks(chatty(HIDDEN, 77), others) == []


def test_a_request_id_of_another_kind_is_marked() -> None:
    others = [asked(one, headers=(("X-Request-Id", f"req {place}"),)) for place, one in enumerate(DECOYS)]
    assert aspects(asked(HIDDEN, headers=(("X-Request-Id", "denied"),)), others) == [Aspect.HEADERS]


def test_pages_are_compared_by_their_words() -> None:
    others = [asked(one, raw=f"<p>No {one} at {place}</p>") for place, one in enumerate(DECOYS)]
    assert marks(asked(HIDDEN, raw=f"<p>No {HIDDEN} at 9</p>"), others) == []
    assert aspects(asked(HIDDEN, raw=f"<p>Never {HIDDEN} at 9</p>"), others) == [Aspect.BODY]
    assert aspects(asked(HIDDEN, raw=f"<p>No {HIDDEN} at 9</p> now"), others) == [Aspect.BODY]


def test_other_white_space_counts() -> None:
    assert aspects(
        asked(HIDDEN, raw='{"error": "a",  "message": "b"}'), group(raw='{"error": "a", "message": "b"}')
    ) == [Aspect.BODY]


@given(st.text(min_size=3, max_size=20).filter(lambda text: text.isprintable() and text.strip() == text))
def test_an_echo_is_masked_however_it_is_written(tool_id: str) -> None:
    for written in (tool_id, json.dumps(tool_id)[1:-1], tool_id.upper()):
        if len(written) > 2:
            assert written not in masked(f"before {written} after", tool_id).replace("before", "").replace("after", "")


def probe(way: str = PLAIN, *, hidden: Asked | None = None, again: int = 1, **more: Any) -> Probe:
    one = Round(hidden or asked(HIDDEN, **more), tuple(group()))
    return Probe(way, "GET", (one,) * again)


ALL_WAYS = [PLAIN, "head", "conditional", "variant", "anonymous"]


def test_hidden_like_unknown_passes_when_everything_is_alike() -> None:
    assert list(check_hidden_like_unknown([probe(way) for way in ALL_WAYS])) == []


@pytest.mark.parametrize(
    ("way", "requirement"),
    [
        ("head", "hidden-same-head"),
        ("conditional", "hidden-same-conditional"),
        ("variant", "hidden-same-variants"),
        ("anonymous", "hidden-same-without-credential"),
        (PLAIN, "hidden-same-status"),
    ],
)
def test_each_way_has_a_requirement_of_its_own(way: str, requirement: str) -> None:
    probes = [probe(one, status=403 if one == way else 404) for one in ALL_WAYS]
    found = [one for one in check_hidden_like_unknown(probes) if one.weight is Weight.VIOLATION]
    assert [one.requirement for one in found] == [requirement]
    assert HIDDEN in found[0].message


def test_what_get_tells_is_not_held_against_the_other_ways() -> None:
    probes = [probe(one, headers=(*JSON, ("X-Denied", "1"))) for one in ALL_WAYS]
    found = {one.requirement for one in check_hidden_like_unknown(probes)}
    assert found == {"hidden-same-headers"}


def test_what_shows_up_once_is_not_held_against_a_host() -> None:
    odd = Round(asked(HIDDEN, headers=(*JSON, ("X-Late", "1"))), tuple(group()))
    even = Round(asked(HIDDEN), tuple(group()))
    probes = [Probe(way, "GET", (odd, even, even)) for way in ALL_WAYS]
    assert list(check_hidden_like_unknown(probes)) == []


def test_without_a_hidden_id_everything_is_blocked() -> None:
    assert {one.requirement for one in check_hidden_like_unknown([])} == set(REQUIREMENTS)
    assert weights(check_hidden_like_unknown([])) == {Weight.BLOCKED}


def resolution(status: int, body: Any, *, foreign: bool = False, since: bool = False) -> Resolution:
    return Resolution(HIDDEN, answer(status, body), foreign, since)


def test_unlisted_ids() -> None:
    tool = {"toolId": HIDDEN, "source": "mcp", "safetyTier": "read"}
    assert list(check_unlisted([resolution(404, {}, foreign=True)])) == []
    both = [one.requirement for one in check_unlisted([resolution(200, tool, foreign=True)])]
    assert both == ["nothing-unlisted-resolves", "item-within-tenant"]
    assert told(check_unlisted([resolution(200, tool, foreign=True, since=True)])) == []
    assert weights(check_unlisted([resolution(200, None, foreign=True)])) == set()
    assert weights(check_unlisted([])) == {Weight.BLOCKED}


def test_lists_within_a_tenant() -> None:
    tool = {"toolId": HIDDEN, "source": "mcp", "safetyTier": "read"}
    assert list(check_within_tenant([TenantReading(listing(tool), frozenset({"mcp:other"}))])) == []
    assert told(check_within_tenant([TenantReading(listing(tool), frozenset({HIDDEN}))])) == [
        ("list-within-tenant", "/tools/0/toolId", Weight.VIOLATION)
    ]
    assert weights(check_within_tenant([TenantReading(listing(tool), frozenset())])) == {Weight.BLOCKED}


@pytest.mark.parametrize(
    ("text", "tool_id", "named"),
    [
        ("/v1/tools/mcp%3Anotes.add", "mcp:notes.add", True),
        ("MCP:NOTES.ADD", "mcp:notes.add", True),
        ("see x-host-acme-shell", "x-host-acme-shell", True),
        ("see mcp:notes.add.", "mcp:notes.add", True),
        ("mcp:notes.add_all", "mcp:notes.add", False),
        ("xmcp:notes.add", "mcp:notes.add", False),
        ("mcp:notes.add_all or mcp:notes.add", "mcp:notes.add", True),
        ("echo", "echo", False),
        ("an echo of it", "echo", False),
    ],
)
def test_naming_an_id(text: str, tool_id: str, *, named: bool) -> None:
    assert names(text, tool_id) is named


@pytest.mark.parametrize(
    ("where", "named"), [("/tools/0/toolId", True), ("/agents/0/toolAllowlist/3", True), ("/tools/0/title", False)]
)
def test_an_id_that_may_be_a_word_counts_where_ids_stand(where: str, *, named: bool) -> None:
    assert names("create-invoice", "create-invoice", where) is named


def test_an_id_within_one_that_the_reader_is_shown_tells_nothing() -> None:
    assert not names("mcp:notes.add.all", "mcp:notes.add", shown=["mcp:notes.add.all"])
    assert names("mcp:notes.add.all, mcp:notes.add", "mcp:notes.add", shown=["mcp:notes.add.all"])


def test_a_hidden_id_is_found_in_bodies_and_headers_unless_it_was_asked_for() -> None:
    hidden = frozenset({HIDDEN})
    in_body = answer(200, {"tools": [{"description": f"like {HIDDEN}"}]})
    in_header = answer(200, {}, headers=(("Link", "</v1/tools/mcp%3Anotes.add>"),))
    echo = answer(404, {"details": HIDDEN}, path="/v1/tools/mcp%3Anotes.add")
    assert [one.where for one in check_hidden_nowhere([Received(in_body, hidden)])] == ["/tools/0/description"]
    assert [one.where for one in check_hidden_nowhere([Received(in_header, hidden)])] == ["header Link"]
    assert list(check_hidden_nowhere([Received(echo, hidden), Received(answer(200, {}), hidden)])) == []
    assert {one.requirement for one in check_hidden_nowhere([Received(in_body, hidden)])} == {NOWHERE}


def test_timing_is_an_advisory_only_where_it_is_clear() -> None:
    exchange = answer().exchange
    quick, slow = [1.0 + place / 100 for place in range(50)], [2.0 + place / 100 for place in range(50)]
    assert weights(check_timing(HIDDEN, slow, quick, exchange)) == {Weight.ADVISORY}
    assert "sooner" in only(check_timing(HIDDEN, quick, slow, exchange)).message
    assert "later" in only(check_timing(HIDDEN, slow, quick, exchange)).message
    assert list(check_timing(HIDDEN, quick, quick, exchange)) == []
    assert list(check_timing(HIDDEN, slow[:2], quick[:2], exchange)) == []


@given(st.lists(st.floats(0, 10), min_size=2, max_size=30), st.lists(st.floats(0, 10), min_size=2, max_size=30))
def test_the_rank_test_is_symmetric(one: list[float], other: list[float]) -> None:
    share, chance = rank_test(one, other)
    mirrored, same = rank_test(other, one)
    assert share == pytest.approx(1 - mirrored)
    assert chance == pytest.approx(same)
    assert 0 <= chance <= 1


def test_ids_that_json_escapes_are_looked_for_in_what_it_says() -> None:
    for hidden in ('mcp:a"b', "mcp:a\\b", "mcp:café", "mcp:a/b", "mcp:a\tb"):
        told_of = Received(answer(200, {"title": f"like {hidden}"}), frozenset({hidden}))
        assert [one.where for one in check_hidden_nowhere([told_of])] == ["/title"]
        assert list(check_hidden_nowhere([Received(answer(200, {"title": "like none"}), frozenset({hidden}))])) == []
    in_base64 = answer(200, {"cursor": "bWNwOm5vdGVzLmFkZA"})
    assert [one.where for one in check_hidden_nowhere([Received(in_base64, frozenset({HIDDEN}))])] == ["/cursor"]


def test_of_several_hidden_ids_each_is_told_unless_it_stands_in_a_shown_one() -> None:
    shown = frozenset({"mcp:notes.add.all", "mcp:notes.add"})
    text = answer(200, {"title": "mcp:notes.add.all and mcp:notes"})
    found = check_hidden_nowhere([Received(text, frozenset({"mcp:notes", "mcp:notes.ad"}), shown)])
    assert [one.message.split(",")[0] for one in found] == ["alice is told of mcp:notes"]


def test_each_unlisted_id_is_judged() -> None:
    tool = {"toolId": HIDDEN, "source": "mcp", "safetyTier": "read"}
    both = [resolution(404, {}), resolution(200, tool, since=True), resolution(200, tool)]
    assert [one.requirement for one in check_unlisted(both) if one.weight is Weight.VIOLATION] == [
        "nothing-unlisted-resolves"
    ]
