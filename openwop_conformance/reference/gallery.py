"""All hosts that differ from the reference host: mutants with one vice each, and variants that are right."""

import inspect
from functools import cache
from types import ModuleType

from openwop_conformance.reference import session_variants, variants
from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.mutants import (
    content,
    disclosure,
    manners,
    projection,
    readings,
    seconds,
    sessions,
    whispers,
)

Host = type[HostApp]


def declared(host: Host, attribute: str) -> set[str]:
    """Requirements that a host declares: `kills`, `advises` or `allows`."""
    return set(getattr(host, attribute, ()))


def blame(host: Host) -> set[str]:
    """Whatever a host is to be blamed for."""
    return declared(host, "kills") | declared(host, "advises")


@cache
def all_mutants() -> tuple[Host, ...]:
    """Every host with a vice."""
    return _hosts_of(projection, manners, seconds, disclosure, whispers, content, sessions, readings)


@cache
def all_variants() -> tuple[Host, ...]:
    """Every host that is unusual but right."""
    return _hosts_of(variants, session_variants)


def _hosts_of(*modules: ModuleType) -> tuple[Host, ...]:
    """The hosts that modules define, without those that are only made to be built upon."""
    found = [
        one
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, HostApp) and one.__module__ == module.__name__
    ]
    return tuple(one for one in found if not one.__subclasses__() or blame(one))
