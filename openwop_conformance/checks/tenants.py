"""A list holds no tool of another tenant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openwop_conformance.checks.listing import Listing, prerequisite
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable

REQUIREMENT = "list-within-tenant"


@dataclass(frozen=True, slots=True)
class TenantReading:
    """A list, whole or filtered, and the ids that belong to other tenants than its reader's."""

    listing: Listing
    foreign: frozenset[str]


def check_within_tenant(readings: Sequence[TenantReading]) -> Iterator[Finding]:
    """`list-within-tenant`: no reading holds an id that is another tenant's."""
    judged = [one for one in readings if one.foreign and prerequisite(REQUIREMENT, one.listing, tools=False) is None]
    if not judged:
        message = "no tool of another tenant is known; declare tenants, or name a hidden id (--openwop-hidden-tool-id)"
        yield Finding(REQUIREMENT, message, weight=Weight.BLOCKED)
    for one in judged:
        answer = one.listing.answer
        for tool in one.listing.tools or ():
            if tool.id in one.foreign:
                who = answer.exchange.principal
                yield Finding(
                    REQUIREMENT,
                    f"{printable(tool.id or '', 120)} is another tenant's, and is listed to {who}",
                    f"{tool.pointer}/toolId",
                    "tools of the caller's tenant",
                    "one of another tenant",
                    answer.exchange,
                )
