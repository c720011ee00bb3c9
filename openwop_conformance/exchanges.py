"""What passed between the suite and a host: the redacted record, and the answer that checks look at."""

import re
import shlex
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_VARIABLE = re.compile(r"((?:[^$]*: )?(?:Bearer )?)(\$[A-Za-z_][A-Za-z0-9_]*)")
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, secrets already redacted, safe to print and to store."""

    id: str
    principal: str
    method: str
    url: str
    request_headers: Pairs = ()
    request_body: str | None = None
    status: int | None = None
    http_version: str = ""
    response_headers: Pairs = ()
    response_body: str = ""
    body_bytes: int = 0
    elapsed_ms: int = 0
    error: str | None = None

    def curl(self) -> str:
        """A command line that repeats the request; tokens stand as shell variables."""
        parts = ["curl", "-si", "--path-as-is"]
        if self.method == "HEAD":
            parts.append("--head")
        elif self.method != "GET":
            parts += ["-X", self.method]
        for name, value in self.request_headers:
            parts += ["-H", _quoted(f"{name}: {value}" if value else f"{name};")]
        if self.request_body is not None:
            parts += ["--data-binary", _quoted(self.request_body)]
        return " ".join([*parts, shlex.quote(self.url)])


def _quoted(text: str) -> str:
    """Single quotes, or double ones where a shell variable has to be expanded."""
    found = _VARIABLE.fullmatch(text)
    if found is None:
        return shlex.quote(text)
    before, variable = found.groups()
    escaped = re.sub(r'(["\\`$])', r"\\\1", before)
    return f'"{escaped}{variable}"'


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came, for checks to look at; only `exchange` may be shown or stored.

    `hops` are the redirects that led to it, `shadowed` the members of its JSON that stand before one of the same name.
    Where a request got no answer at all, again and again, the status is 0.
    """

    exchange: Exchange
    status: int
    headers: Pairs = field(repr=False)
    body: bytes = field(repr=False)
    json: Any = field(repr=False, default=None)
    json_error: str | None = None
    too_deep: bool = False
    hops: tuple[int, ...] = ()
    shadowed: tuple[tuple[str, Any], ...] = field(repr=False, default=())

    def header(self, name: str) -> str | None:
        """The values of a header joined as RFC 9110 allows, or None where it is absent."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str:
        """The media type without parameters, in lower case; empty where none is given."""
        values = {value.strip().lower() for key, value in self.headers if key.lower() == "content-type"}
        return values.pop().split(";")[0].strip() if len(values) == 1 else ""

    @property
    def is_json(self) -> bool:
        """Whether the media type names JSON (`application/json` or a `+json` suffix)."""
        kind = self.media_type
        return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))

    @property
    def place(self) -> str:
        """Method and path, as a finding would name the answer."""
        parts = urlsplit(self.exchange.url)
        return f"{self.exchange.method} {parts.path}{'?' + parts.query if parts.query else ''}"
