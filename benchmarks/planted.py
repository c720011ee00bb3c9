"""Writes a log with seven planted violations, audits it, and says whether exactly those were found."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.logs import EVENTS, PLANTS, log


def main() -> None:
    """Write, audit, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", nargs="?", type=int, default=10_000_000)
    events = parser.parse_args().events
    runs = events // EVENTS
    places = [(2 * one + 1) * runs // (2 * len(PLANTS)) for one in range(len(PLANTS))]
    with tempfile.TemporaryDirectory() as folder:
        path, report = Path(folder, "log.ndjson"), Path(folder, "report.json")
        with path.open("wb") as file:
            for lines in log(events, {place: plant for place, (_, _, plant) in zip(places, PLANTS, strict=True)}):
                file.writelines(lines)
        command = [sys.executable, "-m", "openwop_conformance", "audit", str(path), "--report", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = json.loads(report.read_text(encoding="utf-8"))
    found = {
        (one["id"], finding["where"].partition(", line")[0])
        for one in told["requirements"]
        for finding in one["findings"]
    }
    wanted = {
        (name, f"run run_{place:032x}, sequence {6 if name == 'event-sequences-increase' else sequence}")
        for place, (name, sequence, _) in zip(places, PLANTS, strict=True)
    }
    for name, where in sorted(found):
        print(f"{name} at {where}")
    print(done.stdout.splitlines()[1])
    if {(name, where.partition(", /")[0]) for name, where in found} != wanted:
        sys.exit(f"expected {sorted(wanted)}")
    print(f"exactly the {len(wanted)} planted violations were found")


if __name__ == "__main__":
    main()
