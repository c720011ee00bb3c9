"""Hosts with one vice each in the sessions that they log, in how they show them, and in what they answer."""

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.mutants.base import Discovering, rewritten
from openwop_conformance.reference.mutants.content import TOKEN

OPENED, CLOSED = "tool.session.opened", "tool.session.closed"
CALLED, RETURNED = "agent.toolCalled", "agent.toolReturned"
Payload = dict[str, Any]
Append = Callable[[str, str, Payload], None]
Event = dict[str, Any]


class Recording(HostApp):
    """Writes events in its own way; `write` gets the plain one to write with."""

    whole = True

    def __init__(self, catalog: Any, log: Any = None, sessions: Any = None) -> None:
        self.held: dict[str, tuple[str, Payload]] = {}
        if log is not None:
            plain = log.append
            log.append = lambda run_id, kind, payload: self.write(plain, run_id, kind, payload)
        super().__init__(catalog, log, sessions)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)


class Changing(Recording):
    """Writes every event, changed."""

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, *self.change(kind, payload))

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, payload


class Showing(HostApp):
    """Reads events from its log in its own way."""

    whole = True

    def __init__(self, catalog: Any, log: Any = None, sessions: Any = None) -> None:
        if log is not None:
            plain = log.read
            log.read = lambda run_id, after=-1: [one for one in self.show(plain(run_id)) if one["sequence"] > after]
        super().__init__(catalog, log, sessions)

    def show(self, events: list[Event]) -> list[Event]:
        return events


