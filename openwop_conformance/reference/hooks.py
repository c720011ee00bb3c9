"""Around every call: authorization that fails closed, a token bucket, and a hash of what was asked."""

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import rfc8785

REDACTED = "[redacted]"


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """The same value with resolved secrets taken out of its strings."""
    known = [secret for secret in secrets if secret]
    if isinstance(value, str):
        for secret in known:
            value = value.replace(secret, REDACTED)
        return value
    if isinstance(value, list):
        return [redacted(one, known) for one in value]
    if isinstance(value, dict):
        return {redacted(name, known): redacted(one, known) for name, one in value.items()}
    return value


def args_hash(arguments: Any) -> str:
    """SHA-256 over the canonical form (RFC 8785) of arguments that are already redacted."""
    return hashlib.sha256(rfc8785.dumps(arguments)).hexdigest()


class TokenBucket:
    """So many calls a second for each principal and tool, in bursts of at most that many."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._state: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (float(per_second), clock()))

    def take(self, principal: str, tool: str) -> bool:
        """Whether there is a token left."""
        with self._lock:
            left, since = self._state[principal, tool]
            now = self._clock()
            left = min(float(self._rate), left + (now - since) * self._rate)
            allowed = left >= 1
            self._state[principal, tool] = (left - 1 if allowed else left, now)
            return allowed

    def clear(self) -> None:
        """Fill every bucket."""
        with self._lock:
            self._state.clear()
