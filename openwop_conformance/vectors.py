"""Good and bad documents, each naming the requirement that it proves; read from `scenarios/vectors`."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from openwop_conformance.requirements import read_scenario_yaml
from openwop_conformance.validation import violations


@dataclass(frozen=True, slots=True)
class Vector:
    """One document, and whether its schema has to accept it; a bad one says where it is bad."""

    name: str
    schema: str
    requirement: str
    valid: bool
    document: Any = field(repr=False)
    at: str = ""

    def problem(self) -> str | None:
        """How the schema gets this document wrong, or None where it gets it right."""
        found = violations(self.schema, self.document)
        if self.valid:
            return f"{self.schema} refuses a good document: {'; '.join(map(str, found))}" if found else None
        if not found:
            return f"{self.schema} accepts a bad document"
        places = [violation.pointer for violation in found]
        return None if self.at in places else f"{self.schema} finds the error at {places}, not at {self.at!r}"


@cache
def load_vectors(area: str) -> tuple[Vector, ...]:
    """The vectors of one file."""
    document = read_scenario_yaml("vectors", f"{area}.yaml")
    return tuple(_vector(entry, document.get("schema", "")) for entry in document["vectors"])


def _vector(entry: dict[str, Any], schema: str) -> Vector:
    extra = entry.keys() - {"name", "schema", "requirement", "good", "bad", "at"}
    if extra or ("good" in entry) == ("bad" in entry) or ("bad" in entry) != ("at" in entry):
        raise ValueError(f"vector {entry.get('name')}: either good, or bad and at; nothing else")
    valid = "good" in entry
    return Vector(
        name=entry["name"],
        schema=entry.get("schema", schema),
        requirement=entry["requirement"],
        valid=valid,
        document=entry["good"] if valid else entry["bad"],
        at=entry.get("at", ""),
    )
