"""The summary that a person reads after a run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from openwop_conformance.findings import Finding, Weight
from openwop_conformance.report.model import Exit, Result, RunReport
from openwop_conformance.verdicts import Verdict
from openwop_conformance.wording import listed, printable

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.ADVISORY: "yellow",
    Verdict.NOT_ADVERTISED: "cyan",
    Verdict.OPTED_OUT: "cyan",
    Verdict.BLOCKED: "magenta",
    Verdict.INCONCLUSIVE: "bold magenta",
}
MAX_FINDINGS = 5
MAX_TOGETHER = 2
MAX_WORDS = 1500
MAX_COMMAND = 8000
_COUNT_ROWS = (
    (Verdict.PASS, Verdict.FAIL, Verdict.ADVISORY, Verdict.INCONCLUSIVE),
    (Verdict.BLOCKED, Verdict.NOT_ADVERTISED, Verdict.OPTED_OUT),
)


def render(report: RunReport, *, width: int, color: bool) -> str:
    """The summary as text, with escape codes only where `color` is asked for."""
    console = Console(
        width=max(width, 60),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for part in _parts(report):
            console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _parts(report: RunReport) -> Iterator[RenderableType]:
    yield Rule("OpenWOP conformance", style="bold")
    yield _heading(report)
    if report.host_url is not None or report.log is not None:
        yield from _counts(report)
    if report.unobservable is None:
        yield from _detailed(report, Verdict.FAIL, "Failures")
        yield from _detailed(report, Verdict.INCONCLUSIVE, "Could not be observed")
        yield from _detailed(report, Verdict.ADVISORY, "Advisories")
        yield from _grouped(report)
        yield from _beside(report)
    for warning in report.warnings:
        yield Text(f"Warning: {printable(warning)}", style="yellow")
    yield Text()
    if report.log is None:
        yield _traffic(report)
    yield _conclusion(report)


def _indented(text: str | Text, by: int, style: str = "") -> RenderableType:
    return Padding(
        text if isinstance(text, Text) else Text(text, style=style, overflow="fold"), (0, 0, 0, by), expand=False
    )


def _heading(report: RunReport) -> Text:
    if report.log is not None:
        log = report.log
        seconds = f"{report.duration_ms / 1000:.1f} s"
        amounts = ((log.events, "event"), (log.runs, "run"), (log.sessions, "session"))
        told = [f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in amounts]
        return Text(" · ".join([printable(listed(log.files, 3)), *told, f"suite {report.suite_version}", seconds]))
    if report.host_url is None:
        return Text(f"no host · {report.mode} mode · suite {report.suite_version}")
    made = report.implementation
    named = " ".join(filter(None, [made.name, made.version])) if made else ""
    parts = [
        f"{report.host_url}{' (the embedded host)' if report.embedded else ''}",
        printable(named, 120),
        f"{report.mode} mode",
        f"suite {report.suite_version}",
        f"{report.duration_ms / 1000:.1f} s",
    ]
    return Text(" · ".join(part for part in parts if part))


def _counts(report: RunReport) -> Iterator[Text]:
    for row in _COUNT_ROWS:
        line = Text()
        for verdict in row:
            count = report.counts[verdict]
            line.append("   " if line else "").append(f"{count} {verdict}", style=STYLES[verdict] if count else "dim")
        yield line


def _detailed(report: RunReport, verdict: Verdict, title: str) -> Iterator[RenderableType]:
    results = [result for result in report.results if result.verdict is verdict]
    if not results:
        return
    yield Text()
    yield Text(f"{title} ({len(results)})", style=STYLES[verdict])
    for group in _alike(results):
        yield Text()
        yield from _explained(group, verdict)


def _alike(results: Iterable[Result]) -> list[list[Result]]:
    """Results that have one and the same single cause stand together."""
    groups: dict[object, list[Result]] = {}
    for result in results:
        findings = result.settled.findings
        shared = findings[0].message if len(findings) == 1 and not findings[0].where else None
        groups.setdefault(shared or result.requirement.id, []).append(result)
    return list(groups.values())


def _explained(group: list[Result], verdict: Verdict) -> Iterator[RenderableType]:
    findings = [one for one in group[0].settled.findings if one.weight is not Weight.BLOCKED]
    if len(group) > MAX_TOGETHER:
        yield _indented(Text(_counted(len(group)), style=STYLES[verdict]), 2)
        yield _indented(listed((one.requirement.id for one in group), 6), 4, "dim")
    else:
        for result in group:
            requirement = result.requirement
            line = Text(requirement.id, style=STYLES[verdict])
            line.append(f"  {requirement.level} §{requirement.section}", style="dim")
            yield _indented(line, 2)
            yield _indented(requirement.statement, 4)
    if len(group) == 1 and group[0].requirement.fix and verdict is not Verdict.INCONCLUSIVE:
        yield _indented(f"Fix: {group[0].requirement.fix}", 4, "cyan")
    for finding in findings[:MAX_FINDINGS]:
        yield from _finding(finding)
    if len(findings) > MAX_FINDINGS:
        yield _indented(f"and {len(findings) - MAX_FINDINGS} more; the JSON report has them", 4)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    rows = {"finding": finding.message, "at": finding.where, "expected": finding.expected, "seen": finding.seen}
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for label, text in rows.items():
        if text:
            table.add_row(label, Text(printable(text, MAX_WORDS), overflow="fold"))
    yield Padding(table, (0, 0, 0, 4), expand=False)
    if finding.exchange is not None:
        yield _unwrapped(f"    {printable(finding.exchange.curl(), MAX_COMMAND)}")


def _unwrapped(line: str) -> Text:
    """A line to be copied, which a break would spoil."""
    return Text(line, style="dim", no_wrap=True, overflow="ignore")


def _grouped(report: RunReport) -> Iterator[RenderableType]:
    """What was not exercised, by reason."""
    for verdict, title in (
        (Verdict.BLOCKED, "Blocked"),
        (Verdict.NOT_ADVERTISED, "Not advertised"),
        (Verdict.OPTED_OUT, "Opted out"),
    ):
        groups: dict[str, list[str]] = defaultdict(list)
        for result in report.results:
            if result.verdict is verdict:
                groups["; ".join(result.settled.reasons)].append(result.requirement.id)
        if groups:
            yield Text()
            yield Text(f"{title} ({sum(map(len, groups.values()))})", style=STYLES[verdict])
        for reason, ids in groups.items():
            yield _indented(f"{len(ids)} because {printable(reason)}", 2)
            yield _indented(listed(ids, 8), 4, "dim")


def _beside(report: RunReport) -> Iterator[RenderableType]:
    rows = {
        "does not apply": [one.id for one in report.not_applicable],
        "cannot be tested from outside": [one.id for one in report.not_testable],
        "no scenario yet": list(report.pending),
        "not run": list(report.not_run),
    }
    if any(rows.values()):
        yield Text()
        yield Text("Without a verdict", style="bold")
    for title, ids in rows.items():
        if ids:
            yield _indented(f"{title} ({len(ids)}): {listed(ids, 4)}", 2)


def _traffic(report: RunReport) -> Text:
    self_check = report.self_check
    failed = f", {len(self_check.failed)} failed: {listed(self_check.failed)}" if self_check.failed else ""
    own = f"Self-check of the schemas: {self_check.passed} vectors passed{failed}."
    requests = ", ".join(f"{count} {method}" for method, count in report.sent) or "nothing"
    return Text(f"{own} Sent: {requests}; runs created: {report.runs_created}.", style="dim")


def _conclusion(report: RunReport) -> Text:
    style = {Exit.GREEN: "bold green", Exit.NOT_CONFORMANT: "bold red"}.get(report.exit, "bold magenta")
    return Text(conclusion(report), style=style)


def conclusion(report: RunReport) -> str:
    """The run in one sentence."""
    if report.log is not None:
        return _of_log(report)
    if report.host_url is None:
        return _without_host(report)
    if report.unobservable is not None:
        return f"COULD NOT OBSERVE {report.host_url}: {printable(report.unobservable)}"
    if failed := report.counts[Verdict.FAIL]:
        named = ", ".join(report.missing_profiles) if report.mode == "strict" else ""
        return f"NOT CONFORMANT: {_counted(failed)} failed.{f' Missing profiles: {named}.' if named else ''}"
    return _without_failure(report)


def _of_log(report: RunReport) -> str:
    if failed := report.counts[Verdict.FAIL]:
        return f"NOT CONFORMANT: the log breaks {_counted(failed)}."
    if report.log is not None and not report.log.sessions:
        return "NOTHING WAS EXERCISED: the log holds no tool session."
    if unseen := report.counts[Verdict.INCONCLUSIVE]:
        return f"INCONCLUSIVE: {_counted(unseen)} could not be judged by this log."
    return "CONFORMANT in what the log shows."


def _without_host(report: RunReport) -> str:
    if report.self_check.failed:
        return "No host was tested, and the suite's own schemas fail their vectors."
    strict = " Strict mode demands one: give --host-url." if report.mode == "strict" else ""
    return f"No host was tested; only the suite's own schemas were.{strict}"


def _without_failure(report: RunReport) -> str:
    if unseen := report.counts[Verdict.INCONCLUSIVE]:
        return f"INCONCLUSIVE: {_counted(unseen)} could not be observed."
    if report.self_check.failed:
        return "INCONCLUSIVE: the suite's own schemas fail their vectors."
    if report.without_credential:
        return "NOT OBSERVED: the host advertises a catalog, but no credential was given to read it with."
    if not report.exercised:
        return "NOTHING WAS EXERCISED: this run says nothing about the host."
    if not report.catalog_exercised:
        return f"No profile was tested: {_why_none(report)}. What was exercised held."
    if report.partial:
        return "What was selected holds; a part of the suite is no ground for a verdict on the host."
    return "CONFORMANT in what was exercised."


def _why_none(report: RunReport) -> str:
    if blocked := report.counts[Verdict.BLOCKED]:
        return f"blocked: {_counted(blocked)}"
    return (
        "the host advertises none of " + ", ".join(report.missing_profiles)
        if report.missing_profiles
        else "none was selected"
    )


def _counted(count: int) -> str:
    return f"{count} requirement{'' if count == 1 else 's'}"
