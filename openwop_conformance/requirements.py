"""The registry: every normative sentence that the suite judges, read from `scenarios/requirements`."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from openwop_conformance.documents import parse_yaml

SCENARIOS = "openwop_conformance.scenarios"


class Level(StrEnum):
    """How strongly the spec says it."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Need(StrEnum):
    """What the settings have to supply before a requirement can be exercised."""

    PRINCIPAL = "principal"
    SECOND_PRINCIPAL = "second-principal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One normative sentence and the conditions under which it can be judged."""

    id: str
    level: Level
    section: str
    statement: str
    gate: tuple[str, ...]
    profile: str
    needs: tuple[Need, ...] = ()
    ruling: tuple[str, ...] = ()
    untestable: str = ""
    fix: str = ""

    @property
    def live(self) -> bool:
        """Whether a host settles it; the others are proven by vectors or cannot be tested."""
        return self.gate != ("none",) and not self.untestable

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capability paths that all have to be true."""
        return tuple(gate for gate in self.gate if gate not in {"none", "host"} and not gate.startswith("!"))

    @property
    def absences(self) -> tuple[str, ...]:
        """The capability paths that must not be advertised; written with a `!` in front."""
        return tuple(gate[1:] for gate in self.gate if gate.startswith("!"))

    @property
    def gate_text(self) -> str:
        """The gate as one word or phrase for tables and reports."""
        second = (need.value for need in self.needs if need is Need.SECOND_PRINCIPAL)
        return " & ".join([*self.gate, *second])

    def in_section(self, wanted: str) -> bool:
        """Whether `wanted` names this section, or the letter that it belongs to."""
        own = [part.strip().lower() for part in self.section.split(",")]
        return any(part == wanted.lower() or part.split("-")[0] == wanted.lower() for part in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A set of requirements that a host takes on as a whole."""

    name: str
    title: str
    advertised_by: str
    demanded: bool


@dataclass(frozen=True, slots=True)
class Registry:
    """All requirements and profiles, in the order of the files."""

    requirements: dict[str, Requirement]
    profiles: dict[str, Profile]
    pending: tuple[str, ...]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements.values())

    def __getitem__(self, requirement_id: str) -> Requirement:
        return self.requirements[requirement_id]

    def __contains__(self, requirement_id: object) -> bool:
        return requirement_id in self.requirements

    def matching(self, wanted: str) -> frozenset[str]:
        """The ids that a selection by id or section names."""
        return frozenset(one.id for one in self if one.id == wanted or one.in_section(wanted))

    @property
    def demanded_capabilities(self) -> frozenset[str]:
        """The capabilities whose absence is a failure in strict mode."""
        return frozenset(one.advertised_by for one in self.profiles.values() if one.demanded)


def read_scenario_yaml(*parts: str) -> Any:
    """One YAML file beside the scenarios."""
    path = resources.files(SCENARIOS).joinpath(*parts)
    return parse_yaml(path.read_text(encoding="utf-8"), "/".join(parts))


def scenario_files(folder: str) -> list[str]:
    """The YAML files of a folder beside the scenarios, in a fixed order."""
    names = (item.name for item in resources.files(SCENARIOS).joinpath(folder).iterdir())
    return sorted(name for name in names if name.endswith(".yaml"))


@cache
def load_registry() -> Registry:
    """Read the registry once; a doubled id is an error of the suite."""
    requirements: dict[str, Requirement] = {}
    for name in scenario_files("requirements"):
        area = read_scenario_yaml("requirements", name)
        for entry in area["requirements"]:
            one = msgspec.convert({"profile": area["profile"], **entry}, Requirement)
            if one.id in requirements:
                raise ValueError(f"{name}: requirement {one.id} stands twice")
            requirements[one.id] = one
    profiles = [msgspec.convert(entry, Profile) for entry in read_scenario_yaml("profiles.yaml")]
    return Registry(
        requirements=requirements,
        profiles={profile.name: profile for profile in profiles},
        pending=tuple(read_scenario_yaml("pending.yaml") or ()),
    )
