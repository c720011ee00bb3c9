"""What a run is told: the host, who we are there, how strict to be, how much to send."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from openwop_conformance.earlier import Earlier
from openwop_conformance.secret import Secret

REFERENCE = "reference"
REPORT_ENDINGS = (".json",)


class UsageProblem(ValueError):
    """Settings that cannot be used; the message is one line that says what to change."""


class ListShape(StrEnum):
    """Which list body is asked for: either, the object around it, or the bare array."""

    ANY = "any"
    OBJECT = "object"
    ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody whom the host knows. Scopes are None where nobody declared them; `hidden` are ids of other tenants."""

    name: str
    token: Secret
    scopes: tuple[str, ...] | None = None
    tenant: str | None = None
    variable: str = "OPENWOP_API_KEY"
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """A header that goes with every request, and how it is shown: a value in the settings file is no secret."""

    name: str
    value: Secret
    shown: str

    @property
    def secret(self) -> bool:
        """Whether the value must not be shown."""
        return self.shown.startswith("$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long to wait and how much to take."""

    connect_seconds: float = 5.0
    read_seconds: float = 10.0
    total_seconds: float = 30.0
    max_body_bytes: int = 16 * 1024 * 1024
    max_items: int = 64
    concurrency: int = 4
    retry_seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Trust and identity for https hosts."""

    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a run depends on, checked and complete."""

    host_url: str | None = None
    principals: tuple[Principal, ...] = ()
    hidden_tool_ids: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    planted_secrets: tuple[Secret, ...] = ()
    strict: bool = False
    opt_outs: frozenset[str] = frozenset()
    list_shape: ListShape = ListShape.ANY
    destructive: bool = False
    timing: bool = False
    previous: Earlier | None = None
    fail_on_advisory: bool = False
    reports: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    tls: Tls = field(default_factory=Tls)
    headers: tuple[Header, ...] = ()
    key_header: str | None = None
    implementation_name: str | None = None
    implementation_version: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        """The word for the mode in reports."""
        return "strict" if self.strict else "default"

    @property
    def names_hidden_ids(self) -> bool:
        """Whether any id was named that somebody must not see."""
        return bool(self.hidden_tool_ids) or any(one.hidden for one in self.principals)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything that must never reach output."""
        tokens = (one.token for one in self.principals)
        return (*tokens, *self.planted_secrets, *(one.value for one in self.headers if one.secret))


def checked_host_url(text: str) -> str:
    """A base URL without a trailing slash, or a usage problem that does not repeat what may be a secret."""
    if text == REFERENCE:
        return text
    wanted = "give http://HOST[:PORT][/PREFIX] or `reference`"
    try:
        parts = urlsplit(text)
        _ = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise UsageProblem(f"the host URL is not a URL: {wanted}") from None
    if "@" in text:
        raise UsageProblem("the host URL holds a user name or password: take it out and give a token instead")
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise UsageProblem(f"the host URL is not an http or https URL: {wanted}")
    if "?" in text or "#" in text:
        raise UsageProblem("the host URL has a query or fragment: give the base URL alone")
    if any(char.isspace() or not char.isprintable() for char in text) or not parts.path.isascii():
        raise UsageProblem("the host URL holds a space, a control character or a path that is not percent-encoded")
    return text.rstrip("/")
