"""§D and §E: the shape of run events and their payloads."""

import pytest

from openwop_conformance.vectors import Vector, load_vectors


@pytest.mark.openwop_scenario(
    "event-shape",
    settles=[
        "run-event-shape",
        "session-payload-shape",
        "call-payload-shape",
    ],
)
@pytest.mark.parametrize("vector", load_vectors("events"), ids=lambda vector: vector.name)
def test_event_shape(vector: Vector) -> None:
    """Good and bad events are told apart.

    Sent: nothing; the suite's own schema is put to documents that are known to be good or bad.
    Required: the good ones pass; the bad ones are refused, at the place that is bad.
    """
    assert vector.problem() is None
