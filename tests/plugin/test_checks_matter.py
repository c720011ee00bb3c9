"""Every check is needed: without it, some host with a vice gets away."""

import importlib
import re
from types import ModuleType
from typing import Any

import pytest

from openwop_conformance.checks.run_state import Tally
from openwop_conformance.client import watches
from openwop_conformance.plugin.direct import live_scenarios
from openwop_conformance.reference.gallery import Host, blame
from openwop_conformance.requirements import SCENARIOS, load_registry
from openwop_conformance.verdicts import Verdict
from tests.matrix import MUTANTS, given, judged

MODULES = [
    watches,
    *(
        importlib.import_module(f"{SCENARIOS}.{name}")
        for name in sorted({one.place.partition(".py")[0] for one in live_scenarios()})
    ),
]
CHECKS = [
    (module, name)
    for module in MODULES
    for name, value in sorted(vars(module).items())
    if name.startswith("check_") and callable(value)
]
MOST = 12


def settled_by(check: Any) -> set[str]:
    """The requirements that the docstring of a check names; an ellipsis stands for anything."""
    told = re.findall(r"`([a-z…][a-z0-9…-]+)`", check.__doc__ or "")
    patterns = [re.compile(one.replace("…", ".*")) for one in told]
    return {one.id for one in load_registry() if any(pattern.fullmatch(one.id) for pattern in patterns)}


def escapes(vice: Host) -> bool:
    """Whether a host is not blamed for all of its vice."""
    report = judged(vice, select=tuple(sorted(blame(vice))))
    return not blame(vice) <= given(report, Verdict.FAIL) | given(report, Verdict.ADVISORY)


@pytest.mark.parametrize(("module", "name"), CHECKS, ids=lambda one: getattr(one, "__name__", one).rpartition(".")[2])
def test_without_a_check_a_mutant_survives(module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = getattr(module, name)
    wanted = settled_by(check) or load_registry().matching("D")
    candidates = [vice for vice in MUTANTS if blame(vice) & wanted]
    nothing: Any = ([], Tally()) if name == "check_log" else ()
    monkeypatch.setattr(module, name, lambda *_, **__: nothing)
    assert candidates, f"{name} names no requirement that a mutant breaks"
    assert any(escapes(vice) for vice in candidates[:MOST])
