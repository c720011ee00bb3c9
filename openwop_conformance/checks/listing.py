"""The list of tools: what an answer to the list endpoint holds, and whether it may look like that."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openwop_conformance.exchanges import Answer, Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.settings import ListShape
from openwop_conformance.wording import printable, shown

OK = 200
FORBIDDEN = 403
REFUSED = frozenset({401, FORBIDDEN})
NOT_SERVED = frozenset({404, 405, 501})
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]*:?[A-Za-z0-9._-]+")
_UNSEEN = frozenset({Weight.BLOCKED, Weight.INCONCLUSIVE, Weight.INAPPLICABLE})
_CURSORS = frozenset({"next", "nextcursor", "nextpagetoken", "nexttoken", "nextpage", "nextlink", "nexturl"})
_FLAGS = frozenset({"hasmore", "hasnext", "hasnextpage"})
_PAGERS = ("pagination", "paging", "page", "pageInfo", "meta", "links", "_links")
_PARAMETER = re.compile(r';\s*([^=;,\s]+)\s*=\s*("[^"]*"|[^;,\s]*)')
_LINK = re.compile(r'<[^>]*>((?:\s*;\s*[^=;,\s]+\s*=\s*(?:"[^"]*"|[^;,\s]*))*)')


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of a list and its place in it."""

    pointer: str
    value: Any = field(repr=False)

    @property
    def id(self) -> str | None:
        """The toolId, where there is a usable one."""
        value = self.value.get("toolId") if isinstance(self.value, dict) else None
        return value if isinstance(value, str) and value else None

    @property
    def name(self) -> str:
        """The tool as a message would name it."""
        return printable(self.id, 120) if self.id else f"the entry at {self.pointer}"

    def text(self, member: str) -> str | None:
        """A member that is a string."""
        value = self.value.get(member) if isinstance(self.value, dict) else None
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list answer taken apart; `tools` is None where the answer holds no list."""

    answer: Answer
    shape: ListShape | None
    tools: tuple[Tool, ...] | None
    _by_id: dict[str, list[Tool]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the entries by id once: catalogs may be large, and are asked for ids again and again."""
        for tool in self.tools or ():
            if tool.id is not None:
                self._by_id.setdefault(tool.id, []).append(tool)

    @property
    def whole(self) -> bool:
        """Whether nothing points at a further page (R19)."""
        return next_page(self) is None

    def ids(self) -> list[str]:
        """The usable ids, in order, each once."""
        return list(self._by_id)

    def named(self, tool_id: str) -> tuple[Tool, ...]:
        """The entries with this id."""
        return tuple(self._by_id.get(tool_id, ()))


