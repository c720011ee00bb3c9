"""Tools by id: that listed ones resolve to what the list says, and that unknown ones do not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from openwop_conformance.checks.descriptors import exec_findings, shape_findings
from openwop_conformance.checks.listing import NOT_SERVED, OK, Listing, Tool, prerequisite
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import violations
from openwop_conformance.wording import listed, printable, shown

NOT_FOUND = 404
FIXED = ("toolId", "source", "safetyTier")
_SETS = frozenset({"scopes", "required", "enum", "type"})
ItemCheck = Callable[["Item"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Item:
    """One listed id and what came back for it.

    `versions` holds the listed entries with that id, before and after: a catalog may change while we look.
    """

    tool_id: str
    answer: Answer
    versions: tuple[Tool, ...]
    still_listed: bool = True

    @property
    def name(self) -> str:
        """The tool as a message would name it."""
        return printable(self.tool_id, 120)

    @property
    def resolved(self) -> Tool | None:
        """The descriptor that came back, where one did."""
        answer = self.answer
        return Tool("", answer.json) if answer.status == OK and isinstance(answer.json, dict) else None


def resolved_listing(listing: Listing, items: Sequence[Item]) -> Listing:
    """What came back by id, as if it were a list, for checks that look at descriptors alone."""
    if listing.tools is None:
        return listing
    return replace(listing, tools=tuple(item.resolved for item in items if item.resolved is not None))


def _each(
    requirement: str, listing: Listing, items: Sequence[Item], check: ItemCheck, *, resolved: bool = False
) -> Iterator[Finding]:
    """Run a check over the items; with `resolved`, over those for which a descriptor came back."""
    missing = prerequisite(requirement, listing)
    chosen = [item for item in items if item.resolved is not None] if resolved else list(items)
    if missing is None and not chosen:
        message = "no listed tool resolved by its id" if items else "no listed tool has a usable id"
        missing = Finding(requirement, message, weight=Weight.BLOCKED)
    if missing:
        yield missing
        return
    for item in chosen:
        yield from check(item)


def check_item_served(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`catalog-item-endpoint-served`: not every listed id is answered as if there were no such endpoint."""
    requirement = "catalog-item-endpoint-served"
    if items and all(item.answer.status in NOT_SERVED and item.still_listed for item in items):
        statuses = sorted({item.answer.status for item in items})
        yield Finding(
            requirement,
            "the catalog is advertised, but no listed tool can be read by its id",
            items[0].answer.place,
            "a descriptor",
            f"status {listed(statuses)} for all {len(items)} ids tried",
            items[0].answer.exchange,
        )
        return
    yield from _each(requirement, listing, items, lambda _: iter(()))


