"""The checks, each with both outcomes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openwop_conformance.capabilities import Capabilities
from openwop_conformance.checks.agents import check_allowlists
from openwop_conformance.checks.caching import check_shared_caches
from openwop_conformance.checks.credentials import check_item_refused, check_list_refused, check_never_given
from openwop_conformance.checks.decoys import decoys
from openwop_conformance.checks.descriptors import (
    check_descriptors_valid,
    check_exec_source,
    check_ids_mean_one_tool,
    check_ids_unique,
    check_schemas_valid,
    check_sources_advertised,
    check_sources_seen,
)
from openwop_conformance.checks.discovery import (
    check_block_at_root,
    check_capability_block,
    check_catalog_absent,
    check_discovery_served,
)
from openwop_conformance.checks.filtering import check_source_filter
from openwop_conformance.checks.identity import check_id_form, check_id_prefix
from openwop_conformance.checks.items import (
    Item,
    check_item_served,
    check_items_agree,
    check_items_exec,
    check_items_media_type,
    check_items_resolve,
    check_items_valid,
    check_literal_colon,
    check_unknown_ids,
    resolved_listing,
    same_json,
)
from openwop_conformance.checks.listing import (
    Listing,
    across,
    check_list_body,
    check_list_complete,
    check_list_served,
    of_all,
    read_listing,
    sample,
    saved_listing,
)
from openwop_conformance.checks.scopes import check_within_scopes
from openwop_conformance.checks.stability import (
    check_ids_stable,
    check_items_stable,
    check_stable_over_time,
    check_tools_stable,
)
from openwop_conformance.checks.tenants import TenantReading, check_within_tenant
from openwop_conformance.checks.writes import check_nothing_changed, check_writes_answered, check_writes_refused
from openwop_conformance.earlier import Earlier
from openwop_conformance.findings import Weight
from openwop_conformance.secret import Secret
from openwop_conformance.settings import ListShape, Principal
from tests.answers import DEEP, JSON, answer, listing, only, told, weights

VIOLATION, ADVISORY, BLOCKED, INCONCLUSIVE = Weight.VIOLATION, Weight.ADVISORY, Weight.BLOCKED, Weight.INCONCLUSIVE
TOOL: dict[str, Any] = {"toolId": "mcp:fs.read", "source": "mcp", "safetyTier": "read"}
OTHER: dict[str, Any] = {"toolId": "openwop:slug", "source": "node-pack", "safetyTier": "pure"}
SHELL: dict[str, Any] = {"toolId": "x-host-acme-shell", "source": "host-extension", "safetyTier": "exec"}
EMPTY = listing()
REFUSED = read_listing(answer(403, {"error": "forbidden", "message": "no"}))
BROKEN = read_listing(answer(500, None))


def test_discovery_served() -> None:
    assert not list(check_discovery_served(answer(200, {})))
    assert not list(check_discovery_served(answer(200, {}, headers=(("Content-Type", "text/plain"),))))


@pytest.mark.parametrize("bad", [answer(404, {}), answer(200, []), answer(200, raw="<html>"), answer(204, raw="")])
def test_discovery_not_served(bad: Any) -> None:
    assert only(check_discovery_served(bad)).weight is VIOLATION


def test_discovery_too_deep_to_read() -> None:
    assert only(check_discovery_served(answer(200, raw=DEEP))).weight is INCONCLUSIVE


def test_capability_blocks() -> None:
    good = Capabilities({"toolCatalog": {"supported": True}, "capabilities": {"toolCatalog": {"supported": True}}})
    bad = Capabilities({"toolCatalog": {"supported": 1}, "capabilities": {"toolCatalog": {"supported": True, "x": 1}}})
    assert not list(check_capability_block("toolCatalog", answer(), good))
    assert [one.where for one in check_capability_block("toolCatalog", answer(), bad)] == [
        "/toolCatalog/supported",
        "/capabilities/toolCatalog/x",
    ]
    hooks = Capabilities({"toolHooks": {"prePostEvents": True}})
    assert only(check_capability_block("toolHooks", answer(), hooks)).requirement == "toolhooks-block-valid"


def test_block_at_root() -> None:
    block = {"toolCatalog": {"supported": True}}
    assert not list(check_block_at_root(answer(), Capabilities(block)))
    assert not list(check_block_at_root(answer(), Capabilities({**block, "capabilities": block})))
    assert (
        only(check_block_at_root(answer(), Capabilities({"capabilities": block}))).where == "/capabilities/toolCatalog"
    )


@pytest.mark.parametrize(
    ("status", "sent", "fine"),
    [(404, True, True), (501, True, True), (401, False, True), (401, True, False), (200, True, False)],
)
def test_catalog_absent(status: int, *, sent: bool, fine: bool) -> None:
    assert (not list(check_catalog_absent([answer(status)], credential_sent=sent))) == fine


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, {}),
        (404, {"catalog-list-endpoint-served": VIOLATION, "list-status": BLOCKED}),
        (501, {"catalog-list-endpoint-served": VIOLATION, "list-status": BLOCKED}),
        (500, {"catalog-list-endpoint-served": BLOCKED, "list-status": VIOLATION}),
        (204, {"catalog-list-endpoint-served": BLOCKED, "list-status": VIOLATION}),
        (401, {"catalog-list-endpoint-served": INCONCLUSIVE, "list-status": INCONCLUSIVE}),
        (403, {"catalog-list-endpoint-served": INCONCLUSIVE, "list-status": INCONCLUSIVE}),
    ],
)
def test_list_served(status: int, expected: dict[str, Weight]) -> None:
    findings = list(check_list_served(read_listing(answer(status, {"tools": []}))))
    assert {one.requirement: one.weight for one in findings} == expected


@pytest.mark.parametrize(
    ("body", "wanted", "weight"),
    [
        ({"tools": [], "total": 0}, ListShape.ANY, None),
        ([], ListShape.ANY, ADVISORY),
        ([], ListShape.ARRAY, None),
        ([], ListShape.OBJECT, VIOLATION),
        ({"tools": []}, ListShape.OBJECT, None),
        ({"tools": []}, ListShape.ARRAY, VIOLATION),
        ({"items": []}, ListShape.ANY, VIOLATION),
        ({"tools": {}}, ListShape.ANY, VIOLATION),
        (None, ListShape.ANY, VIOLATION),
    ],
)
def test_list_body(body: Any, wanted: ListShape, weight: Weight | None) -> None:
    found = list(check_list_body(read_listing(answer(200, body)), wanted))
    assert [(one.requirement, one.weight) for one in found] == ([("list-body", weight)] if weight else [])


@pytest.mark.parametrize(
    ("media", "fine"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("application/vnd.openwop+json", True),
        ("text/html", False),
        ("application/jsonp", False),
    ],
)
def test_list_media_type(media: str, *, fine: bool) -> None:
    found = list(check_list_body(listing(headers=(("content-type", media),)), ListShape.ANY))
    assert [one.requirement for one in found] == ([] if fine else ["list-media-type"])
    assert only(check_list_body(listing(headers=()), ListShape.ANY)).seen == "no Content-Type"


@pytest.mark.parametrize(("bad", "weight"), [(REFUSED, INCONCLUSIVE), (BROKEN, BLOCKED)])
def test_nothing_is_said_about_a_list_that_did_not_come(bad: Listing, weight: Weight) -> None:
    assert weights(check_list_body(bad, ListShape.ANY)) == {weight}
    for check in (check_descriptors_valid, check_exec_source, check_ids_unique, check_list_complete):
        assert weights(check(bad)) == {weight}, check
    assert weights(check_unknown_ids(bad, [answer(404)])) == {weight}
    assert weights(check_item_served(bad, [])) == {weight}
    assert weights(check_sources_seen([bad], frozenset({"mcp"}))) == {weight}


def test_a_list_too_deep_to_read_is_inconclusive() -> None:
    deep = read_listing(answer(200, raw=DEEP))
    assert weights(check_list_body(deep, ListShape.ANY)) == {INCONCLUSIVE}
    assert weights(check_descriptors_valid(deep)) == {INCONCLUSIVE}


def test_an_empty_catalog_passes_nothing_that_needed_a_tool() -> None:
    for check in (check_descriptors_valid, check_exec_source, check_ids_unique):
        assert weights(check(EMPTY)) == {BLOCKED}
    assert weights(check_schemas_valid(EMPTY, "inputSchema")) == {BLOCKED}
    assert weights(check_sources_advertised(EMPTY, frozenset())) == {BLOCKED}
    assert weights(check_sources_seen([EMPTY], frozenset({"mcp"}))) == {BLOCKED}
    for item_check in (
        check_item_served,
        check_items_resolve,
        check_items_valid,
        check_items_media_type,
        check_items_agree,
    ):
        assert weights(item_check(EMPTY, [])) == {BLOCKED}
    assert not list(check_list_complete(EMPTY))


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"nextCursor": "abc"}, "/nextCursor"),
        ({"next_page_token": 2}, "/next_page_token"),
        ({"pagination": {"nextCursor": "x"}}, "/pagination/nextCursor"),
        ({"links": {"next": "/v1/tools?page=2"}}, "/links/next"),
        ({"hasMore": True}, "/hasMore"),
        ({"hasMore": False, "next": []}, None),
        ({"nextCursor": None}, None),
        ({"nextCursor": ""}, None),
        ({"total": 3}, None),
    ],
)
def test_list_complete(more: dict[str, Any], place: str | None) -> None:
    found = list(check_list_complete(read_listing(answer(200, {"tools": [TOOL], **more}))))
    assert [one.where for one in found] == ([place] if place else [])


@pytest.mark.parametrize(
    ("link", "paged"),
    [
        ('</v1/tools?page=2>; rel="next"', True),
        ('</a>; rel=self, </b>; rel="next last"', True),
        ("</next>; rel=prev", False),
        ('</docs>; rel="help"; title="see; rel=next"', False),
    ],
)
def test_list_complete_by_link(link: str, *, paged: bool) -> None:
    paging = listing(TOOL, headers=(*JSON, ("Link", link)))
    assert bool(list(check_list_complete(paging))) == paged
    assert weights(check_sources_seen([paging], frozenset({"mcp"}))) == ({BLOCKED} if paged else set())


def test_descriptors_valid() -> None:
    assert not list(check_descriptors_valid(listing(TOOL, SHELL)))
    found = list(check_descriptors_valid(listing(TOOL, {**TOOL, "source": "plugin"}, "text")))
    assert [one.where for one in found] == ["/tools/1/source", "/tools/2"]
    assert "/tools/2" in found[1].message


def test_exec_is_blamed_once_and_by_its_own_name() -> None:
    wrong = {**TOOL, "safetyTier": "exec"}
    assert not list(check_exec_source(listing(SHELL, TOOL)))
    assert told(check_exec_source(listing(TOOL, wrong))) == [("exec-only-host-extension", "/tools/1/source", VIOLATION)]
    assert not list(check_descriptors_valid(listing(wrong)))
    assert told(check_exec_source(listing({"safetyTier": "exec"}))) == [
        ("exec-only-host-extension", "/tools/0/source", VIOLATION)
    ]


def test_sources_advertised() -> None:
    assert only(check_sources_advertised(listing(TOOL, OTHER), None)).weight is Weight.INAPPLICABLE
    assert not list(check_sources_advertised(listing(TOOL), frozenset({"mcp", "workflow"})))
    assert only(check_sources_advertised(listing(TOOL, OTHER), frozenset({"mcp"}))).where == "/tools/1/source"
    assert only(check_sources_advertised(listing(TOOL), frozenset())).expected == "no tool at all"


def test_sources_seen_by_some_principal() -> None:
    both = frozenset({"mcp", "node-pack"})
    assert not list(check_sources_seen([listing(TOOL), listing(OTHER)], both))
    assert not list(check_sources_seen([EMPTY, listing(TOOL, OTHER)], both))
    assert "node-pack" in only(check_sources_seen([listing(TOOL), EMPTY], both)).message
    assert only(check_sources_seen([listing(TOOL)], None)).weight is Weight.INAPPLICABLE


def test_ids_unique() -> None:
    assert not list(check_ids_unique(listing(TOOL, OTHER, {**TOOL, "toolId": "MCP:fs.read"})))
    assert told(check_ids_unique(listing(TOOL, OTHER, {**TOOL, "source": "workflow"}))) == [
        ("tool-ids-unique", "/tools/2", VIOLATION)
    ]


@pytest.mark.parametrize(
    ("member", "schema", "weight"),
    [
        ("inputSchema", {"type": "object"}, None),
        ("inputSchema", {"$schema": "https://json-schema.org/draft/2020-12/schema"}, None),
        ("inputSchema", {"$schema": "http://json-schema.org/draft-07/schema#"}, VIOLATION),
        ("inputSchema", {"type": "thing"}, VIOLATION),
        ("inputSchema", {"$schema": 5}, VIOLATION),
        ("inputSchema", {"$ref": "http://127.0.0.1:1/schema"}, None),
        ("outputSchema", {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}, None),
        ("outputSchema", {"items": [{}]}, VIOLATION),
        ("outputSchema", {"$schema": "http://127.0.0.1:1/meta"}, ADVISORY),
    ],
)
def test_schemas_valid(member: str, schema: Any, weight: Weight | None) -> None:
    found = list(check_schemas_valid(listing(OTHER, {**TOOL, member: schema}), member))
    assert {one.weight for one in found} == ({weight} if weight else set())
    assert all(one.where.startswith(f"/tools/1/{member}") for one in found)
    other = "outputSchema" if member == "inputSchema" else "inputSchema"
    assert weights(check_schemas_valid(listing(OTHER, {**TOOL, member: schema}), other)) == {Weight.INAPPLICABLE}


def test_principals_who_see_nothing_count_only_if_nobody_sees_anything() -> None:
    assert not list(across([listing(TOOL), EMPTY, REFUSED], check_descriptors_valid))
    expired = read_listing(answer(401, {"error": "unauthorized", "message": "Who?"}))
    assert not list(across([listing(TOOL), expired], check_descriptors_valid))
    assert weights(across([listing(TOOL), expired], check_list_served, frozenset({403}))) == {INCONCLUSIVE}
    assert weights(check_sources_seen([listing(TOOL), expired], frozenset({"mcp", "workflow"}))) == {INCONCLUSIVE}
    assert weights(across([listing(TOOL), BROKEN], check_list_served)) == {VIOLATION}
    assert weights(across([REFUSED, REFUSED], check_list_served)) == {INCONCLUSIVE}
    assert weights(across([EMPTY, listing({})], check_descriptors_valid)) == {VIOLATION}
    assert weights(across([EMPTY, EMPTY], check_descriptors_valid)) == {BLOCKED}
    assert weights(across([REFUSED, listing(TOOL)], check_descriptors_valid)) == {INCONCLUSIVE}


def item(body: Any, status: int = 200, *versions: Any, listed: bool = True, **more: Any) -> Item:
    known = listing(*(versions or (TOOL,))).tools or ()
    return Item("mcp:fs.read", answer(status, body, path="/v1/tools/mcp%3Afs.read", **more), known, still_listed=listed)


LIST = listing(TOOL)


def test_items_served() -> None:
    assert not list(check_item_served(LIST, [item(None, 404), item(TOOL)]))
    assert only(check_item_served(LIST, [item(None, 404), item(None, 501)])).weight is VIOLATION
    assert not list(check_item_served(LIST, [item(None, 404, listed=False)]))


@pytest.mark.parametrize(
    ("one", "weight"),
    [
        (item(TOOL), None),
        (item({**TOOL, "toolId": "mcp:fs.write"}), VIOLATION),
        (item(None, 404), VIOLATION),
        (item(None, 404, listed=False), INCONCLUSIVE),
        (item(None, 403), VIOLATION),
        (item([TOOL]), VIOLATION),
        (item(None, raw="<p>"), VIOLATION),
        (item(None, raw=DEEP), INCONCLUSIVE),
        (item({"source": "mcp"}), None),
    ],
)
def test_items_resolve(one: Item, weight: Weight | None) -> None:
    assert weights(check_items_resolve(LIST, [item(TOOL), one])) == ({weight} if weight else set())


def test_items_valid() -> None:
    assert not list(check_items_valid(LIST, [item(TOOL), item(None, 404)]))
    assert told(check_items_valid(LIST, [item({**TOOL, "x": 1})])) == [("item-valid", "/x", VIOLATION)]
    wrong = item({**TOOL, "safetyTier": "exec"})
    assert not list(check_items_valid(LIST, [wrong]))
    assert told(check_items_exec(LIST, [wrong])) == [("exec-only-host-extension", "/source", VIOLATION)]
    assert not list(check_items_exec(LIST, [item(TOOL)]))
    assert weights(check_items_exec(LIST, [item(None, 404)])) == {BLOCKED}
    assert weights(check_items_valid(listing({}), [])) == {BLOCKED}


def test_items_media_type() -> None:
    assert not list(check_items_media_type(LIST, [item(TOOL)]))
    assert only(check_items_media_type(LIST, [item(TOOL, headers=())])).seen == '"no Content-Type"'


@pytest.mark.parametrize(
    ("own", "listed", "weight"),
    [
        (TOOL, TOOL, None),
        ({**TOOL, "title": "a"}, {**TOOL, "title": "b"}, VIOLATION),
        ({**TOOL, "title": "a"}, TOOL, ADVISORY),
        (TOOL, {**TOOL, "title": "a"}, ADVISORY),
        ({**TOOL, "auth": {"scopes": ["a", "b"]}}, {**TOOL, "auth": {"scopes": ["b", "a"]}}, None),
        ({**TOOL, "inputSchema": {"minimum": 1}}, {**TOOL, "inputSchema": {"minimum": 1.0}}, None),
        ({**TOOL, "inputSchema": {"const": 1}}, {**TOOL, "inputSchema": {"const": True}}, VIOLATION),
        (
            {**TOOL, "inputSchema": {"prefixItems": ["a", "b"]}},
            {**TOOL, "inputSchema": {"prefixItems": ["b", "a"]}},
            VIOLATION,
        ),
    ],
)
def test_items_agree(own: Any, listed: Any, weight: Weight | None) -> None:
    assert weights(check_items_agree(LIST, [item(own, 200, listed)])) == ({weight} if weight else set())


def test_a_tool_that_changed_while_we_looked_agrees_with_one_of_the_two_lists() -> None:
    before, after = {**TOOL, "title": "old"}, {**TOOL, "title": "new"}
    assert not list(check_items_agree(LIST, [item(after, 200, before, after)]))
    assert only(check_items_agree(LIST, [item({**TOOL, "title": "?"}, 200, before, after)])).where == "/title"
    assert not list(check_items_agree(LIST, [item({**TOOL, "toolId": "other:x"})]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, width=16) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
def test_json_equality_is_symmetric_and_reflexive(one: Any, other: Any) -> None:
    assert same_json(one, one)
    assert same_json(one, other) == same_json(other, one)
    if same_json(one, other):
        assert one == other


def test_literal_colon() -> None:
    encoded, same = answer(200, TOOL), answer(200, TOOL, path="/v1/tools/mcp:fs.read")
    assert not list(check_literal_colon([(encoded, same)]))
    assert only(check_literal_colon([(encoded, answer(404, None))])).seen == "status 404"
    assert only(check_literal_colon([(encoded, answer(200, OTHER))])).seen == "another body"
    assert only(check_literal_colon([])).weight is Weight.INAPPLICABLE


ENVELOPE = {"error": "not_found", "message": "No such tool."}


@pytest.mark.parametrize(
    ("status", "body", "blamed"),
    [
        (404, ENVELOPE, []),
        (404, {**ENVELOPE, "details": {"toolId": "x"}}, []),
        (404, {"error": "x"}, ["unknown-id-envelope"]),
        (404, "gone", ["unknown-id-envelope"]),
        (200, TOOL, ["unknown-id-status"]),
        (403, ENVELOPE, ["unknown-id-status"]),
        (400, ENVELOPE, ["unknown-id-status"]),
    ],
)
def test_unknown_ids(status: int, body: Any, blamed: list[str]) -> None:
    found = list(check_unknown_ids(LIST, [answer(status, body)]))
    assert [one.requirement for one in found if one.weight is VIOLATION] == blamed
    assert BLOCKED in weights(found) or status == 404
    assert weights(check_unknown_ids(LIST, [])) == {BLOCKED}
    assert only(check_unknown_ids(LIST, [answer(404, raw="<p>")])).requirement == "unknown-id-envelope"


@pytest.mark.parametrize(
    ("status", "weight"),
    [
        (401, None),
        (403, ADVISORY),
        (404, ADVISORY),
        (302, ADVISORY),
        (200, VIOLATION),
        (500, VIOLATION),
        (503, INCONCLUSIVE),
    ],
)
def test_list_refused(status: int, weight: Weight | None) -> None:
    found = list(check_list_refused("list-rejects-missing-credential", answer(status, who="nobody")))
    assert weights(found) == ({weight} if weight else set())


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([401, 401], set()),
        ([403, 403], set()),
        ([404, 404], set()),
        ([401, 404], {VIOLATION}),
        ([200, 404], {VIOLATION}),
        ([500, 500], {VIOLATION}),
        ([401, 503], {INCONCLUSIVE}),
        ([400, 400], {ADVISORY}),
    ],
)
def test_item_refused(statuses: list[int], expected: set[Weight]) -> None:
    answers = [answer(status, who="nobody") for status in statuses]
    assert weights(check_item_refused("item-rejects-missing-credential", answers, existing=1)) == expected


def test_item_refused_needs_something_to_protect() -> None:
    assert weights(check_item_refused("item-rejects-missing-credential", [answer(404)], existing=0)) == {BLOCKED}
    assert VIOLATION in weights(check_item_refused("item-rejects-missing-credential", [answer(200)], existing=0))


@given(st.text(min_size=1, max_size=30), st.integers(1, 4))
def test_decoys_look_like_the_id_and_are_not_taken(like: str, count: int) -> None:
    found = decoys(like, {like}, count)
    assert len(found) == len(set(found)) == count
    assert like not in found
    scope = like.rpartition(":")[0]
    assert all(one.rpartition(":")[0] == scope for one in found)


def test_decoys_keep_length_and_kinds_of_characters() -> None:
    assert decoys("mcp:fs.read-2", (), 3) == ["mcp:fs.read-3", "mcp:gv.soof-5", "mcp:hw.tuug-6"]
    assert all("token" in one and len(one) == 14 for one in decoys("mcp:token.mint", (), 6))
    assert all(one.startswith("mcp:") and one != "mcp:token" for one in decoys("mcp:token", (), 3))
    crowded = {f"mcp:{vowel}" for vowel in "aeiouy"}
    assert not crowded & set(decoys("mcp:a", crowded, 3))
    assert len(decoys("7", set("0123456789"), 3)) == 3
    taken = set(decoys("mcp:fs.read", (), 3))
    assert not taken & set(decoys("mcp:fs.read", taken, 3))


def test_samples_take_the_dangerous_and_the_odd_first() -> None:
    tools = [TOOL, OTHER, {**TOOL, "toolId": "a/b c"}, SHELL, {**TOOL, "toolId": 7}]
    assert sample(listing(*tools), 2) == ["x-host-acme-shell", "a/b c"]
    assert len(sample(listing(*tools), 64)) == 4


@pytest.mark.parametrize(
    ("cache", "vary", "weight"),
    [
        (None, None, None),
        ("private", None, None),
        ("no-store", None, None),
        ("no-cache, public", None, None),
        ("max-age=60", None, None),
        ("public", "Accept, Authorization", None),
        ("public", "*", None),
        ("public", None, VIOLATION),
        ("PUBLIC, max-age=5", "Accept", VIOLATION),
        ("s-maxage=60", None, VIOLATION),
        ('s-maxage="60"', None, VIOLATION),
        ("s-maxage=0", None, ADVISORY),
        ("must-revalidate, max-age=5", None, ADVISORY),
        ('public, no-cache="Set-Cookie"', None, VIOLATION),
        ('x="public"', None, None),
    ],
)
def test_shared_caches(cache: str | None, vary: str | None, weight: Weight | None) -> None:
    headers = [("Cache-Control", cache)] if cache else []
    headers += [("Vary", vary)] if vary else []
    assert weights(check_shared_caches([answer(200, {}, headers=tuple(headers))])) == ({weight} if weight else set())
    assert weights(check_shared_caches([])) == {BLOCKED}


@pytest.mark.parametrize(
    ("tool_id", "source", "form", "prefix"),
    [
        ("mcp:fs.read", "mcp", True, True),
        ("openwop:a", "node-pack", True, True),
        ("acme:a", "workflow", True, True),
        ("x-host-acme-shell", "host-extension", True, True),
        ("x-host-acme-shell:run", "host-extension", True, True),
        ("acme.host:run", "host-extension", True, True),
        ("openwop:run", "host-extension", True, False),
        ("mcp:a", "connector", True, False),
        ("connector:a", "node-pack", True, False),
        ("x-host-a-b:c", "workflow", True, False),
        ("plain", "mcp", False, True),
        (":a", "mcp", False, False),
        ("mcp:", "mcp", False, True),
    ],
)
def test_ids_name_their_origin(tool_id: str, source: str, *, form: bool, prefix: bool) -> None:
    one = listing({**TOOL, "toolId": tool_id, "source": source})
    assert (not list(check_id_form(one))) == form
    assert (not list(check_id_prefix(one))) == prefix
    assert weights(check_id_form(EMPTY)) == weights(check_id_prefix(EMPTY)) == {BLOCKED}


def test_within_scopes() -> None:
    scoped = listing({**TOOL, "auth": {"scopes": ["a", "b"]}}, OTHER)
    holder, lacking = Principal("p", Secret("x"), ("a", "b")), Principal("p", Secret("x"), ("a",))
    assert not list(check_within_scopes([(holder, scoped)]))
    assert only(check_within_scopes([(holder, scoped), (lacking, scoped)])).where == "/tools/0/auth/scopes"
    for unclear in (Principal("p", Secret("x")), Principal("p", Secret("x"), ("tools:*",))):
        assert weights(check_within_scopes([(unclear, scoped)])) == {BLOCKED}
    assert weights(check_within_scopes([(holder, EMPTY)])) == {BLOCKED}


def test_source_filter() -> None:
    whole = listing(TOOL, OTHER)
    right = {"mcp": listing(TOOL), "node-pack": listing(OTHER), "workflow": listing()}
    assert not list(check_source_filter(whole, right))
    assert only(check_source_filter(whole, dict.fromkeys(right, whole))).message.startswith(
        "the source filter is ignored"
    )
    assert "openwop:slug missing" in only(check_source_filter(whole, {**right, "node-pack": listing()})).seen
    assert "beyond the list's" in only(check_source_filter(whole, {**right, "workflow": listing(TOOL)})).seen
    assert only(check_source_filter(whole, {**right, "workflow": BROKEN})).seen == "status 500 and no list"
    assert weights(check_source_filter(EMPTY, right)) == {BLOCKED}
    assert not list(check_source_filter(listing(TOOL), {"mcp": listing(TOOL)}))


@pytest.mark.parametrize(
    ("status", "headers", "refused", "answered"),
    [
        (405, (("Allow", "GET"),), True, True),
        (405, (), True, False),
        (404, (), True, False),
        (501, (), True, False),
        (200, (), False, True),
        (204, (), False, True),
    ],
)
def test_writes(status: int, headers: Any, *, refused: bool, answered: bool) -> None:
    answers = [answer(status, {}, headers=headers)]
    assert (not list(check_writes_refused("list-rejects-writes", answers))) == refused
    assert (not list(check_writes_answered(answers))) == answered


def test_writes_change_nothing() -> None:
    assert not list(check_nothing_changed([listing(TOOL, OTHER)], listing(OTHER, TOOL)))
    for after in (listing(TOOL), listing(TOOL, OTHER, SHELL), listing(TOOL, {**OTHER, "title": "x"})):
        assert weights(check_nothing_changed([listing(TOOL, OTHER)], after)) == {VIOLATION}
    assert not list(check_nothing_changed([EMPTY], EMPTY))
    assert weights(check_nothing_changed([EMPTY], BROKEN)) == {BLOCKED}
    restless = [listing(TOOL, OTHER), listing(TOOL, {**OTHER, "title": "x"})]
    assert not list(check_nothing_changed(restless, listing(TOOL, {**OTHER, "title": "y"})))
    missed, found = answer(404, {}), answer(200, TOOL)
    assert not list(check_nothing_changed([EMPTY], EMPTY, [([missed], missed), ([found], found)]))
    for then in (missed, answer(200, {**TOOL, "title": "x"})):
        assert weights(check_nothing_changed([EMPTY], EMPTY, [([found, found], then)])) == {VIOLATION}
        assert not list(check_nothing_changed([EMPTY], EMPTY, [([found, missed], then)]))
    assert not list(
        check_nothing_changed([EMPTY], EMPTY, [([listing(TOOL, OTHER).answer], listing(OTHER, TOOL).answer)])
    )


def test_a_write_that_leads_elsewhere_is_remarked_and_an_unmet_condition_is_not() -> None:
    assert weights(check_writes_refused("list-rejects-writes", [answer(303, {})])) == {ADVISORY}
    unmet = answer(412, {})
    assert weights(check_writes_answered([unmet])) == {VIOLATION}
    ours = replace(unmet, exchange=replace(unmet.exchange, request_headers=(("If-Match", '"x"'),)))
    assert not list(check_writes_answered([ours]))


def test_tools_read_by_id_again_stay_what_they_are() -> None:
    here, gone, other = answer(200, TOOL), answer(404, {}), answer(200, {**TOOL, "safetyTier": "write"})
    assert not list(check_items_stable({"mcp:fs.read": [here, here, here]}))
    for readings in ([here, gone, here], [here, other, here]):
        assert weights(check_items_stable({"mcp:fs.read": readings})) == {VIOLATION}
    assert weights(check_items_stable({"mcp:fs.read": [here, gone, gone]})) == {INCONCLUSIVE}


def test_other_ways_to_the_list_are_shut_to_strangers_too() -> None:
    assert weights(check_never_given("list-rejects-missing-credential", answer(200, {}))) == {VIOLATION}
    assert not list(check_never_given("list-rejects-missing-credential", answer(404, {})))


def test_filtered_lists_hold_each_tool_once() -> None:
    whole = listing(TOOL)
    assert "twice" in only(check_source_filter(whole, {"mcp": listing(TOOL, TOOL)})).seen


def test_schemas_are_judged_by_id_where_the_list_leaves_them_out() -> None:
    bad = {**TOOL, "inputSchema": {"type": "strng"}}
    alone = resolved_listing(listing(TOOL), [item(bad)])
    assert weights(check_schemas_valid(alone, "inputSchema")) == {VIOLATION}
    assert resolved_listing(BROKEN, []) is BROKEN


def test_headers_for_one_kind_of_cache_are_looked_at_too() -> None:
    kept = answer(200, {}, headers=(("Cache-Control", "private"), ("CDN-Cache-Control", "max-age=60")))
    assert weights(check_shared_caches([kept])) == {ADVISORY}
    keyed = answer(200, {}, headers=(("Cache-Control", "public"), ("Vary", "X-API-Key")))
    assert weights(check_shared_caches([keyed])) == {VIOLATION}
    assert not list(check_shared_caches([keyed], "X-API-Key"))


def test_stable_ids() -> None:
    full, less = listing(TOOL, OTHER), listing(OTHER)
    assert not list(check_ids_stable([full, listing(OTHER, TOOL), full]))
    assert weights(check_ids_stable([full, less, less])) == {INCONCLUSIVE}
    assert weights(check_ids_stable([full, less, full])) == {VIOLATION}
    assert weights(check_ids_stable([full, BROKEN])) == {BLOCKED}
    assert weights(check_ids_stable([EMPTY, EMPTY])) == {BLOCKED}


def test_stable_tools() -> None:
    def tiers(*names: str) -> list[Listing]:
        return [listing({**TOOL, "safetyTier": name}) for name in names]

    assert not list(check_tools_stable(tiers("read", "read")))
    assert weights(check_tools_stable(tiers("read", "write", "write"))) == {INCONCLUSIVE}
    assert weights(check_tools_stable(tiers("read", "write", "read"))) == {VIOLATION}
    assert weights(check_tools_stable(tiers("read", "write", "pure"))) == {VIOLATION}
    assert weights(check_tools_stable([listing(TOOL), listing({**TOOL, "title": "x"})])) == {ADVISORY}
    assert weights(check_tools_stable([EMPTY])) == {BLOCKED}


def test_an_id_means_one_tool_to_everybody() -> None:
    mine, theirs = listing(TOOL, who="alice"), listing({**TOOL, "safetyTier": "write"}, who="bob")
    for tenants, weight in (
        ({"alice": "a", "bob": "a"}, VIOLATION),
        ({"alice": "a", "bob": "b"}, ADVISORY),
        ({}, ADVISORY),
    ):
        found = only(check_ids_mean_one_tool([mine, theirs], tenants))
        assert (found.requirement, found.where, found.weight) == ("tool-ids-unique", "/tools/0/safetyTier", weight)
    assert not list(check_ids_mean_one_tool([mine, listing(TOOL, OTHER, who="bob"), EMPTY], {}))
    assert not list(check_ids_mean_one_tool([listing(TOOL, {**TOOL, "source": "workflow"}), listing("noise")], {}))


def test_what_one_principal_could_not_see_blocks_nothing_that_another_saw() -> None:
    blocked = [next(check_id_form(EMPTY))]
    assert of_all([blocked, blocked]) == [*blocked, *blocked]
    assert of_all([blocked, []]) == []
    assert of_all([[], blocked, list(check_id_form(listing({**TOOL, "toolId": "x"})))])[0].weight is VIOLATION
    assert of_all([]) == []


def test_a_sample_is_taken_from_all_over_a_list() -> None:
    tools = [{**TOOL, "toolId": f"mcp:t{number}"} for number in range(100)]
    odd = {**TOOL, "toolId": "mcp:an odd/one"}
    taken = sample(listing(*tools, odd, SHELL), 12)
    assert taken[:2] == ["x-host-acme-shell", "mcp:an odd/one"]
    assert taken[2:] == [f"mcp:t{number}" for number in range(0, 100, 10)]
    assert sample(listing(*tools[:3]), 12) == ["mcp:t0", "mcp:t1", "mcp:t2"]
    assert sample(listing(SHELL, odd), 1) == ["x-host-acme-shell"]
    assert sample(EMPTY, 5) == []


@pytest.mark.parametrize(
    "entry", [{**TOOL, "source": "workflow"}, {**TOOL, "safetyTier": "write"}, {**TOOL, "title": "Another"}]
)
def test_a_filtered_entry_is_that_of_the_whole_list(entry: dict[str, Any]) -> None:
    whole = listing({**TOOL, "title": "Read"}, OTHER)
    right = {"mcp": listing(TOOL), "node-pack": listing(OTHER)}
    assert not list(check_source_filter(whole, right))
    assert only(check_source_filter(whole, {**right, "mcp": listing(entry)})).requirement == "source-filter-exact"


def test_filtered_lists_are_labelled_as_the_whole_one_is() -> None:
    text = (("Content-Type", "text/html"),)
    whole, right = listing(TOOL, OTHER), {"mcp": listing(TOOL, headers=text), "node-pack": listing(OTHER)}
    assert "text/html" in only(check_source_filter(whole, right)).seen
    assert not list(check_source_filter(listing(TOOL, OTHER, headers=text), right))
    bare = {"mcp": listing(TOOL, headers=()), "node-pack": listing(OTHER)}
    assert "no Content-Type" in only(check_source_filter(whole, bare)).seen


def test_a_member_that_changes_with_every_list_is_only_remarked() -> None:
    def item(member: str, *values: str) -> Item:
        versions = [listing({**TOOL, member: value}).named(TOOL["toolId"])[0] for value in values]
        return Item(TOOL["toolId"], answer(200, {**TOOL, member: "now"}), tuple(versions))

    lists = listing(TOOL)
    assert weights(check_items_agree(lists, [item("title", "one", "two")])) == {ADVISORY}
    assert weights(check_items_agree(lists, [item("title", "one", "one")])) == {VIOLATION}
    assert weights(check_items_agree(lists, [item("safetyTier", "pure", "write")])) == {VIOLATION}


def test_a_malformed_credential_may_be_a_bad_request() -> None:
    bad = answer(400, {})
    assert not list(check_list_refused("list-rejects-unknown-credential", bad, malformed=True))
    assert only(check_list_refused("list-rejects-unknown-credential", bad)).weight is ADVISORY
    assert not list(check_item_refused("item-rejects-unknown-credential", [bad, bad], 1, malformed=True))
    assert weights(check_item_refused("item-rejects-unknown-credential", [bad], 1)) == {ADVISORY}


def test_what_needs_the_whole_list_is_blocked_by_a_part_of_it() -> None:
    part = read_listing(answer(200, {"tools": [TOOL, OTHER], "nextCursor": "c2"}))
    earlier = Earlier("host", "1", {"alice": {TOOL["toolId"]: ("mcp", "read")}})
    agents = answer(200, {"agents": [{"toolAllowlist": ["mcp:none"]}]})
    for found in (
        check_source_filter(part, {"mcp": listing(), "node-pack": listing()}),
        check_ids_stable([part, listing(OTHER), part]),
        check_tools_stable([part, listing({**TOOL, "source": "workflow"}), part]),
        check_stable_over_time([part], ("host", "1"), earlier),
        check_allowlists([agents], [part]),
        check_sources_seen([part], frozenset({"workflow"})),
    ):
        assert weights(found) == {BLOCKED}


def test_an_empty_list_is_enough_where_no_tool_is_needed() -> None:
    earlier = Earlier("host", "1", {"alice": {TOOL["toolId"]: ("mcp", "read")}})
    assert only(check_stable_over_time([EMPTY], ("host", "1"), earlier)).weight is VIOLATION
    foreign = frozenset({"mcp:theirs"})
    assert not list(check_within_tenant([TenantReading(EMPTY, foreign)]))
    assert not list(check_unknown_ids(EMPTY, [answer(404, {"error": "x", "message": "y"})]))


def test_a_saved_list_may_be_one_descriptor() -> None:
    for value in ({"tools": [TOOL]}, [TOOL], TOOL):
        saved = saved_listing(value, "catalog.json")
        assert [tool.id for tool in saved.tools or ()] == [TOOL["toolId"]]
        assert saved.answer.exchange.url == "catalog.json"
    assert saved_listing({"toolz": []}, "catalog.json").tools is None
    finding = only(check_descriptors_valid(saved_listing({"toolId": "x", "source": "mcp"}, "catalog.json")))
    assert finding.where == ""


def test_every_answer_counts_not_only_the_first() -> None:
    fine = answer(405, {}, headers=(("Allow", "GET"),))
    unmet = answer(412, {})
    unmet = replace(unmet, exchange=replace(unmet.exchange, request_headers=(("If-Match", '"x"'),)))
    assert only(check_writes_answered([fine, unmet, answer(200, {}), answer(404, {})])).seen == "status 404"
    refusals = list(check_item_refused("item-rejects-unknown-credential", [answer(401), answer(404, path="/b")], 1))
    assert "/b" in only(refusals).where
    odd = list(check_item_refused("item-rejects-unknown-credential", [answer(401), answer(401), answer(403)], 1))
    assert only(odd).seen == "statuses 401, 403"


def test_entries_of_a_bare_list_have_their_places_and_a_saved_one_is_json() -> None:
    bare = read_listing(answer(200, [TOOL, {"toolId": "x"}]))
    assert [tool.pointer for tool in bare.tools or ()] == ["/0", "/1"]
    saved = saved_listing([TOOL], "catalog.json")
    assert saved.answer.is_json
    assert (saved.answer.exchange.method, saved.answer.exchange.principal) == ("FILE", "catalog.json")
    assert saved_listing(TOOL, "catalog.json").shape is ListShape.ARRAY


def test_an_empty_list_can_be_whole() -> None:
    assert not list(check_list_complete(EMPTY))


def test_what_one_principal_lacks_is_told_beside_what_another_breaks() -> None:
    broken, fine = listing({**TOOL, "toolId": "x"}), listing(TOOL)
    found = list(across([EMPTY, broken, fine, BROKEN], check_id_form))
    assert [one.weight for one in found] == [VIOLATION]
    assert [one.weight for one in across([EMPTY, EMPTY], check_id_form)] == [BLOCKED]
