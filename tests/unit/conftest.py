"""Whatever checks say in a test is kept word for word beside it; `make words` writes it anew."""

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from openwop_conformance import checks
from openwop_conformance.checks import likeness, portable
from openwop_conformance.checks.event_log import LogFold
from openwop_conformance.findings import Finding

SAID: list[str] = []


def said(value: Any) -> str:
    """One line for a finding, with all that a report would show of it."""
    if not isinstance(value, Finding):
        return repr(value)
    parts = (value.requirement, value.weight, value.message, value.where, value.expected, value.seen)
    return " | ".join(map(str, (*parts, value.exchange.url if value.exchange else "no exchange")))


def heard(check: Any) -> Any:
    """The same check, with its findings written down."""

    @functools.wraps(check)
    def listening(*arguments: Any, **more: Any) -> Any:
        answer = check(*arguments, **more)
        found = list(answer[0] if isinstance(answer, tuple) else answer)
        SAID.extend(map(said, found))
        return answer if isinstance(answer, tuple) else iter(found) if not isinstance(answer, list) else answer

    return listening


def finishing(finish: Any) -> Any:
    """The end of a log, with all findings on it written down."""

    @functools.wraps(finish)
    def listening(fold: LogFold) -> None:
        finish(fold)
        SAID.extend(said(one) for kept in fold.gathered.kept.values() for one in kept)

    return listening


def pytest_configure() -> None:
    """Listen to every check, before any test gets hold of it; `make mutate` configures more than once."""
    names = [f"{checks.__name__}.{one.name}" for one in pkgutil.iter_modules(checks.__path__)]
    modules = [importlib.import_module(name) for name in names]
    if "are_heard" in vars(checks):
        return
    vars(checks)["are_heard"] = True
    for module in modules:
        for name, value in list(vars(module).items()):
            if name.startswith("check_") and value.__module__ == module.__name__:
                setattr(module, name, heard(value))
    for owner, name, ear in ((likeness, "marks", heard), (portable, "remarks", heard), (LogFold, "finish", finishing)):
        setattr(owner, name, ear(getattr(owner, name)))


@pytest.fixture(autouse=True)
def words(request: pytest.FixtureRequest, snapshot: SnapshotAssertion) -> Iterator[None]:
    """Compare what was said with what was said before, but for tests that make up what they ask."""
    SAID.clear()
    yield
    made_up = getattr(request.node.obj, "is_hypothesis_test", False) or request.node.cls is not None
    if SAID and not made_up:
        assert sorted(SAID) == snapshot(name="said")