def check_items_resolve(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`item-resolves`: 200, and a tool with the id that was asked for."""

    def check(item: Item) -> Iterator[Finding]:
        answer, requirement = item.answer, "item-resolves"
        if answer.status == NOT_FOUND and not item.still_listed:
            message = f"{item.name} left the catalog while it was being read; run again"
            yield Finding(requirement, message, exchange=answer.exchange, weight=Weight.INCONCLUSIVE)
        elif answer.too_deep:
            yield Finding(requirement, str(answer.json_error), exchange=answer.exchange, weight=Weight.INCONCLUSIVE)
        elif answer.status != OK:
            message = f"{item.name} is listed but does not resolve by id"
            yield Finding(requirement, message, answer.place, "status 200", f"status {answer.status}", answer.exchange)
        elif item.resolved is None:
            message = f"{item.name} does not resolve to a descriptor"
            seen = answer.json_error or shown(answer.json)
            yield Finding(requirement, message, answer.place, "a JSON object", seen, answer.exchange)
        elif item.resolved.id is not None and item.resolved.id != item.tool_id:
            message = f"{item.name} resolves to another tool"
            yield Finding(
                requirement, message, "/toolId", shown(item.tool_id), shown(item.resolved.id), answer.exchange
            )

    return _each("item-resolves", listing, items, check)


def check_items_valid(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`item-valid`: what came back is valid against the schema."""

    def check(item: Item) -> Iterator[Finding]:
        if item.resolved is not None:
            yield from shape_findings("item-valid", item.resolved, item.answer.exchange, item.name)

    return _each("item-valid", listing, items, check, resolved=True)


def check_items_exec(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`exec-only-host-extension`, for what came back by id."""

    def check(item: Item) -> Iterator[Finding]:
        if item.resolved is not None:
            yield from exec_findings(item.resolved, item.answer.exchange)

    return _each("exec-only-host-extension", listing, items, check, resolved=True)


def check_items_media_type(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`item-media-type`: JSON by name."""

    def check(item: Item) -> Iterator[Finding]:
        if not item.answer.is_json:
            seen = shown(item.answer.header("content-type") or "no Content-Type")
            message = f"the descriptor of {item.name} is not labelled as JSON"
            yield Finding("item-media-type", message, "Content-Type", "application/json", seen, item.answer.exchange)

    return _each("item-media-type", listing, items, check, resolved=True)


def check_items_agree(listing: Listing, items: Sequence[Item]) -> Iterator[Finding]:
    """`item-agrees-with-list`: shared members are equal; a member on one side only is an advisory (R8)."""

    def check(item: Item) -> Iterator[Finding]:
        if item.resolved is None or item.resolved.id not in {None, item.tool_id}:
            return
        candidates = [list(_differences(item, version)) for version in item.versions]
        yield from min(candidates, key=lambda found: (sum(one.weight is Weight.VIOLATION for one in found), len(found)))

    return _each("item-agrees-with-list", listing, items, check, resolved=True)


def _differences(item: Item, version: Tool) -> Iterator[Finding]:
    resolved = item.resolved
    listed_members = version.value if isinstance(version.value, dict) else {}
    own = resolved.value if resolved else {}
    for member in sorted(own.keys() & listed_members.keys()):
        if not same_json(own[member], listed_members[member], member):
            yield Finding(
                "item-agrees-with-list",
                f"{item.name} is described differently in the list and by id",
                f"/{printable(member, 80)}",
                f"as in the list: {shown(listed_members[member])}",
                shown(own[member]),
                item.answer.exchange,
                Weight.ADVISORY if _is_restless(item, member) else Weight.VIOLATION,
            )
    for member in sorted(own.keys() ^ listed_members.keys()):
        side = "by id" if member in own else "in the list"
        yield Finding(
            "item-agrees-with-list",
            f"{item.name} carries {printable(member, 80)} only {side}; carry it in both places",
            f"/{printable(member, 80)}",
            "the member in both places",
            f"only {side}",
            item.answer.exchange,
            Weight.ADVISORY,
        )


def _is_restless(item: Item, member: str) -> bool:
    """Whether a member changes in the list too, from one reading to the next; source and tier may not (R18)."""
    values = [one.value.get(member) for one in item.versions if isinstance(one.value, dict)]
    return member not in FIXED and any(not same_json(values[0], one, member) for one in values[1:])


def same_json(one: Any, other: Any, member: str = "") -> bool:
    """Equality of JSON values: true is not 1, and members whose arrays mean sets have no order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key], key) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        if member in _SETS and all(isinstance(value, str) for value in [*one, *other]):
            return sorted(one) == sorted(other)
        return len(one) == len(other) and all(same_json(left, right) for left, right in zip(one, other, strict=True))
    return bool(one == other)


def check_literal_colon(pairs: Sequence[tuple[Answer, Answer]]) -> Iterator[Finding]:
    """`item-literal-colon`: the colon may be sent as it is or percent-encoded."""
    requirement = "item-literal-colon"
    if not pairs:
        yield Finding(requirement, "no listed id with a colon resolved", weight=Weight.INAPPLICABLE)
    for encoded, literal in pairs:
        if literal.status != encoded.status or not same_json(literal.json, encoded.json):
            yield Finding(
                requirement,
                "a colon sent as it is gets another answer than the same colon percent-encoded; decode the path once",
                literal.place,
                f"the answer to {encoded.place}: status {encoded.status}",
                f"status {literal.status}" if literal.status != encoded.status else "another body",
                literal.exchange,
            )


def check_unknown_ids(listing: Listing, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`unknown-id-status`, `unknown-id-envelope`: 404 with the error envelope."""
    for requirement in ("unknown-id-status", "unknown-id-envelope"):
        missing = prerequisite(requirement, listing, tools=False)
        if missing is not None:
            yield missing
    if listing.tools is None:
        return
    if not answers:
        for requirement in ("unknown-id-status", "unknown-id-envelope"):
            yield Finding(requirement, "no unknown id was asked for", weight=Weight.BLOCKED)
        return
    for answer in answers:
        if answer.status != NOT_FOUND:
            message = "an id that no tool has is not answered with 404"
            seen = f"status {answer.status}"
            yield Finding("unknown-id-status", message, answer.place, "status 404", seen, answer.exchange)
    misses = [answer for answer in answers if answer.status == NOT_FOUND]
    if not misses:
        yield Finding("unknown-id-envelope", "no unknown id was answered with 404", weight=Weight.BLOCKED)
    for answer in misses:
        yield from _envelope_findings(answer)


def _envelope_findings(answer: Answer) -> Iterator[Finding]:
    message = "the answer to an unknown id does not carry the error envelope {error, message, details?}"
    if answer.json_error is not None:
        yield Finding("unknown-id-envelope", message, answer.place, "a JSON object", answer.json_error, answer.exchange)
        return
    for violation in violations("error-envelope", answer.json):
        where = violation.pointer or answer.place
        yield Finding("unknown-id-envelope", message, where, violation.expected, violation.seen, answer.exchange)
