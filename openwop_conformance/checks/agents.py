"""Agents name tools by id; each entry of an allowlist leads to exactly one descriptor (§E)."""

from collections.abc import Iterator, Sequence
from typing import Any

from openwop_conformance.checks.listing import OK, Listing, not_observed, prerequisite
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable, shown

REQUIREMENT = "agent-allowlist-resolves"


def check_allowlists(answers: Sequence[Answer], listings: Sequence[Listing]) -> Iterator[Finding]:
    """`agent-allowlist-resolves`: over the agents and the tools that each principal sees."""
    entries = [
        (answer, listing, pointer, entry)
        for answer, listing in zip(answers, listings, strict=True)
        if prerequisite(REQUIREMENT, listing, whole=True) is None
        for pointer, entry in allowlist_entries(answer)
    ]
    refused = next((reason for reason in map(not_observed, listings) if reason), "")
    if not entries and refused:
        yield Finding(REQUIREMENT, refused, weight=Weight.INCONCLUSIVE)
    elif not entries:
        message = "no agent with a toolAllowlist was seen at GET /v1/agents together with a whole list of tools"
        yield Finding(REQUIREMENT, message, weight=Weight.BLOCKED, exchange=answers[0].exchange if answers else None)
    for answer, listing, pointer, entry in entries:
        matches = len(listing.named(entry)) if isinstance(entry, str) else 0
        if matches != 1:
            name = printable(entry, 120) if isinstance(entry, str) else shown(entry)
            yield Finding(
                REQUIREMENT,
                f"the allowlist entry {name} leads to {matches or 'no'} tools in the catalog; name a listed toolId",
                pointer,
                "one descriptor",
                str(matches or "none"),
                answer.exchange,
            )


def allowlist_entries(answer: Answer) -> Iterator[tuple[str, Any]]:
    """The entries of all agents, in either body that a host may choose, with their places."""
    body = answer.json if answer.status == OK else None
    prefix, agents = ("/agents", body.get("agents")) if isinstance(body, dict) else ("", body)
    for place, agent in enumerate(agents) if isinstance(agents, list) else ():
        for holder, inner in (("", agent), ("/manifest", agent.get("manifest") if isinstance(agent, dict) else None)):
            allowed = inner.get("toolAllowlist") if isinstance(inner, dict) else None
            for number, entry in enumerate(allowed) if isinstance(allowed, list) else ():
                yield f"{prefix}/{place}{holder}/toolAllowlist/{number}", entry
