"""One scenario in one run: what it may settle, what it has settled, and what pytest is told."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from openwop_conformance.checks.listing import Listing
from openwop_conformance.client.http import Unobservable
from openwop_conformance.client.redaction import Redactor
from openwop_conformance.client.watches import WATCHES
from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.gate import Closed
from openwop_conformance.plugin.marks import Scenario
from openwop_conformance.plugin.run import Run
from openwop_conformance.requirements import Requirement
from openwop_conformance.verdicts import Settlement, Verdict, promoted, settle, strictly

PROPERTY = "openwop"
_BAD = (Verdict.FAIL, Verdict.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a test report carries home about one scenario."""

    scenario: str
    settlements: tuple[Settlement, ...] = ()
    not_applicable: tuple[tuple[str, str], ...] = ()
    sent: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    catalog: dict[str, list[tuple[str, str | None, str | None]]] = field(default_factory=dict)
    runs_created: int = 0


class Trial:
    """Collects the settlements of one scenario; nothing that it declares stays unsettled."""

    def __init__(self, scenario: Scenario, run: Run) -> None:
        self.scenario = scenario
        self._run = run
        self._redactor = run.client.redactor if run.client else Redactor(run.settings.secrets)
        self._settlements: dict[str, Settlement] = {}
        self._inapplicable: dict[str, str] = {}
        self._open: dict[str, Requirement] = {}
        self._notes: list[str] = []
        self._catalog: dict[str, list[tuple[str, str | None, str | None]]] = {}
        self._watched: list[Settlement] = []
        if run.client:
            run.client.read_journal()
        self._sent_before = Counter(run.client.sent) if run.client else Counter()
        self._runs_before = run.client.runs_created if run.client else 0
        for name in scenario.settles:
            if name in run.selected:
                self._enter(run.registry[name])

    def _enter(self, requirement: Requirement) -> None:
        closed = self._run.gate.closed(requirement) if self._run.gate else None
        if closed is None:
            self._open[requirement.id] = requirement
        elif closed.verdict is None:
            self._inapplicable[requirement.id] = closed.reason
        else:
            self._keep(shut(requirement, self.scenario.slug, closed, self._run.lost), demanded=closed.demanded)

    def _keep(self, settlement: Settlement, *, demanded: bool = True) -> None:
        settings = self._run.settings
        kept = strictly(settlement) if settings.strict and demanded else settlement
        self._settlements[settlement.requirement] = promoted(kept) if settings.fail_on_advisory else kept

    @property
    def is_open(self) -> bool:
        """Whether there is anything left to exercise."""
        return bool(self._open)

    def __call__(self, findings: Iterable[Finding], *only: str) -> None:
        """Settle the named requirements, or all that the scenario declares, by what the checks found."""
        found = [self._redactor.finding(finding) for finding in findings]
        names = only or self.scenario.settles
        stray = {one.requirement for one in found} - set(names)
        if stray or not set(names) <= set(self.scenario.settles):
            undeclared = stray | set(names) - set(self.scenario.settles)
            raise LookupError(f"{self.scenario.slug} does not declare {', '.join(sorted(undeclared))}")
        for name in names:
            if name in self._open:
                self._settle(self._open[name], [one for one in found if one.requirement == name])

    def _settle(self, requirement: Requirement, own: list[Finding]) -> None:
        if requirement.id in self._settlements or requirement.id in self._inapplicable:
            raise LookupError(f"{self.scenario.slug} settles {requirement.id} twice")
        if own and all(one.weight is Weight.INAPPLICABLE for one in own):
            self._inapplicable[requirement.id] = own[0].message
        else:
            kept = [one for one in own if one.weight is not Weight.INAPPLICABLE]
            self._keep(self._unless_opted_out(requirement, settle(requirement, self.scenario.slug, kept)))

    def _unless_opted_out(self, requirement: Requirement, settlement: Settlement) -> Settlement:
        """What could not be exercised of a profile that may be missing stays opted out, in strict mode too."""
        excused = self._run.gate is not None and self._run.gate.excused(requirement.profile)
        unseen = settlement.verdict is Verdict.BLOCKED
        return replace(settlement, verdict=Verdict.OPTED_OUT) if excused and unseen else settlement

    def note(self, text: str, *only: str) -> None:
        """Something that the reader of the report should know, of the run or of single requirements already settled."""
        if not only:
            self._notes.append(self._redactor.text(text))
        for name in only:
            if name in self._settlements:
                self._settlements[name] = replace(self._settlements[name], note=self._redactor.text(text))

    def remember(self, listing: Listing) -> None:
        """Keep the ids of a list in the report, so that a later run can be compared with them."""

        def clean(text: str | None) -> str | None:
            return None if text is None else sendable(self._redactor.text(text))

        self._catalog[listing.answer.exchange.principal] = [
            (clean(tool.id) or "", clean(tool.text("source")), clean(tool.text("safetyTier")))
            for tool in listing.tools or ()
            if tool.id
        ]

    def watch(self) -> None:
        """Look at every answer that came during the scenario for what must stand in none, whatever it was about."""
        run = self._run
        if run.client is None or run.host is None:
            return
        try:
            for requirement, check in WATCHES.items():
                one = run.registry[requirement]
                if requirement in run.selected and run.gate and run.gate.closed(one) is None:
                    found = run.news(self._redactor.finding(one) for one in check(run.host, run.client.journal))
                    if found:
                        self._watched.append(settle(one, self.scenario.slug, found))
        except Unobservable:
            return
        finally:
            run.client.read_journal()

    def lose(self, reason: str, exchange: Exchange | None = None) -> None:
        """What is still unsettled could not be observed."""
        for name, requirement in self._open.items():
            if name not in self._settlements and name not in self._inapplicable:
                finding = Finding(name, reason, exchange=exchange, weight=Weight.INCONCLUSIVE)
                self._keep(settle(requirement, self.scenario.slug, [self._redactor.finding(finding)]))

    @contextmanager
    def conducted(self) -> Iterator[None]:
        """Around the scenario itself: however it ends, all that it declares is settled when it is over."""
        try:
            yield
        except Unobservable as loss:
            self.lose(loss.reason, loss.exchange)
        except BaseException as error:
            self.lose(f"an error of the suite itself: {type(error).__name__}: {error}")
            raise
        self.lose("the scenario ended without settling this")
        self.watch()

    def finish(self) -> None:
        """Tell pytest what it amounts to: fail, skip or pass."""
        __tracebackhide__ = True
        bad = [one for one in self._every() if one.verdict in _BAD]
        if bad:
            pytest.fail("\n".join(_line(one) for one in bad), pytrace=False)
        if not any(one.exercised for one in self._settlements.values()):
            pytest.skip(self.why_shut())

    def _every(self) -> list[Settlement]:
        return [*self._settlements.values(), *self._watched]

    def why_shut(self) -> str:
        """Why nothing could be exercised, in one line."""
        reasons = [f"{one.verdict}: {one.reason}" for one in self._settlements.values()]
        reasons += [f"does not apply: {reason}" for reason in self._inapplicable.values()]
        return "; ".join(dict.fromkeys(reasons)) or "nothing of it is selected"

    @property
    def failed(self) -> bool:
        """Whether pytest has to report a failure."""
        return any(one.verdict in _BAD for one in self._every())

    def properties(self) -> list[tuple[str, str]]:
        """What the test report carries: a readable verdict for each requirement, and the parcel."""
        readable = [(f"openwop.{name}", one.verdict.value) for name, one in self._settlements.items()]
        return [*readable, (PROPERTY, msgspec.json.encode(self.parcel()).decode())]

    def parcel(self) -> Parcel:
        """All that the scenario found out."""
        client = self._run.client
        sent = Counter(client.sent) - self._sent_before if client else Counter()
        return Parcel(
            self.scenario.slug,
            tuple(self._every()),
            tuple(self._inapplicable.items()),
            dict(sent),
            tuple(self._notes),
            self._catalog,
            client.runs_created - self._runs_before if client else 0,
        )


