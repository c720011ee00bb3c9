"""Non-disclosure: a tool that a principal may not see is to it as if it did not exist (F-2)."""

import base64
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from openwop_conformance.checks.likeness import FOLLOWS_BODY, Asked, Aspect, Mark, marks
from openwop_conformance.checks.texts import body_texts, header_texts
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable

PLAIN = "plain"
BY_ASPECT = {
    Aspect.STATUS: "hidden-same-status",
    Aspect.HEADERS: "hidden-same-headers",
    Aspect.BODY: "hidden-same-body",
}
BY_WAY = {
    PLAIN: "",
    "head": "hidden-same-head",
    "conditional": "hidden-same-conditional",
    "variant": "hidden-same-variants",
    "anonymous": "hidden-same-without-credential",
}
REQUIREMENTS = (*BY_ASPECT.values(), *filter(None, BY_WAY.values()))
NOWHERE = "hidden-id-nowhere"
NOTHING_HIDDEN = (
    "no tool is known that is hidden from one principal and shown to another; "
    "give a second principal with other tools, or name a hidden id (--openwop-hidden-tool-id)"
)
_SUCCESS = range(200, 300)
_FAULT = 429
_WORDLIKE = re.compile(r"[A-Za-z0-9._ -]{0,40}")
_ID_PLACE = re.compile(
    r"(?i)(?:/tool_?id|/tools?/\d+/id|/tool|/tool/id|/tool_?name|/tool_?allowlist/\d+|/tools/\d+|/tool_?ids/\d+)$"
)
_SCOPES_PLACE = re.compile(r"/auth/scopes/\d+$")
_KNOWN_SCOPES = ("mcp:", "connector:", "openwop:", "x-host-")
_ENCODED_LENGTH = 6
_MOST_ENCODED = 3


@dataclass(frozen=True, slots=True)
class Round:
    """One hidden id asked for in one way, among decoys asked for in the same way."""

    hidden: Asked
    decoys: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """One hidden id, one way of asking, as often as it was asked; `words` say what the way is."""

    way: str
    words: str
    rounds: tuple[Round, ...]

    def at_first(self) -> list[Mark]:
        """What of the status set the hidden id apart when it was asked for the first time, and perhaps never again."""
        first = marks(self.rounds[0].hidden, self.rounds[0].decoys)
        told = 0 < self.rounds[0].hidden.answer.status < _FAULT
        return [one for one in first if one.aspect is Aspect.STATUS and told]

    def marks(self) -> list[Mark]:
        """What set the hidden id apart in every round; what shows up once is the moment's doing."""
        found = [{mark.key: mark for mark in marks(one.hidden, one.decoys)} for one in self.rounds]
        seen = Counter(key for one in found for key in one)
        return [mark for key, mark in found[0].items() if seen[key] == len(found)] if found else []


def check_hidden_like_unknown(probes: Sequence[Probe]) -> Iterator[Finding]:
    """The `hidden-same-…` requirements: whatever plain GET tells already is not held against the other ways again."""
    told: dict[str, set[tuple[Aspect, str]]] = {}
    statuses: set[str] = set()
    for probe in probes:
        tool_id = probe.rounds[0].hidden.tool_id
        exchange = probe.rounds[0].hidden.answer.exchange
        who = exchange.principal
        known = told.setdefault(f"{who} {tool_id}", set())
        by_head = told.setdefault(f"{who} {tool_id} by HEAD", set())
        before = known | by_head if exchange.method == "HEAD" else known
        fresh = [mark for mark in probe.marks() if (mark.aspect, _stem(mark)) not in before]
        if probe.way == "head":
            by_head.update((mark.aspect, _stem(mark)) for mark in fresh)
        if probe.way == PLAIN:
            known.update((mark.aspect, _stem(mark)) for mark in fresh)
            if any(mark.aspect is Aspect.BODY for mark in fresh):
                known.update((Aspect.HEADERS, f"header {name}") for name in FOLLOWS_BODY)
            statuses.update(f"{who} {tool_id}" for mark in fresh if mark.aspect is Aspect.STATUS)
        elif f"{who} {tool_id}" in statuses and probe.way != "anonymous":
            continue
        yield from (_finding(probe, mark) for mark in fresh)
    yield from _only_at_first(probes)
    yield from _unexercised(probes, statuses)