def sample(listing: Listing, most: int) -> list[str]:
    """At most `most` listed ids: exec-tier tools and odd ids first, then the rest, from all over the list."""
    exec_tier = {tool.id for tool in listing.tools or () if tool.text("safetyTier") == "exec"}
    ids = sorted(listing.ids(), key=lambda one: (one not in exec_tier, bool(_PLAIN_ID.fullmatch(one))))
    first = [one for one in ids if one in exec_tier or not _PLAIN_ID.fullmatch(one)][:most]
    rest = ids[len(first) :]
    wanted = min(most - len(first), len(rest))
    return [*first, *(rest[place * len(rest) // wanted] for place in range(wanted))]


def read_listing(answer: Answer) -> Listing:
    """Take a list answer apart, in either of its two bodies (R1)."""
    body = answer.json
    if answer.status == OK and isinstance(body, dict) and isinstance(body.get("tools"), list):
        tools = tuple(Tool(f"/tools/{place}", value) for place, value in enumerate(body["tools"]))
        return Listing(answer, ListShape.OBJECT, tools)
    if answer.status == OK and isinstance(body, list):
        tools = tuple(Tool(f"/{place}", value) for place, value in enumerate(body))
        return Listing(answer, ListShape.ARRAY, tools)
    return Listing(answer, None, None)


def saved_listing(value: Any, name: str) -> Listing:
    """A list, or a single descriptor, that stands in a file instead of an answer."""
    exchange = Exchange("file", name, "FILE", name)
    answer = Answer(exchange, OK, (("content-type", "application/json"),), b"", value)
    listing = read_listing(answer)
    if listing.tools is None and isinstance(value, dict) and "toolId" in value:
        return Listing(answer, ListShape.ARRAY, (Tool("", value),))
    return listing


def next_page(listing: Listing) -> str | None:
    """Where the answer says that there is more, if it does."""
    body = listing.answer.json
    if isinstance(body, Mapping):
        around = [("", body), *((f"/{name}", body[name]) for name in _PAGERS if isinstance(body.get(name), Mapping))]
        for prefix, part in around:
            for name, value in part.items():
                plain = str(name).lower().replace("_", "")
                if (plain in _CURSORS and value) or (plain in _FLAGS and value is True):
                    return f"{prefix}/{printable(str(name), 40)}"
    link = listing.answer.header("link") or ""
    return "Link" if any(_is_next(parameters) for parameters in _LINK.findall(link)) else None


def _is_next(parameters: str) -> bool:
    rels = [value.strip('"').lower().split() for name, value in _PARAMETER.findall(parameters) if name.lower() == "rel"]
    return any("next" in one for one in rels)


def not_observed(listing: Listing) -> str:
    """Why a list that we asked for with a credential was not to be had, where that is no fault of the host's."""
    answer = listing.answer
    if answer.status in REFUSED:
        return (
            f"the host refuses the credential of {answer.exchange.principal} on the list (status {answer.status}): "
            "give a token that may read the catalog"
        )
    return str(answer.json_error) if answer.too_deep else ""


def prerequisite(requirement: str, listing: Listing, *, whole: bool = False, tools: bool = True) -> Finding | None:
    """Why a requirement on listed tools cannot be judged by this list, or None where it can."""
    reason = not_observed(listing)
    if reason:
        return Finding(requirement, reason, exchange=listing.answer.exchange, weight=Weight.INCONCLUSIVE)
    if listing.tools is None:
        message = "the list could not be read, so there was no tool to look at"
    elif tools and not listing.tools:
        message = f"the catalog is empty for {listing.answer.exchange.principal}, so there was no tool to look at"
    elif whole and not listing.whole:
        message = "the list is only a part of the catalog, and this needs all of it"
    else:
        return None
    return Finding(requirement, message, exchange=listing.answer.exchange, weight=Weight.BLOCKED)


def check_list_served(listing: Listing) -> Iterator[Finding]:
    """`catalog-list-endpoint-served`, `list-status`: there is an endpoint, and it answers 200."""
    answer = listing.answer
    exchange = answer.exchange
    if answer.status in REFUSED:
        for requirement in ("catalog-list-endpoint-served", "list-status"):
            yield Finding(requirement, not_observed(listing), exchange=exchange, weight=Weight.INCONCLUSIVE)
    elif answer.status in NOT_SERVED:
        yield Finding(
            "catalog-list-endpoint-served",
            "the catalog is advertised, but its list is not served",
            answer.place,
            "a list of tools",
            f"status {answer.status}",
            exchange,
        )
        yield Finding("list-status", "the list is not served at all", exchange=exchange, weight=Weight.BLOCKED)
    elif answer.status != OK:
        message = "whether it is served cannot be told from an answer that is not 200"
        yield Finding("catalog-list-endpoint-served", message, exchange=exchange, weight=Weight.BLOCKED)
        yield Finding(
            "list-status",
            f"the list is not answered with 200 to {exchange.principal}",
            answer.place,
            "status 200",
            f"status {answer.status}",
            exchange,
        )


def check_list_body(listing: Listing, wanted: ListShape) -> Iterator[Finding]:
    """`list-media-type`, `list-body`: JSON by name and by content, in one of the two shapes (R1)."""
    answer = listing.answer
    exchange = answer.exchange
    if answer.status != OK:
        weight = Weight.INCONCLUSIVE if answer.status in REFUSED else Weight.BLOCKED
        for requirement in ("list-media-type", "list-body"):
            yield Finding(
                requirement, not_observed(listing) or "there was no list to look at", exchange=exchange, weight=weight
            )
        return
    if not answer.is_json:
        seen = shown(answer.header("content-type")) if answer.header("content-type") else "no Content-Type"
        yield Finding(
            "list-media-type", "the list is not labelled as JSON", "Content-Type", "application/json", seen, exchange
        )
    yield from _body_findings(listing, wanted)


def _body_findings(listing: Listing, wanted: ListShape) -> Iterator[Finding]:
    answer = listing.answer
    expected = {
        ListShape.ANY: "an object whose `tools` is an array, or a bare array",
        ListShape.OBJECT: "an object whose `tools` is an array",
        ListShape.ARRAY: "a bare array",
    }[wanted]
    if answer.too_deep:
        yield Finding("list-body", not_observed(listing), exchange=answer.exchange, weight=Weight.INCONCLUSIVE)
    elif listing.shape is None:
        seen = answer.json_error or shown(answer.json)
        yield Finding("list-body", "the body is not a list of tools", answer.place, expected, seen, answer.exchange)
    elif wanted is not ListShape.ANY and listing.shape is not wanted:
        seen = "a bare array" if listing.shape is ListShape.ARRAY else "an object around an array"
        yield Finding(
            "list-body", "the list has the other shape than asked for", answer.place, expected, seen, answer.exchange
        )
    elif wanted is ListShape.ANY and listing.shape is ListShape.ARRAY:
        yield Finding(
            "list-body",
            'the list is a bare array; the RFC describes an object: return {"tools": […]}',
            answer.place,
            "an object whose `tools` is an array",
            "a bare array",
            answer.exchange,
            Weight.ADVISORY,
        )


def check_list_complete(listing: Listing) -> Iterator[Finding]:
    """`list-complete`: nothing points at a further page (R19)."""
    missing = prerequisite("list-complete", listing, tools=False)
    if missing:
        yield missing
        return
    place = next_page(listing)
    if place is not None:
        yield Finding(
            "list-complete",
            "the list comes in pages, which the RFC does not know; return all of it at once",
            place,
            "the whole list",
            "a pointer to a further page",
            listing.answer.exchange,
        )


def across(
    listings: Sequence[Listing],
    check: Callable[[Listing], Iterator[Finding]],
    ignored: frozenset[int] = REFUSED,
) -> Iterator[Finding]:
    """One check over what several principals see.

    Those who see nothing count only if nobody sees anything. That a further principal may not read the catalog at all
    is no remark on the host (R6); that its token is refused is told once, where the list itself is judged.
    """
    own = [one for place, one in enumerate(listings) if place == 0 or one.answer.status not in ignored]
    found = [list(check(listing)) for listing in own]
    telling = [findings for findings in found if not any(one.weight in _UNSEEN for one in findings)]
    for findings in telling or found[:1]:
        yield from findings
    for findings in found:
        if findings not in telling and (telling or findings is not found[0]):
            yield from (one for one in findings if one.weight is not Weight.BLOCKED)


def of_all(found: Sequence[Sequence[Finding]]) -> list[Finding]:
    """What was found out with each of several principals; that some have nothing to look at does not block the rest."""
    blocked = [{one.requirement for one in each if one.weight is Weight.BLOCKED} for each in found]
    everywhere = set.intersection(*blocked) if blocked else set()
    return [one for each in found for one in each if one.weight is not Weight.BLOCKED or one.requirement in everywhere]
