"""`project`: native definitions turned into descriptors, with what is lost and what is refused."""

import json
import sys
from pathlib import Path
from typing import Any

import click
import yaml

from openwop_conformance.commands.complaints import usage
from openwop_conformance.dialects.projection import FORMATS, SOURCES, Naming, project, tools_of
from openwop_conformance.documents import DocumentError, read_located, read_yaml
from openwop_conformance.wording import printable


@click.command("project")
@click.argument("file", type=Path)
@click.option("--from", "format_name", type=click.Choice(FORMATS), required=True, help="the format of the file")
@click.option(
    "--assign", type=Path, metavar="FILE", help="YAML: for each tool by name, its safetyTier and what else you assign"
)
@click.option("--scope", metavar="S", help="what stands before the colon of the ids")
@click.option("--source", type=click.Choice(SOURCES), metavar="S", help=f"one of {', '.join(SOURCES)}")
@click.option("--server", metavar="NAME", help="the MCP server that the tools come from: ids become mcp:NAME.tool")
@click.option("--output", type=click.Choice(["json", "yaml"]), default="json", help="how descriptors are printed")
def project_command(
    *,
    file: Path,
    format_name: str,
    assign: Path | None,
    scope: str | None,
    source: str | None,
    server: str | None,
    output: str,
) -> None:
    """Print the descriptors that native definitions amount to; losses and refusals go to standard error.

    Exit codes: 0 all projected, 1 some refused, 2 a file cannot be read.
    """
    try:
        document = read_located(file).value
        assigned = read_yaml(assign) if assign else {}
    except DocumentError as problem:
        usage(str(problem))
    result = project(format_name, tools_of(document), Naming(scope, source, server), _assignments(assigned, assign))
    click.echo(_printed({"tools": result.descriptors}, output))
    for loss in result.losses:
        click.echo(f"lost: {printable(loss.tool, 120)}: {printable(loss.pointer, 200)}: {loss.reason}", err=True)
    for refusal in result.refusals:
        click.echo(f"refused: {printable(refusal.tool, 120)}: {printable(refusal.reason, 600)}", err=True)
    sys.exit(1 if result.refusals else 0)


def _assignments(value: Any, file: Path | None) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        usage(
            f"{file}: a mapping from tool names to mappings is needed, for example lookup_order: {{safetyTier: read}}"
        )
    return value


def _printed(value: Any, output: str) -> str:
    if output == "yaml":
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True).rstrip()
    return json.dumps(value, indent=2, ensure_ascii=True)
