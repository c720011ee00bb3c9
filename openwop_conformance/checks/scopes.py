"""What is listed is what may be invoked, as far as declared scopes tell (R20)."""

from collections.abc import Iterator, Sequence

from openwop_conformance.checks.listing import Listing, prerequisite
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.settings import Principal
from openwop_conformance.wording import listed

REQUIREMENT = "list-within-scopes"


def check_within_scopes(readings: Sequence[tuple[Principal, Listing]]) -> Iterator[Finding]:
    """`list-within-scopes`: no listed tool needs a scope that its reader was not given."""
    judged = [
        (one, listing) for one, listing in readings if _literal(one) and prerequisite(REQUIREMENT, listing) is None
    ]
    if not judged:
        message = "no principal with tools has its scopes declared literally in the settings"
        yield Finding(REQUIREMENT, message, weight=Weight.BLOCKED)
    for principal, listing in judged:
        for tool in listing.tools or ():
            auth = tool.value.get("auth") if isinstance(tool.value, dict) else None
            needed = auth.get("scopes") if isinstance(auth, dict) else None
            missing = [one for one in needed if one not in (principal.scopes or ())] if isinstance(needed, list) else []
            if missing:
                yield Finding(
                    REQUIREMENT,
                    f"{tool.name} is listed to {principal.name}, who may not invoke it",
                    f"{tool.pointer}/auth/scopes",
                    "no scope beyond those that the principal holds",
                    f"also needed: {listed(missing)}",
                    listing.answer.exchange,
                )


def _literal(principal: Principal) -> bool:
    return principal.scopes is not None and not any("*" in scope for scope in principal.scopes)
