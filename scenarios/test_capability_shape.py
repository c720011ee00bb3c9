"""§A: the shape of the capability blocks."""

import pytest

from openwop_conformance.vectors import Vector, load_vectors


@pytest.mark.openwop_scenario(
    "capability-shape",
    settles=[
        "capability-block-shape",
    ],
)
@pytest.mark.parametrize("vector", load_vectors("capability"), ids=lambda vector: vector.name)
def test_capability_shape(vector: Vector) -> None:
    """Good and bad discovery documents are told apart.

    Sent: nothing; the suite's own schema is put to documents that are known to be good or bad.
    Required: the good ones pass; the bad ones are refused, at the place that is bad.
    """
    assert vector.problem() is None
