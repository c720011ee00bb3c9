"""What sets an answer apart to the letter, and what varies by itself or follows from the id."""

from dataclasses import replace
from typing import Any

import pytest

from openwop_conformance.checks.decoys import decoys
from openwop_conformance.checks.disclosure import PLAIN, Probe, Round, check_hidden_like_unknown, names
from openwop_conformance.checks.likeness import Asked, Aspect, marks, masked
from tests.answers import JSON, answer

HIDDEN = "mcp:notes.add"
DECOYS = ("mcp:notef.egg", "mcp:notej.ipp", "mcp:notem.ull")
DATE = ("Date", "Wed, 18 Nov 2026 20:00:00 GMT")


def asked(tool_id: str, status: int = 404, body: Any = None, headers: Any = JSON, raw: str | None = None) -> Asked:
    body = {"error": "not_found", "message": "No such tool."} if body is None else body
    return Asked(tool_id, answer(status, body, headers=headers, raw=raw, path=f"/v1/tools/{tool_id}"))


def places(one: Asked, others: list[Asked]) -> list[tuple[Aspect, str]]:
    return [mark.key for mark in marks(one, others)]


def by_header(name: str, own: str, others: list[str]) -> list[str]:
    group = [asked(one, headers=(DATE, (name, value))) for one, value in zip(DECOYS, others, strict=True)]
    return [where for _, where in places(asked(HIDDEN, headers=(DATE, (name, own))), group)]


def by_message(own: str, others: list[str]) -> list[str]:
    group = [asked(one, body={"message": text}) for one, text in zip(DECOYS, others, strict=True)]
    return [where for _, where in places(asked(HIDDEN, body={"message": own}), group)]


ALIKE = [
    ("No tool (ref 9c1f0a77).", ["No tool (ref 0a1b2c3d).", "No tool (ref 12ab34cd).", "No tool (ref 77aa88bb)."]),
    ("took 512 ms", ["took 7 ms", "took 12 ms", "took 9 ms"]),
    ("7f9c24e8-3b12-4fef", ["0a1b2c3d-1111-4222", "1b2c3d4e-1a2b-4c3d", "ffffffff-aaaa-4bbb"]),
    ("at 2026-11-18T20:00:04Z", ["at 2026-11-18T20:00:01Z", "at 2026-11-18T20:00:02Z", "at 2026-11-18T20:00:03Z"]),
    ("a-b", ["x", "y z", "q-r-s"]),
]  # fmt: skip
UNLIKE = [
    ("No item (ref 9c1f0a77).", ["No tool (ref 0a1b2c3d).", "No tool (ref 12ab34cd).", "No tool (ref 77aa88bb)."]),
    ("Access was denied in 7 ms", ["No tool found in 12 ms", "No tool found in 9 ms", "No tool found in 3 ms"]),
    ("deny;dur=4", ["miss;dur=1", "miss;dur=2", "miss;dur=3"]),
    ("9c1f0a77-deny", ["0a1b2c3d-miss", "12ab34cd-miss", "77aa88bb-miss"]),
    ("9C1F0A77", ["0a1b2c3d", "12ab34cd", "77aa88bb"]),
    ("9c1f", ["0a1b2c3d", "12ab34cd", "77aa88bb"]),
    ("zz1f0a77", ["0a1b2c3d", "12ab34cd", "77aa88bb"]),
]  # fmt: skip


@pytest.mark.parametrize(("own", "others"), ALIKE)
def test_what_varies_like_the_others_is_not_marked(own: str, others: list[str]) -> None:
    assert by_message(own, others) == []
    assert by_header("X-Ref", own, others) == []


@pytest.mark.parametrize(("own", "others"), UNLIKE)
def test_a_word_beside_what_varies_is_marked(own: str, others: list[str]) -> None:
    assert by_message(own, others) == ["/message"]
    assert by_header("X-Ref", own, others) == ["header x-ref"]


def test_a_redirect_on_the_way_is_a_status() -> None:
    led = asked(HIDDEN)
    led = replace(led, answer=replace(led.answer, hops=(308,)))
    [mark] = marks(led, [asked(one) for one in DECOYS])
    assert (mark.aspect, mark.expected, mark.seen) == (
        Aspect.STATUS,
        "status 404, as for unknown ids",
        "status 308 and then 404",
    )
    others = [replace(asked(one), answer=replace(asked(one).answer, hops=(308,))) for one in DECOYS]
    assert marks(led, others) == []


