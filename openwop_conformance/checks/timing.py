"""Whether the time of an answer tells a hidden id from an unknown one: a rank test over interleaved samples."""

import math
from collections.abc import Iterator, Sequence

from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.wording import printable

REQUIREMENT = "hidden-same-timing"
ALPHA = 0.001
EFFECT = 0.25


def check_timing(
    tool_id: str, hidden: Sequence[float], unknown: Sequence[float], exchange: Exchange
) -> Iterator[Finding]:
    """`hidden-same-timing`: an advisory where the ranks differ both clearly and by much."""
    share, chance = rank_test(hidden, unknown)
    if chance < ALPHA and abs(share - 0.5) > EFFECT:
        slower = "later" if share > 0.5 else "sooner"  # noqa: PLR2004 - even odds
        yield Finding(
            REQUIREMENT,
            f"the hidden {printable(tool_id, 120)} is answered {slower} than unknown ids; look both up in the same way",
            "elapsed time",
            "the same distribution",
            f"{share:.0%} of comparisons, chance {chance:.1g}",
            exchange,
            Weight.ADVISORY,
        )


def rank_test(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """How often a sample of `one` exceeds one of `other`, and how likely that is by chance (Mann-Whitney, normal)."""
    wins = sum((a > b) + (a == b) / 2 for a in one for b in other)
    pairs = len(one) * len(other)
    spread = math.sqrt(pairs * (len(one) + len(other) + 1) / 12)
    return wins / pairs, math.erfc(abs(wins - pairs / 2) / spread / math.sqrt(2))
