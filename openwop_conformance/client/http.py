"""One client for everything that is sent: bounded, recorded, to one origin only."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote, urljoin, urlsplit

import httpcore
import httpx

from openwop_conformance._version import __version__
from openwop_conformance.client.bodies import MAX_RECORDED_CHARS, read_json
from openwop_conformance.client.redaction import Redactor, without_secrets
from openwop_conformance.client.transport import TARGET, DeadlinePassed, Transport, proxy_for, tls_context
from openwop_conformance.exchanges import Answer, Exchange, Pairs
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Limits, Principal, Settings
from openwop_conformance.wording import printable

MAX_REDIRECTS = 3
MAX_RETRIES = 6
MAX_LOST = 3
TOO_MANY_REQUESTS = 429
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE = frozenset({"GET", "HEAD"})


class Unobservable(Exception):
    """The host could not be observed; this says nothing about whether it conforms."""

    def __init__(self, reason: str, exchange: Exchange) -> None:
        super().__init__(reason)
        self.reason = reason
        self.exchange = exchange


class _Lost(Exception):
    """No usable answer came; `again` where a fresh connection may well bring one."""

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again


@dataclass(frozen=True, slots=True)
class Credential:
    """How a request says who sends it, and how that is shown."""

    label: str
    header: str
    value: Secret
    shown: str


Enough = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class _Request:
    """One request as it is to be sent, perhaps more than once."""

    method: str
    target: str
    credential: Credential | None
    headers: Pairs
    body: bytes | None
    until: Enough | None


class Client:
    """Sends requests to one base URL and keeps count of them."""

    def __init__(self, base_url: str, settings: Settings, *, direct: bool = False, name: str = "x") -> None:
        parts = urlsplit(base_url)
        self.base_url = base_url
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._address = httpx.URL(self._origin)
        self._prefix = parts.path
        self._settings = settings
        self._name = name
        self._retry_left = settings.limits.retry_seconds
        self.redactor = Redactor(settings.secrets)
        self.sent: Counter[str] = Counter()
        self.journal: list[Answer] = []
        self.runs_created = 0
        self._lost_in_a_row = 0
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        limits = settings.limits
        timeout = httpx.Timeout(limits.read_seconds, connect=limits.connect_seconds)
        context = tls_context(settings.tls) if parts.scheme == "https" else None
        transport = Transport(limits, context, None if direct else proxy_for(base_url))
        self._http = httpx.Client(transport=transport, timeout=timeout, trust_env=False)
        self._http.headers = httpx.Headers(
            {
                "user-agent": f"openwop-conformance/{__version__}",
                "accept": "application/json",
                "accept-encoding": "gzip",
            }
        )

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def credential(self, principal: Principal) -> Credential:
        """The principal's token in the header that the host wants it in."""
        return self.custom_credential(principal.name, principal.token, f"${principal.variable}")

    def custom_credential(self, label: str, token: Secret, shown: str) -> Credential:
        """Any token, sent the way a principal's would be."""
        if self._settings.key_header:
            return Credential(label, self._settings.key_header, token, shown)
        return Credential(label, "Authorization", Secret(f"Bearer {token.reveal()}"), f"Bearer {shown}")

    def send(
        self,
        method: str,
        path: str,
        credential: Credential | None = None,
        *,
        headers: Pairs = (),
        body: bytes | None = None,
        follow: bool = True,
        throttled_is_answer: bool = False,
        until: Enough | None = None,
    ) -> Answer:
        """One request and its answer; `path` is sent as it stands, behind the prefix of the base URL.

        Redirects are followed within the origin and only for reads; with `follow` false, only to another spelling of
        the same path. With `until`, a body that goes on is read until that says that it is enough, or until time is up.
        Raises `Unobservable`.
        """
        target = self._prefix + path
        hops: tuple[int, ...] = ()
        for _ in range(MAX_REDIRECTS):
            request = _Request(method, target, credential, headers, body, until)
            answer = self._send_patiently(request, keep_429=throttled_is_answer)
            onward = self._onward(answer, target) if method in _SAFE else None
            if onward is None or not (follow or _same_path(onward, target)):
                break
            target = onward
            hops += (answer.status,)
        return replace(answer, hops=hops) if hops else answer

    def _onward(self, answer: Answer, target: str) -> str | None:
        """Where a redirect leads, if that is within the origin."""
        location = answer.header("location")
        if answer.status not in _REDIRECTS or location is None:
            return None
        try:
            parts = urlsplit(urljoin(self._origin + target, location))
            same = _origin(f"{parts.scheme}://{parts.netloc}") == _origin(self._origin)
        except ValueError:
            return None
        onward = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return onward if same and onward.isascii() and onward.isprintable() and " " not in onward else None

    def _send_patiently(self, request: "_Request", *, keep_429: bool) -> Answer:
        """Send, and wait as `Retry-After` asks while the budget of the run lasts."""
        for attempt in range(MAX_RETRIES + 1):
            answer = self._send_once(request)
            if answer.status != TOO_MANY_REQUESTS or keep_429:
                return answer
            wait = _retry_after(answer.header("retry-after"))
            if wait is None or attempt == MAX_RETRIES or not self._may_wait(wait):
                break
            time.sleep(wait)
        raise Unobservable(
            "the host answers 429 for longer than the suite may wait (limits.retry-seconds)", answer.exchange
        )

    def _may_wait(self, seconds: float) -> bool:
        """Take the time from the budget of the run, if so much is left."""
        with self._lock:
            enough = seconds <= self._retry_left
            self._retry_left -= seconds if enough else 0
        return enough

    def _send_once(self, request: "_Request") -> Answer:
        record = self._record(request)
        started = time.monotonic()
        try:
            self._give_up_in_time()
            try:
                answer = self._roundtrip(record, request)
            except _Lost as lost:
                if not (lost.again and request.method in _SAFE):
                    raise
                answer = self._roundtrip(record, request)
        except _Lost as lost:
            self._lost_in_a_row += not lost.again
            elapsed = round((time.monotonic() - started) * 1000)
            failed = without_secrets(replace(record, error=lost.reason, elapsed_ms=elapsed), self.redactor)
            raise Unobservable(failed.error or lost.reason, failed) from None
        self._lost_in_a_row = 0
        return answer

    def _give_up_in_time(self) -> None:
        """A host that has fallen silent is not waited for over and over; one that hangs up has at least picked up."""
        if self._lost_in_a_row >= MAX_LOST:
            raise _Lost(f"not asked: the {MAX_LOST} requests before it got no answer")

    def _record(self, request: "_Request") -> Exchange:
        """What can be said of a request before it is sent, with variables in place of secrets."""
        credential, body = request.credential, request.body
        shown = [(name, self.redactor.text(value)) for name, value in request.headers]
        shown += [(one.name, one.shown) for one in self._settings.headers]
        if credential is not None:
            shown.insert(0, (credential.header, credential.shown))
        return Exchange(
            id=f"{self._name}{next(self._numbers)}",
            principal=credential.label if credential else "nobody",
            method=request.method,
            url=self.redactor.text(self._origin + request.target),
            request_headers=tuple(shown),
            request_body=None if body is None else self.redactor.text(body.decode("utf-8", "replace")),
        )

    def _roundtrip(self, record: Exchange, request: "_Request") -> Answer:
        __tracebackhide__ = True
        with self._lock:
            self.sent[record.method] += 1
        started = time.monotonic()
        with (
            _transport_errors(self._settings.limits),
            self._http.stream(
                record.method,
                self._address,
                headers=self._wire_headers(request.headers, request.credential),
                content=request.body,
                extensions={TARGET: request.target.encode("ascii")},
            ) as response,
        ):
            content = self._bounded_body(response, request.until)
            version = response.http_version
        elapsed = round((time.monotonic() - started) * 1000)
        pairs = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
        reading = read_json(content)
        text = self.redactor.text(content.decode("utf-8", "replace"))
        done = replace(
            record,
            status=response.status_code,
            http_version=version,
            response_headers=self.redactor.headers(pairs),
            response_body=printable(text, MAX_RECORDED_CHARS, keep="\n\t"),
            body_bytes=len(content),
            elapsed_ms=elapsed,
        )
        answer = Answer(
            done,
            response.status_code,
            pairs,
            content,
            reading.value,
            reading.error,
            reading.too_deep,
            shadowed=reading.shadowed,
        )
        self.journal.append(answer)
        return answer

    def read_journal(self) -> list[Answer]:
        """Everything that came since it was last read."""
        answers, self.journal = self.journal, []
        return answers

    def _wire_headers(self, headers: Pairs, credential: Credential | None) -> list[tuple[str, str]]:
        __tracebackhide__ = True
        own = [(one.name, one.value.reveal()) for one in self._settings.headers]
        key = [(credential.header, credential.value.reveal())] if credential else []
        return [*own, *headers, *key]

    def _bounded_body(self, response: httpx.Response, until: Enough | None) -> bytes:
        limit = self._settings.limits.max_body_bytes
        content = bytearray()
        try:
            for part in response.iter_bytes():
                content += part
                if len(content) > limit:
                    raise _Lost(f"the body is larger than {limit} bytes (limits.max-body-bytes)")
                if until is not None and until(bytes(content)):
                    break
        except httpcore.TimeoutException:
            if until is None:
                raise
        return bytes(content)


