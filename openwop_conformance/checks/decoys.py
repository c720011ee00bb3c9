"""Ids that no tool has, shaped like ids that tools do have."""

import re
from collections.abc import Collection, Iterator

EXAMPLE = "openwop:sample.lookup"
_CYCLES = ("bcdfghjklmnpqrstvwxz", "BCDFGHJKLMNPQRSTVWXZ", "aeiouy", "AEIOUY", "0123456789")
_REDACTED = re.compile(r"(?i)secret|token|passw(?:or)?d|api[-_.]?key|credential|private")
_NEXT = {char: (cycle, place) for cycle in _CYCLES for place, char in enumerate(cycle)}


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
    if not any(char in _NEXT for char in name):
        name += "lookup"
    fixed = {place for match in _REDACTED.finditer(name) for place in range(*match.span())}
    if all(place in fixed for place, char in enumerate(name) if char in _NEXT):
        fixed = set()
    last = max(place for place, char in enumerate(name) if char in _NEXT and place not in fixed)
    yield scope + colon + name[:last] + _moved(name[last], 1) + name[last + 1 :]
    for tail in ("", *(f"{letter}{vowel}" for letter in _CYCLES[0] for vowel in _CYCLES[2])):
        for step in range(1, 60):
            moved = (char if place in fixed else _moved(char, step + place % 3) for place, char in enumerate(name))
            yield scope + colon + "".join(moved) + tail


def _moved(char: str, step: int) -> str:
    if char not in _NEXT:
        return char
    cycle, place = _NEXT[char]
    return cycle[(place + step) % len(cycle)]
