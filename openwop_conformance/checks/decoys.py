"""Ids that no tool has, shaped like ids that tools do have."""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

EXAMPLE = "openwop:sample.lookup"
_CYCLES = ("bcdfghjklmnpqrstvwxz", "BCDFGHJKLMNPQRSTVWXZ", "aeiouy", "AEIOUY", "0123456789")
_LAST_RESORT = ("-._~", "%^|<>", "!'()*", "+,;=@&$")
_REDACTED = re.compile(
    r"(?i)secret|token|passw(?:or)?d|passphrase|pwd|api[-_.]?key|key|credential|private|auth|jwt|cookie|session|bearer|cert"
)
_NEXT = {char: (cycle, place) for cycle in _CYCLES for place, char in enumerate(cycle)}
_SIGNS = {char: (cycle, place) for cycle in _LAST_RESORT for place, char in enumerate(cycle)}


def decoys(like: str, taken: Collection[str], count: int) -> list[str]:
    """`count` ids like `like`: same length, same scope prefix, same kinds of characters, none of them taken.

    Letters move on among consonants and among vowels, so that a decoy reads like a name, not like noise. The first one
    differs in a single letter, as a slip of the pen would. Words that hosts redact stay where anything else can move.
    Only where all such names are taken does a decoy get longer.
    """
    found: list[str] = []
    for candidate in _candidates(like):
        if candidate not in taken and candidate not in found and candidate != like:
            found.append(candidate)
        if len(found) == count:
            break
    return found


def _candidates(like: str) -> Iterator[str]:
    scope, colon, name = like.rpartition(":")
    signs = not any(map(_is_movable, name))
    places = [place for place, char in enumerate(name) if (char in _SIGNS if signs else _is_movable(char))]
    if not places:
        name, places = f"{name}lookup", list(range(len(name), len(name) + len("lookup")))
    redacted = {place for match in _REDACTED.finditer(name) for place in range(*match.span())}
    free = [place for place in places if place not in redacted]
    if not free:
        yield from (f"{scope}{colon}{letter}-{name}" for letter in _CYCLES[0])
        free = places
    yield scope + colon + name[: free[-1]] + _moved(name[free[-1]], 1) + name[free[-1] + 1 :]
    for tail in ("", *(f"{letter}{vowel}" for letter in _CYCLES[0] for vowel in _CYCLES[2])):
        for step in range(1, 60):
            moved = (_moved(char, step + place % 3) if place in free else char for place, char in enumerate(name))
            yield scope + colon + "".join(moved) + tail


def _is_movable(char: str) -> bool:
    return char in _NEXT or (not char.isascii() and _neighbor(char, 1) != char)


def _moved(char: str, step: int) -> str:
    if char not in _NEXT and char not in _SIGNS:
        return _neighbor(char, step)
    cycle, place = _NEXT.get(char) or _SIGNS[char]
    return cycle[(place + step) % len(cycle)]


@lru_cache(maxsize=4096)
def _neighbor(char: str, step: int) -> str:
    """A character of another script's alphabet: of the same kind and length in UTF-8, some way on."""
    kind, size = unicodedata.category(char), len(char.encode("utf-8", "surrogatepass"))
    around = (chr(code) for code in range(ord(char) + 1, min(ord(char) + 200, 0x110000)))
    alike = [
        one
        for one in around
        if unicodedata.category(one) == kind
        and len(one.encode("utf-8", "surrogatepass")) == size
        and unicodedata.is_normalized("NFC", one) == unicodedata.is_normalized("NFC", char)
    ]
    return alike[(step - 1) % len(alike)] if alike and kind[0] in "LSN" else char