class OpensLate(Recording):
    """Opens a session only after its first call."""

    kills = ("session-opened-before-calls",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind == OPENED:
            self.held[run_id] = (kind, payload)
            return
        append(run_id, kind, payload)
        if kind == CALLED and run_id in self.held:
            append(run_id, *self.held.pop(run_id))


class ClosesEarly(Recording):
    """Closes a session before its last call has returned."""

    kills = ("session-closed-after-calls", "session-calls-returned")

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        before = self.held.pop(run_id, None) if kind != CLOSED else None
        if before is not None:
            append(run_id, *before)
        if kind == RETURNED:
            self.held[run_id] = (kind, payload)
        else:
            append(run_id, kind, payload)


class ClosesEarlyWithoutNames(ClosesEarly):
    """Closes a session before its only call has returned, and no call names its session."""

    allows = ("session-has-a-call",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind in {CALLED, RETURNED}:
            payload = {name: value for name, value in payload.items() if name != "sessionId"}
            made = self.seen.setdefault(run_id, payload["callId"])
            if made != payload["callId"]:
                return
        super().write(append, run_id, kind, payload)

    def __init__(self, *arguments: Any) -> None:
        self.seen: dict[str, str] = {}
        super().__init__(*arguments)


class NeverOpens(Recording):
    """Leaves the opening out."""

    kills = ("session-opened-once",)
    allows = ("session-closed-once", "session-tool-in-catalog")

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind != OPENED:
            append(run_id, kind, payload)


class NoSessionsAtAll(Recording):
    """Advertises sessions and logs none, though its calls name them."""

    kills = ("session-opened-once", "session-opened-before-calls")

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind not in {OPENED, CLOSED}:
            append(run_id, kind, payload)


class OpensTwice(Recording):
    """Opens a session again after its first call."""

    kills = ("session-opened-once",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == OPENED:
            self.held[run_id] = (kind, payload)
        elif kind == RETURNED and run_id in self.held:
            append(run_id, *self.held.pop(run_id))


class NeverCloses(Recording):
    """Leaves the close out, of sessions on one tool."""

    kills = ("session-closed-before-run-ends",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind != CLOSED or "crm_" not in payload["toolId"]:
            append(run_id, kind, payload)


class ClosesTwice(Recording):
    """Closes a session twice."""

    kills = ("session-closed-once",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == CLOSED:
            append(run_id, kind, payload)


class ClosesAfterTheRun(Recording):
    """Closes a session when its run is over."""

    kills = ("session-closed-before-run-ends",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind == CLOSED:
            self.held[run_id] = (kind, payload)
            return
        append(run_id, kind, payload)
        if kind.startswith("run.") and run_id in self.held:
            append(run_id, *self.held.pop(run_id))


class OtherSessionAtClose(Changing):
    """Closes a session under another id."""

    kills = ("session-ids-constant",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "sessionId": payload["sessionId"][::-1]} if kind == CLOSED else payload


class OtherToolAtClose(Changing):
    """Closes a session under another tool."""

    kills = ("session-ids-constant",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "toolId": "openwop:weekly-report-2"} if kind == CLOSED else payload


class CallsOfAnotherSession(Changing):
    """Names another session in its calls than around them."""

    kills = ("session-ids-constant",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        named = kind in {CALLED, RETURNED}
        return kind, {**payload, "sessionId": f"{payload['sessionId']}-x"} if named else payload


class NoCalls(Recording):
    """Logs sessions without their calls."""

    kills = ("session-has-a-call",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind not in {CALLED, RETURNED}:
            append(run_id, kind, {**payload, "outcome": "completed"} if kind == CLOSED else payload)


class LosesAReturn(Recording):
    """Loses the first return after an interrupt, and others of a second call."""

    kills = ("session-calls-returned",)

    def __init__(self, *arguments: Any) -> None:
        self.returns: dict[str, int] = {}
        super().__init__(*arguments)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind == RETURNED:
            self.returns[run_id] = self.returns.get(run_id, 0) + 1
            if self.returns[run_id] == 2:
                return
        append(run_id, kind, payload)


class OtherCallId(Changing):
    """Returns calls under other ids."""

    kills = ("session-calls-paired",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "callId": payload["callId"][:-1]} if kind == RETURNED else payload


class ReturnsTwice(Recording):
    """Logs a return twice."""

    kills = ("session-calls-paired",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == RETURNED:
            append(run_id, kind, payload)


class CallsAfterClose(Recording):
    """Makes a call of the session after its close."""

    kills = ("session-closed-after-calls", "session-silent-after-close")

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == CLOSED:
            call = {
                "agentId": "agent-reference",
                "toolName": "x",
                "callId": f"late-{run_id}",
                "sessionId": payload["sessionId"],
            }
            append(run_id, CALLED, call)
            append(run_id, RETURNED, {**call, "status": "ok"})


class SpeaksAfterClose(Recording):
    """Tells something of a session after its close."""

    kills = ("session-silent-after-close",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == CLOSED:
            append(run_id, "tool.session.progress", {"sessionId": payload["sessionId"], "toolId": payload["toolId"]})


class NewInterrupt(Changing):
    """Has a kind of interrupt of its own for approvals."""

    kills = ("session-interrupts-known",)
    advises = ("session-approval-shown",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "kind": "tool-approval"} if kind.startswith("interrupt.") else payload


class NewEventForApproval(Changing):
    """Asks for approval by an event of its own."""

    kills = ("session-interrupts-known",)
    advises = ("session-approval-shown",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return ("tool.session.approval_required" if kind.startswith("interrupt.") else kind), payload


class RunsWhatWasRejected(Changing):
    """Runs a call although its approval was rejected."""

    kills = ("session-rejected-call-not-ok",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "resolution": "rejected"} if kind == "interrupt.resolved" else payload


class NoApproval(Recording):
    """Asks nobody about a tool that needs an approval always."""

    advises = ("session-approval-shown",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if not kind.startswith("interrupt."):
            append(run_id, kind, payload)


class OwnOutcome(Changing):
    """Has an outcome of its own."""

    kills = ("session-payloads-valid",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "outcome": "success"} if kind == CLOSED else payload


class OldOutcome(Changing):
    """Has an outcome of the older vocabulary."""

    advises = ("session-payloads-valid",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "outcome": "aborted"} if kind == CLOSED else payload


class NoToolId(Changing):
    """Does not say of which tool a session is, when it opens it."""

    kills = ("session-payloads-valid",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {"sessionId": payload["sessionId"]} if kind == OPENED else payload


class ArgumentsInOpening(Changing):
    """Tells the arguments in the opening."""

    kills = ("session-content-free",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "arguments": {"n": 1}} if kind == OPENED else payload


class ResultInClose(Recording):
    """Repeats what a call returned under a harmless name, two levels down."""

    kills = ("session-content-free",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind == RETURNED and payload.get("outcome"):
            self.held[run_id] = ("", {"text": json.dumps(payload["outcome"])})
        if kind == CLOSED and run_id in self.held:
            payload = {**payload, "summary": {"last": self.held[run_id][1]}}
        append(run_id, kind, payload)


class TokenInClose(Changing):
    """Tells a token in the close, of one source alone."""

    kills = ("session-content-free",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        told = kind == CLOSED and "slugify" in payload["toolId"]
        return kind, {**payload, "ref": TOKEN} if told else payload


class ExtraMember(Changing):
    """Counts the attempts in the opening."""

    advises = ("session-content-free",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "attempt": 1} if kind == OPENED else payload


class NegativeDuration(Changing):
    """Logs that a call took less than no time."""

    kills = ("call-payloads-valid",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "durationMs": -1} if kind == RETURNED else payload


class OkAndError(Changing):
    """Logs an error beside the status ok."""

    kills = ("call-status-consistent",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        wrong = {"status": "ok", "error": {"code": "x", "message": "y"}}
        return kind, {name: one for name, one in {**payload, **wrong}.items() if name != "outcome"} if (
            kind == RETURNED
        ) else payload


class SameEventId(Showing):
    """Gives two events of a run one id."""

    kills = ("event-ids-unique",)

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "eventId": events[0]["eventId"]} if one["type"] == CLOSED else one for one in events]


class SameSequence(Showing):
    """Gives the last two events of a run one sequence."""

    kills = ("event-sequences-increase",)

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "sequence": one["sequence"] - 1} if one["type"] == "run.completed" else one for one in events]


class OtherRun(Showing):
    """Shows an event of another run among those of a run."""

    kills = ("events-of-one-run",)

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "runId": "run_other"} if one["type"] == CLOSED else one for one in events]


class NoTime(Showing):
    """Does not say when a session was closed."""

    kills = ("events-well-formed",)

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "timestamp": ""} if one["type"] == CLOSED else one for one in events]


class Forgetful(HostApp):
    """Forgets the outcome of calls after a while."""

    kills = ("event-log-durable",)
    whole = True
    read = 0

    async def seam_events(self, request: Request) -> Response:
        answer = await super().seam_events(request)
        self.read += 1
        if self.read < 10:
            return answer
        return rewritten(
            answer,
            lambda body: {"events": [{**one, "payload": {**one["payload"], "late": 1}} for one in body["events"]]},
        )


class LossyStream(HostApp):
    """Leaves the close out of its stream."""

    kills = ("event-log-durable",)
    whole = True

    async def stream(self, request: Request) -> Response:
        answer = await super().stream(request)
        assert isinstance(answer, StreamingResponse)
        whole = answer.body_iterator

        async def lossy() -> Any:
            async for part in whole:
                if CLOSED not in str(part):
                    yield part

        return StreamingResponse(lossy(), media_type="text/event-stream")


class BadResume(HostApp):
    """Takes a stream up one event too late."""

    kills = ("event-log-durable",)
    whole = True

    async def stream(self, request: Request) -> Response:
        last = request.headers.get("last-event-id")
        if last is not None:
            kept = [pair for pair in request.scope["headers"] if pair[0] != b"last-event-id"]
            request = Request({**request.scope, "headers": [*kept, (b"last-event-id", str(int(last) + 1).encode())]})
        return await super().stream(request)


class PollsShort(HostApp):
    """Leaves the last event out of what it answers to polls."""

    kills = ("event-log-durable",)
    whole = True

    async def poll(self, request: Request) -> Response:
        answer = await super().poll(request)
        return rewritten(
            answer, lambda body: {**body, "events": [one for one in body["events"] if one["type"] != CLOSED]}
        )


class AnswersOtherSession(HostApp):
    """Answers with another session than it logs."""

    kills = ("session-matches-answer",)
    whole = True

    async def session_run(self, request: Request) -> Response:
        answer = await super().session_run(request)
        if answer.status_code != 200:
            return answer
        return rewritten(answer, lambda body: {**body, "sessionId": "ses_other"})


class RunsOtherTool(Changing):
    """Logs sessions as if they were of another listed tool."""

    kills = ("session-tool-as-asked", "session-matches-answer")

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        other = {**payload, "toolId": "openwop:text.slugify"}
        return kind, other if kind in {OPENED, CLOSED} and "slugify" not in payload["toolId"] else payload


class UnlistedTool(Changing):
    """Logs sessions under a name that the catalog does not know."""

    kills = ("session-tool-as-asked", "session-matches-answer")
    advises = ("session-tool-in-catalog",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {**payload, "toolId": "openwop:nowhere"} if kind in {OPENED, CLOSED} else payload


class Unannounced(Discovering):
    """Logs sessions without advertising them."""

    advises = ("sessions-absent-when-unadvertised",)
    whole = True

    def change(self, document: Any) -> Any:
        document["toolCatalog"]["sessionLifecycle"] = False
        return document


class ClosesAgainAtTheEnd(Recording):
    """Closes sessions of one source again when the run is over, with another outcome."""

    kills = ("session-closed-once",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == CLOSED and payload["toolId"].startswith("openwop:"):
            self.held[run_id] = (kind, {**payload, "outcome": "cancelled"})
        elif kind.startswith("run.") and run_id in self.held:
            append(run_id, *self.held.pop(run_id))


class MisnamedCalls(Changing):
    """Logs calls under the name of their payload definition."""

    kills = ("session-has-a-call",)

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        if kind == CLOSED:
            return kind, {**payload, "outcome": "completed"}
        return {CALLED: "agentToolCalled", RETURNED: "agentToolReturned"}.get(kind, kind), payload


class IgnoresARejection(Recording):
    """Runs a call after an approval.rejected about it."""

    kills = ("session-rejected-call-not-ok",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        if kind == "interrupt.resolved":
            named = {"gateId": "gate-1", "principal": "operator", "callId": payload["callId"]}
            append(run_id, "approval.rejected", named)
        else:
            append(run_id, kind, payload)


class NamelessEvents(Showing):
    """Gives session events no id."""

    kills = ("events-well-formed",)

    def show(self, events: list[Event]) -> list[Event]:
        kinds = {OPENED, CLOSED}
        return [
            {name: value for name, value in one.items() if name != "eventId" or one["type"] not in kinds}
            for one in events
        ]


class Backwards(HostApp):
    """Shows the log of a run from its end at the test seam, and by poll."""

    kills = ("event-sequences-increase",)
    allows = ("event-log-durable",)
    whole = True

    async def seam_events(self, request: Request) -> Response:
        return rewritten(await super().seam_events(request), lambda body: {"events": body["events"][::-1]})

    async def poll(self, request: Request) -> Response:
        return rewritten(await super().poll(request), lambda body: {**body, "events": body["events"][::-1]})


class IdPerCall(Showing):
    """Gives a call and its return one event id."""

    kills = ("event-ids-unique",)

    def show(self, events: list[Event]) -> list[Event]:
        calls = {CALLED, RETURNED}
        return [{**one, "eventId": one["payload"]["callId"]} if one["type"] in calls else one for one in events]


class BorrowedEvents(Showing):
    """Shows the start of another run at the end of each run."""

    kills = ("events-of-one-run",)

    def show(self, events: list[Event]) -> list[Event]:
        *rest, last = events
        other = {**events[0], "runId": "run_other", "eventId": "evt_other", "sequence": last["sequence"]}
        return [*rest, other, {**last, "sequence": last["sequence"] + 1}]
