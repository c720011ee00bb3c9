"""No credential material in what the catalog tells, and nothing that was sent or planted comes back (C-2, F-3)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from openwop_conformance.checks.listing import Listing, Tool, prerequisite, read_listing
from openwop_conformance.checks.texts import body_texts, distinct_texts, texts
from openwop_conformance.credential_material import find_material, looks_chosen, without_material
from openwop_conformance.exchanges import Answer, Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.secret import LONG, SHORT, Secret, spelling_pattern
from openwop_conformance.validation import escape_pointer
from openwop_conformance.wording import printable

MATERIAL = "descriptor-secret-free"
RETURNED = "tokens-never-returned"
_SAID = frozenset({"default", "const", "examples", "enum", "example"})
LOWEST_ERROR = 400
CATALOG = "/v1/tools"
_UNJUDGED = re.compile(
    r"set-cookie|date|content-length|content-type|etag|traceparent|tracestate|.*(?:request|correlation|trace)-?id"
)


def nothing_shown(listings: Sequence[Listing]) -> Iterator[Finding]:
    """Why there was no descriptor to look at, where nobody was shown one."""
    missing = [prerequisite(MATERIAL, one) for one in listings]
    if all(missing):
        yield from filter(None, missing[:1])


def check_secret_free(answers: Sequence[Answer], known: Sequence[Secret] = ()) -> Iterator[Finding]:
    """`descriptor-secret-free`: over all that the catalog answers, and refusals of any kind, each body and header once.

    Values are judged, not names. What is `known`, because it was sent or planted, is left to `tokens-never-returned`.
    """
    patterns = [secret_pattern(one.reveal()) for one in known if one]
    own = [one for one in answers if one.status >= LOWEST_ERROR or CATALOG in one.place]
    bodies = {one.body: one for one in reversed(own)}
    headers = {pair: one for one in reversed(own) for pair in one.headers}
    for answer in bodies.values():
        yield from _body_material(answer, patterns)
    for (name, value), answer in headers.items():
        if not _UNJUDGED.fullmatch(name.lower()):
            yield from _texts([(f"header {name}", value)], answer.exchange, "the answer", patterns)


def _body_material(answer: Answer, known: Sequence[re.Pattern[str]]) -> Iterator[Finding]:
    listing = read_listing(answer)
    if listing.tools:
        for tool in listing.tools:
            yield from tool_material(tool, answer.exchange, known)
        body = answer.json if isinstance(answer.json, dict) else {}
        beside = texts({name: value for name, value in body.items() if name != "tools"})
        yield from _texts(beside, answer.exchange, "the answer", known)
    elif answer.json is not None:
        yield from tool_material(Tool("", answer.json), answer.exchange, known)
    else:
        yield from _texts(body_texts(answer), answer.exchange, "the answer", known)
    for name, value in answer.shadowed:
        hidden = texts(value, f"a member {printable(name, 80)} that stands twice")
        yield from _texts(hidden, answer.exchange, "the answer", known)


def tool_material(tool: Tool, exchange: Exchange, known: Sequence[re.Pattern[str]] = ()) -> Iterator[Finding]:
    """What of one descriptor, or of an error body, is credential material, and what merely looks chosen."""
    name = tool.name if tool.id else "the answer"
    yield from _texts(texts(tool.value, tool.pointer), exchange, name, known)
    yield from _chosen(tool.value, tool.pointer, "", exchange)


def _texts(
    places: Iterable[tuple[str, str]], exchange: Exchange, name: str, known: Sequence[re.Pattern[str]]
) -> Iterator[Finding]:
    for where, text in places:
        for pattern in known:
            text = pattern.sub("[known]", text)  # noqa: PLW2901 - the same text without what is known
        for material in find_material(text):
            yield Finding(
                MATERIAL,
                f"{name} holds credential material; declare auth.credentialRef and keep the value in the host",
                without_material(where),
                "no credential material",
                f"what looks like credentials ({material.kind}), {material.end - material.start} characters",
                exchange,
            )


def _chosen(value: Any, pointer: str, name: str, exchange: Exchange) -> Iterator[Finding]:
    """Literal values of properties that are named like secrets: an advisory, because only the name gives them away."""
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _chosen(inner, f"{pointer}/{number}", name, exchange)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        place = f"{pointer}/{escape_pointer(printable(str(key), 80))}"
        if key in _SAID:
            for one in inner if isinstance(inner, list) else [inner]:
                if isinstance(one, str) and looks_chosen(name, one) and not find_material(one):
                    message = f"{place} gives a value for something named like a secret; leave it out"
                    yield Finding(
                        MATERIAL, message, place, "no literal secret", "a literal value", exchange, Weight.ADVISORY
                    )
        yield from _chosen(inner, place, name if key in _SAID else str(key), exchange)


def check_nothing_returned(secrets: Sequence[Secret], answers: Sequence[Answer]) -> Iterator[Finding]:
    """`tokens-never-returned`: what was sent or planted stands in no body and in no header, in any usual spelling."""
    patterns = [secret_pattern(one.reveal()) for one in secrets if one]
    for answer, where, text in distinct_texts(answers):
        ways = {text, unquote(text)} if "%" in text else {text}
        if any(pattern.search(one) for pattern in patterns for one in ways):
            yield Finding(
                RETURNED,
                "a token that was sent, or a secret that was planted, comes back in the answer",
                where,
                "no secret of the caller's or of the host's",
                "one, not shown here",
                answer.exchange,
            )


@lru_cache(maxsize=256)
def secret_pattern(value: str) -> re.Pattern[str]:
    """Short secrets only as a whole value, since they may be words; long ones wherever they stand, others alone."""
    if len(value) < SHORT:
        return re.compile(rf"\A(?:Bearer )?{re.escape(value)}\Z")
    pattern = spelling_pattern(value)
    return re.compile(pattern if len(value) >= LONG else rf"(?<![0-9A-Za-z])(?:{pattern})(?![0-9A-Za-z])")
