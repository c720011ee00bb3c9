"""The hosts of the kill matrix, how each is served and with what settings it is judged."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from openwop_conformance.earlier import Earlier
from openwop_conformance.plugin.direct import judge
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.gallery import Host, all_mutants, all_variants
from openwop_conformance.reference.server import RunningHost, start_host
from openwop_conformance.report.model import RunReport
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Limits, Principal, Settings
from openwop_conformance.verdicts import Verdict
from tests.hosts import reference

MUTANTS = all_mutants()
VARIANTS = all_variants()
LIMITS = Limits(max_items=16, concurrency=1)  # one request at a time: threads cost more here than they win


known_catalog = cache(load_catalog)


@contextmanager
def serving(host: Host, *, whole: bool = False) -> Iterator[RunningHost]:
    """A host on a socket; whole ones have sessions, hooks and a log."""
    if whole or getattr(host, "whole", False):
        running = start_host(app=host, catalog=known_catalog())
        try:
            yield running
        finally:
            running.stop()
    else:
        with reference(host(known_catalog())) as running:
            yield running


def settings_for(host: Host, running: RunningHost, *, principals: int = 2) -> Settings:
    """As much as the host needs to be told apart: usually two principals by name and token."""
    second = getattr(host, "second", "bob")
    people = [running.principals[0], *(one for one in running.principals if one.name == second)][:principals]
    own = tuple(Principal(one.name, Secret(one.token)) for one in people)
    if getattr(host, "third", False):
        own = _declared(running)
    if getattr(host, "declared", False):
        own = tuple(
            replace(one, scopes=given.scopes) for one, given in zip(own, known_catalog().principals, strict=False)
        )
    return Settings(
        host_url=running.url,
        principals=own,
        planted_secrets=tuple(map(Secret, running.planted)) if getattr(host, "planted", False) else (),
        timing=getattr(host, "timing", False),
        previous=_earlier() if getattr(host, "earlier", False) else None,
        limits=LIMITS,
    )


def strict_settings(running: RunningHost) -> Settings:
    """Everything that strict mode asks for."""
    return Settings(
        host_url=running.url,
        principals=_declared(running),
        planted_secrets=tuple(map(Secret, running.planted)),
        strict=True,
        destructive=True,
        limits=LIMITS,
    )


def _declared(running: RunningHost) -> tuple[Principal, ...]:
    return tuple(
        Principal(one.name, Secret(one.token), one.scopes, one.tenant, hidden=hidden)
        for one, hidden in running.tenants()
    )


def _earlier() -> Earlier:
    catalog = known_catalog()
    seen: dict[str, dict[str, tuple[str | None, str | None]]] = {
        one.name: {name: (tool.source, tool.descriptor["safetyTier"]) for name, tool in catalog.world(one).items()}
        for one in catalog.principals
    }
    return Earlier(catalog.implementation["name"], catalog.implementation["version"], seen)


def given(report: RunReport, verdict: Verdict) -> set[str]:
    """The requirements that got a verdict."""
    return {one.requirement.id for one in report.results if one.verdict is verdict}


def judged(host: Host, *, principals: int = 2, select: tuple[str, ...] = ()) -> RunReport:
    """What the suite says of a host in default mode, on all requirements or on some."""
    with serving(host) as running:
        return judge(replace(settings_for(host, running, principals=principals), select=select))


def judged_strictly(host: Host) -> RunReport:
    """What the suite says of a whole host in strict mode."""
    with serving(host, whole=True) as running:
        return judge(strict_settings(running))
