"""JSON Schema verdicts and their explanation, with validators that never fetch anything.

jsonschema-rs decides; jsonschema explains what it refused. Both resolve references only among the schemas
that ship with the suite and the published meta-schemas.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema_specifications import REGISTRY as PUBLISHED
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from openwop_conformance.wording import listed, printable, shown

SCHEMAS = "openwop_conformance.schemas"
SUFFIX = ".schema.json"
DIALECT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
EVENT_PAYLOADS = {
    "tool.session.opened": "run-event-payloads#toolSessionOpened",
    "tool.session.closed": "run-event-payloads#toolSessionClosed",
    "agent.toolCalled": "run-event-payloads#agentToolCalled",
    "agent.toolReturned": "run-event-payloads#agentToolReturned",
}
_DIALECTS = {
    DIALECT_2020_12: jsonschema.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
}
_MAX_VIOLATIONS = 20
_PHRASES = {
    "uniqueItems": "no value twice",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "not": "no value that fits {}",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value departs from a schema, told in words."""

    pointer: str
    keyword: str
    expected: str
    seen: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the value'}: expected {self.expected}, saw {self.seen}"


def schema_names() -> list[str]:
    """The names of the schemas that ship with the suite."""
    folder = resources.files(SCHEMAS)
    return sorted(item.name.removesuffix(SUFFIX) for item in folder.iterdir() if item.name.endswith(SUFFIX))


@cache
def load_schema(name: str) -> dict[str, Any]:
    """One schema; `file#definition` names a definition within a file."""
    file, _, definition = name.partition("#")
    text = resources.files(SCHEMAS).joinpath(file + SUFFIX).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    if not definition:
        return document
    return {"$schema": document["$schema"], "$ref": f"{document['$id']}#/$defs/{definition}"}


def violations(name: str, value: Any) -> list[Violation]:
    """Where a value departs from one of the suite's schemas; empty when it is valid."""
    decider, explainer = _validators(name)
    if _decides(decider, value):
        return []
    return _explained(explainer, value) or [Violation("", "", f"a value valid against {name}", shown(value))]


def is_valid(name: str, value: Any) -> bool:
    """Whether a value is valid against one of the suite's schemas."""
    return decider(name)(value)


@cache
def decider(name: str) -> Callable[[Any], bool]:
    """The same for one schema, for those who ask it of millions of values."""
    return _validators(name)[0].is_valid


def schema_problems(schema: Any, dialect: str = DIALECT_2020_12) -> list[Violation]:
    """Where a schema departs from the meta-schema of a dialect that `knows_dialect`."""
    decider, explainer = _meta_validators(dialect.rstrip("#"))
    if _decides(decider, schema):
        return []
    return _explained(explainer, schema) or [Violation("", "", f"a schema of {dialect}", shown(schema))]


def knows_dialect(dialect: object) -> bool:
    """Whether the meta-schema of this `$schema` is at hand."""
    return isinstance(dialect, str) and dialect.rstrip("#") in _DIALECTS


def _decides(decider: jsonschema_rs.Validator, value: Any) -> bool:
    return bool(decider.is_valid(value))


def refuse(uri: str) -> Any:
    """The retriever of both libraries: whatever is not at hand is not fetched."""
    raise LookupError(f"{uri} is not fetched")


@cache
def _own_documents() -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple((document["$id"], document) for document in map(load_schema, schema_names()))


@cache
def _python_registry() -> Registry[Any]:
    own = [(uri, DRAFT202012.create_resource(document)) for uri, document in _own_documents()]
    return Registry(retrieve=refuse).with_resources([*PUBLISHED.items(), *own])  # type: ignore[call-arg]  # attrs alias that mypy does not see


@cache
def _validators(name: str) -> tuple[jsonschema_rs.Validator, Any]:
    schema = load_schema(name)
    registry = jsonschema_rs.Registry(list(_own_documents()), retriever=refuse)
    decider = jsonschema_rs.validator_for(schema, registry=registry, retriever=refuse)
    return decider, jsonschema.Draft202012Validator(schema, registry=_python_registry())


@cache
def _meta_validators(dialect: str) -> tuple[jsonschema_rs.Validator, Any]:
    cls = _DIALECTS[dialect]
    decider = jsonschema_rs.validator_for(cls.META_SCHEMA, retriever=refuse)
    return decider, cls(cls.META_SCHEMA, registry=_python_registry())


def _explained(explainer: Any, value: Any) -> list[Violation]:
    found: list[Violation] = []
    for error in explainer.iter_errors(value):
        found.extend(_of_error(_deepest(error)))
        if len(found) >= _MAX_VIOLATIONS:
            break
    return sorted(set(found), key=lambda one: (one.pointer, one.keyword))


def _deepest(error: Any) -> Any:
    """The most telling of nested errors, where an anyOf hides them."""
    while error.context:
        error = max(error.context, key=lambda one: (len(one.absolute_path), one.validator != "type"))
    return error


def _of_error(error: Any) -> Iterator[Violation]:
    at = "".join(f"/{escape_pointer(str(step))}" for step in error.absolute_path)
    keyword, wanted, value = str(error.validator), error.validator_value, error.instance
    if keyword == "required":
        for name in wanted:
            if name not in value:
                yield Violation(at, keyword, f"the member {name}", "none of that name")
    elif keyword == "additionalProperties" and isinstance(value, dict):
        known = error.schema.get("properties", {})
        for name in value:
            if name not in known:
                yield Violation(
                    f"{at}/{escape_pointer(printable(str(name), 80))}",
                    keyword,
                    f"only {listed(known, 20)}",
                    "another member",
                )
    else:
        yield Violation(at, keyword, _expectation(keyword, wanted), shown(value))


def _expectation(keyword: str, wanted: Any) -> str:
    if keyword in {"enum", "type"} and isinstance(wanted, list):
        return f"one of {listed(wanted, 20)}"
    if keyword in {"const", "type"}:
        return shown(wanted).strip('"') if keyword == "type" else shown(wanted)
    phrase = _PHRASES.get(keyword)
    return phrase.format(wanted) if phrase else f"{keyword} {shown(wanted)}"


def escape_pointer(step: str) -> str:
    """One step of a JSON Pointer."""
    return step.replace("~", "~0").replace("/", "~1")
