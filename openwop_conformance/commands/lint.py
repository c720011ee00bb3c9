"""`lint`: a saved catalog, a descriptor or a native document, checked without any host."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from openwop_conformance.checks.descriptors import (
    check_descriptors_valid,
    check_exec_source,
    check_ids_unique,
    check_schemas_valid,
)
from openwop_conformance.checks.listing import check_list_body, saved_listing
from openwop_conformance.commands.complaints import usage
from openwop_conformance.dialects import gecx, tool_contract, toolfoundation
from openwop_conformance.dialects.notices import Notice
from openwop_conformance.documents import DocumentError, Located, read_located
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.settings import ListShape
from openwop_conformance.wording import printable

NATIVE: dict[str, Callable[[Any], list[Notice]]] = {
    "gecx": gecx.check_any,
    "toolfoundation": toolfoundation.check_list,
    "tool-contract": tool_contract.check_any,
}
MAX_LINES = 100
Line = tuple[str, str, str]


@click.command()
@click.argument("file", type=Path)
@click.option(
    "--format", "format_name", type=click.Choice([*NATIVE, "catalog"]), default="catalog", help="what the file is"
)
def lint(file: Path, format_name: str) -> None:
    """Check a saved catalog, one descriptor, or with --format a native document.

    Exit codes: 0 nothing found, 1 something found, 2 the file cannot be read.
    """
    try:
        located = read_located(file)
    except DocumentError as problem:
        usage(str(problem))
    found = list(_native(located, format_name) if format_name in NATIVE else _catalog(located, file))
    for pointer, name, message in found[:MAX_LINES]:
        click.echo(
            f"{file}:{located.line(pointer)}: {name}: {printable(pointer, 200) or '/'}: {printable(message, 600)}"
        )
    if len(found) > MAX_LINES:
        click.echo(f"and {len(found) - MAX_LINES} more")
    click.echo(f"{len(found)} finding{'' if len(found) == 1 else 's'} in {file}")
    sys.exit(1 if found else 0)


def _native(located: Located, format_name: str) -> Iterator[Line]:
    for notice in NATIVE[format_name](located.value):
        yield notice.pointer, notice.kind.value, notice.message


def _catalog(located: Located, file: Path) -> Iterator[Line]:
    """The checks that a live list goes through, on a list from a file."""
    listing = saved_listing(located.value, str(file))
    findings: list[Finding] = [
        *check_list_body(listing, listing.shape or ListShape.ANY),
        *check_descriptors_valid(listing),
        *check_exec_source(listing),
        *check_ids_unique(listing),
        *check_schemas_valid(listing, "inputSchema"),
        *check_schemas_valid(listing, "outputSchema"),
    ]
    for finding in findings:
        if finding.weight in {Weight.VIOLATION, Weight.ADVISORY}:
            place = finding.where if finding.where.startswith("/") else ""
            detail = f" (expected {finding.expected}, saw {finding.seen})" if finding.expected else ""
            yield place, finding.requirement, f"{finding.message}{detail}"
