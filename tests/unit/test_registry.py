"""The registry: every id unique, never reused, and settled, pending or untestable."""

import re
from pathlib import Path

import pytest

from openwop_conformance.plugin.marks import all_scenarios, scenario_at, scenarios_by_requirement
from openwop_conformance.requirements import Level, load_registry, read_scenario_yaml, scenario_files

LEDGER = Path(__file__).parents[1] / "data" / "requirement-ids.txt"
REGISTRY = load_registry()


def test_ids_are_unique_slugs() -> None:
    names = [
        entry["id"]
        for file in scenario_files("requirements")
        for entry in read_scenario_yaml("requirements", file)["requirements"]
    ]
    assert len(names) == len(set(names)) == len(REGISTRY.requirements)
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", name) for name in names)


def test_no_id_is_ever_reused() -> None:
    """The ledger only grows: an id that left the registry is retired, and keeps the section that it had."""
    recorded = dict(line.split(" ", 1) for line in LEDGER.read_text(encoding="utf-8").splitlines())
    retired = set(read_scenario_yaml("retired.yaml"))
    present = {one.id: f"§{one.section}" for one in REGISTRY}
    assert not retired & present.keys()
    assert recorded.keys() == present.keys() | retired
    assert {name: recorded[name] for name in present} == present


def test_every_requirement_is_settled_pending_or_untestable() -> None:
    settled = scenarios_by_requirement()
    for one in REGISTRY:
        places = [one.id in settled, one.id in REGISTRY.pending, bool(one.untestable)]
        assert places.count(True) == 1, one.id
    assert settled.keys() <= REGISTRY.requirements.keys()


def test_every_requirement_is_complete() -> None:
    for one in REGISTRY:
        assert one.statement.endswith(".")
        assert one.section
        assert one.gate
        assert one.profile in REGISTRY.profiles
        assert one.fix.endswith(".") == one.live
        assert all(re.fullmatch(r"R\d+", ruling) for ruling in one.ruling)


def test_all_sections_of_the_rfc_are_there() -> None:
    sections = {part.strip() for one in REGISTRY for part in one.section.split(",")}
    assert sections == {"A", "B", "C", "C-1", "C-2", "C-3", "D", "E", "F-1", "F-2", "F-3", "F-4"}
    assert {one.level for one in REGISTRY} == set(Level)


@pytest.mark.parametrize(
    ("wanted", "known"), [("F-2", "hidden-same-status"), ("f", "hidden-same-status"), ("list-body", "list-body")]
)
def test_selection_by_section_letter_and_id(wanted: str, known: str) -> None:
    assert known in REGISTRY.matching(wanted)
    assert "session-opened-once" not in REGISTRY.matching(wanted)


def test_scenarios_have_slugs_of_their_own_and_can_be_found_by_node_id() -> None:
    slugs = [one.slug for one in all_scenarios()]
    assert len(slugs) == len(set(slugs))
    found = scenario_at("somewhere/scenarios/test_discovery.py::test_discovery_document")
    assert found is not None
    assert found.slug == "discovery-document"
    assert scenario_at("tests/test_other.py::test_discovery_document") is None
