"""The schemas: the same meaning as the seed's, the same verdict from two validators, and nothing fetched."""

import json
import socket
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openwop_conformance.validation import (
    is_valid,
    knows_dialect,
    load_schema,
    refuse,
    schema_names,
    schema_problems,
    violations,
)
from openwop_conformance.vectors import Vector, load_vectors

SEED = json.loads((Path(__file__).parents[1] / "data" / "tool-descriptor.seed.json").read_text(encoding="utf-8"))
SEED_VALIDATOR = jsonschema_rs.validator_for(SEED, retriever=refuse)
VECTORS = [vector for area in ("descriptor", "capability", "bodies", "events") for vector in load_vectors(area)]

values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
words = st.sampled_from(sorted({word for part in SEED["properties"].values() for word in part.get("enum", [])}))
members = st.sampled_from([*SEED["properties"], "vendor", "toolid", ""])


texts = st.text(max_size=8)
schemas = st.dictionaries(st.sampled_from(["type", "properties", "x"]), values, max_size=2)
auths = st.fixed_dictionaries(
    {}, optional={"scopes": st.lists(texts, unique=True, max_size=3), "credentialRef": st.booleans()}
)
by_name = {"toolId": st.text(min_size=1, max_size=8), "inputSchema": schemas, "outputSchema": schemas, "auth": auths}
strategies = {
    name: by_name[name] if name in by_name else st.sampled_from(part["enum"]) if "enum" in part else texts
    for name, part in SEED["properties"].items()
}
valid = st.fixed_dictionaries(
    {name: strategies[name] for name in SEED["required"]},
    optional={name: one for name, one in strategies.items() if name not in SEED["required"]},
)


@st.composite
def near_valid(draw: st.DrawFn) -> Any:
    """A valid descriptor with a few members dropped, replaced, added or given another vocabulary's word."""
    document = draw(valid)
    for _ in range(draw(st.integers(0, 3))):
        match draw(st.sampled_from(["drop", "replace", "word", "auth", "tier"])):
            case "drop":
                document.pop(draw(members), None)
            case "replace":
                document[draw(members)] = draw(values)
            case "word":
                document[draw(members)] = draw(words)
            case "auth":
                names = st.sampled_from(["scopes", "credentialRef", "token"])
                document["auth"] = draw(st.dictionaries(names, values, max_size=2))
            case "tier":
                document["safetyTier"] = "exec"
    return document


@settings(max_examples=1500, deadline=None)
@given(near_valid() | values)
def test_descriptor_schema_means_what_the_seed_means(document: Any) -> None:
    assert is_valid("tool-descriptor", document) == SEED_VALIDATOR.is_valid(document)


def test_both_verdicts_occur_among_the_generated_documents() -> None:
    """Without this the property could hold over documents of one kind only."""
    verdicts: set[bool] = set()

    @settings(max_examples=300, deadline=None, database=None)
    @given(near_valid())
    def look(document: Any) -> None:
        verdicts.add(SEED_VALIDATOR.is_valid(document))

    look()
    assert verdicts == {True, False}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: f"{one.schema}-{one.name}")
def test_both_validators_agree_on_every_vector(vector: Vector) -> None:
    """The one that decides and the one that explains; the second is the oracle of the first."""
    assert is_valid(vector.schema, vector.document) == vector.valid
    assert bool(violations(vector.schema, vector.document)) != vector.valid


def test_there_are_vectors_in_both_directions_for_every_shape_requirement() -> None:
    from openwop_conformance.requirements import load_registry

    shapes = {one.id for one in load_registry() if one.gate == ("none",)}
    assert {one.requirement for one in VECTORS if one.valid} == shapes
    assert {one.requirement for one in VECTORS if not one.valid} == shapes
    assert len(VECTORS) >= 80
    assert len({one.name for one in VECTORS}) == len(VECTORS)


def test_vectors_fail_where_the_schema_is_wrong() -> None:
    """A vector can fail, in each of its three ways."""
    good = Vector("a", "tool-descriptor", "x", valid=True, document={})
    bad = Vector("b", "error-envelope", "x", valid=False, document={"error": "a", "message": "b"}, at="")
    elsewhere = Vector("c", "tool-descriptor", "x", valid=False, document={}, at="/source")
    assert "refuses a good document" in str(good.problem())
    assert "accepts a bad document" in str(bad.problem())
    assert "not at '/source'" in str(elsewhere.problem())


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_a_schema_and_describes_itself(name: str) -> None:
    document = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["description"]


def test_every_member_of_a_descriptor_is_described() -> None:
    properties = load_schema("tool-descriptor")["properties"]
    described = [text for part in properties.values() for text in _descriptions(part)]
    assert all(part.get("description") for part in properties.values())
    assert len(set(described)) == len(described)


def _descriptions(node: Any) -> list[str]:
    if isinstance(node, list):
        return [text for child in node for text in _descriptions(child)]
    if not isinstance(node, dict):
        return []
    own = [node["description"]] if isinstance(node.get("description"), str) else []
    return own + [text for child in node.values() for text in _descriptions(child)]


def test_nothing_is_ever_fetched() -> None:
    """A `$ref`, a `$schema` and a `$dynamicRef` to a listener on loopback: it hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/schema"
        for schema in ({"$ref": url}, {"$schema": url}, {"$dynamicRef": url}, {"properties": {"a": {"$ref": url}}}):
            assert schema_problems(schema) == []
            assert (
                violations(
                    "tool-descriptor", {"toolId": "a:b", "source": "mcp", "safetyTier": "read", "inputSchema": schema}
                )
                == []
            )
        assert not knows_dialect(url)
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize(
    ("schema", "dialect", "pointer"),
    [
        ({"type": "text"}, "https://json-schema.org/draft/2020-12/schema", "/type"),
        ({"required": "a"}, "http://json-schema.org/draft-07/schema#", "/required"),
        (
            {"properties": {"a": {"minimum": "1"}}},
            "https://json-schema.org/draft/2019-09/schema",
            "/properties/a/minimum",
        ),
    ],
)
def test_schemas_are_judged_by_their_dialect(schema: dict[str, Any], dialect: str, pointer: str) -> None:
    assert knows_dialect(dialect)
    assert [one.pointer for one in schema_problems(schema, dialect)] == [pointer]
    assert schema_problems({"type": "object"}, dialect) == []


def test_violations_say_what_was_expected_and_seen() -> None:
    [one] = violations("tool-descriptor", {"toolId": "a:b", "source": "mcp", "safetyTier": "read", "a/b~": 1})
    assert one.pointer == "/a~1b~0"
    assert "toolId" in one.expected
    [missing] = violations("error-envelope", {"error": "x"})
    assert (missing.expected, missing.keyword) == ("the member message", "required")
    [kind] = violations("error-envelope", 5)
    assert str(kind) == "the value: expected object, saw 5"
