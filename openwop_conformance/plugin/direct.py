"""The live scenarios without pytest around them, for judging many hosts in a row."""

from collections.abc import Iterator

from openwop_conformance.plugin.ledger import Ledger
from openwop_conformance.plugin.marks import Scenario, all_scenarios
from openwop_conformance.plugin.run import Run, begin
from openwop_conformance.plugin.trial import Trial
from openwop_conformance.report.model import RunReport
from openwop_conformance.requirements import load_registry
from openwop_conformance.settings import Settings


def judge(settings: Settings) -> RunReport:
    """Ask a host everything, and report as a run of pytest would; errors of the suite itself are raised."""
    run = begin(settings, load_registry())
    ledger = Ledger()
    try:
        for scenario in live_scenarios():
            trial = Trial(scenario, run)
            if trial.is_open and scenario.function is not None:
                _conduct(scenario, run, trial)
            ledger.parcels[scenario.place] = trial.parcel()
        return ledger.report(run)
    finally:
        run.close()


def live_scenarios() -> Iterator[Scenario]:
    """The scenarios that ask a host, in the order of files and lines."""
    registry = load_registry()
    return (one for one in all_scenarios() if any(registry[name].live for name in one.settles))


def _conduct(scenario: Scenario, run: Run, trial: Trial) -> None:
    if scenario.function is None or run.host is None:
        return
    with trial.conducted():
        scenario.function(run.host, trial)
