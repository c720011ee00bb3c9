"""The seven verdicts, how findings become one of them, and how verdicts on one requirement merge."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from openwop_conformance.findings import Finding, Weight
from openwop_conformance.requirements import Level, Requirement


class Verdict(StrEnum):
    """What became of one requirement in one run."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    ADVISORY = "advisory"
    NOT_ADVERTISED = "not-advertised"
    OPTED_OUT = "opted-out"
    BLOCKED = "blocked"
    INCONCLUSIVE = "inconclusive"


MAX_FINDINGS = 20
NOT_LISTED = "more findings are not listed"
EXERCISED = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.ADVISORY})

_STRONGEST_FIRST = (
    Verdict.FAIL,
    Verdict.INCONCLUSIVE,
    Verdict.ADVISORY,
    Verdict.PASS,
    Verdict.BLOCKED,
    Verdict.NOT_ADVERTISED,
    Verdict.OPTED_OUT,
)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What one scenario found out about one requirement; `exercised` stays true to the facts in strict mode."""

    requirement: str
    scenario: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    exercised: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The merged verdict on one requirement."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    exercised: bool = False
    notes: tuple[str, ...] = ()


def settle(requirement: Requirement, scenario: str, findings: Iterable[Finding], total: int = 0) -> Settlement:
    """The settlement that a set of findings on one requirement amounts to; of many findings the first ones stay.

    `total` tells how many there were, where not all of them were kept.
    """
    found = tuple(findings)
    verdict = verdict_of(requirement.level, found)
    count = max(total, len(found))
    if count > MAX_FINDINGS:
        more = Finding(requirement.id, f"{count - MAX_FINDINGS} {NOT_LISTED}", weight=found[0].weight)
        found = (*found[:MAX_FINDINGS], more)
    unseen = {Verdict.BLOCKED: Weight.BLOCKED, Verdict.INCONCLUSIVE: Weight.INCONCLUSIVE}.get(verdict)
    reason = next((one.message for one in found if one.weight is unseen), "")
    return Settlement(requirement.id, scenario, verdict, found, reason, verdict in EXERCISED)


def verdict_of(level: Level, findings: Iterable[Finding]) -> Verdict:
    """The verdict that a set of findings amounts to; none at all is a pass."""
    weights = {finding.weight for finding in findings}
    if Weight.VIOLATION in weights:
        return Verdict.FAIL if level is Level.MUST else Verdict.ADVISORY
    if Weight.INCONCLUSIVE in weights:
        return Verdict.INCONCLUSIVE
    if Weight.ADVISORY in weights:
        return Verdict.ADVISORY
    return Verdict.BLOCKED if weights else Verdict.PASS


def strictly(settlement: Settlement) -> Settlement:
    """Strict mode: what was not shown is a failure, and the finding says why it was not shown."""
    if settlement.verdict not in {Verdict.NOT_ADVERTISED, Verdict.BLOCKED}:
        return settlement
    finding = Finding(
        requirement=settlement.requirement,
        message=f"{settlement.verdict}: {settlement.reason}",
        expected="the requirement exercised on the host (strict mode)",
        seen=str(settlement.verdict),
        exchange=next((one.exchange for one in settlement.findings if one.exchange), None),
    )
    return replace(settlement, verdict=Verdict.FAIL, findings=(finding,))


def promoted(settlement: Settlement) -> Settlement:
    """Where advisories are to fail a run: the same findings, as failures."""
    if settlement.verdict is not Verdict.ADVISORY:
        return settlement
    findings = tuple(
        replace(one, weight=Weight.VIOLATION) if one.weight is Weight.ADVISORY else one for one in settlement.findings
    )
    return replace(settlement, verdict=Verdict.FAIL, findings=findings)


def merge(settlements: Iterable[Settlement]) -> dict[str, Settled]:
    """One verdict per requirement: the worst that was observed, else the best reason why nothing was."""
    grouped: dict[str, list[Settlement]] = {}
    for settlement in settlements:
        grouped.setdefault(settlement.requirement, []).append(settlement)
    return {requirement: _merged(group) for requirement, group in grouped.items()}


def _merged(group: list[Settlement]) -> Settled:
    verdict = min((one.verdict for one in group), key=_STRONGEST_FIRST.index)
    telling = [one for one in group if one.verdict is verdict]
    return Settled(
        verdict=verdict,
        findings=_distinct(finding for one in telling for finding in one.findings),
        reasons=tuple(dict.fromkeys(one.reason for one in telling if one.reason)),
        scenarios=tuple(dict.fromkeys(one.scenario for one in group)),
        exercised=any(one.exercised for one in group),
        notes=tuple(dict.fromkeys(one.note for one in group if one.note)),
    )


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each thing that was seen once, as it was seen first; that there were more comes last."""
    first: dict[tuple[str, str, str, str], Finding] = {}
    for one in findings:
        first.setdefault((one.message, one.where, one.expected, one.seen), one)
    return tuple(sorted(first.values(), key=lambda one: one.message.endswith(NOT_LISTED)))
