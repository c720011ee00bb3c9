"""What came home from the scenarios, and the report that it adds up to."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from openwop_conformance._version import __version__
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.plugin.marks import scenario_at, scenarios_by_requirement
from openwop_conformance.plugin.run import Run
from openwop_conformance.plugin.trial import PROPERTY, Parcel, parcel_of, shut
from openwop_conformance.report.model import Beside, Implementation, Result, RunReport, SelfCheck
from openwop_conformance.requirements import Requirement
from openwop_conformance.verdicts import Settlement, Verdict, merge, settle, strictly
from openwop_conformance.wording import printable

VECTOR = "openwop.vector"
CATALOG = "openwop-tool-catalog"
BY_GATE = frozenset({Verdict.NOT_ADVERTISED, Verdict.OPTED_OUT})


@dataclass(slots=True)
class Ledger:
    """Filled by test reports as they arrive, from this process or from workers."""

    started: float = field(default_factory=time.monotonic)
    started_at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
    parcels: dict[str, Parcel] = field(default_factory=dict)
    vectors: dict[str, bool] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    seen: bool = False
    remote: bool = False

    def take(self, report: pytest.TestReport) -> None:
        """Take in one test report and lighten it of what only the ledger reads."""
        kept = []
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.seen = True
                self.parcels[report.nodeid] = parcel_of(value)
            elif name == VECTOR:
                self.seen = True
                self.vectors[report.nodeid] = self.vectors.get(report.nodeid, True) and not report.failed
            else:
                kept.append((name, value))
        report.user_properties[:] = kept
        if report.failed and report.nodeid not in self.parcels and report.nodeid not in self.vectors:
            self.broken[report.nodeid] = next(iter(reversed(report.longreprtext.split("\n"))), "")
            self.seen = self.seen or scenario_at(report.nodeid) is not None

    def report(self, run: Run) -> RunReport:
        """The report of a run that has ended."""
        sent = Counter(run.opening)
        for parcel in self.parcels.values():
            sent.update(parcel.sent)
        judged = self._judge(run) if run.base_url else Judged()
        return RunReport(
            suite_version=__version__,
            started_at=self.started_at,
            duration_ms=round((time.monotonic() - self.started) * 1000),
            mode=run.settings.mode,
            host_url=run.base_url,
            embedded=run.embedded is not None,
            implementation=_implementation(run),
            results=tuple(judged.results),
            self_check=SelfCheck(
                passed=sum(self.vectors.values()),
                failed=tuple(name.rpartition("::")[2] for name, passed in self.vectors.items() if not passed),
            ),
            not_applicable=tuple(judged.not_applicable),
            not_testable=tuple(judged.not_testable),
            pending=tuple(judged.pending),
            not_run=tuple(judged.not_run),
            selection=run.settings.select,
            missing_profiles=tuple(run.gate.missing_profiles()) if run.gate and not run.unobservable else (),
            warnings=(*_warnings(run), *(note for parcel in self.parcels.values() for note in parcel.notes)),
            without_credential=bool(run.gate and not run.settings.principals and run.gate.advertises_profile(CATALOG)),
            unobservable=run.unobservable,
            sent=tuple(sorted(sent.items())),
            runs_created=sum(parcel.runs_created for parcel in self.parcels.values()),
            catalog=tuple(
                (whose, tuple(tools)) for parcel in self.parcels.values() for whose, tools in parcel.catalog.items()
            ),
        )

    def _judge(self, run: Run) -> "Judged":
        """Give every live requirement of the run its verdict, or its place beside the verdicts."""
        settlements = [one for parcel in self.parcels.values() for one in parcel.settlements]
        settled = merge([*settlements, *self._lost(run)])
        inapplicable = dict(pair for parcel in self.parcels.values() for pair in parcel.not_applicable)
        known = scenarios_by_requirement()
        judged = Judged()
        for requirement in run.registry:
            name = requirement.id
            if name not in run.selected or requirement.gate == ("none",):
                continue
            if name in settled:
                judged.results.append(Result(requirement, settled[name]))
            elif requirement.untestable:
                judged.not_testable.append(Beside(name, requirement.untestable))
            elif name in inapplicable:
                judged.not_applicable.append(Beside(name, inapplicable[name]))
            elif name in known:
                judged.not_run.append(name)
            else:
                judged.place_pending(requirement, run)
        return judged

    def _lost(self, run: Run) -> Iterator[Settlement]:
        """What a scenario would have settled that ended without a word, as when its worker died."""
        for node_id, words in self.broken.items():
            scenario = scenario_at(node_id)
            for name in scenario.settles if scenario else ():
                if name in run.selected and run.registry[name].live:
                    finding = Finding(name, f"the scenario broke down: {printable(words)}", weight=Weight.INCONCLUSIVE)
                    yield settle(run.registry[name], scenario.slug if scenario else "", [finding])


@dataclass(slots=True)
class Judged:
    """Verdicts, and what stands beside them."""

    results: list[Result] = field(default_factory=list)
    not_applicable: list[Beside] = field(default_factory=list)
    not_testable: list[Beside] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)

    def place_pending(self, requirement: Requirement, run: Run) -> None:
        """A requirement without a scenario: the gate alone may settle it, otherwise it is pending."""
        closed = run.gate.closed(requirement) if run.gate else None
        if closed is not None and closed.verdict is None:
            self.not_applicable.append(Beside(requirement.id, closed.reason))
        elif closed is not None and closed.verdict in BY_GATE:
            settlement = shut(requirement, "", closed)
            strict = run.settings.strict and closed.demanded
            merged = merge([strictly(settlement) if strict else settlement])[requirement.id]
            self.results.append(Result(requirement, replace(merged, scenarios=())))
        else:
            self.pending.append(requirement.id)


def _implementation(run: Run) -> Implementation | None:
    """What the settings call the host, or else what the host calls itself."""
    if run.host is None:
        settings = run.settings
        named = settings.implementation_name or settings.implementation_version
        return Implementation(settings.implementation_name, settings.implementation_version) if named else None
    told = run.host.implementation
    return Implementation(*told) if told else None


def _warnings(run: Run) -> Iterator[str]:
    yield from run.settings.warnings
    if run.gate and not run.unobservable:
        for name in run.gate.contradicted_opt_outs():
            yield f"the opt-out of {name} does not count: the host advertises it"
