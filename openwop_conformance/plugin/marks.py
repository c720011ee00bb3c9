"""The marker that says which requirements a scenario settles, read from tests and from modules."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import pytest

from openwop_conformance.requirements import SCENARIOS

MARK = "openwop_scenario"
MARK_HELP = f"{MARK}(slug, settles): a scenario of the OpenWOP suite and the requirements that it settles"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A test by the name that reports use, and what it settles."""

    slug: str
    settles: tuple[str, ...]
    place: str = ""
    summary: str = ""
    function: Callable[..., None] | None = field(default=None, compare=False, repr=False)


def scenario_of(item: pytest.Item) -> Scenario | None:
    """The scenario that a collected test is, if it is one."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return None
    if len(mark.args) != 1 or not mark.kwargs.get("settles"):
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.{MARK} needs a slug and settles=[…]")
    return _read(mark)


def _read(
    mark: pytest.Mark, place: str = "", summary: str = "", function: Callable[..., None] | None = None
) -> Scenario:
    return Scenario(mark.args[0], tuple(mark.kwargs["settles"]), place, summary, function)


@cache
def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario that ships with the suite, in the order of files and lines."""
    names = sorted(item.name for item in resources.files(SCENARIOS).iterdir() if item.name.startswith("test_"))
    found = []
    for name in names:
        module = importlib.import_module(f"{SCENARIOS}.{name.removesuffix('.py')}")
        functions = [
            one for _, one in inspect.getmembers(module, inspect.isfunction) if one.__module__ == module.__name__
        ]
        for function in sorted(functions, key=lambda one: one.__code__.co_firstlineno):
            summary = (inspect.getdoc(function) or "").partition("\n")[0]
            marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
            found += [_read(mark, f"{name}::{function.__name__}", summary, function) for mark in marks]
    return tuple(found)


def scenario_at(node_id: str) -> Scenario | None:
    """The scenario behind a node id, however the suite was found on disk."""
    plain = node_id.partition("[")[0]
    return next((one for one in all_scenarios() if plain == one.place or plain.endswith(f"/{one.place}")), None)


def scenarios_by_requirement() -> dict[str, list[str]]:
    """Which scenarios settle each requirement."""
    index: dict[str, list[str]] = {}
    for scenario in all_scenarios():
        for requirement in scenario.settles:
            index.setdefault(requirement, []).append(scenario.slug)
    return index
