"""`host`: the reference host in the foreground, until it is told to stop."""

import signal
import sys
import threading
from pathlib import Path
from types import FrameType

import click

from openwop_conformance.commands.complaints import usage
from openwop_conformance.reference.config import ConfigError
from openwop_conformance.reference.server import RunningHost, start_host


@click.command()
@click.option(
    "--config", type=Path, metavar="FILE", help="description of the host; without one, the host that ships along"
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="loopback port; a free one by default"
)
@click.option("--data", type=Path, metavar="DIR", help="keep the event log there; without it, events end with the host")
def host(config: Path | None, port: int, data: Path | None) -> None:
    """Serve the reference host on loopback and print the tokens of its principals."""
    stop = threading.Event()

    def told(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, told)
    if data is not None and not data.is_dir():
        usage(f"--data {data}: there is no such folder")
    try:
        running = start_host(config, port=port, data=data)
    except ConfigError as problem:
        usage(str(problem))
    except OSError as problem:
        usage(f"port {port}: {problem.strerror or problem}")
    _announce(running)
    stop.wait()
    running.stop()
    click.echo("stopped")


def _announce(running: RunningHost) -> None:
    click.echo(f"serving {running.url}")
    if running.recovered:
        click.echo(f"runs brought to an end after a stop in the middle: {running.recovered}")
    for one in running.principals:
        click.echo(f"  {one.name} of {one.tenant}: {one.token}")
    first, *rest = running.principals
    second = f" --openwop-second-token {rest[-1].token}" if rest else ""
    click.echo(f"try: pytest --host-url {running.url} --openwop-token {first.token}{second}")
    click.echo("stop with Ctrl-C")
    sys.stdout.flush()
