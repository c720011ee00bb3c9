"""One line to standard error, and the exit code that goes with it."""

import sys
from typing import NoReturn

import click

USAGE = 2


def usage(line: str) -> NoReturn:
    """Say what was wrong with what was given, and end with the code for that."""
    click.echo(f"Error: {line}", err=True)
    sys.exit(USAGE)
