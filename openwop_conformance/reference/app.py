"""The HTTP face of the host: discovery, the catalog, runs and their events, and the test seams."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import unquote

import rfc8785
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from openwop_conformance.reference.catalog import Catalog, HostPrincipal
from openwop_conformance.reference.event_log import EventLog
from openwop_conformance.reference.sessions import Sessions

ITEM_PREFIX = b"/v1/tools/"
PRIVATE = {"Cache-Control": "private, no-store"}
SEAMS = "/v1/host/sample"
MAX_BODY = 64 * 1024
MAX_WAIT = 25.0
PROBE = "__probe__"
_NUMBER = re.compile(r"-?[0-9]{1,12}")


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, dict(headers or {}), "application/json")


def error_response(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The error envelope."""
    return json_response({"error": code, "message": message}, status, {**PRIVATE, **(headers or {})})


class HostApp:
    """The endpoints over one catalog; with a log and sessions, runs and the test seams too."""

    def __init__(self, catalog: Catalog, log: EventLog | None = None, sessions: Sessions | None = None) -> None:
        self.catalog = catalog
        self.log = log
        self.sessions = sessions
        self.asgi = Starlette(
            routes=self.routes(), exception_handlers={HTTPException: self.refusal, Exception: self.refusal}
        )
        self.asgi.router.redirect_slashes = False

    def routes(self) -> list[Route]:
        """What is served."""
        routes = [
            Route("/.well-known/openwop", self.discovery, methods=["GET"]),
            Route("/v1/tools", self.list_tools, methods=["GET"]),
            Route("/v1/tools/{tool_id:path}", self.one_tool, methods=["GET"]),
            Route("/v1/agents", self.agents, methods=["GET"]),
        ]
        if self.sessions is not None:
            routes += [
                Route("/v1/runs/{run_id}/events/poll", self.poll, methods=["GET"]),
                Route("/v1/runs/{run_id}/events", self.stream, methods=["GET"]),
                Route(f"{SEAMS}/tools/session-run", self.session_run, methods=["POST"]),
                Route(f"{SEAMS}/test/runs/{{run_id}}/events", self.seam_events, methods=["GET"]),
                Route(f"{SEAMS}/test/reset", self.reset, methods=["POST"]),
                Route(f"{SEAMS}/toolhooks/invoke", self.invoke, methods=["POST"]),
            ]
        return routes

    async def discovery(self, request: Request) -> Response:
        """What the host is and what it takes on."""
        del request
        live = self.sessions is not None
        document: dict[str, Any] = {
            "protocolVersion": "1.0",
            "implementation": self.catalog.implementation,
            "supportedEnvelopes": [],
            "schemaVersions": {},
            "limits": {},
            "agents": {"manifestRuntime": {"supported": True}},
            "toolCatalog": {"supported": True, "sources": self.catalog.sources, "sessionLifecycle": live},
        }
        if live:
            hooks = ("supported", "prePostEvents", "perToolAuthorization", "perToolRateLimit")
            document["toolHooks"] = dict.fromkeys(hooks, True)
        return json_response(document)

    async def list_tools(self, request: Request) -> Response:
        """The caller's world, whole or of one source."""
        tools = [tool.descriptor for tool in self.catalog.world(self.caller(request)).values()]
        source = request.query_params.get("source")
        return json_response({"tools": [one for one in tools if source in (None, one["source"])]}, headers=PRIVATE)

    async def one_tool(self, request: Request) -> Response:
        """One tool of the caller's world; the hidden and the unknown are both just not in it."""
        principal = self.caller(request)
        tool_id = unquote(request.scope["raw_path"].split(b"?")[0].removeprefix(ITEM_PREFIX).decode("ascii", "replace"))
        tool = self.catalog.world(principal).get(tool_id)
        if tool is None:
            return error_response(404, "not_found", "There is no such tool.")
        return json_response(tool.descriptor, headers=PRIVATE)

    async def agents(self, request: Request) -> Response:
        """The agents whose tools are all of the caller's world."""
        world = self.catalog.world(self.caller(request))
        seen = [(name, tools) for name, tools in self.catalog.agents if world.keys() >= set(tools)]
        listed = [{"agentId": name, "toolAllowlist": list(tools)} for name, tools in seen]
        return json_response({"agents": listed}, headers=PRIVATE)

    async def session_run(self, request: Request) -> Response:
        """Run a whole session on a tool of the caller's world; without a name, on the first one."""
        principal = self.caller(request)
        wanted = (await self.body(request)).get("toolId")
        able = {name: tool for name, tool in self.catalog.world(principal).items() if tool.session}
        tool = able.get(str(wanted)) if wanted is not None else next(iter(able.values()), None)
        if tool is None:
            return error_response(404, "not_found", "There is no such tool.")
        assert self.sessions is not None  # noqa: S101 - the route is only there with sessions
        session = await run_in_threadpool(self.sessions.run, principal, tool)
        told = {"runId": session.run_id, "sessionId": session.session_id, "toolId": session.tool_id}
        return json_response(told, headers=PRIVATE)

    async def poll(self, request: Request) -> Response:
        """Events after a sequence, waiting a little where there are none yet."""
        log, run_id = self.run_of(request)
        after, seconds = self.number(request, "lastSequence", -1), self.number(request, "timeout", 0)
        await run_in_threadpool(log.wait, run_id, after, min(max(seconds, 0), MAX_WAIT))
        complete = log.is_complete(run_id)
        return json_response({"events": log.read(run_id, after), "isComplete": complete}, headers=PRIVATE)

    async def stream(self, request: Request) -> Response:
        """Events as they come, resumable after the last one that a reader has seen."""
        log, run_id = self.run_of(request)
        last = request.headers.get("last-event-id", "")
        after = int(last) if _NUMBER.fullmatch(last) else -1
        return StreamingResponse(
            _told(log, run_id, after), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def seam_events(self, request: Request) -> Response:
        """The whole log of a run; the probe answers that the seam is wired."""
        self.caller(request)
        if request.path_params["run_id"] == PROBE:
            return json_response({"events": []}, headers=PRIVATE)
        log, run_id = self.run_of(request)
        return json_response({"events": log.read(run_id)}, headers=PRIVATE)

    async def reset(self, request: Request) -> Response:
        """Forget the finished runs of the caller's tenant and fill all buckets."""
        principal = self.caller(request)
        if self.log is not None and self.sessions is not None:
            self.log.clear(principal.tenant)
            self.sessions.bucket.clear()
        return json_response({"reset": True}, headers=PRIVATE)

    async def invoke(self, request: Request) -> Response:
        """Decide on one call, and tell both of its events."""
        principal = self.caller(request)
        body = await self.body(request)
        if not isinstance(body.get("principal"), str) or not isinstance(body.get("toolName"), str):
            return error_response(400, "bad_request", "principal and toolName are needed, as strings.")
        assert self.sessions is not None  # noqa: S101 - the route is only there with sessions
        try:
            return json_response(self.sessions.invoke(principal, body), headers=PRIVATE)
        except (rfc8785.CanonicalizationError, RecursionError):
            return error_response(400, "bad_request", "The arguments have no canonical form.")

    def caller(self, request: Request) -> HostPrincipal:
        """Who asks; whoever cannot say so is turned away."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        principal = self.catalog.authenticate(token.strip()) if scheme.lower() == "bearer" else None
        if principal is None:
            raise HTTPException(401, headers={"WWW-Authenticate": 'Bearer realm="openwop"'})
        return principal

    def run_of(self, request: Request) -> tuple[EventLog, str]:
        """A run of the caller's own; to anybody else there is no such run."""
        run_id = request.path_params["run_id"]
        principal = self.caller(request)
        if self.log is None or self.log.owner_of(run_id) != (principal.tenant, principal.name):
            raise HTTPException(404)
        return self.log, run_id

    @staticmethod
    def number(request: Request, name: str, otherwise: int) -> int:
        """A whole number from the query."""
        text = request.query_params.get(name)
        if text is None:
            return otherwise
        if not _NUMBER.fullmatch(text):
            raise HTTPException(400)
        return int(text)

    @staticmethod
    async def body(request: Request) -> dict[str, Any]:
        """A JSON object of bounded size; nothing at all counts as an empty one."""
        raw = b""
        async for part in request.stream():
            raw += part
            if len(raw) > MAX_BODY:
                raise HTTPException(413)
        try:
            value = json.loads(raw or b"{}")
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise HTTPException(400) from None
        if not isinstance(value, dict):
            raise HTTPException(400)
        return value

    async def refusal(self, request: Request, error: Exception) -> Response:
        """Every error in the same envelope."""
        del request
        status = error.status_code if isinstance(error, HTTPException) else 500
        code, text = _REFUSALS.get(status, ("error", "The request failed."))
        return error_response(status, code, text, error.headers if isinstance(error, HTTPException) else None)


_REFUSALS = {
    400: ("bad_request", "The request cannot be read."),
    401: ("unauthorized", "A bearer token is needed."),
    404: ("not_found", "There is nothing here."),
    405: ("method_not_allowed", "This method is not for this address."),
    413: ("too_large", "The body is too large."),
}


async def _told(log: EventLog, run_id: str, after: int) -> AsyncIterator[str]:
    while True:
        events = await asyncio.to_thread(log.wait, run_id, after, 1.0)
        for event in events:
            after = event["sequence"]
            yield f"id: {after}\nevent: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
        if log.is_over(run_id) and not log.read(run_id, after):
            return
