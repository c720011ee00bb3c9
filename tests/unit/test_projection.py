"""Projection onto descriptors, and draft-07 turned into 2020-12."""

from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openwop_conformance.dialects.draft07 import to_2020_12
from openwop_conformance.dialects.projection import Naming, Projection, project, tools_of
from openwop_conformance.validation import is_valid, refuse
from tests.unit.test_dialects import CLIENT, CONTRACT, MANIFEST, RECORD

CRM = Naming(scope="connector", source="connector")
READ: dict[str, Any] = {"safetyTier": "read"}


def projected(
    format_name: str, tool: Any, naming: Naming = CRM, **assigned: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    name = f"{tool['namespace']}:{tool['name']}" if "namespace" in tool else tool["name"]
    result = project(format_name, [tool], naming, {name: {**READ, **assigned}})
    assert result.refusals == []
    [descriptor] = result.descriptors
    assert is_valid("tool-descriptor", descriptor)
    return descriptor, {loss.pointer: loss.reason for loss in result.losses}


def refused(result: Projection) -> dict[str, str]:
    return {one.tool: one.reason for one in result.refusals}


def test_a_gecx_tool() -> None:
    tool = {
        **MANIFEST,
        "approvalPolicy": "supervisor_approve",
        "idempotency": {"mode": "required", "duplicateBehavior": "return_cached"},
        "auth": {"required": True, "scopes": ["a", "b", "a"], "resource": "crm"},
        "inputSchema": {"type": "object", "definitions": {"a": {}}},
    }
    descriptor, losses = projected("gecx", tool)
    assert descriptor == {
        "toolId": "connector:lookup_order",
        "source": "connector",
        "description": "Finds an order.",
        "inputSchema": {"type": "object", "$defs": {"a": {}}},
        "auth": {"scopes": ["a", "b"]},
        "approval": "always",
        "replayPolicy": "idempotent",
        "safetyTier": "read",
    }
    assert {
        "/auth/required",
        "/auth/resource",
        "/audit",
        "/timeoutMs",
        "/idempotency",
        "/sideEffectLevel",
    } == losses.keys()


@pytest.mark.parametrize(
    ("policies", "approval"),
    [
        ({"approvalPolicy": "auto"}, "never"),
        ({"approvalPolicy": "user_confirm"}, "always"),
        ({"approvalPolicy": "async_pending"}, "always"),
        ({"permissions": {"requiresUserApproval": True}}, "always"),
        ({"permissions": {"approvalPolicy": "supervisor_approve"}, "approvalPolicy": "auto"}, "always"),
        ({}, None),
    ],
)
def test_gecx_approval(policies: dict[str, Any], approval: str | None) -> None:
    assert projected("gecx", {**CLIENT, **policies})[0].get("approval") == approval


def test_gecx_headers_never_travel_and_denied_tools_stay_out() -> None:
    tool = {**CLIENT, "kind": "server", "http": {"endpoint": "/x", "headers": {"X-Key": "hunter22"}}}
    result = project("gecx", [tool], CRM, {"lookup_order": READ})
    assert "hunter22" not in repr(result.descriptors) + repr(result.losses)
    denied = project("gecx", [{**CLIENT, "approvalPolicy": "denied"}], CRM, {"lookup_order": READ})
    assert "denied" in refused(denied)["lookup_order"]


def test_a_denied_tool_stays_out_whatever_is_assigned() -> None:
    whole = {"safetyTier": "read", "toolId": "c:ab", "source": "connector"}
    result = project("gecx", [{**CLIENT, "approvalPolicy": "denied"}], Naming(), {"lookup_order": whole})
    assert result.descriptors == []
    assert "denied" in refused(result)["lookup_order"]


@pytest.mark.parametrize(
    ("schema", "outcome"),
    [
        ({"type": 5}, "refused"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "lost"),
        ({"$schema": "https://json-schema.org/draft-07/schema#", "definitions": {"a": {}}}, "converted"),
    ],
)
def test_only_schemas_of_known_dialects_travel(schema: dict[str, Any], outcome: str) -> None:
    result = project("gecx", [{**CLIENT, "inputSchema": schema}], CRM, {"lookup_order": READ})
    if outcome == "refused":
        assert "its inputSchema is not a schema" in refused(result)["lookup_order"]
    else:
        assert ("inputSchema" in result.descriptors[0]) == (outcome == "converted")
        assert ("/inputSchema" in {one.pointer for one in result.losses}) == (outcome == "lost")


def test_contracts_may_declare_draft_07() -> None:
    tool = {
        **CONTRACT,
        "inputSchema": {"$schema": DRAFT_07, "items": [{}]},
        "outputSchema": {"additionalProperties": False},
    }
    descriptor, _ = projected("tool-contract", tool, Naming("openwop", "node-pack"))
    assert descriptor["inputSchema"]["prefixItems"] == [{}]
    assert descriptor["outputSchema"] == {"additionalProperties": False}


def test_refusals_repeat_no_values() -> None:
    tool = {**CLIENT, "kind": "server", "http": {"endpoint": "/x", "headers": {"Authorization": ["Bearer hunter22"]}}}
    assert "hunter22" not in repr(project("gecx", [tool], CRM, {"lookup_order": READ}))


def test_a_toolfoundation_tool() -> None:
    tool = {**RECORD, "title": "Read", "namespace": "git", "annotations": {"readOnlyHint": True}, "version": "1.0.0"}
    descriptor, losses = projected("toolfoundation", tool, Naming(server="fs"))
    assert descriptor["toolId"] == "mcp:fs.fs.read"
    assert descriptor["source"] == "mcp"
    assert losses.keys() == {"/annotations", "/version", "/namespace"}
    assert projected("toolfoundation", tool, Naming("openwop", "node-pack"))[0]["toolId"] == "openwop:git.fs.read"


def test_a_tool_contract() -> None:
    tool = {
        **CONTRACT,
        "requiredScopes": ["a", "a"],
        "secretRefs": ["GITHUB_TOKEN"],
        "outputSchema": {"path": "string"},
    }
    descriptor, losses = projected("tool-contract", tool, Naming("openwop", "node-pack"))
    assert descriptor["auth"] == {"scopes": ["a"], "credentialRef": True}
    assert descriptor["replayPolicy"] == "idempotent"
    assert descriptor["toolId"] == "openwop:fs.write"
    assert "outputSchema" not in descriptor
    assert "/outputSchema" in losses
    assert "GITHUB_TOKEN" not in repr(descriptor) + repr(losses)
    imported = {**tool, "name": "mcp::github::issues.create", "effect": "NonIdempotentWrite"}
    del imported["retryPolicy"]
    descriptor, _ = projected("tool-contract", imported)
    assert (descriptor["toolId"], descriptor["source"]) == ("mcp:github.issues.create", "mcp")
    assert descriptor["replayPolicy"] == "non-deterministic"


@pytest.mark.parametrize(
    ("format_name", "tool", "said"),
    [
        ("gecx", {**CLIENT, "sideEffectLevel": "none"}, "a suggestion would be pure"),
        ("gecx", {**CLIENT, "sideEffectLevel": "read_only"}, "a suggestion would be read"),
        ("gecx", {**CLIENT, "sideEffectLevel": "external_side_effect"}, "a suggestion would be write"),
        ("gecx", CLIENT, "nothing suggests one"),
        ("toolfoundation", {**RECORD, "annotations": {"readOnlyHint": True}}, "nothing suggests one"),
        ("tool-contract", CONTRACT, "a suggestion would be write"),
        ("tool-contract", {**CONTRACT, "effect": "Pure", "retryPolicy": None}, "not a valid definition"),
    ],
)
def test_the_safety_tier_is_assigned_and_never_guessed(format_name: str, tool: dict[str, Any], said: str) -> None:
    result = project(format_name, [tool], CRM)
    assert result.descriptors == []
    assert said in refused(result)[tool["name"]]
    assert "exec" not in said


def test_a_pure_contract_suggests_nothing() -> None:
    tool = {key: value for key, value in CONTRACT.items() if key != "retryPolicy"} | {"effect": "Pure"}
    assert "nothing suggests one (effect is Pure" in refused(project("tool-contract", [tool], CRM))[tool["name"]]


@pytest.mark.parametrize(
    ("assigned", "naming", "said"),
    [
        ({"safetyTier": "exec"}, CRM, "only a host extension may be exec"),
        ({"safetyTier": "deadly"}, CRM, "none of pure"),
        ({"safetyTier": "read", "egress": "open"}, CRM, "/egress"),
        ({"safetyTier": "read", "color": "red"}, CRM, "unknown members: color"),
        ({"safetyTier": "read"}, Naming(), "no scope was given"),
        ({"safetyTier": "read"}, Naming(scope="a"), "no source was given"),
        ({"safetyTier": "read"}, Naming(scope="a", source="plugin"), "/source"),
    ],
)
def test_impossible_assignments(assigned: dict[str, Any], naming: Naming, said: str) -> None:
    assert said in refused(project("gecx", [CLIENT], naming, {"lookup_order": assigned}))["lookup_order"]


def test_an_assignment_may_name_everything_itself() -> None:
    whole = {"toolId": "x-host-acme-it", "source": "host-extension", "safetyTier": "exec", "costHint": "low"}
    assert project("gecx", [CLIENT], Naming(), {"lookup_order": whole}).descriptors[0]["toolId"] == "x-host-acme-it"


def test_two_definitions_with_one_id_are_both_refused() -> None:
    tools = [
        {**CONTRACT, "name": "mcp::a.b::c", "serverVersion": "1"},
        {**CONTRACT, "name": "mcp::a::b.c", "serverVersion": "1"},
        {**CONTRACT, "name": "mcp::a::d", "serverVersion": "1"},
    ]
    result = project("tool-contract", tools, CRM, {tool["name"]: READ for tool in tools})
    assert [one["toolId"] for one in result.descriptors] == ["mcp:a.d"]
    assert "mcp::a::b.c" in refused(result)["mcp::a.b::c"]
    assert "mcp::a.b::c" in refused(result)["mcp::a::b.c"]


def test_documents_of_several_shapes() -> None:
    assert tools_of([1, 2]) == [1, 2]
    assert tools_of({"tools": [1]}) == [1]
    assert tools_of(RECORD) == [RECORD]
    assert refused(project("gecx", [7], CRM))["#0"].startswith("not a valid definition")


DRAFT_07 = "http://json-schema.org/draft-07/schema#"
CONVERSIONS: list[tuple[Any, list[Any]]] = [
    ({"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}, [["a", 1], ["a", 1, 2], [1]]),
    ({"items": [{"type": "string"}]}, [["a", 1], [1]]),
    ({"items": [], "additionalItems": {"type": "string"}}, [["a"], [1], []]),
    ({"items": {"type": "string"}, "additionalItems": False}, [["a", "b"], [1]]),
    ({"definitions": {"a": {"type": "string"}}, "$ref": "#/definitions/a"}, ["x", 1]),
    (
        {"properties": {"a": {"$ref": "#/definitions/x~1y"}}, "definitions": {"x/y": {"minimum": 3}}},
        [{"a": 3}, {"a": 2}],
    ),
    (
        {"properties": {"a": {"$ref": "#/definitions/p%20q"}}, "definitions": {"p q": {"minimum": 3}}},
        [{"a": 3}, {"a": 2}],
    ),
    (
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}, "e": False}},
        [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}, {"e": 1}],
    ),
    (
        {"properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}, "definitions": {"s": {"type": "string"}}},
        [{"a": "xyz"}],
    ),
    ({"definitions": {"a": {"$id": "#anchor", "type": "integer"}}, "items": {"$ref": "#anchor"}}, [[1], ["a"]]),
    ({"definitions": {"a": {"$id": "#1-odd!", "type": "integer"}}, "items": {"$ref": "#1-odd!"}}, [[1], ["a"]]),
    ({"items": [{"type": "string"}], "properties": {"a": {"$ref": "#/items/0"}}}, [{"a": "x"}, {"a": 1}]),
    (
        {"items": [{}], "additionalItems": {"type": "string"}, "properties": {"a": {"$ref": "#/additionalItems"}}},
        [{"a": 1}],
    ),
    (
        {"dependencies": {"a": {"type": "object"}}, "properties": {"b": {"$ref": "#/dependencies/a"}}},
        [{"b": 1}, {"b": {}}],
    ),
    ({"minContains": 2, "contains": {"type": "integer"}}, [[1], [1, 2], ["a"]]),
    ({"unevaluatedProperties": False, "dependentRequired": {"a": ["b"]}, "prefixItems": [False]}, [{"a": 1}, [1]]),
    (
        {"definitions": {"a": {"minimum": 1}}, "$defs": {"a": {"minimum": 9}}, "allOf": [{"$ref": "#/definitions/a"}]},
        [5, 0],
    ),
    ({"$defs": {"a": {"items": [{"type": "string"}]}}, "allOf": [{"$ref": "#/$defs/a"}]}, [["x"], [1]]),
    (
        {
            "definitions": {
                "own": {
                    "$id": "urn:own",
                    "definitions": {"b": {"type": "string"}},
                    "items": {"$ref": "#/definitions/b"},
                }
            },
            "allOf": [{"$ref": "urn:own"}, {"items": {"$ref": "urn:own#/definitions/b"}}],
        },
        [["x"], [1]],
    ),
    (
        {
            "definitions": {"x": {"type": "string"}, "x_": {"type": "array"}},
            "$defs": {"x": {"type": "integer"}},
            "properties": {"a": {"$ref": "#/definitions/x"}},
        },
        [{"a": "x"}, {"a": ["x"]}, {"a": 1}],
    ),
    (
        {
            "$defs": {"definitions": {"properties": {"q": {"type": "string"}}}},
            "properties": {"a": {"$ref": "#/$defs/definitions/properties/q"}},
        },
        [{"a": "x"}, {"a": 1}],
    ),
    ({"foo": {"definitions": {"n": {"type": "string"}}}, "items": {"$ref": "#/foo/definitions/n"}}, [["x"], [1]]),
    ({"enum": [{"definitions": 1, "items": []}]}, [{"definitions": 1, "items": []}, {"$defs": 1}]),
    (
        {"if": {"required": ["a"]}, "then": {"items": [False]}, "not": {"const": 1}, "propertyNames": {"maxLength": 1}},
        [{"aa": 1}, 1],
    ),
    (True, [1]),
]


