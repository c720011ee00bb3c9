"""Hosts with one vice each in how runs can be read, beside those of `sessions`."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.reference.app import HostApp, error_response
from openwop_conformance.reference.mutants.base import rewritten
from openwop_conformance.reference.mutants.sessions import Append, Payload, Recording


class SkipsWhenPolled(HostApp):
    """Leaves out the first event behind the one that a poll names."""

    kills = ("event-log-durable",)
    whole = True

    async def poll(self, request: Request) -> Response:
        answer = await super().poll(request)
        if "lastSequence" not in request.query_params:
            return answer
        return rewritten(answer, lambda body: {**body, "events": body["events"][1:]})


class RepeatsWhenPolled(HostApp):
    """Shows all events to every poll, whatever was seen before."""

    advises = ("event-log-durable",)
    whole = True

    async def poll(self, request: Request) -> Response:
        answer = await super().poll(request)
        log, run_id = self.run_of(request)
        return rewritten(answer, lambda body: {**body, "events": log.read(run_id)})


class NeverComplete(HostApp):
    """Never says that a run is complete."""

    advises = ("event-log-durable",)
    whole = True

    async def poll(self, request: Request) -> Response:
        return rewritten(await super().poll(request), lambda body: {**body, "isComplete": False})


class ConsumedByPolling(HostApp):
    """Shows a run to its first readers by poll, and nothing of it to later ones."""

    kills = ("event-log-durable",)
    whole = True

    def __init__(self, *parts: Any) -> None:
        self.polls: dict[str, int] = {}
        super().__init__(*parts)

    async def poll(self, request: Request) -> Response:
        run_id = request.path_params["run_id"]
        self.polls[run_id] = self.polls.get(run_id, 0) + 1
        answer = await super().poll(request)
        return answer if self.polls[run_id] < 3 else rewritten(answer, lambda body: {**body, "events": []})


class AsksAfterTheClose(Recording):
    """Asks for an approval in a session that it has closed."""

    kills = ("session-silent-after-close",)

    def write(self, append: Append, run_id: str, kind: str, payload: Payload) -> None:
        append(run_id, kind, payload)
        if kind == "tool.session.closed" and payload["toolId"].startswith("openwop:"):
            asked = {"kind": "approval", "interruptId": "late", "sessionId": payload["sessionId"]}
            append(run_id, "interrupt.requested", asked)
            append(run_id, "interrupt.resolved", {**asked, "resolution": "approved"})


class SeamBreaksForConnectors(HostApp):
    """Breaks down when it is asked for a session on a connector."""

    advises = ("session-tool-as-asked",)
    whole = True

    async def session_run(self, request: Request) -> Response:
        body = await self.body(request)
        if str(body.get("toolId")).startswith("connector:"):
            return error_response(500, "error", "The request failed.")
        return await super().session_run(request)

    @staticmethod
    async def body(request: Request) -> dict[str, Any]:
        known: dict[str, Any] | None = getattr(request.state, "body", None)
        if known is None:
            known = request.state.body = await HostApp.body(request)
        return known