def test_no_answer_is_a_status_too() -> None:
    [mark] = marks(asked(HIDDEN, 0), [asked(one) for one in DECOYS])
    assert mark.seen == "no answer"


@pytest.mark.parametrize(
    ("own", "marked"), [("{}", False), ("as {}", True), ("{upper}", True), ("{lower}", False), ("{quoted}", True)]
)
def test_the_spelling_of_an_echo_tells(own: str, *, marked: bool) -> None:
    written = own.format(HIDDEN, upper=HIDDEN.upper(), lower=HIDDEN.lower(), quoted=HIDDEN.replace(":", "%3A"))
    others = [asked(one, body={"id": one}) for one in DECOYS]
    assert places(asked(HIDDEN, body={"id": written}), others) == ([(Aspect.BODY, "/id")] if marked else [])


def test_an_id_as_stored_is_told_from_one_as_sent() -> None:
    def recased(tool_id: str, echo: str) -> Asked:
        return replace(asked(tool_id, body={"id": echo}), written=tool_id.swapcase())

    others = [recased(one, one.swapcase()) for one in DECOYS]
    assert marks(recased(HIDDEN, HIDDEN.swapcase()), others) == []
    assert places(recased(HIDDEN, HIDDEN), others) == [(Aspect.BODY, "/id")]


def test_an_id_that_is_a_word_of_the_text_around_it_tells_nothing() -> None:
    def missing(tool_id: str) -> Asked:
        return asked(tool_id, body={"error": "not_found", "toolId": tool_id, "message": "no tool: not_found"})

    for tool_id in ("tool", "error", "not_found"):
        others = [missing(one) for one in decoys(tool_id, {tool_id}, 3)]
        assert marks(missing(tool_id), others) == []


def test_content_lengths_are_compared_among_ids_of_one_length() -> None:
    def sized(tool_id: str, length: int) -> Asked:
        return asked(tool_id, headers=(*JSON, ("Content-Length", str(length))))

    others = [sized(one, 40) for one in DECOYS]
    assert marks(sized(HIDDEN, 40), others) == []
    assert places(sized(HIDDEN, 41), others) == [(Aspect.HEADERS, "header content-length")]
    assert marks(sized("mcp:x", 38), others) == []
    assert marks(sized(HIDDEN, 99), [sized(one, 40 + place) for place, one in enumerate(DECOYS)]) == []

    def squeezed(one: Asked) -> Asked:
        headers = (*one.answer.headers, ("Content-Encoding", "gzip"))
        return replace(one, answer=replace(one.answer, headers=headers))

    assert marks(squeezed(sized(HIDDEN, 41)), [squeezed(one) for one in others]) == []


@pytest.mark.parametrize(
    ("own", "usual", "marked"),
    [
        ("Wed, 18 Nov 2026 19:59:00 GMT", "Wed, 18 Nov 2026 20:00:00 GMT", False),
        ("Tue, 05 May 2020 20:00:00 GMT", "Wed, 18 Nov 2026 20:00:00 GMT", True),
        ("Wed, 18 Nov 2027 20:00:00 GMT", "Wed, 18 Nov 2026 20:00:00 GMT", True),
        ("0", "Wed, 18 Nov 2026 20:00:00 GMT", True),
        ("0", "0", False),
    ],
)
def test_dates_are_compared_by_how_far_they_are(own: str, usual: str, *, marked: bool) -> None:
    for name in ("Expires", "Last-Modified"):
        assert bool(by_header(name, own, [usual] * 3)) is marked


def test_headers_that_tell_the_moment_count_by_their_presence() -> None:
    assert by_header("Age", "7", ["1", "2", "3"]) == []
    others = [asked(one, headers=(DATE,)) for one in DECOYS]
    assert places(asked(HIDDEN, headers=()), others) == [(Aspect.HEADERS, "header date")]
    assert places(asked(HIDDEN, headers=(DATE, ("Age", "1"))), others) == [(Aspect.HEADERS, "header age")]


def test_the_order_and_the_case_of_headers_tell() -> None:
    pair = (("X-A", "1"), ("X-B", "2"))
    others = [asked(one, headers=pair) for one in DECOYS]
    assert places(asked(HIDDEN, headers=pair[::-1]), others) == [(Aspect.HEADERS, "order of headers")]
    assert places(asked(HIDDEN, headers=(("x-a", "1"), pair[1])), others) == [(Aspect.HEADERS, "order of headers")]
    mixed = [asked(one, headers=pair[:: 1 if place else -1]) for place, one in enumerate(DECOYS)]
    assert marks(asked(HIDDEN, headers=pair), mixed) == []


