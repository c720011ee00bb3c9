"""The host on loopback sockets: its own server, the connector's endpoint, the event log and what is kept between."""

import secrets
import socket
import sqlite3
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import Catalog, HostPrincipal, HostTool, load_catalog
from openwop_conformance.reference.config import ConfigError
from openwop_conformance.reference.connector_endpoint import ConnectorEndpoint
from openwop_conformance.reference.event_log import EventLog, recover
from openwop_conformance.reference.mcp_link import EMBEDDED
from openwop_conformance.reference.sessions import Sessions
from openwop_conformance.reference.surfaces import Surfaces

LOOPBACK = "127.0.0.1"
STOP_SECONDS = 10
LOG_NAME = "events.sqlite3"


@dataclass(slots=True)
class Served:
    """One application on one port, in a thread of its own."""

    url: str
    _server: uvicorn.Server
    _thread: threading.Thread

    def ask_to_stop(self) -> None:
        """Let it come to an end in its own time."""
        self._server.should_exit = True

    def stop(self) -> None:
        """Stop serving and wait until it has."""
        self.ask_to_stop()
        self._thread.join(STOP_SECONDS)


@dataclass(slots=True)
class RunningHost:
    """A host that is being served until it is stopped."""

    url: str
    principals: tuple[HostPrincipal, ...]
    recovered: int = 0
    planted: tuple[str, ...] = field(default=(), repr=False)
    _tools: tuple[HostTool, ...] = ()
    _served: list[Served] = field(default_factory=list)
    _log: EventLog | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def tenants(self) -> list[tuple[HostPrincipal, tuple[str, ...]]]:
        """Everybody, with the ids of tools that are not of their tenant."""
        return [
            (one, tuple(tool.id for tool in self._tools if one.tenant not in tool.tenants)) for one in self.principals
        ]

    def stop(self) -> None:
        """Stop serving, close the log, and leave nothing behind that was only for this run."""
        if self._log is not None:
            self._log.release()
        for one in self._served:
            one.ask_to_stop()
        for one in self._served:
            one.stop()
        if self._log is not None:
            self._log.close()
        if self._folder is not None:
            self._folder.cleanup()


def start(app: HostApp | None = None, port: int = 0) -> RunningHost:
    """Serve an application on a loopback port, a free one by default; without one, the whole embedded host."""
    if app is None:
        return start_host(port=port)
    served = serve(app.asgi, port)
    return RunningHost(served.url, app.catalog.principals, _tools=app.catalog.tools, _served=[served])


def start_host(
    config: Path | None = None,
    *,
    port: int = 0,
    data: Path | None = None,
    live: bool = True,
    app: type[HostApp] = HostApp,
    catalog: Catalog | None = None,
) -> RunningHost:
    """Serve a host as its description says, or a catalog that is there already.

    With `data` its events outlive it, and cut-off runs are ended.
    """
    catalog = catalog or load_catalog(config, live=live)
    folder = None if data else tempfile.TemporaryDirectory(prefix="openwop-host-")
    log = _opened((data or Path(str(folder and folder.name))) / LOG_NAME)
    recovered = recover(log)
    endpoint = ConnectorEndpoint()
    served = [serve(endpoint.asgi)] if catalog.endpoint == EMBEDDED else []
    address = served[0].url if served else catalog.endpoint
    planted = (f"planted_{secrets.token_urlsafe(24)}",)
    kept = (endpoint.key, *planted, *(one.token for one in catalog.principals))
    sessions = Sessions(catalog, log, Surfaces(catalog.mcp, address, endpoint.key), kept)
    made = app(catalog, log, sessions)
    served.append(serve(made.asgi, port))
    known = made.catalog
    return RunningHost(served[-1].url, known.principals, recovered, planted, known.tools, served, log, folder)


def _opened(path: Path) -> EventLog:
    """The log of a folder, which one host alone may have: it would end the runs of another."""
    try:
        return EventLog(path)
    except sqlite3.DatabaseError as error:
        raise ConfigError(f"{path}: {error}") from None


def serve(asgi: Any, port: int = 0) -> Served:
    """Connections are taken from the moment this returns."""
    listener = _listener(port)
    config = uvicorn.Config(
        asgi, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    config.load()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="openwop-host", daemon=True)
    thread.start()
    return Served(f"http://{LOOPBACK}:{listener.getsockname()[1]}", server, thread)


def _listener(port: int) -> socket.socket:
    """A listening socket that names its protocol: asyncio sends without delay only on those."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(128)
    return listener
