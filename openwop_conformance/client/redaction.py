"""Secrets taken out of everything that may be shown or stored."""

import re
from collections.abc import Iterable
from dataclasses import replace

from openwop_conformance.credential_material import without_material
from openwop_conformance.exchanges import Exchange, Pairs
from openwop_conformance.findings import Finding
from openwop_conformance.secret import Secret, spelling_pattern
from openwop_conformance.wording import ELLIPSIS, printable

REDACTED = "[redacted]"
MAX_WORDS = 2000
MIN_STUMP = 4
_ALWAYS_HIDDEN = frozenset({"set-cookie", "cookie", "proxy-authorization"})


class Redactor:
    """Replaces the secrets of a run, in whatever spelling a host hands them back.

    Each character may stand as itself, percent-encoded, JSON-escaped or as an HTML entity, and the whole in base64.
    Short secrets are replaced only where they stand alone, or no word would be safe from them.
    """

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self._secrets = tuple(sorted(set(secrets), key=lambda one: len(one.reveal()), reverse=True))
        patterns = [spelling_pattern(secret.reveal()) for secret in self._secrets if secret]
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def text(self, text: str) -> str:
        """The text without secrets, known ones and found ones, and without the beginning of one that was cut off."""
        known = self._pattern.sub(REDACTED, text) if self._pattern else text
        text = without_material(known)
        return self._without_stumps(text) if ELLIPSIS in text else text

    def _without_stumps(self, text: str) -> str:
        head, *rest = text.split(ELLIPSIS)
        for tail in rest:
            head = f"{self._without_stump(head)}{ELLIPSIS}{tail}"
        return head

    def _without_stump(self, head: str) -> str:
        for secret in self._secrets:
            value = secret.reveal()
            for length in range(len(value) - 1, MIN_STUMP - 1, -1):
                if head.endswith(value[:length]):
                    return head[:-length] + REDACTED
        return head

    def headers(self, headers: Pairs) -> Pairs:
        """Headers fit to show: cookies never, everything else without secrets and control characters."""
        return tuple(
            (
                printable(self.text(name), 200),
                REDACTED if name.lower() in _ALWAYS_HIDDEN else printable(self.text(value), 2000),
            )
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


def without_secrets(exchange: Exchange, redactor: Redactor) -> Exchange:
    """An exchange whose address, headers and bodies are fit to show."""
    return replace(
        exchange,
        url=redactor.text(exchange.url),
        response_headers=redactor.headers(exchange.response_headers),
        response_body=redactor.text(exchange.response_body),
        error=None if exchange.error is None else printable(redactor.text(exchange.error)),
    )
