"""Hosts with one vice each are blamed for it and for nothing else; hosts without one stay green."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from openwop_conformance.plugin.marks import scenarios_by_requirement
from openwop_conformance.reference import session_variants, variants
from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.mutants import content, disclosure, manners, projection, sessions
from openwop_conformance.reference.server import RunningHost, start_host
from openwop_conformance.requirements import load_registry
from tests.hosts import old_fashioned, reference
from tests.plugin.conftest import Outcome, Suite


def hosts_of(*modules: ModuleType) -> list[type[HostApp]]:
    """The hosts that a module defines, without those that others are made of."""
    found = [
        one
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, HostApp) and one.__module__ == module.__name__
    ]
    return [one for one in found if not one.__subclasses__()]


MUTANTS = [*hosts_of(projection, manners, disclosure, content, sessions), sessions.ClosesEarly]
VARIANTS = hosts_of(variants, session_variants)


@contextmanager
def serving(host: type[HostApp]) -> Iterator[RunningHost]:
    if getattr(host, "whole", False):
        running = start_host(live=False, app=host)
        try:
            yield running
        finally:
            running.stop()
    else:
        with reference(host(load_catalog())) as running:
            yield running


def run(suite: Suite, host: type[HostApp], *arguments: str, tmp: Any) -> Outcome:
    """The suite with the first two principals, or with those that the host names."""
    with serving(host) as running:
        second = getattr(host, "second", "bob")
        people = [running.principals[0], *(one for one in running.principals if one.name == second)]
        if getattr(host, "third", False) or getattr(host, "planted", False):
            lines = ["principals:"]
            for one, foreign in running.tenants() if getattr(host, "third", False) else []:
                lines.append(f"  - {{name: {one.name}, token: {one.token}, tenant: {one.tenant}, "
                             f"hidden-tool-ids: {list(foreign)}}}")  # fmt: skip
            if len(lines) == 1:
                lines += [f"  - {{name: {one.name}, token: {one.token}}}" for one in people]
            if getattr(host, "planted", False):
                lines.append(f"planted-secrets: {list(running.planted)}")
            (tmp / "settings.yaml").write_text("\n".join(lines), encoding="utf-8")
            return suite.live(running.url, "--openwop-config", str(tmp / "settings.yaml"), *arguments)
        names = [f"  - {{name: {one.name}, token: {one.token}}}" for one in people]
        (tmp / "settings.yaml").write_text("\n".join(["principals:", *names]), encoding="utf-8")
        return suite.live(running.url, "--openwop-config", str(tmp / "settings.yaml"), *arguments)


@pytest.mark.parametrize("vice", MUTANTS, ids=lambda one: one.__name__)
def test_a_host_is_blamed_for_its_vice_and_for_nothing_else(suite: Suite, vice: type[HostApp], tmp_path: Any) -> None:
    outcome = run(suite, vice, *getattr(vice, "arguments", ()), tmp=tmp_path)
    allowed = set(getattr(vice, "allows", ()))
    assert outcome.blamed("fail") - allowed == set(getattr(vice, "kills", ()))
    assert outcome.blamed("advisory") - allowed == set(getattr(vice, "advises", ()))
    assert outcome.blamed("inconclusive") - allowed == set()
    assert outcome.code == (1 if getattr(vice, "kills", ()) else 0)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.__name__)
def test_a_host_that_is_unusual_but_right_is_not_blamed(suite: Suite, variant: type[HostApp], tmp_path: Any) -> None:
    outcome = run(suite, variant, tmp=tmp_path)
    assert outcome.blamed("fail") == set()
    assert outcome.blamed("inconclusive") == set()
    assert outcome.blamed("advisory") == set(getattr(variant, "advises", ()))
    assert outcome.code == 0
    if hasattr(variant, "blocked_by"):
        assert variant.blocked_by in outcome.blamed("blocked")
    if getattr(variant, "blocked", False):
        assert {"item-resolves", "listed-descriptors-valid", "hidden-same-status"} <= outcome.blamed("blocked")


def test_http_1_0_without_keep_alive_and_501_pages_is_not_blamed(suite: Suite) -> None:
    with reference(HostApp(load_catalog())) as host, old_fashioned(host.url) as url:
        first, second = host.principals[:2]
        outcome = suite.live(url, "--openwop-token", first.token, "--openwop-second-token", second.token)
    assert outcome.blamed("fail") == outcome.blamed("inconclusive") == set()
    assert outcome.blamed("advisory") == {"writes-answered-405"}
    assert outcome.code == 0


def test_every_live_requirement_with_a_scenario_is_caught_by_a_vice() -> None:
    caught = {name for vice in MUTANTS for name in (*getattr(vice, "kills", ()), *getattr(vice, "advises", ()))}
    live = {name for name in scenarios_by_requirement() if load_registry()[name].live}
    elsewhere = {"catalog-absent-when-unadvertised", "list-within-scopes", "tool-ids-stable-over-time"}
    assert live - caught == elsewhere
