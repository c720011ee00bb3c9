"""The command `openwop-conformance`."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from openwop_conformance._version import __version__
from openwop_conformance.commands.audit import audit
from openwop_conformance.commands.complaints import usage
from openwop_conformance.commands.explain import explain
from openwop_conformance.commands.host import host
from openwop_conformance.commands.lint import lint
from openwop_conformance.commands.project import project_command
from openwop_conformance.configuration import configure
from openwop_conformance.option_table import OPTIONS, PREFIX, Option
from openwop_conformance.plugin.embedded import run_scenarios
from openwop_conformance.plugin.marks import scenarios_by_requirement
from openwop_conformance.plugin.options import options_from
from openwop_conformance.report.model import Exit
from openwop_conformance.requirements import Requirement, load_registry
from openwop_conformance.settings import REFERENCE, UsageProblem

PIPE_WIDTH = 220


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="openwop-conformance")
def main() -> None:
    """Conformance suite for OpenWOP tool-catalog hosts."""


for _command in (audit, explain, host, lint, project_command):
    main.add_command(_command)


def _run_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(OPTIONS):
        command = _declared(option)(command)
    return command


def _declared(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    if not option.value:
        return click.option(option.command_flag, is_flag=True, help=option.help)
    kind: Any = click.Choice(option.choices) if option.choices else option.type
    return click.option(
        option.command_flag, metavar=option.value, type=kind, multiple=option.many, default=None, help=option.help
    )


@main.command()
@_run_options
@click.option("-n", "--workers", metavar="N", type=click.IntRange(0, 64), default=0, help="run in N processes")
@click.option("-v", "--verbose", is_flag=True, help="name every scenario and show tracebacks of errors of our own")
def run(workers: int, *, verbose: bool, **given: Any) -> None:
    """Run every scenario against a host; without one, against the embedded host.

    Exit codes: 0 green, 1 not conformant, 2 usage, 3 not observed, nothing exercised, or an error of our own.
    """
    said = {option.name: given[option.name.replace("-", "_")] for option in OPTIONS}
    try:
        settings = configure(options_from(said), os.environ, load_registry())
    except UsageProblem as problem:
        usage(str(problem).replace(f"--{PREFIX}", "--"))
    if settings.host_url is None and (said["token"] or said["token-file"]):
        usage("--token is for a host of yours, and none was given; name it with --host-url URL")
    if settings.host_url is None:
        click.echo("No host given: this runs against the embedded one. Name yours with --host-url URL.")
        said["host-url"] = REFERENCE
    arguments = [word for option in OPTIONS for word in _pytest_words(option, said[option.name])]
    try:
        code = run_scenarios(arguments, workers=workers, talkative=verbose)
    except BrokenPipeError:
        code = Exit.UNOBSERVED
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and the exit code has to say so
        click.echo(f"Error of the suite itself: {type(error).__name__}: {error}", err=True)
        code = Exit.UNOBSERVED
    sys.exit(code)


def _pytest_words(option: Option, value: Any) -> list[str]:
    if not option.value:
        return [option.pytest_flag] if value else []
    values = value if option.many else [value]
    return [f"{option.pytest_flag}={one}" for one in values or () if one is not None]


@main.command()
@click.option("--pending", is_flag=True, help="only those that no scenario settles yet")
@click.option("--json", "as_json", is_flag=True, help="as JSON, for programs")
def requirements(*, pending: bool, as_json: bool) -> None:
    """List the requirements: id, level, section, gate, statement, and the scenarios that settle them."""
    registry = load_registry()
    settled_by = scenarios_by_requirement()
    chosen = [one for one in registry if not pending or one.id in registry.pending]
    if as_json:
        click.echo(
            json.dumps([_entry(one, settled_by.get(one.id, [])) for one in chosen], indent=2, ensure_ascii=False)
        )
        return
    if not chosen:
        click.echo("No requirement is pending.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("id", "level", "section", "gate", "statement", "scenarios"):
        table.add_column(heading, overflow="fold")
    for one in chosen:
        how = ", ".join(settled_by.get(one.id, [])) or (f"none: {one.untestable}" if one.untestable else "none yet")
        table.add_row(one.id, one.level.value, one.section, one.gate_text, one.statement, how)
    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with console.capture() as capture:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def _entry(one: Requirement, scenarios: list[str]) -> dict[str, Any]:
    return {
        "id": one.id,
        "level": one.level.value,
        "section": one.section,
        "profile": one.profile,
        "gate": one.gate_text,
        "statement": one.statement,
        "ruling": list(one.ruling),
        "untestable": one.untestable or None,
        "fix": one.fix or None,
        "scenarios": scenarios,
    }