def _only_at_first(probes: Sequence[Probe]) -> Iterator[Finding]:
    """What the first answer for several hidden ids tells, though the next ones do not."""
    fleeting = [
        (probe, mark) for probe in probes if probe.way == PLAIN and not probe.marks() for mark in probe.at_first()
    ]
    if len({probe.rounds[0].hidden.tool_id for probe, _ in fleeting}) > 1:
        yield from (_finding(probe, mark) for probe, mark in fleeting)


def _stem(mark: Mark) -> str:
    return "" if mark.aspect is Aspect.STATUS else mark.where


def _finding(probe: Probe, mark: Mark) -> Finding:
    hidden = probe.rounds[0].hidden
    who, name = hidden.answer.exchange.principal, printable(hidden.tool_id, 120)
    message = (
        f"{probe.words} tells {who} that the hidden {name} exists: the {mark.aspect} of the answer sets it apart from "
        "ids that no tool has; treat both as not in the caller's world"
    )
    requirement = BY_WAY[probe.way] or BY_ASPECT[mark.aspect]
    return Finding(requirement, message, mark.where, mark.expected, mark.seen, hidden.answer.exchange)


def _unexercised(probes: Sequence[Probe], statuses: set[str]) -> Iterator[Finding]:
    ways = {probe.way for probe in probes}
    plain = {
        f"{probe.rounds[0].hidden.answer.exchange.principal} {probe.rounds[0].hidden.tool_id}"
        for probe in probes
        if probe.way == PLAIN
    }
    for requirement in REQUIREMENTS:
        way = next((name for name, own in BY_WAY.items() if own == requirement), PLAIN)
        if way not in ways:
            yield Finding(requirement, NOTHING_HIDDEN, weight=Weight.BLOCKED)
        elif way != "anonymous" and plain and plain <= statuses and requirement != "hidden-same-status":
            message = "the status alone tells hidden ids from unknown ones, so nothing else could be compared"
            yield Finding(requirement, message, weight=Weight.BLOCKED)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a principal got for an id that its list does not show; `foreign` where the id is of another tenant."""

    tool_id: str
    answer: Answer
    foreign: bool
    listed_since: bool = False

    @property
    def resolved(self) -> bool:
        """Whether a tool came back; success without one is for `unknown-id-status`."""
        body = self.answer.json
        return (
            self.answer.status in _SUCCESS and isinstance(body, dict) and bool({"toolId", "safetyTier"} & body.keys())
        )


def check_unlisted(resolutions: Sequence[Resolution]) -> Iterator[Finding]:
    """`nothing-unlisted-resolves`, `item-within-tenant`: what is not listed to a principal is not found by id."""
    foreign = [one for one in resolutions if one.foreign]
    if not resolutions:
        yield Finding("nothing-unlisted-resolves", NOTHING_HIDDEN, weight=Weight.BLOCKED)
    if not foreign:
        message = "no tool of another tenant is known; declare tenants, or name a hidden id (--openwop-hidden-tool-id)"
        yield Finding("item-within-tenant", message, weight=Weight.BLOCKED)
    for one in resolutions:
        if not one.resolved or one.listed_since:
            continue
        who, name = one.answer.exchange.principal, printable(one.tool_id, 120)
        seen = f"status {one.answer.status}"
        message = f"{name} resolves by id for {who}, whose list does not show it"
        yield Finding("nothing-unlisted-resolves", message, one.answer.place, "status 404", seen, one.answer.exchange)
        if one.foreign:
            message = f"{name} is shown to others alone, perhaps of another tenant, and yet {who} reads it by id"
            yield Finding("item-within-tenant", message, one.answer.place, "status 404", seen, one.answer.exchange)


@dataclass(frozen=True, slots=True)
class Received:
    """An answer and the ids that must not stand in it."""

    answer: Answer
    hidden: frozenset[str]
    visible: frozenset[str] = frozenset()


def check_hidden_nowhere(received: Sequence[Received]) -> Iterator[Finding]:
    """`hidden-id-nowhere`: no body and no header names a hidden id, unless the request itself did.

    Ids that the reader is shown are no hidden ids, even where one of those stands within them.
    """
    for one in received:
        exchange = one.answer.exchange
        asked = plain(exchange.url + (exchange.request_body or ""))
        raw = plain(" ".join((*(value for _, value in one.answer.headers), one.answer.body.decode("utf-8", "replace"))))
        wanted = [name for name in one.hidden if _may_stand(name, raw) and name.casefold() not in asked]
        shown = sorted((plain(name) for name in one.visible), key=len, reverse=True) if wanted else []
        within: dict[str, list[str]] = {}
        for where, text in (*body_texts(one.answer), *header_texts(one.answer)) if wanted else ():
            if text not in within:
                within[text] = _within(text, wanted)
            for name in within[text]:
                if names(text, name, where, shown):
                    message = f"{exchange.principal} is told of {printable(name, 120)}, which is hidden from it"
                    yield Finding(NOWHERE, message, where, "no hidden id", "the id", exchange)


def plain(text: str) -> str:
    """A text by which ids are compared: percent-encoding undone, as often as it was done, and case folded."""
    for _ in range(_MOST_ENCODED):
        text, before = unquote(text), text
        if text == before:
            break
    return text.casefold()


def _within(text: str, wanted: Sequence[str]) -> list[str]:
    """The ids that a text holds at all, before it is asked whether they stand there alone: catalogs may be large."""
    low = plain(text)
    return [name for name in wanted if name.casefold() in low or any(one in text for one in _in_base64(name))]


def _may_stand(name: str, raw: str) -> bool:
    """Whether a search in the parts is worth its while; what JSON would escape is looked for there in any case."""
    return (
        name.casefold() in raw
        or not name.isascii()
        or not name.isprintable()
        or any(char in name for char in '"\\/')
        or any(one.casefold() in raw for one in _in_base64(name))
    )


@lru_cache(maxsize=4096)
def _in_base64(name: str) -> tuple[str, ...]:
    """An id as opaque cursors and tags carry it, where it is long enough to be known again."""
    raw = name.encode("utf-8", "surrogatepass")
    ways = {base64.b64encode(raw), base64.urlsafe_b64encode(raw)} if len(raw) >= _ENCODED_LENGTH else ()
    return tuple(one.decode().rstrip("=") for one in ways)


def names(text: str, tool_id: str, where: str = "", shown: Sequence[str] = ()) -> bool:
    """Whether a text names an id: one that may be a word only where ids stand, others wherever they stand alone."""
    if any(one in text and _stands_alone(one, text) for one in _in_base64(tool_id)):
        return True
    text, wanted = plain(text), tool_id.casefold()
    if wanted not in text:
        return False
    if not _telling(tool_id):
        return text == wanted and bool(_ID_PLACE.search(where)) and not plain(where).endswith(f"/{text}")
    if _SCOPES_PLACE.search(where):
        return False
    for one in shown:
        if wanted in one and one in text:
            text = text.replace(one, " ")
    place = text.find(wanted)
    while place >= 0:
        before, after = text[:place], text[place + len(wanted) :]
        if not _continued(before, wanted) and not _continues(after):
            return True
        place = text.find(wanted, place + 1)
    return False


def _stands_alone(encoded: str, text: str) -> bool:
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(encoded)}(?![0-9A-Za-z])", text) is not None


def _telling(tool_id: str) -> bool:
    """Whether an id cannot be mistaken for a word of a sentence."""
    return ":" in tool_id or tool_id.startswith("x-host-") or not _WORDLIKE.fullmatch(tool_id)


def _continued(before: str, wanted: str) -> bool:
    """Whether what stands before belongs to the same id; behind a sign, one with a scope of its own begins anew."""
    last = before[-1:]
    signs = "" if wanted.startswith(_KNOWN_SCOPES) else "_-:."
    return bool(last) and (last.isalnum() or last in signs)


def _continues(after: str) -> bool:
    """Whether what follows belongs to the same id: a word, or a sign with a word behind it."""
    first, second = after[:1], after[1:2]
    return bool(first) and (first.isalnum() or first in "_-" or (first in ".:" and second.isalnum()))
