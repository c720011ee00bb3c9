"""Shared caches are kept out of what one principal was told (R12, RFC 9111 §3.5)."""

import re
from collections.abc import Iterator, Sequence

from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable

REQUIREMENT = "shared-caches-kept-out"
_DIRECTIVE = re.compile(r'\s*([!#$%&\'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*("[^"]*"|[^,\s]*))?\s*(?:,|$)')
_SAFE = frozenset({"private", "no-store", "no-cache"})


def check_shared_caches(answers: Sequence[Answer], key_header: str | None = None) -> Iterator[Finding]:
    """`shared-caches-kept-out`: no answer to an authenticated read may be stored and reused for somebody else.

    Where the token goes in a `key_header`, varying by that one keeps callers apart.
    """
    own = {"*", "authorization", *([key_header.lower()] if key_header else [])}
    if not answers:
        yield Finding(REQUIREMENT, "no answer of the catalog was seen", weight=Weight.BLOCKED)
    for answer in answers:
        yield from _targeted(answer)
        directives = cache_directives(answer.header("cache-control") or "")
        vary = {name.strip().lower() for name in (answer.header("vary") or "").split(",")}
        if any(name in _SAFE and value is None for name, value in directives.items()) or vary & own:
            continue
        shared = "public" in directives or bool((directives.get("s-maxage") or "0").strip('"').lstrip("0"))
        if shared or "s-maxage" in directives or "must-revalidate" in directives:
            gives = "give it to the next principal" if shared else "give it away when the host says that it may"
            yield Finding(
                REQUIREMENT,
                f"a shared cache may keep this answer and {gives}; answer Cache-Control: private",
                f"Cache-Control of {answer.place}",
                "private, no-store or no-cache, or Vary: Authorization",
                printable(answer.header("cache-control") or "", 200),
                answer.exchange,
                Weight.VIOLATION if shared else Weight.ADVISORY,
            )


def _targeted(answer: Answer) -> Iterator[Finding]:
    """Headers meant for one kind of shared cache override a Cache-Control that keeps them out (RFC 9213)."""
    for name in ("CDN-Cache-Control", "Surrogate-Control"):
        directives = cache_directives(answer.header(name) or "")
        if directives and not _SAFE & directives.keys():
            message = f"{name} lets a shared cache keep this answer, whatever Cache-Control says; leave it out"
            seen = printable(answer.header(name) or "", 200)
            where = f"{name} of {answer.place}"
            yield Finding(REQUIREMENT, message, where, "private or no-store", seen, answer.exchange, Weight.ADVISORY)


def cache_directives(header: str) -> dict[str, str | None]:
    """The directives of a Cache-Control header; None where one has no argument."""
    return {name.lower(): value or None for name, value in _DIRECTIVE.findall(header)}
