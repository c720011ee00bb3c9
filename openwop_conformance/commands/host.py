"""`host`: the reference host in the foreground, until it is told to stop."""

import signal
import sys
import threading
from pathlib import Path
from types import FrameType

import click
import yaml

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
@click.option("--settings", type=Path, metavar="FILE", help="write a settings file for a strict run against this host")
def host(config: Path | None, port: int, data: Path | None, settings: Path | None) -> None:
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
    if settings is not None:
        _write(running, settings)
    _announce(running)
    stop.wait()
    running.stop()
    click.echo("stopped")


def _write(running: RunningHost, path: Path) -> None:
    """Everything that strict mode asks for: who there is, what each may and may not see, and a planted secret."""
    people = [
        {
            "name": one.name,
            "token": one.token,
            "tenant": one.tenant,
            "scopes": list(one.scopes),
            "hidden-tool-ids": list(hidden),
        }
        for one, hidden in running.tenants()
    ]
    told = {"host-url": running.url, "principals": people, "planted-secrets": list(running.planted), "strict": True}
    try:
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    except OSError as problem:
        running.stop()
        usage(f"--settings {path}: {problem.strerror or problem}")


def _announce(running: RunningHost) -> None:
    click.echo(f"serving {running.url}")
    if running.recovered:
        click.echo(f"runs brought to an end after a stop in the middle: {running.recovered}")
    for one in running.principals:
        click.echo(f"  {one.name} of {one.tenant}: {one.token}")
    first, *rest = running.principals
    second = f" --second-token {rest[-1].token}" if rest else ""
    click.echo(f"try: openwop-conformance run --host-url {running.url} --token {first.token}{second}")
    click.echo("stop with Ctrl-C")
    sys.stdout.flush()
