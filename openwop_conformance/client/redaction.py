"""Secrets taken out of everything that may be shown or stored."""

import base64
import json
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

from openwop_conformance.exchanges import Exchange, Pairs
from openwop_conformance.findings import Finding
from openwop_conformance.secret import Secret
from openwop_conformance.wording import printable

REDACTED = "[redacted]"
MAX_WORDS = 2000
_ALWAYS_HIDDEN = frozenset({"set-cookie", "cookie", "proxy-authorization"})


class Redactor:
    """Replaces the secrets of a run, in the spellings in which a host may hand them back."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret.reveal())}
        self._spellings = tuple(Secret(one) for one in sorted(spellings, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text with every spelling of every secret replaced."""
        for secret in self._spellings:
            text = text.replace(secret.reveal(), REDACTED)
        return text

    def headers(self, headers: Pairs) -> Pairs:
        """Headers fit to show: cookies never, everything else without secrets and control characters."""
        return tuple(
            (printable(name, 200), REDACTED if name.lower() in _ALWAYS_HIDDEN else printable(self.text(value), 2000))
            for name, value in headers
        )

    def finding(self, finding: Finding) -> Finding:
        """A finding whose words hold no secret; its exchange was redacted when it was recorded."""
        return replace(
            finding,
            message=self._shown(finding.message),
            where=self._shown(finding.where),
            expected=self._shown(finding.expected),
            seen=self._shown(finding.seen),
        )

    def _shown(self, text: str) -> str:
        return printable(self.text(text), MAX_WORDS)


def _spellings(value: str) -> set[str]:
    """The value as it is, percent-encoded, JSON-escaped and in base64."""
    if not value:
        return set()
    encoded = value.encode()
    return {
        value,
        quote(value, safe=""),
        quote(value, safe="").lower(),
        json.dumps(value)[1:-1],
        base64.b64encode(encoded).decode().rstrip("="),
        base64.urlsafe_b64encode(encoded).decode().rstrip("="),
    }


def without_secrets(exchange: Exchange, redactor: Redactor) -> Exchange:
    """An exchange whose address, headers and bodies are fit to show."""
    return replace(
        exchange,
        url=redactor.text(exchange.url),
        response_headers=redactor.headers(exchange.response_headers),
        response_body=redactor.text(exchange.response_body),
        error=None if exchange.error is None else printable(redactor.text(exchange.error)),
    )
