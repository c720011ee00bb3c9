"""The embedded host on a loopback socket, in a thread of its own."""

import socket
import threading
from dataclasses import dataclass

import uvicorn

from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import HostPrincipal, load_catalog

LOOPBACK = "127.0.0.1"
STOP_SECONDS = 10


@dataclass(slots=True)
class RunningHost:
    """A host that is being served until it is stopped."""

    url: str
    principals: tuple[HostPrincipal, ...]
    _server: uvicorn.Server
    _thread: threading.Thread

    def stop(self) -> None:
        """Stop serving and wait until it has."""
        self._server.should_exit = True
        self._thread.join(STOP_SECONDS)


def start(app: HostApp | None = None, port: int = 0) -> RunningHost:
    """Serve on a loopback port, a free one by default; connections are taken from the moment this returns."""
    app = app or HostApp(load_catalog())
    listener = _listener(port)
    config = uvicorn.Config(
        app.asgi, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    config.load()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="openwop-host", daemon=True)
    thread.start()
    url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    return RunningHost(url, app.catalog.principals, server, thread)


def _listener(port: int) -> socket.socket:
    """A listening socket that names its protocol: asyncio sends without delay only on those."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(128)
    return listener
