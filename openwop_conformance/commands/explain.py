"""`explain`: one requirement, who asks for it, who proves it, and how to fix a host that fails it."""

import difflib
import inspect
import sys
from collections.abc import Iterator

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from openwop_conformance.commands.complaints import usage
from openwop_conformance.plugin.marks import all_scenarios
from openwop_conformance.reference.gallery import all_mutants, blame
from openwop_conformance.requirements import Requirement, load_registry
from openwop_conformance.vectors import load_vectors
from openwop_conformance.wording import printable

PIPE_WIDTH = 100
VECTORS = ("bodies", "capability", "descriptor", "events")


@click.command()
@click.argument("requirement_id", metavar="ID")
def explain(requirement_id: str) -> None:
    """Explain one requirement: statement, level, gate, scenarios, proofs, and how to fix a host that fails it."""
    registry = load_registry()
    if requirement_id not in registry:
        near = difflib.get_close_matches(requirement_id, registry.requirements, 3, 0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        usage(f"{printable(requirement_id, 80)} is no requirement{hint}")
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    one = registry[requirement_id]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for label, text in _rows(one):
        table.add_row(label, Text(text))
    with console.capture() as capture:
        console.print(Text(one.id, style="bold"), Text(f"{one.level} §{one.section}", style="dim"))
        console.print(Padding(Text(one.statement), (0, 0, 1, 0)))
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def _rows(one: Requirement) -> Iterator[tuple[str, str]]:
    yield "profile", one.profile
    yield "gate", one.gate_text
    if one.ruling:
        yield "rulings", ", ".join(one.ruling)
    if one.untestable:
        yield "not tested", one.untestable
    for scenario in all_scenarios():
        if one.id in scenario.settles:
            yield "scenario", f"{scenario.slug} (scenarios/{scenario.place}): {scenario.summary}"
    for mutant in all_mutants():
        if one.id in blame(mutant):
            yield "mutant", f"{mutant.__name__}: {inspect.getdoc(mutant)}"
    bad = [vector.name for area in VECTORS for vector in load_vectors(area) if vector.requirement == one.id]
    if bad:
        yield "vectors", ", ".join(bad)
    if one.fix:
        yield "fix", one.fix
