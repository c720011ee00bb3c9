"""Session events tell that something happens, never what: no arguments, no results, no credentials (R9)."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from openwop_conformance.checks.run_events import CLOSED, OPENED, OUTCOMES, Event
from openwop_conformance.checks.texts import texts
from openwop_conformance.credential_material import find_material
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import listed, printable

REQUIREMENT = "session-content-free"
KNOWN = frozenset({"sessionId", "toolId", "outcome"})
CONTENT_NAMES = frozenset(
    {
        "args", "arguments", "input", "inputs", "result", "output", "error", "token", "apikey", "secret", "password",
        "credential", "credentials", "headers",
    }
)  # fmt: skip
DISTINCTIVE = 10
CONTAINED = 16
DISTINCTIVE_NUMBER = 100_000
MAX_VALUES = 100_000
MAX_VALUE = 65_536
PREFIX = 20
LONG_FLOAT = 7
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+$")
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
_BLAND_ID = re.compile(
    r"(?:(?!gh[a-z]_|sk[-_]|shp)[A-Za-z]{1,16}[_:.-])?"
    r"(?:[0-9a-f]{1,32}|[0-9A-F]{1,32}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))(?:-[a-z]{2,9}(?:-[a-z]+)?-?[0-9]?)?"
)


def content_findings(event: Event, secrets: Sequence[re.Pattern[str]]) -> Iterator[Finding]:
    """What of one session event is content by its name or by its look, whatever the calls of the run hold."""
    payload = event.payload
    strange = payload.keys() - KNOWN
    if not strange and not secrets and not any(map(_material, filter(_is_text, payload.values()))):
        return
    if strange:
        yield from _named(event, payload, "")
        plain = sorted(name for name in strange if not _is_content(name, payload[name]))
        if plain and event.kind in {OPENED, CLOSED}:
            message = f"a {event.kind} event carries {listed(plain)}; sessions need only sessionId, toolId and outcome"
            yield Finding(REQUIREMENT, message, event.place, "no further member", listed(plain), weight=Weight.ADVISORY)
    for where, text in texts(payload):
        kind = _material(text)
        if kind or any(pattern.search(text) for pattern in secrets):
            seen = f"what looks like a {kind}" if kind else "a secret that was planted or sent"
            message = f"a {event.kind} event holds credential material"
            yield Finding(REQUIREMENT, message, f"{event.place}, {_shown_place(where)}", "no credential material", seen)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _shown_place(where: str) -> str:
    return printable("/".join("[redacted]" if _material(step) else step for step in where.split("/")), 200)


def _named(event: Event, value: Any, pointer: str) -> Iterator[Finding]:
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _named(event, inner, f"{pointer}/{number}")
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        place = f"{pointer}/{printable(str(name), 80)}"
        if _is_content(name, inner):
            message = f"a {event.kind} event carries a member that names content; session events are content-free"
            yield Finding(REQUIREMENT, message, f"{event.place}, {place}", "no such member", printable(str(name), 80))
        else:
            yield from _named(event, inner, place)


def _is_content(name: str, value: Any) -> bool:
    return value is not None and name.lower().replace("_", "").replace("-", "") in CONTENT_NAMES


def _material(text: str) -> str:
    """The kind of credential that a text looks like; ids made of a word and hexadecimal digits are none."""
    return "" if text in OUTCOMES or _BLAND_ID.fullmatch(text) else _cached_material(text)


@lru_cache(maxsize=4096)
def _cached_material(text: str) -> str:
    return next((one.kind for one in find_material(text)), "")


def distinctive(value: Any, into: set[str]) -> None:
    """Collect what of a call's inputs or outcome would give it away elsewhere: long strings and large numbers."""
    kind = type(value)
    if kind is str:
        if DISTINCTIVE <= len(value) <= MAX_VALUE and len(into) < MAX_VALUES and not _PLAIN_WORD.fullmatch(value):
            into.add(value)
    elif kind is dict:
        for inner in value.values():
            distinctive(inner, into)
    elif kind is list:
        for inner in value:
            distinctive(inner, into)
    elif (kind is int or kind is float) and len(into) < MAX_VALUES and _is_long(value):
        into.add(str(value))


def _is_long(number: float) -> bool:
    return abs(number) >= DISTINCTIVE_NUMBER or (type(number) is float and len(str(number)) >= LONG_FLOAT)


def strange_values(event: Event) -> list[tuple[str, str]]:
    """The values of members that no session event needs, with their places, to be compared with calls later."""
    strange = {name: value for name, value in event.payload.items() if name not in KNOWN}
    found: set[str] = set()
    distinctive(strange, found)
    distinctive(list(strange), found)
    found |= {text for _, text in texts(strange) if text.isdecimal() and int(text) >= DISTINCTIVE_NUMBER}
    return [(event.place, value) for value in sorted(found)]


def _is_contained(told: str, value: str) -> bool:
    """Whether a value of a call stands in a longer text; short ones only where they stand alone and are no date."""
    if told not in value:
        return False
    return len(told) >= CONTAINED or (
        not _DATE.match(told) and bool(re.search(rf"(?<![0-9A-Za-z]){re.escape(told)}(?![0-9A-Za-z])", value))
    )


def copied_findings(strange: Sequence[tuple[str, str]], told: set[str], ids: set[str]) -> Iterator[Finding]:
    """Values in session events that stand in the inputs or outcome of a call of the run; ids are no content."""
    for place, value in strange:
        if value in ids:
            continue
        start = value.rstrip(".…")
        copied = value in told or any(
            one not in ids and (_is_contained(one, value) or (len(start) >= PREFIX and one.startswith(start)))
            for one in told
        )
        if copied:
            message = "a session event repeats a value from the inputs or the outcome of a call; keep it content-free"
            yield Finding(REQUIREMENT, message, place, "no content of calls", f"a value of {len(value)} characters")
