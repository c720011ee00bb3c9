"""Hosts for tests: real sockets on loopback, each with whatever manners a test needs."""

import http.client
import itertools
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.server import RunningHost, start

DESCRIPTOR: dict[str, Any] = {"toolId": "mcp:fs.read", "source": "mcp", "safetyTier": "read"}
Handler = Callable[[Request], Response]


class Plain:
    """Answers every path by one function, and remembers what it was asked."""

    def __init__(self, answer: Handler) -> None:
        self._answer = answer
        self.requests: list[Request] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        self.requests.append(request)
        await self._answer(request)(scope, receive, send)

    @property
    def paths(self) -> list[str]:
        return [request.scope["raw_path"].decode() for request in self.requests]


@contextmanager
def serving(answer: Handler) -> Iterator[tuple[str, Plain]]:
    app = Plain(answer)
    host = HostApp(load_catalog())
    host.asgi = app  # type: ignore[assignment]
    running = start(host)
    try:
        yield running.url, app
    finally:
        running.stop()


@contextmanager
def reference(app: HostApp | None = None) -> Iterator[RunningHost]:
    running = start(app)
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def speaking(raw: bytes, *, keep_open: bool = False, drip: float = 0.0, last: int | None = None) -> Iterator[str]:
    """Answers every connection with the same bytes, HTTP or not.

    With `drip` one byte at a time; after the connection numbered `last`, not at all.
    """
    counted = itertools.count(1)
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                if last is not None and next(counted) > last:
                    return
                for piece in [raw[i : i + 1] for i in range(len(raw))] if drip else [raw]:
                    connection.sendall(piece)
                    if drip and ended.wait(drip):
                        return
                if keep_open:
                    ended.wait(30)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.close()


def nobody_home() -> str:
    """A loopback address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def discovery_only(document: Mapping[str, Any], *, status: int = 404) -> Handler:
    """A host that serves a discovery document and nothing else."""

    def answer(request: Request) -> Response:
        if request.url.path == "/.well-known/openwop":
            return json_response(document)
        return json_response({"error": "not_found", "message": "Nothing here."}, status)

    return answer


Endpoint = Callable[[Request], Awaitable[Response]]


@contextmanager
def old_fashioned(behind: str) -> Iterator[str]:
    """A host that speaks HTTP/1.0, closes every connection, and answers other methods with 501 and a page."""
    target = urlsplit(behind)

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            link = http.client.HTTPConnection(str(target.hostname), target.port, timeout=10)
            kept = {name: value for name, value in self.headers.items() if name.lower() not in {"host", "connection"}}
            link.request(self.command, self.path, headers=kept)
            answer = link.getresponse()
            body = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"connection", "date", "server"}:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)
            link.close()

        do_HEAD = do_GET  # noqa: N815 - the name that the library looks for

        def log_message(self, *arguments: Any) -> None:
            del arguments

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
