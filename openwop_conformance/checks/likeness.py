"""What sets one answer apart from a group of others, beyond what varies within the group by itself.

The group are answers to decoys: ids shaped like the one in question that no tool has. Whatever follows from the id (its
echo, a length, a tag over it) or from the moment (dates, request ids) differs among them too, and does not count.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from openwop_conformance.exchanges import Answer
from openwop_conformance.wording import printable, shown

MASK = "\x00id\x00"
SHORT = 3
_PRESENCE_ALONE = frozenset({"age", "expires", "last-modified", "connection", "keep-alive"})
FOLLOWS_BODY = frozenset({"content-length", "etag", "digest", "content-digest", "content-md5", "last-modified"})
_SEEN = "\x00seen\x00"
_SEEN_LIST = re.compile(rf"{_SEEN}(?:[\s,\"]+{_SEEN})+")
_PREFIX = re.compile(r".*[-_:.]")
_WORD = re.compile(r"[A-Za-z0-9_+/=.:~-]+")


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
        return masked(own, self.tool_id, self.visible)


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
    statuses = sorted({other.answer.status for other in group})
    if one.answer.status not in statuses:
        expected = f"status {', '.join(map(str, statuses))}, as for unknown ids"
        return [Mark(Aspect.STATUS, one.answer.place, expected, f"status {one.answer.status}")]
    alike = [other for other in group if other.answer.status == one.answer.status]
    body = list(_body_marks(one, alike))
    headers = [mark for mark in _header_marks(one, alike) if not (body and mark.follows_body)]
    return [*headers, *body]


def _header_marks(one: Asked, group: Sequence[Asked]) -> Iterator[Mark]:
    own, others = _headers(one), [_headers(other) for other in group]
    squeezed = any("content-encoding" in headers for headers in (own, *others))
    for name in sorted(own.keys() | {name for other in others for name in other}):
        values = [other.get(name) for other in others]
        mark = _value_mark(own.get(name), values)
        same = own.get(name) is not None and any(
            one.answer.header(name) == other.answer.header(name) for other in group
        )
        if name == "content-length" and (squeezed or len(set(values)) > 1):
            continue
        if mark and not same:
            yield Mark(Aspect.HEADERS, f"header {printable(name, 80)}", *mark)


def _headers(one: Asked) -> dict[str, str]:
    gathered: dict[str, list[str]] = {}
    for name, value in one.answer.headers:
        if name.lower() != "date":
            told = "present" if name.lower() in _PRESENCE_ALONE else one.masked(value)
            gathered.setdefault(name.lower(), []).append(told)
    return {name: ", ".join(values) for name, values in gathered.items()}


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
        if mark:
            found = True
            yield Mark(Aspect.BODY, place or "body", *mark)
    lengths = {len(text) for text in texts}
    if not found and len(set(texts)) == 1:
        yield Mark(Aspect.BODY, "body", "the same bytes as for unknown ids", "the same content, written differently")
    elif not found and len(lengths) == 1 and len(own) not in lengths:
        yield Mark(Aspect.BODY, "body", f"{lengths.pop()} characters", f"{len(own)} characters")


def _value_mark(own: Any, others: Sequence[Any]) -> tuple[str, str] | None:
    """Expected and seen, where a value is unlike all others and they show what it should have been."""
    if own in others:
        return None
    if own is None:
        return "the same as for unknown ids: present", "absent"
    present = [other for other in others if other is not None]
    if not present:
        return "absent, as for unknown ids", "present"
    if len(set(map(repr, present))) == 1:
        return f"{_quoted(present[0])}, as for unknown ids", _quoted(own)
    shapes = {_shape(other) for other in present}
    prefix = _common_prefix(present)
    if (len(shapes) == 1 and _shape(own) not in shapes) or not str(own).startswith(prefix):
        return f"something like {_quoted(present[0])}, as for unknown ids", _quoted(own)
    return None


def _common_prefix(values: Sequence[Any]) -> str:
    """What all of several varying texts begin with, up to a mark that ends a prefix such as `req_`."""
    if not all(isinstance(value, str) for value in values):
        return ""
    shared = takewhile(lambda column: len(set(column)) == 1, zip(*values, strict=False))
    found = _PREFIX.match("".join(column[0] for column in shared))
    return found.group() if found and len(values) > 1 else ""


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return shown(text.replace(MASK, "{id}"))


def _shape(value: Any) -> str:
    """What stays of a value that varies: its type, and what stands around the words in it."""
    return _WORD.sub("w", value) if isinstance(value, str) else type(value).__name__


def _text(one: Asked) -> str:
    return one.masked(one.answer.body.decode("utf-8", "replace"))


def _parts(one: Asked) -> dict[str, Any]:
    """A body by its parts: JSON by pointer, with the order of its members; other text by its words."""
    if one.answer.json is None:
        return {f"word {place + 1}": word for place, word in enumerate(_text(one).split())}
    parts = dict(_leaves(one.answer.json, "", one))
    return {**parts, "order of members": " ".join(parts)}


def _leaves(value: Any, pointer: str, one: Asked) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{pointer}/{one.masked(str(key))}", one)
    elif isinstance(value, list) and value and all(isinstance(inner, str) and inner in one.visible for inner in value):
        yield pointer, _SEEN
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{pointer}/{place}", one)
    else:
        yield pointer, one.masked(value) if isinstance(value, str) else json.dumps(value)


def masked(text: str, tool_id: str, visible: frozenset[str] = frozenset()) -> str:
    """A text with every spelling of the id replaced, longest spelling first, and ids that its reader may know."""
    for spelling in spellings(tool_id):
        if spelling in text:
            text = text.replace(spelling, MASK) if len(spelling) >= SHORT else _alone(spelling).sub(MASK, text)
    known = [one for one in visible if one in text]
    for one in sorted(known, key=len, reverse=True):
        text = text.replace(one, _SEEN)
    return _SEEN_LIST.sub(_SEEN, text) if known else text


def _alone(spelling: str) -> re.Pattern[str]:
    """A very short id where it is not part of something else: a full stop ends sentences too."""
    return re.compile(rf"(?:(?<=[\s\"'`:=/<>\[({{])|^){re.escape(spelling)}(?=[\s\"'`,;<>\])}}]|$)")


@lru_cache(maxsize=4096)
def spellings(tool_id: str) -> tuple[str, ...]:
    """The ways in which a host may write an id that it was asked for."""
    safe = tool_id.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    encoded = {quote(safe, safe=kept) for kept in ("", ":", ":/", "/", ":@!$&'()*+,;=/")}
    written = {tool_id, safe, html.escape(safe), html.escape(safe, quote=False), json.dumps(safe)[1:-1]}
    written |= {json.dumps(safe, ensure_ascii=False)[1:-1]}
    every = {
        *encoded,
        *written,
        *(one.lower() for one in encoded | written),
        *(one.upper() for one in encoded | written),
    }
    return tuple(sorted(filter(None, every), key=len, reverse=True))
