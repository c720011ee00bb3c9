"""Runs on a host: starting one through the test seam, and reading its events by every way that the host offers."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from openwop_conformance.checks.approvals import ASKING, DECIDING
from openwop_conformance.checks.run_events import CLOSED, RUN_ENDS
from openwop_conformance.checks.session_answers import NOT_WIRED_STATUSES, Reading, Started
from openwop_conformance.client.host import Host
from openwop_conformance.client.http import Credential
from openwop_conformance.client.streams import complete_frames, frames
from openwop_conformance.exchanges import Answer

SESSION_RUN_PATH = "/v1/host/sample/tools/session-run"
JSON = (("Content-Type", "application/json"),)
STREAM = (("Accept", "text/event-stream"),)
OK = 200
FAULTS = range(500, 600)
MAX_POLLS = 200
PAUSE = 0.1
QUIET_READS = 10
QUIET_POLLS = 3


def start_session(host: Host, credential: Credential, tool_id: str | None) -> Started:
    """Ask the seam for a run with a session on a tool, or on one of the host's choice."""
    body = {} if tool_id is None else {"toolId": tool_id}
    answer = host.client.send("POST", SESSION_RUN_PATH, credential, headers=JSON, body=json.dumps(body).encode())
    started = Started(tool_id, answer)
    if started.run_id is not None:
        host.client.runs_created += 1
    return started


def path_of(run_id: str, tail: str) -> str:
    """The address of a run's events."""
    return f"/v1/runs/{quote(run_id, safe='')}/events{tail}"


def seam_path(run_id: str) -> str:
    """The address of a run's log at the test seam."""
    return f"/v1/host/sample/test/runs/{quote(run_id, safe='')}/events"


def read_run(host: Host, credential: Credential, run_id: str) -> list[Reading]:
    """The log of a run by every way that there is, when it has ended or nothing more seems to come."""
    by_poll = read_by_poll(host, credential, run_id)
    by_seam = read_by_seam(host, credential, run_id, patient=by_poll is None)
    known = [one for one in (by_seam, by_poll) if one is not None]
    again = read_the_rest(host, credential, run_id, by_poll) if by_poll is not None else None
    by_stream = read_by_stream(host, credential, run_id, len(known[0].events) if known else None)
    return [*known, *(one for one in (again, by_stream) if one is not None)]


def read_by_seam(host: Host, credential: Credential, run_id: str, *, patient: bool = False) -> Reading | None:
    """The whole log at once; with patience, again until the run has ended or is quiet."""
    deadline = time.monotonic() + host.settings.limits.total_seconds
    quiet, seen = 0, -1
    while True:
        answer = host.client.send("GET", seam_path(run_id), credential)
        events = _events(answer)
        if events is None:
            return None
        ended = _ended(events)
        quiet = quiet + 1 if len(events) == seen else 0
        seen = len(events)
        closed = any(isinstance(one, dict) and one.get("type") == CLOSED for one in events)
        settled = quiet >= QUIET_READS and (closed or is_waiting(events))
        if ended or not patient or settled or time.monotonic() > deadline:
            return Reading("the test seam", tuple(events), answer, whole=True)
        time.sleep(PAUSE)


def read_by_poll(host: Host, credential: Credential, run_id: str) -> Reading | None:
    """Batch after batch, from the beginning to the end of the run, or until it waits for somebody."""
    deadline = time.monotonic() + host.settings.limits.total_seconds
    events: list[Any] = []
    query, remark, quiet = "?timeout=0", "", 0
    for _ in range(MAX_POLLS):
        answer = host.client.send("GET", path_of(run_id, f"/poll{query}"), credential)
        batch = _events(answer)
        if batch is None:
            return None
        last = _last_sequence(events)
        new = [one for one in batch if last is None or _sequence(one) is None or (_sequence(one) or 0) > last]
        events += new
        quiet = 0 if new else quiet + 1
        done = isinstance(answer.json, dict) and answer.json.get("isComplete") is True
        if quiet and _ended(events) and not done:
            remark = "poll never says that the run is complete (isComplete), though it shows its end"
        if (done and (_ended(events) or quiet)) or remark or time.monotonic() > deadline:
            break
        if quiet >= QUIET_POLLS and is_waiting(events):
            break
        last = _last_sequence(events)
        query = f"?timeout=1&lastSequence={last}" if last is not None else "?timeout=1"
    return Reading("poll", tuple(events), answer, whole=True, remark=remark)


