"""What sets one answer apart from a group of others, beyond what varies within the group by itself.

The group are answers to decoys: ids shaped like the one in question that no tool has. Whatever follows from the id (its
echo, a length, a tag over it) or from the moment (dates, request ids) differs among them too, and does not count.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from openwop_conformance.exchanges import Answer
from openwop_conformance.wording import printable, shown

MASK = "\x00id{}\x00"
SHORT = 3
HOUR = 3600
_PRESENCE_ALONE = frozenset({"age", "date", "connection", "keep-alive"})
_MOMENTS = frozenset({"expires", "last-modified"})
FOLLOWS_BODY = frozenset({"content-length", "etag", "digest", "content-digest", "content-md5", "last-modified"})
_SEEN = "\x00seen\x00"
_SEEN_LIST = re.compile(rf"{_SEEN}(?:[\s,\"]+{_SEEN})+")
_MASKED = re.compile("\x00id([^\x00]*)\x00")
_WORD = re.compile(r"[A-Za-z0-9_+/=.:~-]+")
_PART = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"[0-9]+")
_SPACED = re.compile(r'"(?:[^"\\]|\\.)*"|([,:]\s*)')
_KINDS = tuple(re.compile(f"[{chars}]") for chars in ("0-9", "A-F", "G-Z", "a-f", "g-z"))


class Aspect(StrEnum):
    """Which part of an answer tells."""

    STATUS = "status"
    HEADERS = "headers"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Asked:
    """An id that was asked for, and the answer; naming a `visible` id tells its reader nothing.

    `written` is how the request spelled the id, where that is another id to the host.
    """

    tool_id: str
    answer: Answer
    visible: frozenset[str] = frozenset()
    written: str = ""

    def masked(self, text: str) -> str:
        """A text of the answer without the id as it was written, as it is, and without ids that tell nothing."""
        own = masked(text, self.written) if self.written else text
        return masked(own, self.tool_id, self.visible, " as stored" if self.written not in {"", self.tool_id} else "")


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that sets an answer apart."""

    aspect: Aspect
    where: str
    expected: str
    seen: str

    @property
    def key(self) -> tuple[Aspect, str]:
        """What it is about, whatever its value this time."""
        return self.aspect, self.where

    @property
    def follows_body(self) -> bool:
        """Whether it is about a header that says no more than the body does."""
        return self.aspect is Aspect.HEADERS and self.where.removeprefix("header ") in FOLLOWS_BODY


def marks(one: Asked, group: Sequence[Asked]) -> list[Mark]:
    """What sets `one` apart from the whole group; a status that does ends the comparison."""
    alike = [other for other in group if _statuses(other) == _statuses(one)]
    if not alike:
        expected = f"{', '.join(sorted({_told(other) for other in group}))}, as for unknown ids"
        return [Mark(Aspect.STATUS, one.answer.place, expected, _told(one))]
    body = list(_body_marks(one, alike))
    headers = [mark for mark in _header_marks(one, alike) if not (body and mark.follows_body)]
    return [*headers, *body]


def _statuses(one: Asked) -> tuple[int, ...]:
    return (*one.answer.hops, one.answer.status)


def _told(one: Asked) -> str:
    if not one.answer.status:
        return "no answer"
    return f"status {' and then '.join(map(str, _statuses(one)))}"


def _header_marks(one: Asked, group: Sequence[Asked]) -> Iterator[Mark]:
    own, others = _headers(one), [_headers(other) for other in group]
    squeezed = any("content-encoding" in headers for headers in (own, *others))
    found = False
    for name in sorted(own.keys() | {name for other in others for name in other}):
        values = [other.get(name) for other in others]
        if name == "content-length":
            values = [value for value, other in zip(values, group, strict=True) if _size(other) == _size(one)]
            if squeezed or len(set(values)) != 1:
                continue
        mark = _value_mark(own.get(name), values)
        same = own.get(name) is not None and any(
            one.answer.header(name) == other.answer.header(name) for other in group
        )
        if mark and not same:
            found = True
            yield Mark(Aspect.HEADERS, f"header {printable(name, 80)}", *mark)
    lines = {_lines(other) for other in group}
    if not found and len(lines) == 1 and _lines(one) not in lines:
        yield Mark(Aspect.HEADERS, "order of headers", printable(lines.pop(), 200), printable(_lines(one), 200))


