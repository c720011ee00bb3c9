"""Report files: the ending chooses the writer, and a file is either whole or untouched."""

import os
from collections.abc import Callable
from pathlib import Path

from openwop_conformance.report.json_writer import write_json
from openwop_conformance.report.model import RunReport

WRITERS: dict[str, Callable[[RunReport], str]] = {".json": write_json}


def write_report(report: RunReport, path: Path) -> None:
    """Write beside the target first, then move it into place."""
    text = WRITERS[path.suffix.lower()](report)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
