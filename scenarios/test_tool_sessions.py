"""§D: sessions around calls, as the log of a run tells of them."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from openwop_conformance.capabilities import Advertised
from openwop_conformance.checks.event_log import FOLDED, check_log, unseen
from openwop_conformance.checks.listing import Listing, not_observed, prerequisite
from openwop_conformance.checks.run_events import named
from openwop_conformance.checks.run_state import Surroundings, Tally
from openwop_conformance.checks.secrets import secret_pattern
from openwop_conformance.checks.session_answers import (
    ABSENT,
    AS_ASKED,
    DURABLE,
    MATCHES,
    Reading,
    Started,
    check_absent,
    check_answer,
    check_broken,
    check_present,
    check_readings,
)
from openwop_conformance.client.host import Host
from openwop_conformance.client.http import Credential
from openwop_conformance.client.runs import SESSION_RUN_PATH, is_waiting, read_run, start_sessions
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.plugin.trial import Trial

CALLS = frozenset({"call-payloads-valid", "call-status-consistent"})
TIERS = ("pure", "read", "write", "exec")
WIRE = (
    f"the host does not wire POST {SESSION_RUN_PATH}; wire it on a test host, "
    "or name runs that exist (--openwop-run-id)"
)
UNNAMED = f"the host wires POST {SESSION_RUN_PATH}, but its answers name no runId"
Wanted = tuple[Credential, str, Started | None]
Watched = tuple[Credential, str, Started | None, list[Reading]]


@pytest.mark.openwop_scenario("tool-sessions", settles=[*FOLDED, MATCHES, AS_ASKED])
def test_tool_sessions(host: Host, settle: Trial) -> None:
    """Every session is opened once, holds calls that return, and is closed once, and tells nothing of their content.

    Sent: POST to the session seam for a tool of every source, the least dangerous one that is listed, for one that
    needs an approval always, and once for every further principal; without a seam, nothing. Then the log of each run,
    and of the runs that the settings name: at the test seam, by poll, and as a stream that is taken up in the middle;
    and again when all runs are over.
    Required: what §D says of the events, of which every way and every reading shows the same.
    """
    if host.discovery.capabilities.advertised("toolCatalog.sessionLifecycle") is not Advertised.YES:
        settle(every("the host does not advertise sessions", Weight.INAPPLICABLE, FOLDED, MATCHES, AS_ASKED))
        return
    refused = not_observed(host.listing(host.primary))
    if refused:
        settle(every(refused, Weight.INCONCLUSIVE, FOLDED, MATCHES, AS_ASKED))
        return
    tools = approvals(host.listing(host.primary))
    sessions = start_sessions(host, chosen(host.listing(host.primary)))
    runs: list[Wanted] = [(credential, str(one.run_id), one) for credential, one in sessions.started]
    runs += [(host.primary, one, None) for one in host.settings.run_ids]
    watched: list[Watched] = [(who, one, told, read_run(host, who, one)) for who, one, told in runs]
    around = Surroundings(tools, tuple(secret_pattern(one.reveal()) for one in host.settings.secrets if one))
    tally = Tally()
    found = [finding for one in watched for finding in judged(host, one, around, tally)]
    found += check_broken(sessions.broken)
    wire = UNNAMED if sessions.wired else WIRE
    readable = [one for one in watched if one[3]]
    for requirement in FOLDED:
        own = [one for one in found if one.requirement == requirement]
        own = [one for one in own if one.weight is not Weight.BLOCKED] if tally.closed else own
        missing = nothing(requirement, runs, readable, tools, tally)
        missing = [replace(one, message=wire) if one.message == WIRE else one for one in missing]
        settle(own or unless_elsewhere(missing), requirement)
    for requirement, member in ((MATCHES, "session_id"), (AS_ASKED, "asked")):
        own = [one for one in found if one.requirement == requirement]
        exercised = any(told is not None and getattr(told, member) for _, _, told, _ in readable)
        why = "the host did not name a session in its answer" if requirement == MATCHES else "no tool was asked for"
        without = wire if not runs else why
        weight = Weight.BLOCKED if not runs else Weight.INAPPLICABLE
        settle(own or ([] if exercised else [Finding(requirement, without, weight=weight)]), requirement)


def judged(host: Host, one: Watched, around: Surroundings, tally: Tally) -> Iterator[Finding]:
    """All that is to be said of one run; the log is read once more, later than at first."""
    credential, run_id, told, readings = one
    if not readings:
        message = f"run {named(run_id)} can be read neither at the test seam nor by poll nor as a stream"
        yield Finding(DURABLE, message, weight=Weight.BLOCKED if told else Weight.INCONCLUSIVE)
        return
    first = readings[0]
    findings, seen = check_log(run_id, first.events, around)
    tally.add(seen)
    for finding in findings:
        yield replace(finding, exchange=first.answer.exchange)
    yield from check_readings(run_id, readings)
    earlier = {one.way: one for one in readings}
    for again in read_run(host, credential, run_id):
        if again.way in earlier:
            later = replace(again, way=f"{again.way}, later", remark="")
            yield from check_readings(run_id, [replace(earlier[again.way], remark=""), later])
    if told is not None:
        yield from check_answer(told, first.events)
        yield from check_present(run_id, first, waiting=is_waiting(first.events))


def nothing(
    requirement: str,
    runs: list[Wanted],
    readable: list[Watched],
    tools: dict[str, str | None] | None,
    tally: Tally,
) -> list[Finding]:
    """Why there is nothing to say on a requirement, unless that is because everything held."""
    if not runs:
        return [Finding(requirement, WIRE, weight=Weight.BLOCKED)]
    if not readable:
        message = "the events of the run can be read neither at the test seam nor by poll nor as a stream"
        return [Finding(requirement, message, weight=Weight.BLOCKED)]
    no_list = Finding(requirement, "the list of tools could not be read whole", weight=Weight.BLOCKED)
    missing = unseen(requirement, tally, tools, no_list)
    return [missing] if missing else []


def unless_elsewhere(missing: list[Finding]) -> list[Finding]:
    """Call events are asked for at the hook seam too; that there was none here blocks nothing."""
    return [replace(one, weight=Weight.INAPPLICABLE) if one.requirement in CALLS else one for one in missing]


def every(why: str, weight: Weight, *names: str | tuple[str, ...]) -> Iterator[Finding]:
    """The same for several requirements."""
    for name in names:
        for one in (name,) if isinstance(name, str) else name:
            yield Finding(one, why, weight=weight)


def approvals(listing: Listing) -> dict[str, str | None] | None:
    """The listed tools and when they need an approval; None where the list is not whole."""
    if prerequisite("session-tool-in-catalog", listing, whole=True, tools=False) is not None:
        return None
    return {tool.id: tool.text("approval") for tool in listing.tools or () if tool.id is not None}


def chosen(listing: Listing) -> list[str]:
    """Of each source the least dangerous tool, and one that needs an approval always."""
    tools = [tool for tool in listing.tools or () if tool.id is not None and tool.text("safetyTier") in TIERS]
    tools.sort(key=lambda tool: TIERS.index(tool.text("safetyTier") or "exec"))
    found: dict[str, str] = {}
    for tool in tools:
        found.setdefault(str(tool.text("source")), str(tool.id))
    always = [str(tool.id) for tool in tools if tool.text("approval") == "always"]
    ids = list(found.values())
    return ids if set(always) & set(ids) else [*ids, *always[:1]]


@pytest.mark.openwop_scenario("sessions-absent", settles=[ABSENT])
def test_sessions_absent(host: Host, settle: Trial) -> None:
    """A host that does not advertise sessions shows none.

    Sent: POST to the session seam, which such a host need not wire; then the log of that run, and of the runs that the
    settings name.
    Required: no tool.session events in it.
    """
    runs = [(credential, str(one.run_id)) for credential, one in start_sessions(host, []).started]
    runs += [(host.primary, one) for one in host.settings.run_ids]
    read = [(run_id, read_run(host, who, run_id)) for who, run_id in runs]
    found = [finding for run_id, readings in read for one in readings for finding in check_absent(run_id, one)]
    if not any(readings for _, readings in read):
        message = "no run could be looked at; name runs that exist (--openwop-run-id)"
        found = [Finding(ABSENT, message, weight=Weight.BLOCKED)]
    settle(found)
