"""Tool hooks: what the host tells of a single call, and that it refuses what it has to (RFC 0064 through the seam)."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import rfc8785

from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import violations
from openwop_conformance.wording import shown

SEAM = "POST /v1/host/sample/toolhooks/invoke"
NOT_WIRED = f"the host does not wire the seam {SEAM}; wire it on a test host to have this exercised"
REDACTED_FIRST = "secrets-redacted-before-hashing"
_ABSENT = frozenset({404, 405, 501})
_NEVER_RAN = frozenset({"forbidden", "rate_limited"})


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call through the seam: what it was for, its arguments, and what came back."""

    words: str
    args: Any
    answer: Answer

    @property
    def wired(self) -> bool:
        """Whether there is a seam at all."""
        return self.answer.status not in _ABSENT or self.pair is not None

    @property
    def pair(self) -> tuple[Any, dict[str, Any]] | None:
        """The two payloads; the called one may be missing where the call was refused."""
        body = self.answer.json
        if isinstance(body, dict) and isinstance(body.get("toolReturned"), dict):
            return body.get("toolCalled"), body["toolReturned"]
        return None


def unexercised(requirement: str, calls: Sequence[Invocation], *, wired: bool = False) -> Finding | None:
    """Why calls cannot be judged, where none of them was answered with its events."""
    if any(call.pair for call in calls):
        return None
    if not wired and not any(call.wired for call in calls):
        return Finding(requirement, NOT_WIRED, weight=Weight.BLOCKED)
    answer = calls[0].answer
    message = f"the seam answers {answer.status} and tells no toolReturned, so there was nothing to judge"
    return Finding(requirement, message, answer.place, exchange=answer.exchange, weight=Weight.BLOCKED)


def check_call_payloads(calls: Sequence[Invocation]) -> Iterator[Finding]:
    """`call-payloads-valid`, `call-status-consistent`: shape, pairing, and members that fit together."""
    for requirement in ("call-payloads-valid", "call-status-consistent"):
        missing = unexercised(requirement, calls)
        if missing:
            yield missing
    for call in calls:
        if call.pair is not None:
            called, returned = call.pair
            yield from _shape(call, called, returned)
            yield from (_told(call, *one) for one in status_problems(returned))


def _shape(call: Invocation, called: Any, returned: dict[str, Any]) -> Iterator[Finding]:
    answer, requirement = call.answer, "call-payloads-valid"
    payloads = [("agentToolReturned", "/toolReturned", returned)]
    payloads += [("agentToolCalled", "/toolCalled", called)] if called is not None else []
    for name, pointer, payload in payloads:
        for one in violations(f"run-event-payloads#{name}", payload):
            if (name, one.keyword) == ("agentToolReturned", "not"):
                continue
            message = f"{call.words}: the payload of {name} is not valid"
            yield Finding(requirement, message, pointer + one.pointer, one.expected, one.seen, answer.exchange)
    if isinstance(called, dict):
        for member in ("callId", "toolName", "agentId"):
            if called.get(member) != returned.get(member):
                message = f"{call.words}: call and return do not name the same {member}"
                yield Finding(
                    requirement,
                    message,
                    f"/toolReturned/{member}",
                    shown(called.get(member)),
                    shown(returned.get(member)),
                    answer.exchange,
                )