def _size(one: Asked) -> int:
    return len(one.tool_id.encode("utf-8", "surrogatepass"))


def _lines(one: Asked) -> str:
    return ", ".join(name for name, _ in one.answer.headers)


def _headers(one: Asked) -> dict[str, str]:
    gathered: dict[str, list[str]] = {}
    for name, value in one.answer.headers:
        plain = name.lower()
        if plain in _PRESENCE_ALONE:
            told = "present"
        else:
            told = _moment(value, one.answer) if plain in _MOMENTS else one.masked(value)
        gathered.setdefault(plain, []).append(told)
    return {name: ", ".join(values) for name, values in gathered.items()}


def _moment(value: str, answer: Answer) -> str:
    """A date as far as it tells anything: long before the answer, long after it, or about then."""
    try:
        now = parsedate_to_datetime(answer.header("date") or "")
        apart = (parsedate_to_datetime(value) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return value
    return "long before" if apart < -HOUR else "long after" if apart > HOUR else "about now"


def _body_marks(one: Asked, group: Sequence[Asked]) -> Iterator[Mark]:
    texts = [_text(other) for other in group]
    own = _text(one)
    if own in texts or any(one.answer.body == other.answer.body for other in group):
        return
    parts = [_parts(other) for other in group]
    mine = _parts(one)
    found = False
    for place in dict.fromkeys([*mine, *(name for other in parts for name in other)]):
        mark = _value_mark(mine.get(place), [other.get(place) for other in parts])
        found = found or bool(mark)
        if mark and not any(_is_same_at(place, one, other) for other in group):
            yield Mark(Aspect.BODY, place or "body", *mark)
    lengths = {len(text) for text in texts}
    if one.tool_id.isidentifier() and one.answer.json is not None:
        return
    if not found and len(set(texts)) == 1:
        yield Mark(Aspect.BODY, "body", "the same bytes as for unknown ids", "the same content, written differently")
    elif not found and len(lengths) == 1 and len(own) not in lengths:
        yield Mark(Aspect.BODY, "body", f"{lengths.pop()} characters", f"{len(own)} characters")


def _is_same_at(place: str, one: Asked, other: Asked) -> bool:
    """Whether two bodies say the same, to the letter, at a place: an id may be a word of the text around it."""
    own, theirs = (dict(_leaves(each.answer.json, "", Asked("", each.answer))) for each in (one, other))
    return place in own and own[place] == theirs.get(place)


def _value_mark(own: str | None, others: Sequence[str | None]) -> tuple[str, str] | None:
    """Expected and seen, where a value is unlike all others and they show what it should have been."""
    if own in others:
        return None
    if own is None:
        return "the same as for unknown ids: present", "absent"
    present = [other for other in others if other is not None]
    if not present:
        return "absent, as for unknown ids", "present"
    if len(set(present)) == 1:
        return f"{_quoted(present[0])}, as for unknown ids", _quoted(own)
    if not _fits(own, present):
        return f"something like {_quoted(present[0])}, as for unknown ids", _quoted(own)
    return None


def _fits(own: str, others: Sequence[str]) -> bool:
    """Whether a value could stand among others that vary: of their shape, and alike where they are."""
    for pattern in (_PART, _WORD):
        shapes = {pattern.sub("w", one) for one in others}
        if len(shapes) == 1:
            columns = zip(*map(pattern.findall, others), strict=True)
            return pattern.sub("w", own) in shapes and all(map(_part_fits, pattern.findall(own), columns))
    return True


def _part_fits(own: str, others: Sequence[str]) -> bool:
    """Whether a word is the one that all others are, or else is of their length and of their kinds of characters."""
    if len(set(others)) == 1 and len(others) > 1:
        return own == others[0]
    lengths = {len(one) for one in others}
    counts = all(map(_NUMBER.fullmatch, (own, *others)))
    kinds = {kind for one in others for kind in _KINDS if kind.search(one)}
    return (counts or len(lengths) > 1 or len(own) in lengths) and {
        kind for kind in _KINDS if kind.search(own)
    } <= kinds


def _quoted(value: str) -> str:
    return shown(_MASKED.sub(r"{id\1}", value))


def _text(one: Asked) -> str:
    return one.masked(one.answer.body.decode("utf-8", "replace"))


def _parts(one: Asked) -> dict[str, str]:
    """A body by its parts: JSON by pointer, with the order of its members; other text by its words."""
    if one.answer.json is None:
        return {f"word {place + 1}": word for place, word in enumerate(_text(one).split())}
    parts = dict(_leaves(one.answer.json, "", one))
    spaced = sorted(set(_SPACED.findall(one.answer.body.decode("utf-8", "replace"))) - {""})
    return {**parts, "order of members": " ".join(parts), "white space": repr(spaced)}


def _leaves(value: Any, pointer: str, one: Asked) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            shape = str(key) if one.tool_id.isidentifier() else one.masked(str(key))
            yield from _leaves(inner, f"{pointer}/{shape if _MASKED.fullmatch(shape) else key}", one)
    elif isinstance(value, list) and value and all(isinstance(inner, str) and inner in one.visible for inner in value):
        yield pointer, _SEEN
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{pointer}/{place}", one)
    else:
        yield pointer, one.masked(value) if isinstance(value, str) else json.dumps(value)


def masked(text: str, tool_id: str, visible: frozenset[str] = frozenset(), note: str = "") -> str:
    """A text with every spelling of the id replaced, longest spelling first, and ids that its reader may know.

    What replaces it tells the spelling: to write a hidden id in another way than unknown ones tells it too.
    """
    for spelling, kind in spellings(tool_id):
        if spelling in text:
            mask = MASK.format(kind + note)
            text = text.replace(spelling, mask) if len(spelling) >= SHORT else _alone(spelling).sub(mask, text)
    known = [one for one in visible if one in text]
    for one in sorted(known, key=len, reverse=True):
        text = text.replace(one, _SEEN)
    return _SEEN_LIST.sub(_SEEN, text) if known else text


def _alone(spelling: str) -> re.Pattern[str]:
    """A very short id where it is not part of something else: a full stop ends sentences too."""
    return re.compile(rf"(?:(?<=[\s\"'`:=/<>\[({{])|^){re.escape(spelling)}(?=[\s\"'`,;<>/\])}}]|$)")


@lru_cache(maxsize=4096)
def spellings(tool_id: str) -> tuple[tuple[str, str], ...]:
    """The ways in which a host may write an id that it was asked for, longest first, and a word for each."""
    safe = tool_id.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    escaped = {html.escape(safe), html.escape(safe, quote=False), json.dumps(safe)[1:-1]}
    escaped |= {json.dumps(safe, ensure_ascii=False)[1:-1]}
    encoded = {quote(safe, safe=kept) for kept in ("", ":", ":/", "/", ":@!$&'()*+,;=/")}
    written = [(tool_id, ""), (safe, "")]
    for kind, ways in ((" escaped", escaped), (" percent-encoded", encoded)):
        written += [(one, kind) for one in sorted(ways)]
    lower = [(one.lower(), f"{kind} in lower case") for one, kind in written]
    upper = [(one.upper(), f"{kind} in upper case") for one, kind in written]
    kinds = dict(reversed([*written, *lower, *upper]))
    return tuple(sorted(((one, kind) for one, kind in kinds.items() if one), key=lambda pair: -len(pair[0])))
