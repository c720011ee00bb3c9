"""The wire: httpx over httpcore, with a deadline for the whole request and paths sent as they are."""

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from openwop_conformance.settings import Limits, Tls, UsageProblem

TARGET = "openwop_target"


class DeadlinePassed(httpcore.TimeoutException):
    """The whole request took longer than it may, however lively the connection was."""


class _Clock(threading.local):
    """The moment at which the request of this thread has to be over."""

    ends = float("inf")

    @contextmanager
    def bounding(self, timeout: float | None) -> Iterator[float]:
        """The time that a single wait may take; running into the deadline is told apart from running into `timeout`."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        try:
            yield left if timeout is None else min(left, timeout)
        except httpcore.TimeoutException:
            if time.monotonic() >= self.ends:
                raise DeadlinePassed from None
            raise


class _Stream(httpcore.NetworkStream):
    """A network stream in which no single wait reaches past the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._clock.bounding(timeout) as bounded:
            return self._stream.read(max_bytes, bounded)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._clock.bounding(timeout) as bounded:
            self._stream.write(buffer, bounded)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        with self._clock.bounding(timeout) as bounded:
            return _Stream(self._stream.start_tls(ssl_context, server_hostname, bounded), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        with self._clock.bounding(timeout) as bounded:
            return _Stream(super().connect_tcp(host, port, bounded, local_address, socket_options), self._clock)


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        close = getattr(self._stream, "close", None)
        if close is not None:
            close()


class Transport(httpx.BaseTransport):
    """Sends what it is given: the request target comes from an extension, not from a normalized URL."""

    def __init__(self, limits: Limits, tls: ssl.SSLContext | None, proxy: str | None) -> None:
        self._clock = _Clock()
        self._total = limits.total_seconds
        shared: dict[str, Any] = {"ssl_context": tls, "network_backend": _Backend(self._clock), "max_connections": 16}
        self._pool = _proxied(proxy, shared) if proxy else httpcore.ConnectionPool(**shared)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; the deadline starts now and also covers the body."""
        self._clock.ends = time.monotonic() + self._total
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.extensions[TARGET],
        )
        extensions = {"timeout": request.extensions.get("timeout", {})}
        response = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=url,
                headers=request.headers.raw,
                content=request.stream,
                extensions=extensions,
            )
        )
        body = _Body(response.stream)  # type: ignore[arg-type]  # a synchronous pool answers with a synchronous stream
        return httpx.Response(response.status, headers=response.headers, stream=body, extensions=response.extensions)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


def _proxied(proxy: str, shared: dict[str, Any]) -> httpcore.ConnectionPool:
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    try:
        fine = parts.scheme in {"http", "https"} and bool(parts.hostname) and proxy.isascii() and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise UsageProblem("the proxy in the environment is not an http or https URL; other kinds are not supported")
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return httpcore.HTTPProxy(proxy_url=address, proxy_auth=auth, **shared)


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this URL, if any."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def tls_context(tls: Tls) -> ssl.SSLContext:
    """The trust and identity that the settings name, on top of the system's."""
    try:
        context = httpx.create_ssl_context()
        if tls.ca_file:
            context.load_verify_locations(cafile=tls.ca_file)
        if tls.client_cert:
            context.load_cert_chain(tls.client_cert, tls.client_key, password="")
    except (ssl.SSLError, OSError) as error:
        given = [str(path) for path in (tls.ca_file, tls.client_cert, tls.client_key) if path]
        named = ", ".join(given) or "the certificates of this system (SSL_CERT_FILE)"
        raise UsageProblem(f"tls: {named}: not usable: {error.strerror or error}") from None
    return context