def shut(requirement: Requirement, scenario: str, closed: Closed, lost: Exchange | None = None) -> Settlement:
    """The settlement of a requirement whose gate is closed with a verdict."""
    assert closed.verdict is not None  # noqa: S101 - the caller has looked
    if closed.verdict is Verdict.INCONCLUSIVE:
        finding = Finding(requirement.id, closed.reason, exchange=lost, weight=Weight.INCONCLUSIVE)
        return Settlement(requirement.id, scenario, closed.verdict, (finding,), closed.reason)
    return Settlement(requirement.id, scenario, closed.verdict, (), closed.reason)


def sendable(text: str) -> str:
    """A text that UTF-8 can carry: halves of surrogate pairs are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def parcel_of(value: object) -> Parcel:
    """The parcel that a test report carried."""
    return msgspec.json.decode(str(value), type=Parcel)


def _line(settlement: Settlement) -> str:
    told = [finding for finding in settlement.findings if finding.weight in {Weight.VIOLATION, Weight.INCONCLUSIVE}]
    first = told[0] if told else None
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    detail = f"expected {first.expected}, saw {first.seen}" if first and first.expected else ""
    words = [
        first.message if first else settlement.reason,
        f"at {first.where}" if first and first.where else "",
        detail,
    ]
    return f"{settlement.requirement}: {settlement.verdict}: {'; '.join(filter(None, words))}{more}"