def read_the_rest(host: Host, credential: Credential, run_id: str, whole: Reading) -> Reading | None:
    """Poll once more, for what is behind the middle of a run that has ended; as a reader who was cut off would."""
    events = list(whole.events)
    numbers = [number for one in events if (number := _sequence(one)) is not None]
    if len(numbers) < len(events) or len(set(numbers)) < 2 or not _ended(events):  # noqa: PLR2004 - two have a middle
        return None
    middle = sorted(numbers)[len(numbers) // 2 - 1]
    answer = host.client.send("GET", path_of(run_id, f"/poll?timeout=0&lastSequence={middle}"), credential)
    batch = _events(answer)
    if not batch:
        batch = []
    known = [one for one in batch if (_sequence(one) or 0) <= middle]
    remark = f"poll shows events again that are not behind lastSequence={middle}" if known else ""
    told = [one for one in events if (_sequence(one) or 0) <= middle] + [one for one in batch if one not in known]
    return Reading(f"poll behind sequence {middle}", tuple(told), answer, whole=True, remark=remark)


def is_waiting(events: Sequence[Any]) -> bool:
    """Whether a run waits for somebody: more was asked than answered."""
    kinds = [one.get("type") for one in events if isinstance(one, dict)]
    return sum(kind in ASKING for kind in kinds) > sum(kind in DECIDING for kind in kinds)


def read_by_stream(host: Host, credential: Credential, run_id: str, count: int | None) -> Reading | None:
    """Server-sent events: the first half over one connection, the rest over another that takes up where it ended.

    Where no other way told how many events there are, all of them are read before the half is known.
    """
    half = max(1, count // 2) if count is not None else None
    first = host.client.send(
        "GET",
        path_of(run_id, ""),
        credential,
        headers=STREAM,
        until=lambda body: _has(body, half) or _ended([one.event for one in complete_frames(body)]),
    )
    if first.status != OK or first.media_type != "text/event-stream":
        return None
    told = complete_frames(first.body) if _has(first.body, half) else frames(first.body)
    begun = told[: half or max(1, len(told) // 2)]
    expected = count if count is not None else len(told)
    last = next((one.id for one in reversed(begun) if one.id), None)
    if last is None:
        return Reading("the event stream", tuple(one.event for one in told), first, whole=False)
    rest = host.client.send(
        "GET",
        path_of(run_id, ""),
        credential,
        headers=(*STREAM, ("Last-Event-ID", last)),
        until=lambda body: _enough(body, expected - len(begun)),
    )
    left = expected - len(begun)
    more = complete_frames(rest.body) if _enough(rest.body, left) else frames(rest.body)
    events = tuple(one.event for one in (*begun, *more))
    return Reading("the event stream, taken up in the middle", events, rest, whole=False)


def _has(body: bytes, count: int | None) -> bool:
    return count is not None and len(complete_frames(body)) >= count


def _enough(body: bytes, count: int) -> bool:
    told = complete_frames(body)
    return len(told) >= count or _ended([one.event for one in told[-1:]])


def _events(answer: Answer) -> list[Any] | None:
    if answer.status != OK or not isinstance(answer.json, dict) or not isinstance(answer.json.get("events"), list):
        return None
    events: list[Any] = answer.json["events"]
    return events


def _ended(events: list[Any]) -> bool:
    return any(isinstance(one, dict) and one.get("type") in RUN_ENDS for one in events)


def _sequence(event: Any) -> int | None:
    value = event.get("sequence") if isinstance(event, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _last_sequence(events: list[Any]) -> int | None:
    return max((one for one in map(_sequence, events) if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class Sessions:
    """What came of asking for sessions: runs that were started, whether there is a seam, and where it broke down."""

    started: tuple[tuple[Credential, Started], ...]
    wired: bool
    broken: tuple[Started, ...] = ()


def start_sessions(host: Host, tools: list[str]) -> Sessions:
    """One session for each tool that has them; where none has, or nothing is named, one of the host's choice."""
    made = [(host.primary, start_session(host, host.primary, one)) for one in tools]
    if not any(one.run_id for _, one in made):
        made.append((host.primary, start_session(host, host.primary, None)))
    wired = any(one.answer.status not in NOT_WIRED_STATUSES for _, one in made)
    if wired:
        made += list(_of_others(host))
    faults = set(FAULTS) - NOT_WIRED_STATUSES
    broken = tuple(one for _, one in made if one.answer.status in faults)
    return Sessions(tuple(one for one in made if one[1].run_id is not None), wired, broken)


def _of_others(host: Host) -> Iterator[tuple[Credential, Started]]:
    for credential in host.credentials()[1:]:
        yield credential, start_session(host, credential, None)