def status_problems(returned: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Where status, duration, outcome and error of a return contradict each other: pointer, expected, seen."""
    told = returned.get("status")
    status = told if isinstance(told, str) else None
    if "outcome" in returned and "error" in returned:
        yield "/outcome", "outcome or error, never both", "both"
    if status == "ok" and "error" in returned:
        yield "/error", "no error beside status ok", shown(returned["error"])
    if status in {"error", *_NEVER_RAN} and "outcome" in returned:
        yield "/outcome", f"no outcome beside status {status}", shown(returned["outcome"])
    if status in _NEVER_RAN and "durationMs" in returned:
        yield "/durationMs", "no duration of a call that never ran", shown(returned["durationMs"])


def _told(call: Invocation, pointer: str, expected: str, seen: str) -> Finding:
    message = f"{call.words}: members of the return contradict each other"
    return Finding("call-status-consistent", message, f"/toolReturned{pointer}", expected, seen, call.answer.exchange)


def check_refused(
    requirement: str,
    status: str,
    calls: Sequence[Invocation],
    allowed: Invocation | None = None,
    *,
    wired: bool = False,
) -> Iterator[Finding]:
    """`missing-scope-forbidden`, `undecidable-forbidden`, `exhausted-rate-limited`: that status, and nothing ran.

    `allowed` is a call that has to get through before another refusal than a missing right can be expected; `wired`
    tells that the seam is there, however these calls were answered.
    """
    missing = unexercised(requirement, calls, wired=wired)
    if missing is None and allowed is not None and allowed.pair and allowed.pair[1].get("status") == "forbidden":
        message = "the host forbids even a plain call; name the first principal in the settings as the host knows it"
        missing = Finding(requirement, message, exchange=allowed.answer.exchange, weight=Weight.BLOCKED)
    if missing:
        yield missing
        return
    for call in calls:
        if call.pair is None:
            continue
        returned = call.pair[1]
        if returned.get("status") != status:
            message = f"{call.words} is not answered with {status}; decide before the tool is invoked, and fail closed"
            yield Finding(
                requirement,
                message,
                "/toolReturned/status",
                status,
                shown(returned.get("status", "no status")),
                call.answer.exchange,
            )
        elif "outcome" in returned:
            message = f"{call.words} is called {status}, but an outcome shows that the tool was invoked"
            yield Finding(
                requirement, message, "/toolReturned/outcome", "no outcome", "an outcome", call.answer.exchange
            )


def check_redacted_hash(plain: Invocation, secret: Sequence[Invocation]) -> Iterator[Finding]:
    """`secrets-redacted-before-hashing`: the hash of arguments with a secret is not the hash of the secret itself."""
    if not secret:
        message = "the settings plant no secret (planted-secrets) that the host could resolve"
        yield Finding(REDACTED_FIRST, message, weight=Weight.BLOCKED)
        return
    missing = unexercised(REDACTED_FIRST, secret)
    hashes = [(call, told) for call in secret if (told := _hash(call)) is not None]
    if missing or not hashes:
        yield missing or Finding(REDACTED_FIRST, "the host tells no argsHash", weight=Weight.BLOCKED)
        return
    for call, told in hashes:
        if not any(_digest_of(told, written) for written in _written(call.args)):
            continue
        message = "argsHash is the hash of arguments with the secret in them; redact resolved secrets first"
        yield Finding(
            REDACTED_FIRST,
            message,
            "/toolCalled/argsHash",
            "a hash over redacted arguments",
            "the hash of the arguments as sent",
            call.answer.exchange,
        )
    own = _hash(plain)
    if own is not None and not _digest_of(own, rfc8785.dumps(plain.args)):
        message = "argsHash of arguments without a secret is not their SHA-256 in canonical form (RFC 8785)"
        yield Finding(
            REDACTED_FIRST,
            message,
            "/toolCalled/argsHash",
            hashlib.sha256(rfc8785.dumps(plain.args)).hexdigest(),
            shown(own),
            plain.answer.exchange,
            Weight.ADVISORY,
        )


def _hash(call: Invocation) -> str | None:
    called = call.pair[0] if call.pair else None
    told = called.get("argsHash") if isinstance(called, dict) else None
    return told if isinstance(told, str) else None


def _written(args: Any) -> Iterator[bytes]:
    """Arguments as a host may write them before it hashes them, in canonical form or not."""
    yield rfc8785.dumps(args)
    for separators in (None, (",", ":")):
        for ordered in (False, True):
            for ascii_only in (False, True):
                text = json.dumps(args, separators=separators, sort_keys=ordered, ensure_ascii=ascii_only)
                yield text.encode("utf-8", "surrogatepass")
                yield text.encode("utf-8", "surrogatepass") + b"\n"
    yield json.dumps(args, indent=2).encode()


def _digest_of(told: str, written: bytes) -> bool:
    """Whether a text is the digest of these bytes, in hex or base64, with or without the name of the algorithm."""
    digest = hashlib.sha256(written).digest()
    plain = re.sub(r"(?i)^sha-?256[:=-]", "", told.strip())
    encoded = {base64.b64encode(digest).decode(), base64.urlsafe_b64encode(digest).decode()}
    return plain.lower() == digest.hex() or plain.rstrip("=") in {one.rstrip("=") for one in encoded}
