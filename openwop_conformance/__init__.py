"""Conformance suite for OpenWOP tool-catalog hosts."""

from openwop_conformance._version import __version__

__all__ = ["__version__"]
