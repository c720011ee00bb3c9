"""The scenarios run by a program instead of by hand: pytest in this process, deaf to its surroundings."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources

import pytest

from openwop_conformance.plugin.conductor import REPORT
from openwop_conformance.report.model import Exit, RunReport
from openwop_conformance.requirements import SCENARIOS

_SURROUNDINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_QUIET = ("-q", "--no-header", "--tb=no", "-rN")
_TALKATIVE = ("-v", "--tb=short")


class _Catcher:
    """Keeps the report of the run when pytest lets go of it."""

    report: RunReport | None = None

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Take the report along."""
        self.report = config.stash.get(REPORT, None)


def run_scenarios(arguments: Sequence[str], *, workers: int = 0, talkative: bool = False) -> Exit:
    """Run all scenarios with these options of the plugin."""
    folder = resources.files(SCENARIOS)
    ini = resources.files("openwop_conformance.plugin").joinpath("scenarios.ini")
    catcher = _Catcher()
    with _undisturbed():
        code = pytest.main(
            [
                *("--pyargs", SCENARIOS, "-c", str(ini), "--rootdir", str(folder)),
                *("-p", "openwop_conformance.plugin", "-p", "no:cacheprovider", "--noconftest"),
                *(("-p", "xdist", "-n", str(workers)) if workers else ()),
                *(_TALKATIVE if talkative else _QUIET),
                *arguments,
            ],
            plugins=[catcher],
        )
    return _exit(catcher.report, int(code))


def _exit(report: RunReport | None, code: int) -> Exit:
    """The run's own word; where pytest is less content than the report, something of ours is wrong."""
    if code == pytest.ExitCode.USAGE_ERROR:
        return Exit.USAGE
    if report is None:
        return Exit.UNOBSERVED
    if report.exit is Exit.GREEN and code != pytest.ExitCode.OK:
        return Exit.UNOBSERVED
    return report.exit


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without the options and plugins that the surroundings would add."""
    kept = {name: os.environ.pop(name) for name in _SURROUNDINGS if name in os.environ}
    autoload = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        os.environ.update(kept)
        if autoload is None:
            del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        else:
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = autoload