def _same_path(one: str, other: str) -> bool:
    """Whether two targets differ only in how the path is spelled: its encoding, a slash at the end."""
    (path, _, query), (path_too, _, query_too) = one.partition("?"), other.partition("?")
    return unquote(path).rstrip("/") == unquote(path_too).rstrip("/") and query == query_too


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url.lower())
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


@contextmanager
def _transport_errors(limits: Limits) -> Iterator[None]:
    """Every way in which a connection can fail, as one exception with one clear line and no chain behind it."""
    try:
        yield
    except DeadlinePassed:
        raise _Lost(f"the answer took longer than {limits.total_seconds:g} s (limits.total-seconds)") from None
    except httpcore.ConnectTimeout:
        raise _Lost(f"no connection within {limits.connect_seconds:g} s (limits.connect-seconds)") from None
    except httpcore.TimeoutException:
        raise _Lost(f"no answer within {limits.read_seconds:g} s (limits.read-seconds)") from None
    except httpcore.ConnectError as error:
        raise _Lost(f"no connection: {_cause(error)}") from None
    except httpcore.ProxyError as error:
        raise _Lost(f"the proxy refused: {error}") from None
    except (httpcore.RemoteProtocolError, httpcore.NetworkError) as error:
        raise _Lost(f"the connection was lost or the answer was not HTTP: {_cause(error)}", again=True) from None
    except httpx.DecodingError as error:
        raise _Lost(f"the body could not be decoded as its Content-Encoding says: {error}") from None
    except (httpx.HTTPError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, OSError, ValueError) as error:
        raise _Lost(f"the request failed: {_cause(error)}") from None


def _cause(error: Exception) -> str:
    return str(error) or type(error).__name__


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait by a `Retry-After` header, given as a number or as a date."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