def agree(schema: Any, instance: Any) -> None:
    converted = to_2020_12(schema).schema
    jsonschema.Draft202012Validator.check_schema(converted)
    old, new = jsonschema.Draft7Validator(schema), jsonschema.Draft202012Validator(converted)
    assert old.is_valid(instance) == new.is_valid(instance), (schema, converted, instance)


@pytest.mark.parametrize(("schema", "instances"), CONVERSIONS)
def test_draft_07_becomes_2020_12(schema: Any, instances: list[Any]) -> None:
    for instance in instances:
        agree(schema, instance)


leaves = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", ""])
instances = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", "integer"]),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "items": inner | st.lists(inner, min_size=1, max_size=2),
            "additionalItems": inner,
            "dependencies": st.dictionaries(st.sampled_from("abc"), inner | st.just(["b"]), max_size=2),
            "not": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "minContains": st.integers(0, 2),
            "contains": inner,
            "maxLength": st.integers(0, 1),
            "$ref": st.sampled_from(["#/definitions/a", "#here", "#/definitions/a/items"]),
        },
    )


schemas = st.recursive(
    st.booleans() | st.sampled_from([{}, {"type": "string"}, {"minimum": 2}]), combined, max_leaves=6
)


@settings(max_examples=800, deadline=None)
@given(combined(schemas), schemas, instances)
def test_generated_instances_get_the_same_verdict_from_both(schema: dict[str, Any], part: Any, instance: Any) -> None:
    target = (
        {"items": {"type": "array"}}
        if not isinstance(part, dict) or "$ref" in part
        else {**part, "items": {"type": "array"}}
    )
    root = {**schema, "definitions": {"a": target, "h": {"$id": "#here", "type": "object"}}}
    converted = to_2020_12(root).schema
    jsonschema.Draft202012Validator.check_schema(converted)
    old = jsonschema_rs.Draft7Validator(root, retriever=refuse)
    new = jsonschema_rs.Draft202012Validator(converted, retriever=refuse)
    assert old.is_valid(instance) == new.is_valid(instance), converted


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {}, "additionalItems": {"type": "string"}, "properties": {"a": {"$ref": "#/additionalItems"}}},
        {"dependentSchemas": {"a": {"type": "string"}}, "properties": {"a": {"$ref": "#/dependentSchemas/a"}}},
        {"properties": {"a": {"$ref": "#", "title": "x", "not": {}}, "b": {"$ref": "#/properties/a/not"}}},
    ],
)
def test_references_into_what_is_left_behind_are_refused(schema: dict[str, Any]) -> None:
    assert len(to_2020_12(schema).dangling) == 1
    result = project("gecx", [{**CLIENT, "inputSchema": schema}], CRM, {"lookup_order": READ})
    assert "refers to what 2020-12 has no place for" in refused(result)["lookup_order"]


def test_an_assignment_over_what_a_definition_says_is_told() -> None:
    _, losses = projected("gecx", {**CLIENT, "approvalPolicy": "supervisor_approve"}, approval="never")
    assert losses["/approval"] == "assigned never, although the definition amounts to always"


def test_what_is_left_behind_is_said() -> None:
    converted = to_2020_12({"$schema": DRAFT_07, "$ref": "#", "maxLength": 1})
    assert converted.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert converted.losses == ["/maxLength: ignored beside $ref in draft-07"]
    assert to_2020_12({"$id": "urn:a#", "items": {}, "additionalItems": {}}).losses == [
        "/additionalItems: without a list of items it means nothing"
    ]
