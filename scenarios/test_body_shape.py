"""§B: the shape of lists and errors."""

import pytest

from openwop_conformance.vectors import Vector, load_vectors


@pytest.mark.openwop_scenario(
    "body-shape",
    settles=[
        "list-body-shape",
        "error-envelope-shape",
    ],
)
@pytest.mark.parametrize("vector", load_vectors("bodies"), ids=lambda vector: vector.name)
def test_body_shape(vector: Vector) -> None:
    """Good and bad bodies are told apart.

    Sent: nothing; the suite's own schema is put to documents that are known to be good or bad.
    Required: the good ones pass; the bad ones are refused, at the place that is bad.
    """
    assert vector.problem() is None
