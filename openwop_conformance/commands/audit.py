"""`audit`: the sessions of a recorded event log, judged by the checks that a live host goes through."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from openwop_conformance._version import __version__
from openwop_conformance.checks.event_log import JUDGED_BY_LOG, WELL_FORMED, WINDOW, LogFold, unseen
from openwop_conformance.checks.listing import saved_listing
from openwop_conformance.checks.run_state import Surroundings
from openwop_conformance.client.redaction import Redactor
from openwop_conformance.commands.complaints import usage
from openwop_conformance.commands.event_files import Broken, EventFile, Unreadable
from openwop_conformance.documents import DocumentError, read_located
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.report.files import WRITERS, write_report
from openwop_conformance.report.model import AuditedLog, Beside, Result, RunReport
from openwop_conformance.report.terminal import render
from openwop_conformance.requirements import load_registry
from openwop_conformance.verdicts import merge, promoted, settle
from openwop_conformance.wording import listed, printable

PIPE_WIDTH = 100
STEP = 1 << 15
NO_CATALOG = "no catalog was given to resolve tools in (--catalog)"
_LINE = re.compile(r"\bline (\d+)")
Approvals = dict[str, str | None]


@click.command()
@click.argument("files", nargs=-1, required=True, type=Path)
@click.option("--catalog", type=Path, metavar="FILE", help="a saved list of tools, to resolve tool ids in")
@click.option(
    "--window",
    type=click.IntRange(0, 10_000_000),
    default=WINDOW,
    metavar="N",
    help=f"by how many lines an event may be late; {WINDOW} by default",
)
@click.option("--report", "reports", type=Path, multiple=True, metavar="FILE", help="write a report; repeatable")
@click.option("--fail-on", type=click.Choice(["fail", "advisory"]), default="fail", help="what makes the audit fail")
def audit(files: tuple[Path, ...], catalog: Path | None, window: int, reports: tuple[Path, ...], fail_on: str) -> None:
    """Check the tool sessions in recorded event logs: NDJSON or a JSON array, plain, .gz or .zst; - is standard input.

    Exit codes: 0 all that the log shows holds, 1 it breaks a requirement, 2 usage, 3 no session in it, or not judged.
    """
    for path in reports:
        if path.suffix.lower() not in WRITERS:
            usage(f"--report {path}: the ending has to be one of {', '.join(WRITERS)}")
    approvals = _approvals(catalog) if catalog else None
    started = time.monotonic()
    began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    fold = LogFold(Surroundings(approvals), window)
    try:
        opened = [EventFile(path) for path in files]
        lines, offsets = _read(opened, fold)
    except Unreadable as problem:
        usage(printable(str(problem)))
    if lines and not fold.tally.events:
        usage(f"{printable(listed(files, 3))}: no line is a run event; give an event log, as NDJSON or as a JSON array")
    report = _report(fold, approvals, fail_on == "advisory")
    log = replace(_log(fold, lines), files=tuple(map(str, files)))
    words = Redactor(()).text
    report = replace(
        report,
        results=tuple(_relined(one, files, offsets) for one in report.results),
        log=log,
        started_at=began,
        duration_ms=round((time.monotonic() - started) * 1000),
        warnings=tuple(words(one) for one in _warnings(fold)),
    )
    _write(report, reports)
    sys.exit(report.exit)


def _approvals(path: Path) -> Approvals:
    try:
        listing = saved_listing(read_located(path).value, str(path))
    except DocumentError as problem:
        usage(str(problem))
    if listing.tools is None:
        usage(f"{path}: this is no list of tools; save the answer to GET /v1/tools")
    return {tool.id: tool.text("approval") for tool in listing.tools if tool.id is not None}


def _read(files: list[EventFile], fold: LogFold) -> tuple[int, list[int]]:
    """Fold all files, one behind the other; the lines, and how many there were before each file."""
    offsets: list[int] = []
    line = 0
    with _progress(files) as told:
        for file in files:
            offsets.append(line)
            base = line
            for number, value in file.values():
                line = base + number
                broken = value if type(value) is Broken else _taken(fold, value, line)
                if broken is not None:
                    fold.gathered.add(
                        [Finding(WELL_FORMED, "a line cannot be read", f"line {line}", "JSON", broken.reason)]
                    )
                if not line % STEP:
                    told()
            file.close()
    fold.finish()
    return line, offsets


def _taken(fold: LogFold, value: Any, line: int) -> Broken | None:
    """Fold one value; what is nested beyond all measure is as good as broken."""
    try:
        fold.take(value, line)
    except RecursionError:
        return Broken("nested too deep")
    return None


@contextmanager
def _progress(files: list[EventFile]) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, and nothing elsewhere."""
    total = sum(file.size for file in files)
    console = Console(stderr=True)
    if not console.is_terminal or not total:
        yield lambda: None
        return
    columns = (TextColumn("auditing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("audit", total=total)
        done = {file.name: 0 for file in files}

        def told() -> None:
            for file in files:
                done[file.name] = max(done[file.name], _position(file))
            progress.update(task, completed=sum(done.values()))

        yield told


def _position(file: EventFile) -> int:
    try:
        return file.position()
    except ValueError:
        return file.size


def _report(fold: LogFold, approvals: Approvals | None, fail_on_advisory: bool) -> RunReport:  # noqa: FBT001 - an option
    registry = load_registry()
    redactor = Redactor(())
    results: list[Result] = []
    beside: list[Beside] = []
    for name in JUDGED_BY_LOG:
        requirement = registry[name]
        found = [redactor.finding(one) for one in fold.gathered.of(name)]
        total = sum(count for (own, _), count in fold.gathered.counts.items() if own == name)
        if not found:
            no_tools = Finding(name, NO_CATALOG, weight=Weight.INAPPLICABLE)
            missing = unseen(name, fold.tally, approvals, no_tools)
            if missing is not None and missing.weight is Weight.INAPPLICABLE:
                beside.append(Beside(name, missing.message))
                continue
            found = [missing] if missing else []
        settlement = settle(requirement, "audit", found, total)
        kept = promoted(settlement) if fail_on_advisory else settlement
        results.append(Result(requirement, merge([kept])[name]))
    return RunReport(
        suite_version=__version__,
        started_at="",
        duration_ms=0,
        mode="default",
        results=tuple(results),
        not_applicable=tuple(beside),
    )


def _log(fold: LogFold, lines: int) -> AuditedLog:
    return AuditedLog(
        files=(),
        lines=lines,
        events=fold.tally.events,
        runs=fold.tally.runs,
        sessions=fold.tally.opened,
        unfinished=fold.unfinished,
        reordered=fold.reordered,
    )


def _relined(result: Result, files: tuple[Path, ...], offsets: list[int]) -> Result:
    """Lines counted within their own file, where there are several."""
    if len(files) == 1:
        return result

    def own(match: re.Match[str]) -> str:
        line = int(match[1])
        place = max(place for place, offset in enumerate(offsets) if offset < line)
        return f"{printable(str(files[place]), 120)} line {line - offsets[place]}"

    findings = tuple(
        replace(one, where=_LINE.sub(own, one.where), expected=_LINE.sub(own, one.expected))
        for one in result.settled.findings
    )
    return replace(result, settled=replace(result.settled, findings=findings))


def _warnings(fold: LogFold) -> Iterator[str]:
    if fold.reordered:
        yield (
            f"{fold.reordered} events stood before earlier ones of their run and were put in order by their sequences; "
            "the order of lines is no evidence"
        )
    if fold.unfinished:
        yield f"runs without an end in the log: {fold.unfinished}; sessions still open in them are no failure yet"
    if fold.tally.forgotten:
        yield f"runs of more than a million events: {fold.tally.forgotten} event ids were not compared"


def _write(report: RunReport, paths: tuple[Path, ...]) -> None:
    console = Console()
    width = console.width if console.is_terminal else PIPE_WIDTH
    text = render(report, width=width, color=console.is_terminal and not console.no_color)
    click.echo(text, nl=False)
    for path in paths:
        try:
            write_report(report, path)
        except OSError as error:
            usage(f"report {path}: not written: {error.strerror or error}")
