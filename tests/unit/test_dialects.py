"""The native formats: what their schemas and their prose accept and refuse."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openwop_conformance.dialects import gecx, tool_contract, toolfoundation
from openwop_conformance.dialects.notices import Kind, Notice
from openwop_conformance.dialects.shapes import shape_errors
from openwop_conformance.validation import refuse

SEED = json.loads((Path(__file__).parents[1] / "data" / "gecx-tools.seed.json").read_text(encoding="utf-8"))
PARTS = ["", *SEED["definitions"]]


def seed_validator(part: str) -> jsonschema_rs.Validator:
    schema = {**SEED, "$id": "urn:seed"}
    if part:
        schema = {"$schema": SEED["$schema"], "definitions": SEED["definitions"], "$ref": f"#/definitions/{part}"}
    return jsonschema_rs.validator_for(schema, retriever=refuse)


SEED_VALIDATORS = {part: seed_validator(part) for part in PARTS}
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 700_000) | st.text(max_size=3) | st.floats(allow_nan=False, width=16),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


def resolved(part: Any) -> Any:
    reference = part.get("$ref") if isinstance(part, dict) else None
    return SEED["definitions"][reference.rpartition("/")[2]] if reference else part


def fitting(part: Any) -> st.SearchStrategy[Any]:
    """Values for a schema of the seed: mostly right ones."""
    part = resolved(part)
    if "const" in part:
        return st.just(part["const"])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    match part.get("type"):
        case "string":
            return st.sampled_from(["lookup_order", "ab", "Ab", "a", "ab\n", ""]) | st.text(max_size=4)
        case "boolean":
            return st.booleans()
        case "integer":
            return st.sampled_from([-1, 0, 1, 99, 100, 5000, 600_000, 600_001, 5.0])
        case "array":
            return st.lists(fitting(part.get("items", {})), max_size=2)
        case "object":
            properties = {name: fitting(one) for name, one in part.get("properties", {}).items()}
            required = {name: properties[name] for name in part.get("required", []) if name in properties}
            optional = {name: one for name, one in properties.items() if name not in required}
            return st.fixed_dictionaries(required, optional=optional)
    return anything


@st.composite
def near_valid(draw: st.DrawFn) -> tuple[str, Any]:
    part = draw(st.sampled_from(PARTS))
    schema = SEED["definitions"][part] if part else SEED
    value = draw(fitting(schema))
    if isinstance(value, dict):
        names = sorted({*value, *schema.get("properties", {}), "extra"})
        for _ in range(draw(st.integers(0, 2))):
            name = draw(st.sampled_from(names))
            if draw(st.booleans()):
                value.pop(name, None)
            else:
                value[name] = draw(anything)
    return part, value


@settings(max_examples=1500, deadline=None)
@given(near_valid())
def test_the_gecx_schema_means_what_the_seed_means(case: tuple[str, Any]) -> None:
    part, value = case
    assert (not shape_errors("gecx", value, part)) == SEED_VALIDATORS[part].is_valid(value)


def told(notices: list[Notice]) -> list[tuple[str, str]]:
    return [(one.kind.value, one.pointer) for one in notices]


CLIENT: dict[str, Any] = {"name": "lookup_order", "description": "Finds an order.", "inputSchema": {"type": "object"}}
MANIFEST: dict[str, Any] = {
    **CLIENT,
    "kind": "server",
    "approvalPolicy": "auto",
    "idempotency": {"mode": "none"},
    "auth": {},
    "audit": {"classification": "none"},
    "timeoutMs": 1000,
    "sideEffectLevel": "none",
}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (CLIENT, []),
        ({**CLIENT, "vendor": 1}, []),
        ({**CLIENT, "name": "ab\n"}, [("error", "/name")]),
        ({**CLIENT, "name": "a"}, [("error", "/name")]),
        ({**CLIENT, "kind": "server"}, [("error", "")]),
        ({**CLIENT, "kind": "server", "http": {"endpoint": "/x"}}, []),
        ({**CLIENT, "http": {"endpoint": "/x"}}, [("advisory", "/http")]),
        ({**CLIENT, "permissions": {"requiresUserApproval": True}}, []),
        (
            {**CLIENT, "permissions": {"requiresUserApproval": True}, "approvalPolicy": "auto"},
            [("advisory", "/approvalPolicy")],
        ),
        (
            {**CLIENT, "idempotency": {"mode": "none", "duplicateBehavior": "reject"}},
            [("advisory", "/idempotency/duplicateBehavior")],
        ),
        ({**CLIENT, "timeoutMs": 99}, [("error", "/timeoutMs")]),
    ],
)
def test_gecx_definitions(tool: Any, expected: list[tuple[str, str]]) -> None:
    assert told(gecx.check_definition(tool)) == expected
    if tool.get("kind") != "server" or "http" in tool:
        assert told(gecx.check_any(tool)) == expected


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (MANIFEST, []),
        ({**MANIFEST, "vendor": 1}, [("error", "")]),
        ({**MANIFEST, "name": "Has Spaces"}, [("advisory", "/name")]),
        ({**MANIFEST, "name": "ab\n"}, [("advisory", "/name")]),
        ({**MANIFEST, "timeoutMs": 1}, [("advisory", "/timeoutMs")]),
    ],
)
def test_gecx_manifests(tool: Any, expected: list[tuple[str, str]]) -> None:
    assert told(gecx.check_manifest(tool)) == told(gecx.check_any(tool)) == expected
    document = {"version": 1, "generatedAt": "2026-01-01T00:00:00Z", "tools": [tool]}
    below = [(kind, f"/tools/0{pointer}") for kind, pointer in expected]
    assert told(gecx.check_any(document)) == below


def test_gecx_documents_name_each_tool_once() -> None:
    document = {"version": 1, "generatedAt": "2026-01-01T00:00:00Z", "tools": [MANIFEST, MANIFEST]}
    assert told(gecx.check_document(document)) == [("error", "/tools/1/name")]


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        ({"status": "completed", "output": {}}, []),
        ({"output": {}}, []),
        ({"error": "no"}, []),
        ({"status": "denied", "error": "no"}, []),
        ({"status": "duplicate", "output": {}, "duplicateDisposition": "replayed"}, []),
        ({"status": "duplicate", "error": "no", "duplicateDisposition": "rejected"}, []),
        ({}, [("error", "")]),
        ({"status": "pending"}, [("error", "")]),
        ({"status": "completed", "error": "no"}, [("error", "")]),
        ({"status": "duplicate", "error": "no"}, [("error", "")]),
        ({"status": "completed", "output": {}, "error": "no"}, [("advisory", "")]),
        ({"status": "done", "output": {}}, [("error", "/status")]),
        ({"output": {}, "extra": 1}, [("error", "")]),
    ],
)
def test_gecx_envelopes(envelope: Any, expected: list[tuple[str, str]]) -> None:
    assert told(gecx.check_envelope(envelope)) == expected


def test_gecx_documents_are_told_apart() -> None:
    assert told(gecx.check_any({"requestId": "x"})) == [("error", "")]
    assert told(gecx.check_any({})) == [("error", "")]
    assert told(gecx.check_any([CLIENT, {**CLIENT, "name": "A"}])) == [("error", "/1/name")]


def test_gecx_requests() -> None:
    context = {"sessionId": "s", "turnIndex": 0, "toolCallId": "c", "idempotencyKey": "k"}
    request = {"name": "lookup_order", "input": {}, "context": context}
    assert told(gecx.check_any(request)) == []
    assert told(gecx.check_request({**request, "idempotencyKey": "other"})) == [("advisory", "/idempotencyKey")]
    assert told(gecx.check_request({**request, "context": {**context, "turnIndex": -1}})) == [
        ("error", "/context/turnIndex")
    ]


RECORD: dict[str, Any] = {"name": "fs.read", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"name": "-._"}, []),
        ({"name": "a" * 128}, []),
        ({"name": "a" * 129}, [("error", "/name")]),
        ({"name": ""}, [("error", "/name"), ("error", "/name")]),
        ({"name": "a:b"}, [("error", "/name")]),
        ({"name": "a\n"}, [("error", "/name")]),
        ({"namespace": "git", "version": "v1.2.3", "tags": ["a", "b-c"]}, []),
        ({"namespace": "a:b"}, [("error", "/namespace")]),
        ({"namespace": ""}, [("error", "/namespace"), ("error", "/namespace")]),
        ({"version": "1.2"}, [("error", "/version")]),
        ({"version": "01.02.03"}, [("advisory", "/version")]),
        ({"tags": ["Foo"]}, [("advisory", "/tags")]),
        ({"inputSchema": {"$schema": "http://json-schema.org/draft-07/schema", "items": [{}]}}, []),
        ({"inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}, []),
        ({"inputSchema": {"$schema": "http://json-schema.org/draft-04/schema#"}}, [("error", "/inputSchema/$schema")]),
        ({"inputSchema": {"properties": {"a": {"$schema": "urn:x"}}}}, []),
        ({"inputSchema": {"type": "thing"}}, [("error", "/inputSchema/type")]),
        ({"outputSchema": {"$ref": "http://127.0.0.1:1/x"}}, [("error", "/outputSchema/$ref")]),
        (
            {"outputSchema": {"properties": {"a": {"$ref": "other.json#/x"}}}},
            [("error", "/outputSchema/properties/a/$ref")],
        ),
        ({"outputSchema": {"$id": "urn:own", "$ref": "urn:own#/$defs/a", "$defs": {"a": {}}}}, []),
        (
            {"outputSchema": {"properties": {"default": {"$ref": "http://127.0.0.1:1/x"}}}},
            [("error", "/outputSchema/properties/default/$ref")],
        ),
        ({"outputSchema": {"$dynamicRef": "http://127.0.0.1:1/x"}}, [("error", "/outputSchema/$dynamicRef")]),
        ({"outputSchema": {"$defs": {"b": {"$id": "b.json"}}, "$ref": "b.json"}}, []),
        ({"outputSchema": {"const": {"$ref": "http://127.0.0.1:1/x"}, "format": "nonsense"}}, []),
    ],
)
def test_toolfoundation_records(change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert told(toolfoundation.check_tool({**RECORD, **change})) == expected


def test_toolfoundation_lists() -> None:
    assert told(toolfoundation.check_list({"tools": [RECORD, {**RECORD, "namespace": "a"}]})) == []
    assert told(toolfoundation.check_list([RECORD, RECORD])) == [("error", "/1/name")]
    assert told(toolfoundation.check_list({"tools": [RECORD, {}]}))[0][1] == "/tools/1"
    assert told(toolfoundation.check_list({"name": "x"})) == [("error", "")]


@pytest.mark.parametrize(("text", "parts"), [("a:b", ("a", "b")), ("name", (None, "name"))])
def test_ids(text: str, parts: tuple[str | None, str]) -> None:
    assert toolfoundation.parse_id(text) == parts


@pytest.mark.parametrize("text", ["", ":", "a:", ":b", "a:b:c", "a::b"])
def test_impossible_ids(text: str) -> None:
    with pytest.raises(ValueError, match="is not an id"):
        toolfoundation.parse_id(text)


@pytest.mark.parametrize("version", ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.5", "v0.0.0-a-b+c"])
def test_versions(version: str) -> None:
    assert toolfoundation.check_version(version) == []


@pytest.mark.parametrize(
    "version", ["V1.2.3", "1.2", "1.2.3-", "1.2.3\n", "", "1.2.3.4", "1.2.3+", "\u0661.2.3", "1.2.3-a..b"]
)
def test_impossible_versions(version: str) -> None:
    assert [one.kind for one in toolfoundation.check_version(version)] == [Kind.ERROR]


@pytest.mark.parametrize(
    ("tags", "normal"),
    [
        (["  Foo ", "foo", "Bar Baz", "bar-baz", "A_B", "A.B"], ["foo", "bar-baz", "a_b", "a.b"]),
        (["", "   ", "###", "ok!", "good_tag"], ["ok", "good_tag"]),
        (["! x"], ["-x"]),
        (["a - b"], ["a---b"]),
        (["café"], ["caf"]),
        (["日本"], []),
        (["\u212a"], ["k"]),
        (["a\xa0b"], ["a-b"]),
        (["\xa0a\u3000"], ["a"]),
        (["a\x1fb"], ["ab"]),
        (["x" * 64 + "1", "x" * 64 + "2"], ["x" * 64]),
        (["#"] * 30 + [f"t{number}" for number in range(30)], [f"t{number}" for number in range(20)]),
    ],
)
def test_tags(tags: list[str], normal: list[str]) -> None:
    assert toolfoundation.normalize_tags(tags) == normal


@given(st.lists(st.text(max_size=80), max_size=30))
def test_tags_once_normalized_stay_so(tags: list[str]) -> None:
    once = toolfoundation.normalize_tags(tags)
    assert len(once) <= 20
    assert all(0 < len(tag) <= 64 for tag in once)
    assert toolfoundation.normalize_tags(once) == once


CONTRACT: dict[str, Any] = {
    "name": "local::fs.write",
    "version": "1.2.3",
    "description": "Writes a file.",
    "inputSchema": {"type": "object"},
    "effect": "IdempotentWrite",
    "idempotencyKeyRequirement": "required",
    "retryPolicy": {"maxAttempts": 3},
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"name": "mcp::github::issues.create", "serverVersion": "2"}, []),
        ({"name": "mcp::github::issues.create"}, [("advisory", "/name")]),
        ({"name": "fs.write"}, [("error", "/name")]),
        ({"name": "mcp::github"}, [("error", "/name")]),
        ({"name": "local::a::b"}, [("error", "/name")]),
        ({"name": "local::a\n"}, [("error", "/name")]),
        ({"version": "latest"}, [("advisory", "/version")]),
        ({"effect": "Sometimes"}, [("error", "/effect")]),
        ({"effect": "NonIdempotentWrite"}, [("error", "/retryPolicy")]),
        ({"idempotencyKeyRequirement": "none"}, [("advisory", "/idempotencyKeyRequirement")]),
    ],
)
def test_contracts(change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert told(tool_contract.check_contract({**CONTRACT, **change})) == expected
    assert told(tool_contract.check_any([CONTRACT, {**CONTRACT, **change}])) == [
        (kind, f"/1{at}") for kind, at in expected
    ]


RESULT: dict[str, Any] = {
    "status": "Ok",
    "output": None,
    "durationMs": 1,
    "attempts": 1,
    "resolvedVersion": "1",
    "correlationId": "c",
    "origin": "local",
}
FAILURE = {"code": "PolicyError.Timeout", "message": "late", "isRetryable": True}


@pytest.mark.parametrize(
    ("result", "fine"),
    [
        (RESULT, True),
        ({**RESULT, "origin": "mcp::github"}, True),
        ({**RESULT, "status": "Retryable", "error": FAILURE}, True),
        ({**RESULT, "error": FAILURE}, False),
        ({key: value for key, value in RESULT.items() if key != "output"}, False),
        ({**RESULT, "status": "Error"}, False),
        ({**RESULT, "attempts": 0}, False),
        ({**RESULT, "origin": "mcp::"}, False),
    ],
)
def test_results(result: dict[str, Any], *, fine: bool) -> None:
    assert (not tool_contract.check_any(result)) == fine


def test_errors_invocations_and_policies() -> None:
    assert told(tool_contract.check_error({**FAILURE, "code": "ContractErrorFoo"})) == [("advisory", "/code")]
    assert told(tool_contract.check_any(FAILURE)) == []
    odd = {**RESULT, "status": "Error", "error": {**FAILURE, "code": "Oops"}}
    assert told(tool_contract.check_result(odd)) == [("advisory", "/error/code")]
    assert told(tool_contract.check_any({"toolName": "a", "input": {}, "correlationId": "c"})) == []
    assert told(tool_contract.check_any({"toolName": "a"}))[0][0] == "error"
    assert tool_contract.may_retry(CONTRACT, key="k")
    assert not tool_contract.may_retry(CONTRACT, key=None)
    assert not tool_contract.may_retry({**CONTRACT, "effect": "Pure"}, key="k")
    assert tool_contract.may_cache({**CONTRACT, "effect": "Pure"})
    assert not tool_contract.may_cache(CONTRACT)
