"""Hosts with one vice each are blamed for it and for nothing else; hosts without one stay green."""

from collections import Counter
from pathlib import Path

import pytest

from openwop_conformance.plugin.marks import scenarios_by_requirement
from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.gallery import Host, blame, declared
from openwop_conformance.report.model import Exit
from openwop_conformance.requirements import Level, load_registry
from openwop_conformance.verdicts import Verdict
from tests.hosts import old_fashioned, reference
from tests.matrix import MUTANTS, VARIANTS, given, judged, judged_strictly
from tests.matrix_page import page
from tests.plugin.conftest import Suite

TWICE = ("F-2", "C-2", "D")


@pytest.mark.parametrize("vice", MUTANTS, ids=lambda one: one.__name__)
def test_a_mutant_is_blamed_for_its_vice_and_for_nothing_else(vice: Host) -> None:
    report = judged(vice)
    related = declared(vice, "allows")
    assert given(report, Verdict.FAIL) - related == declared(vice, "kills")
    assert given(report, Verdict.ADVISORY) - related == declared(vice, "advises")
    assert given(report, Verdict.INCONCLUSIVE) - related == set()
    assert report.exit is (Exit.NOT_CONFORMANT if declared(vice, "kills") else Exit.GREEN)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.__name__)
def test_a_variant_is_accused_of_nothing(variant: Host) -> None:
    for principals in (1, 2):
        report = judged(variant, principals=principals)
        assert given(report, Verdict.FAIL) == given(report, Verdict.INCONCLUSIVE) == set()
        assert given(report, Verdict.ADVISORY) <= declared(variant, "advises")
        assert report.exit is Exit.GREEN
    assert given(report, Verdict.ADVISORY) == declared(variant, "advises")


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.__name__)
def test_a_variant_passes_strict_mode_but_for_what_it_blocks(variant: Host) -> None:
    report = judged_strictly(variant)
    blocked = {
        one.requirement.id
        for one in report.results
        if one.verdict is Verdict.FAIL and one.settled.findings[0].seen in {"blocked", "not-advertised"}
    }
    assert given(report, Verdict.FAIL) == blocked
    assert given(report, Verdict.INCONCLUSIVE) == set()
    sections = {load_registry()[name].section for name in blocked}
    assert sections <= declared(variant, "blocks")


def test_http_1_0_without_keep_alive_and_501_pages_is_not_blamed(suite: Suite) -> None:
    with reference(HostApp(load_catalog())) as host, old_fashioned(host.url) as url:
        first, second = host.principals[:2]
        outcome = suite.live(url, "--openwop-token", first.token, "--openwop-second-token", second.token)
    assert outcome.blamed("fail") == outcome.blamed("inconclusive") == set()
    assert outcome.blamed("advisory") == {"writes-answered-405"}
    assert outcome.code == 0


def test_every_live_requirement_is_proven_and_the_gravest_twice() -> None:
    registry = load_registry()
    proven = Counter(name for vice in MUTANTS for name in blame(vice))
    live = {name for name in scenarios_by_requirement() if registry[name].live}
    assert live - proven.keys() == set()
    grave = {
        name
        for name in live
        if registry[name].level is Level.MUST and any(registry[name].in_section(one) for one in TWICE)
    }
    assert {name for name in grave if proven[name] < 2} == set()
    assert len(MUTANTS) >= 120
    assert len(VARIANTS) >= 40


def test_the_page_of_the_matrix_is_not_stale() -> None:
    path = Path(__file__).parents[2] / "docs" / "kill-matrix.md"
    assert path.read_text(encoding="utf-8") == page(), "run: python -m tests.matrix_page > docs/kill-matrix.md"


def test_every_host_says_what_it_is() -> None:
    for host in (*MUTANTS, *VARIANTS):
        assert (host.__doc__ or "").strip().count("\n") == 0
        assert (blame(host) | declared(host, "allows")) <= load_registry().requirements.keys()
