"""What an earlier report says of a host's catalog."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openwop_conformance.documents import DocumentError, read_located

Known = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Host, version and, for each principal, the ids with their sources and safety tiers."""

    name: str | None = None
    version: str | None = None
    catalog: dict[str, dict[str, Known]] = field(default_factory=dict)


def read_earlier(path: Path) -> Earlier:
    """Read a JSON report; one that no run of ours wrote is refused."""
    report: Any = read_located(path).value
    try:
        told = report["host"]["implementation"] or {}
        catalog = {
            str(whose): {str(tool["toolId"]): (tool["source"], tool["safetyTier"]) for tool in tools}
            for whose, tools in report["catalog"].items()
        }
        return Earlier(told.get("name"), told.get("version"), catalog)
    except (AttributeError, KeyError, TypeError):
        raise DocumentError(f"{path}: this is not a JSON report of this suite that tells of a catalog") from None