def test_white_space_tells_even_beside_what_varies() -> None:
    others = [asked(one, raw=f'{{"error": "a", "ref": "{place}{place}"}}') for place, one in enumerate(DECOYS)]
    assert marks(asked(HIDDEN, raw='{"error": "a", "ref": "77"}'), others) == []
    assert places(asked(HIDDEN, raw='{"error":"a","ref":"77"}'), others) == [(Aspect.BODY, "white space")]


def test_values_of_other_types_tell() -> None:
    others = [asked(one, body={"n": place}) for place, one in enumerate(DECOYS)]
    assert places(asked(HIDDEN, body={"n": None}), others) == [(Aspect.BODY, "/n")]


def test_short_ids_are_masked_where_they_stand_alone() -> None:
    assert "x" not in masked("/v1/tools/x/", "x").replace("\x00id\x00", "")
    assert masked("an xylophone", "x") == "an xylophone"


@pytest.mark.parametrize("like", ["mcp:検索", "mcp:поиск", "mcp:é.ü", "..", "%", "🔧🔨", "mcp:fs.read", "a b/c"])
def test_decoys_have_the_length_of_the_id_in_any_script(like: str) -> None:
    found = decoys(like, {like}, 3)
    assert len(set(found)) == 3
    assert {len(one.encode()) for one in found} == {len(like.encode())}


@pytest.mark.parametrize("like", ["connector:secret", "connector:reset.pwd", "get.auth", "oauth", "api-key"])
def test_decoys_keep_the_words_that_hosts_redact(like: str) -> None:
    words = [word for word in ("secret", "pwd", "auth", "key") if word in like]
    assert all(word in one for one in decoys(like, {like}, 5) for word in words)


@pytest.mark.parametrize(
    ("text", "tool_id", "named"),
    [
        ("tools:fs:read", "fs:read", False),
        ("mcp:fs.legacy", "mcp:fs", False),
        ("mcp:fs:more", "mcp:fs", False),
        ("ask mcp:fs. Or not", "mcp:fs", True),
        ("tool-mcp:notes.add", HIDDEN, True),
        ("last=tool_mcp:notes.add;", HIDDEN, True),
        ("mcp%253Anotes.add", HIDDEN, True),
        ("my-acme:notes", "acme:notes", False),
        ("cursor bWNwOm5vdGVzLmFkZA==", HIDDEN, True),
        ("cursor xbWNwOm5vdGVzLmFkZA==", HIDDEN, False),
    ],
)
def test_where_an_id_begins_and_ends(text: str, tool_id: str, *, named: bool) -> None:
    assert names(text, tool_id) is named


def test_a_scope_is_no_id_and_a_member_is_none() -> None:
    assert not names("tools:read", "tools:read", "/tools/3/auth/scopes/0")
    assert names("tools:read", "tools:read", "/tools/3/description")
    assert not names("toolId", "toolId", "/tools/0/toolId")
    assert not names("shell", "shell", "/agents/0/id")


def probe(way: str, *turns: tuple[int, int], tool_id: str = HIDDEN, method: str = "GET") -> Probe:
    def one(name: str, status: int) -> Asked:
        made = asked(name, status)
        return replace(made, answer=replace(made.answer, exchange=replace(made.answer.exchange, method=method)))

    rounds = [Round(one(tool_id, hidden), tuple(one(name, usual) for name in DECOYS)) for hidden, usual in turns]
    return Probe(way, method, tuple(rounds))


def blamed(*probes: Probe) -> set[str]:
    return {one.requirement for one in check_hidden_like_unknown(probes) if one.weight == "violation"}


def test_a_first_answer_that_tells_counts_where_several_ids_show_it() -> None:
    fleeting = ((403, 404), (404, 404), (404, 404))
    assert blamed(probe(PLAIN, *fleeting)) == set()
    assert blamed(probe(PLAIN, *fleeting), probe(PLAIN, *fleeting, tool_id="mcp:notes.del")) == {"hidden-same-status"}
    for moment in (503, 429, 0):
        busy = ((moment, 404), (404, 404))
        assert blamed(probe(PLAIN, *busy), probe(PLAIN, *busy, tool_id="mcp:notes.del")) == set()


