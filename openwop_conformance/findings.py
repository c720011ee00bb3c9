"""What a check says about one requirement."""

from dataclasses import dataclass
from enum import StrEnum

from openwop_conformance.exchanges import Exchange


class Weight(StrEnum):
    """What a finding argues for, before the level of its requirement is looked at."""

    VIOLATION = "violation"
    ADVISORY = "advisory"
    BLOCKED = "blocked"
    INCONCLUSIVE = "inconclusive"
    INAPPLICABLE = "inapplicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was seen and what it means for one requirement."""

    requirement: str
    message: str
    where: str = ""
    expected: str = ""
    seen: str = ""
    exchange: Exchange | None = None
    weight: Weight = Weight.VIOLATION
