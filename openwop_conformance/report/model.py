"""What a run amounts to: verdicts, what stands beside them, and whether the host conforms."""

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from openwop_conformance.requirements import Level, Need, Requirement
from openwop_conformance.verdicts import Settled, Verdict

CATALOG = "toolCatalog."


class Exit(IntEnum):
    """What the process says when it ends."""

    GREEN = 0
    NOT_CONFORMANT = 1
    USAGE = 2
    UNOBSERVED = 3


@dataclass(frozen=True, slots=True)
class Result:
    """One requirement and what became of it."""

    requirement: Requirement
    settled: Settled

    @property
    def verdict(self) -> Verdict:
        """The merged verdict."""
        return self.settled.verdict


@dataclass(frozen=True, slots=True)
class Implementation:
    """What the host is called, where anybody said."""

    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The vectors: they test the suite's own schemas, never a host."""

    passed: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """A requirement that got no verdict in this run, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedLog:
    """What was audited, where that was no host but its log."""

    files: tuple[str, ...]
    lines: int
    events: int
    runs: int
    sessions: int
    unfinished: int
    reordered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything that the writers show."""

    suite_version: str
    started_at: str
    duration_ms: int
    mode: str
    host_url: str | None = None
    embedded: bool = False
    implementation: Implementation | None = None
    results: tuple[Result, ...] = ()
    self_check: SelfCheck = field(default_factory=SelfCheck)
    not_applicable: tuple[Beside, ...] = ()
    not_testable: tuple[Beside, ...] = ()
    pending: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()
    missing_profiles: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unobservable: str | None = None
    without_credential: bool = False
    sent: tuple[tuple[str, int], ...] = ()
    runs_created: int = 0
    catalog: tuple[tuple[str, tuple[tuple[str, str | None, str | None], ...]], ...] = ()
    log: AuditedLog | None = None

    @property
    def counts(self) -> dict[Verdict, int]:
        """How often each verdict was given; all seven are there."""
        counted = Counter(result.verdict for result in self.results)
        return {verdict: counted[verdict] for verdict in Verdict}

    @property
    def exercised(self) -> bool:
        """Whether anything at all was exercised on a host."""
        return any(result.settled.exercised for result in self.results)

    @property
    def catalog_exercised(self) -> bool:
        """Whether a principal's catalog was put to a MUST of the catalog."""
        return any(
            result.settled.exercised
            and result.requirement.level is Level.MUST
            and Need.PRINCIPAL in result.requirement.needs
            and any(one.startswith(CATALOG) for one in result.requirement.capabilities)
            for result in self.results
        )

    @property
    def partial(self) -> bool:
        """Whether only some of the scenarios were asked for or got to run."""
        return bool(self.selection or self.not_run)

    @property
    def conformant(self) -> bool | None:
        """True and false as the host earned it; None where the run is no ground for either."""
        if self.counts[Verdict.FAIL]:
            return False
        if self.log is not None:
            return not self.counts[Verdict.INCONCLUSIVE] if self.log.sessions else None
        if self.host_url is None or not self.catalog_exercised:
            return None
        if self.counts[Verdict.INCONCLUSIVE]:
            return False
        return None if self.partial else True

    @property
    def exit(self) -> Exit:
        """Green only if something was exercised on a host and nothing spoke against it."""
        counts = self.counts
        if counts[Verdict.FAIL]:
            return Exit.NOT_CONFORMANT
        if self.log is not None:
            return Exit.GREEN if self.conformant else Exit.UNOBSERVED
        if self.host_url is None:
            return Exit.NOT_CONFORMANT if self.mode == "strict" or self.self_check.failed else Exit.GREEN
        if counts[Verdict.INCONCLUSIVE] or self.self_check.failed or not self.exercised or self.without_credential:
            return Exit.UNOBSERVED
        return Exit.GREEN
