"""The hooks that carry a run from collection to summary, in one process or over xdist workers."""

import os
import sys
from collections.abc import Generator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from openwop_conformance.client.redaction import Redactor
from openwop_conformance.configuration import configure
from openwop_conformance.gate import NO_HOST
from openwop_conformance.plugin.ledger import VECTOR, Ledger
from openwop_conformance.plugin.marks import Scenario, scenario_of
from openwop_conformance.plugin.options import read_options
from openwop_conformance.plugin.run import HANDOVER, Run, begin, resume
from openwop_conformance.plugin.trial import Trial
from openwop_conformance.report.files import write_report
from openwop_conformance.report.model import Exit, RunReport
from openwop_conformance.report.terminal import render
from openwop_conformance.requirements import SCENARIOS, Registry, load_registry
from openwop_conformance.settings import Settings, UsageProblem

REPORT = pytest.StashKey[RunReport]()
TRIAL = pytest.StashKey[Trial]()
CONDUCTOR = pytest.StashKey["Conductor"]()
NOTHING_COLLECTED = "--host-url was given, but no scenario was collected: add --pyargs openwop_conformance.scenarios"
NOTHING_LEFT = "--host-url was given, but of the scenarios none was left to run"
_EMPTY = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class Conductor:
    """Idle until scenarios are collected; then one run, its ledger and its report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings: Settings | None = None
        self._ledger = Ledger()
        self._problems: list[str] = []
        self.run: Run | None = None

    @property
    def _handed(self) -> dict[str, Any] | None:
        """What the xdist controller handed to this worker, if this is one."""
        handed: dict[str, Any] | None = getattr(self._config, "workerinput", {}).get(HANDOVER)
        return handed

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    def _configure(self) -> Settings:
        try:
            return configure(read_options(self._config), os.environ, self._registry)
        except UsageProblem as problem:
            raise pytest.UsageError(str(problem)) from None

    @property
    def _registry(self) -> Registry:
        return load_registry()

    def _begin(self, settings: Settings) -> Run:
        try:
            return begin(settings, self._registry)
        except UsageProblem as problem:
            raise pytest.UsageError(str(problem)) from None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Check the settings and keep what is selected, where there are scenarios at all."""
        scenarios = [scenario for item in items if (scenario := scenario_of(item))]
        if not scenarios:
            return
        for scenario in scenarios:
            for name in scenario.settles:
                if name not in self._registry:
                    raise pytest.UsageError(f"the scenario {scenario.slug} settles {name!r}, which is no requirement")
        self._settings = self._configure()
        if self._settings.select:
            selected = Run(self._settings, self._registry).selected
            kept = [item for item in items if _concerns(item, selected)]
            dropped = [item for item in items if item not in set(kept)]
            items[:] = kept
            self._config.hook.pytest_deselected(items=dropped)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Under xdist, begin once in the controller and hand the run to each worker."""
        if self._config.option.collectonly or not self._may_collect_scenarios():
            return
        if self.run is None:
            self._ledger.remote = True
            self.run = self._begin(self._configure())
        node.workerinput[HANDOVER] = self.run.handover()

    def _may_collect_scenarios(self) -> bool:
        """The controller collects nothing itself, so it goes by what it was asked to collect."""
        return self._config.option.host_url is not None or self._leads_to_scenarios()

    def _leads_to_scenarios(self) -> bool:
        folder = Path(str(resources.files(SCENARIOS))).resolve()
        for argument in self._config.args:
            plain = argument.partition("::")[0]
            path = (self._config.invocation_params.dir / plain).resolve()
            if plain.startswith(SCENARIOS) or folder in (path, *path.parents):
                return True
            if path in folder.parents and "site-packages" not in folder.relative_to(path).parts:
                return True
        return False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Begin when everything is collected and something of it is ours."""
        if self._settings is None or self.run is not None or self._config.option.collectonly:
            return
        handed = self._handed
        if handed is None:
            self.run = self._begin(self._settings)
        else:
            worker = str(getattr(self._config, "workerinput", {})["workerid"])
            self.run = resume(self._settings, self._registry, handed, worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Open the trial of a scenario, or skip it where nothing of it can be exercised."""
        scenario = scenario_of(item)
        if scenario is None or self.run is None:
            return
        if _is_shape(scenario, self._registry):
            item.user_properties.append((VECTOR, scenario.slug))
            return
        if self.run.base_url is None:
            pytest.skip(NO_HOST)
        trial = Trial(scenario, self.run)
        if self.run.unobservable is not None or not (trial.is_open or trial.failed):
            item.user_properties.extend(trial.properties())
            self._stop_before(scenario, trial)
        item.stash[TRIAL] = trial

    def _stop_before(self, scenario: Scenario, trial: Trial) -> None:
        """Skip what cannot be exercised; of an unobservable host, one failure speaks for all."""
        if self.run is not None and self.run.unobservable is not None and "discovery-served" in scenario.settles:
            pytest.fail(f"could not observe {self.run.base_url}: {self.run.unobservable}", pytrace=False)
        pytest.skip(trial.why_shut())

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """A scenario whose gates are all shut, and that has to fail for it, is not run."""
        trial = pyfuncitem.stash.get(TRIAL, None)
        return True if trial is not None and not trial.is_open else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Turn what a scenario did into settlements, however it ended."""
        trial = item.stash.get(TRIAL, None)
        if trial is None:
            return (yield)
        try:
            with trial.conducted():
                yield
        finally:
            item.user_properties.extend(trial.properties())
        trial.finish()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep secrets out of what pytest shows of a scenario."""
        report = yield
        if self.run is not None and self.run.client is not None and scenario_of(item):
            _redact(report, self.run.client.redactor)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what scenarios settled, from this process or from workers."""
        if self.run is not None and not self._is_worker:
            self._ledger.take(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add up, write the reports, and never let an empty run be green."""
        if self._is_worker or self._config.option.collectonly:
            return
        collected = self._ledger.seen or (self._settings is not None and not self._ledger.remote)
        if self.run is not None and (collected or self._leads_to_scenarios()):
            report = self._ledger.report(self.run)
            self._config.stash[REPORT] = report
            self._write(report)
            red = report.exit is not Exit.GREEN
        else:
            red = self._config.option.host_url is not None
            why = NOTHING_LEFT if self._leads_to_scenarios() else NOTHING_COLLECTED
            told_already = session.exitstatus == pytest.ExitCode.USAGE_ERROR
            self._problems += [why] if red and not told_already else []
        if (red or self._problems) and session.exitstatus in _EMPTY:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write(self, report: RunReport) -> None:
        for path in self.run.settings.reports if self.run else ():
            try:
                write_report(report, path)
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                self._problems.append(f"report {path}: not written: {why}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary."""
        writer = self._config.get_terminal_writer()
        report = self._config.stash.get(REPORT, None)
        if report is not None:
            terminalreporter.ensure_newline()
            text = render(report, width=writer.fullwidth, color=writer.hasmarkup)
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            writer.write(text.encode(encoding, "replace").decode(encoding))
        for problem in self._problems:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)

    def pytest_unconfigure(self) -> None:
        """Close connections and stop the embedded host."""
        if self.run is not None:
            self.run.close()


def _is_shape(scenario: Scenario, registry: Registry) -> bool:
    """Whether a scenario tests the suite's schemas and needs no host."""
    return all(registry[name].gate == ("none",) for name in scenario.settles)


def _concerns(item: pytest.Item, selected: frozenset[str]) -> bool:
    """Whether a collected test has to do with what is selected; other people's tests always stay."""
    scenario = scenario_of(item)
    if scenario is None:
        return True
    callspec = getattr(item, "callspec", None)
    vector = callspec.params.get("vector") if callspec else None
    return bool(selected & ({vector.requirement} if vector else set(scenario.settles)))


def _redact(report: pytest.TestReport, redactor: Redactor) -> None:
    """Replace secrets in the error text and in captured output."""
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, redactor.text(reason))
    elif report.longrepr is not None and redactor.text(report.longreprtext) != report.longreprtext:
        report.longrepr = redactor.text(report.longreprtext)
    report.sections = [(name, redactor.text(text)) for name, text in report.sections]
