"""Kills a whole host in the middle of its sessions, again and again, and looks at what is left.

Run as `python -m tests.kill_host ROUNDS`; prints one JSON object. Hosts are forked from this process, which has no
threads of its own, so that fifty starts cost little.
"""

import json
import os
import random
import select
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from openwop_conformance.reference.event_log import ENDED, EventLog, recover
from openwop_conformance.reference.server import LOG_NAME, start_host

TOOLS = ("openwop:text.slugify", "connector:crm_update_contact", "openwop:weekly-report")


def serve_until_killed(folder: Path, pipe: int) -> None:
    """A host and a client that runs one session after the other; each answered run id goes down the pipe."""
    host = start_host(data=folder, live=False)
    key = {"Authorization": f"Bearer {host.principals[0].token}"}

    def drive(tool: str) -> None:
        with httpx.Client(base_url=host.url, headers=key, trust_env=False) as client:
            for _ in range(1000):
                answer = client.post("/v1/host/sample/tools/session-run", json={"toolId": tool})
                os.write(pipe, f"{answer.json()['runId']}\n".encode())

    for tool in TOOLS:
        threading.Thread(target=drive, args=(tool,), daemon=True).start()
    time.sleep(30)


def killed_once(folder: Path, seed: int) -> list[str]:
    """Fork a host, let it work for a random while, kill it; the runs that it had answered for."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        serve_until_killed(folder, writing)
        os._exit(0)
    os.close(writing)
    select.select([reading], [], [], 10)
    time.sleep(random.Random(seed).uniform(0, 0.08))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as stream:
        return [line for line in stream.read().decode().split("\n")[:-1] if line]


def problems_of(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """What is wrong with a run after the restart, given what stood in the file after the kill."""
    found = []
    kinds = Counter(event["type"] for event in after)
    calls = Counter(event["payload"].get("callId") for event in after if event["type"] == "agent.toolCalled")
    returns = Counter(event["payload"].get("callId") for event in after if event["type"] == "agent.toolReturned")
    if after[: len(before)] != before:
        found.append("events were lost or changed")
    if [event["sequence"] for event in after] != list(range(len(after))):
        found.append("sequences have gaps or doubles")
    if len({event["eventId"] for event in after}) != len(after):
        found.append("event ids are doubled")
    if calls != returns or set(calls.values()) - {1}:
        found.append("calls and returns do not pair")
    if kinds["tool.session.opened"] != kinds["tool.session.closed"] or sum(kinds[one] for one in ENDED) != 1:
        found.append("a session or the run was not ended once")
    order = [event["type"] for event in after]
    if "tool.session.closed" in order and order.index("tool.session.closed") < max(
        (place for place, kind in enumerate(order) if kind == "agent.toolReturned"), default=0
    ):
        found.append("a session was closed before its last return")
    return found


def one_round(seed: int) -> tuple[int, list[str]]:
    """How many runs were cut off, and what was wrong afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answered = killed_once(folder, seed)
        log = EventLog(folder / LOG_NAME)
        cut = log.unfinished()
        before = {run_id: log.read(run_id) for run_id in [*cut, *answered]}
        found = [f"{run_id}: answered but not complete" for run_id in answered if not log.is_complete(run_id)]
        recover(log)
        found += [problem for run_id, events in before.items() for problem in problems_of(events, log.read(run_id))]
        again = recover(log)
        log.close()
        return len(cut), found + ([f"{again} runs were recovered twice"] if again else [])


def main() -> None:
    """All rounds."""
    outcomes = [one_round(seed) for seed in range(int(sys.argv[1]))]
    cut = [count for count, _ in outcomes]
    print(
        json.dumps(
            {"rounds": len(cut), "cutOff": sum(cut), "problems": [one for _, found in outcomes for one in found]}
        )
    )


if __name__ == "__main__":
    main()