def test_what_head_tells_is_not_held_against_conditional_head_again() -> None:
    plain = probe(PLAIN, (404, 404))
    head, conditional = probe("head", (200, 404), method="HEAD"), probe("conditional", (200, 404), method="HEAD")
    assert blamed(plain, head, conditional) == {"hidden-same-head"}
    assert blamed(plain, probe("head", (404, 404), method="HEAD"), conditional) == {"hidden-same-conditional"}


VISIBLE = frozenset({"mcp:notes", "mcp:notes.list", "openwop:slug"})


def suggesting(tool_id: str, text: str, names_of: list[str]) -> Asked:
    return replace(asked(tool_id, body={"message": text, "near": names_of}), visible=VISIBLE)


def test_ids_that_the_reader_may_know_tell_nothing() -> None:
    near = [["mcp:notes"], ["openwop:slug", "mcp:notes.list"], []]
    others = [
        suggesting(one, f"Try {', '.join(some) or 'mcp:notes'}.", some) for one, some in zip(DECOYS, near, strict=True)
    ]
    assert marks(suggesting(HIDDEN, "Try mcp:notes.list, mcp:notes.", ["mcp:notes.list", "mcp:notes"]), others) == []
    told = marks(suggesting(HIDDEN, "Try mcp:notes.list, mcp:notes.", ["mcp:notes", "mcp:secret"]), others)
    assert {mark.where for mark in told} & {"/near", "/near/0", "/near/1"}
    assert [mark.where for mark in marks(suggesting(HIDDEN, "Use mcp:notes.", ["mcp:notes"]), others)] == ["/message"]


def test_lists_are_compared_place_by_place() -> None:
    others = [asked(one, body={"tried": ["cache", {"in": "index"}, 1]}) for one in DECOYS]
    assert marks(asked(HIDDEN, body={"tried": ["cache", {"in": "index"}, 1]}), others) == []
    for own, where in (
        (["cache", {"in": "acl"}, 1], ["/tried/1/in"]),
        (["cache", {"in": "index"}, 2], ["/tried/2"]),
        (["cache", {"in": "index"}], ["/tried/2", "order of members"]),
    ):
        assert {place for _, place in places(asked(HIDDEN, body={"tried": own}), others)} == set(where)


def test_an_echo_as_the_name_of_a_member_tells_nothing() -> None:
    others = [asked(one, body={"missing": {one: True}}) for one in DECOYS]
    assert marks(asked(HIDDEN, body={"missing": {HIDDEN: True}}), others) == []
    assert marks(asked(HIDDEN, body={"missing": {"it": True}}), others) != []


def test_bytes_that_no_word_shows_tell_too() -> None:
    [mark] = marks(asked(HIDDEN, raw="<p>No  tool</p>"), [asked(one, raw="<p>No tool</p>") for one in DECOYS])
    assert (mark.aspect, mark.where, mark.seen) == (Aspect.BODY, "body", "the same content, written differently")
    others = [asked(one, raw=f"ref {100 + place}") for place, one in enumerate(DECOYS)]
    [mark] = marks(asked(HIDDEN, raw="ref 123456"), others)
    assert (mark.where, mark.expected, mark.seen) == ("body", "7 characters", "10 characters")
    assert marks(asked(HIDDEN, raw="ref 999"), others) == []


def test_bytes_that_are_no_text_can_be_compared() -> None:
    def noise(tool_id: str, body: bytes) -> Asked:
        one = asked(tool_id, raw="")
        return replace(one, answer=replace(one.answer, body=body))

    others = [noise(one, b"\xff\xfe tool") for one in DECOYS]
    assert marks(noise(HIDDEN, b"\xff\xfe tool"), others) == []
    assert marks(noise(HIDDEN, b"\xff\xfe item"), others) != []


def test_of_several_values_of_one_header_each_counts() -> None:
    pair = (("Via", "1.1 a"), ("Via", "1.1 b"))
    others = [asked(one, headers=pair) for one in DECOYS]
    assert marks(asked(HIDDEN, headers=pair), others) == []
    assert [where for _, where in places(asked(HIDDEN, headers=pair[:1]), others)] == ["header via"]


def test_what_stands_behind_a_content_length_is_compared_as_well() -> None:
    def headed(tool_id: str, length: str, tag: str) -> Asked:
        return asked(tool_id, headers=(("Content-Length", length), ("X-Tag", tag)))

    others = [headed(one, str(10 + place), "miss") for place, one in enumerate(DECOYS)]
    assert [where for _, where in places(headed(HIDDEN, "10", "deny"), others)] == ["header x-tag"]
