"""§C: the shape of a descriptor."""

import pytest

from openwop_conformance.vectors import Vector, load_vectors


@pytest.mark.openwop_scenario(
    "descriptor-shape",
    settles=[
        "descriptor-required-members",
        "descriptor-closed",
        "descriptor-vocabularies",
        "descriptor-member-types",
        "descriptor-auth-closed",
        "descriptor-auth-scopes-unique",
        "descriptor-exec-shape",
    ],
)
@pytest.mark.parametrize("vector", load_vectors("descriptor"), ids=lambda vector: vector.name)
def test_descriptor_shape(vector: Vector) -> None:
    """Good and bad descriptors are told apart.

    Sent: nothing; the suite's own schema is put to documents that are known to be good or bad.
    Required: the good ones pass; the bad ones are refused, at the place that is bad.
    """
    assert vector.problem() is None
