"""The schemas of the native formats, and of JSON Schema itself; nothing is ever fetched."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import jsonschema_rs
from jsonschema_specifications import REGISTRY as PUBLISHED

from openwop_conformance.dialects.notices import Notice, error

DIALECT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
DIALECT_07 = "http://json-schema.org/draft-07/schema"
MAX_ERRORS = 20
MASK = "the value"
_MAX_WORDS = 300


def shape_errors(format_name: str, value: Any, definition: str = "") -> list[Notice]:
    """Where a value departs from the schema of a format, or from one of its definitions."""
    return list(_errors(_validator(format_name, definition), value))


def schema_errors(schema: Any, dialect: str) -> list[Notice]:
    """Where a schema departs from the meta-schema of its dialect."""
    return list(_errors(_meta_validator(dialect), schema))


def descriptor_errors(descriptor: Any) -> list[Notice]:
    """Where a descriptor departs from its schema."""
    return list(_errors(_descriptor_validator(), descriptor))


def _refuse(uri: str) -> Any:
    raise LookupError(f"{uri} is not fetched")


def _text(*parts: str) -> str:
    return resources.files("openwop_conformance.schemas").joinpath(*parts).read_text("utf-8")


@cache
def _validator(format_name: str, definition: str) -> jsonschema_rs.Validator:
    document = json.loads(_text("native", f"{format_name}.schema.json"))
    if definition:
        document = {"$schema": document["$schema"], "$defs": document["$defs"], "$ref": f"#/$defs/{definition}"}
    return jsonschema_rs.validator_for(document, retriever=_refuse, validate_formats=True, mask=MASK)


@cache
def _descriptor_validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(_text("tool-descriptor.schema.json")), retriever=_refuse)


@cache
def _meta_validator(dialect: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(PUBLISHED.contents(dialect), retriever=_refuse)


def _errors(validator: jsonschema_rs.Validator, value: Any) -> Iterator[Notice]:
    for place, one in enumerate(validator.iter_errors(value)):
        if place >= MAX_ERRORS:
            return
        pointer = "".join(f"/{escaped(str(step))}" for step in one.instance_path)
        yield error(pointer, one.message[:_MAX_WORDS])


def escaped(step: str) -> str:
    """One step of a JSON Pointer."""
    return step.replace("~", "~0").replace("/", "~1")
