"""Speed and memory of the session checker over well-formed logs; ratios are of one and the same process."""

import argparse
import resource
import subprocess
import sys
import time

import msgspec

from benchmarks.logs import log
from openwop_conformance.checks.event_log import LogFold

BATCH = 20_000
MEGA = 1024


def measure(events: int) -> None:
    """Fold so many events and print what it took; the making of the lines is not counted."""
    decode = msgspec.json.Decoder().decode
    fold = LogFold()
    line, decoding, folding = 0, 0.0, 0.0
    batch: list[bytes] = []

    def work() -> None:
        nonlocal line, decoding, folding
        started = time.process_time()
        for one in batch:
            decode(one)
        decoded = time.process_time()
        for one in batch:
            line += 1
            fold.take(decode(one), line)
        folding += time.process_time() - decoded
        decoding += decoded - started
        batch.clear()

    for lines in log(events):
        batch += lines
        if len(batch) >= BATCH:
            work()
    work()
    fold.finish()
    if fold.gathered.counts:
        sys.exit(f"the log was to be well-formed: {fold.gathered.counts}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGA
    print(
        f"{line:>11,} events: {line / folding:>9,.0f} events a second of CPU, "
        f"{folding / decoding:.1f} times decoding alone, peak memory {peak:.0f} MiB"
    )


def main() -> None:
    """Each size in a process of its own, so that its peak is its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000_000, 20_000_000])
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for size in given.sizes:
        if given.alone:
            measure(size)
        else:
            subprocess.run([sys.executable, "-m", "benchmarks.sessions", "--alone", str(size)], check=True)


if __name__ == "__main__":
    main()
