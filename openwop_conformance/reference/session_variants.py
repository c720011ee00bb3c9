"""Hosts whose sessions are unusual but right."""

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from openwop_conformance.reference.app import SEAMS, HostApp
from openwop_conformance.reference.mutants.base import rewritten
from openwop_conformance.reference.mutants.sessions import (
    CALLED,
    CLOSED,
    OPENED,
    RETURNED,
    Append,
    Changing,
    Event,
    Payload,
    Recording,
    Showing,
)


class LooseCalls(Changing):
    """Names no session in its calls: no document asks for it."""

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        return kind, {name: one for name, one in payload.items() if name != "sessionId" or kind in {OPENED, CLOSED}}


class SingleShots(Recording):
    """Makes single-shot calls before, across and after its sessions."""

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        base = {"agentId": "agent-other", "toolName": "clock"}
        if kind == OPENED:
            append(run_id, CALLED, {**base, "callId": f"{run_id}-before"})
            append(run_id, RETURNED, {**base, "callId": f"{run_id}-before", "status": "ok"})
            append(run_id, CALLED, {**base, "callId": f"{run_id}-across"})
        append(run_id, kind, payload)
        if kind == CLOSED:
            append(run_id, RETURNED, {**base, "callId": f"{run_id}-across", "status": "ok"})


class TwoSessions(Recording):
    """Has a second session within each session, which ends first."""

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == OPENED:
            inner = {"sessionId": f"{payload['sessionId']}-in", "toolId": payload["toolId"]}
            call = {
                "agentId": "agent-other",
                "toolName": "x",
                "callId": f"{run_id}-in",
                "sessionId": inner["sessionId"],
            }
            append(run_id, OPENED, inner)
            append(run_id, CALLED, call)
            append(run_id, "interrupt.requested", {"kind": "approval", "callId": f"{run_id}-in"})
            append(run_id, RETURNED, {**call, "status": "ok"})
            append(run_id, CLOSED, {**inner, "outcome": "completed"})


class OwnEvents(Recording):
    """Logs events of its own between all others."""

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, "acme.metrics", {"inputs": 1, "token": "none"})
        append(run_id, kind, payload)


class SharedSequences(Showing):
    """Counts the events of all runs together, from far above zero."""

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "sequence": 1000 + 3 * one["sequence"], "tenant": "acme"} for one in events]


class RejectsApprovals(Changing):
    """Rejects every approval, and the calls fail for it."""

    def change(self, kind: str, payload: Payload) -> tuple[str, Payload]:
        if kind == "interrupt.resolved":
            return kind, {**payload, "resolution": "rejected"}
        if kind == RETURNED:
            kept = {name: one for name, one in payload.items() if name not in {"outcome", "durationMs"}}
            return kind, {**kept, "status": "forbidden", "error": {"code": "rejected", "message": "No."}}
        return kind, payload


class NoSeam(HostApp):
    """Wires no seam for sessions, as production hosts do, which blocks §D."""

    whole = True
    blocks = ("D",)

    def routes(self) -> list[Route]:
        return [one for one in super().routes() if not one.path.startswith(f"{SEAMS}/tools")]


class OnlyPolls(HostApp):
    """Shows its runs by poll alone."""

    whole = True

    def routes(self) -> list[Route]:
        gone = (f"{SEAMS}/test", "/v1/runs/{run_id}/events/stream")
        return [one for one in super().routes() if not one.path.startswith(gone) and not one.path.endswith("/events")]


class OnlySeam(HostApp):
    """Shows its runs at the test seam alone."""

    whole = True

    def routes(self) -> list[Route]:
        return [one for one in super().routes() if not one.path.startswith("/v1/runs")]


class EndlessStream(HostApp):
    """Keeps a stream open when the run is over, with signs of life."""

    whole = True

    async def stream(self, request: Request) -> Response:
        answer = await super().stream(request)
        assert isinstance(answer, StreamingResponse)
        told = answer.body_iterator

        async def endless() -> Any:
            async for part in told:
                yield part
            for _ in range(3000):
                yield ": still here\n\n"
                await asyncio.sleep(0.01)

        return StreamingResponse(endless(), media_type="text/event-stream; charset=utf-8")


class AnswersTheRunAlone(HostApp):
    """Answers a request for a session with the run alone."""

    whole = True

    async def session_run(self, request: Request) -> Response:
        answer = await super().session_run(request)
        return rewritten(answer, lambda body: {"runId": body["runId"]}) if answer.status_code == 200 else answer


class ChoosesTheTool(HostApp):
    """Takes no name of a tool at its seam, and chooses one itself."""

    whole = True

    async def session_run(self, request: Request) -> Response:
        if (await self.body(request)).get("toolId") is not None:
            raise HTTPException(400)
        return await super().session_run(request)

    @staticmethod
    async def body(request: Request) -> dict[str, Any]:
        known: dict[str, Any] | None = getattr(request.state, "body", None)
        if known is None:
            known = request.state.body = await HostApp.body(request)
        return known


class SignsOfLife(HostApp):
    """Sends signs of life with data between the events of a stream, which is the only way to read its runs."""

    whole = True

    def routes(self) -> list[Route]:
        gone = (f"{SEAMS}/test",)
        return [one for one in super().routes() if not one.path.startswith(gone) and not one.path.endswith("/poll")]

    async def stream(self, request: Request) -> Response:
        answer = await super().stream(request)
        assert isinstance(answer, StreamingResponse)
        told = answer.body_iterator

        async def beating() -> Any:
            async for part in told:
                yield "event: ping\ndata: 2026-05-30 10:00:00+00:00\n\n"
                yield part

        return StreamingResponse(beating(), media_type="text/event-stream")


class WaitsForAnswers(Showing):
    """Leaves sessions of tools that need an approval waiting for it."""

    def show(self, events: list[Event]) -> list[Event]:
        asked = next((place for place, one in enumerate(events) if one["type"] == "interrupt.requested"), None)
        return events if asked is None else events[: asked + 1]


class NullMembers(Showing):
    """Writes null for the members of an event that it could leave out."""

    def show(self, events: list[Event]) -> list[Event]:
        return [{**one, "nodeId": None, "causationId": None} for one in events]
