"""The pytest plugin: options, the marker, fixtures. It acts only when scenarios of the suite are collected."""

import pytest

from openwop_conformance.plugin.conductor import CONDUCTOR, Conductor
from openwop_conformance.plugin.fixtures import host, settle
from openwop_conformance.plugin.marks import MARK_HELP
from openwop_conformance.plugin.options import add_options

__all__ = ["host", "settle"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker and put the conductor in place; it waits until scenarios are collected."""
    config.addinivalue_line("markers", MARK_HELP)
    config.stash[CONDUCTOR] = Conductor(config)
    config.pluginmanager.register(config.stash[CONDUCTOR], "openwop-conductor")
