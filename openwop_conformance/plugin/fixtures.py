"""What a scenario is given: the host, and the way to settle what it declares."""

import pytest

from openwop_conformance.client.host import Host
from openwop_conformance.plugin.conductor import CONDUCTOR, TRIAL
from openwop_conformance.plugin.trial import Trial


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Host:
    """The host under test."""
    run = request.config.stash[CONDUCTOR].run
    if run is None or run.host is None:
        pytest.skip("no host to talk to; this fixture is for tests that carry the openwop_scenario marker")
    return run.host


@pytest.fixture
def settle(request: pytest.FixtureRequest) -> Trial:
    """Settles requirements by the findings of checks."""
    trial: Trial | None = request.node.stash.get(TRIAL, None)
    if trial is None:
        pytest.skip("nothing to settle; this fixture is for tests that carry the openwop_scenario marker")
    return trial
