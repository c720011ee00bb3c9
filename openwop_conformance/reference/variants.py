"""Hosts that are unusual but right: the suite has to leave them alone."""

import hashlib
import json
import secrets
import time
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from openwop_conformance.reference.app import PRIVATE, HostApp, error_response, json_response
from openwop_conformance.reference.mutants.base import (
    ENVELOPE,
    Discovering,
    Listing,
    rewritten,
)


class Shuffled(HostApp):
    """Lists its tools in another order each time: conforming."""

    read = 0

    async def list_tools(self, request: Request) -> Response:
        self.read += 1
        turn = self.read % 3
        return rewritten(
            await super().list_tools(request), lambda body: {"tools": body["tools"][turn:] + body["tools"][:turn]}
        )


class WithTotal(Listing):
    """Counts its tools beside the list: conforming."""

    def change(self, body: Any) -> Any:
        return {**body, "total": len(body["tools"])}


class InBothPlaces(Discovering):
    """Advertises at the root and in the wrapper: conforming."""

    def change(self, document: Any) -> Any:
        return {**document, "capabilities": {"toolCatalog": document["toolCatalog"], "anything": 1}}


class NoSources(Discovering):
    """Does not say which sources it has: conforming."""

    def change(self, document: Any) -> Any:
        del document["toolCatalog"]["sources"]
        return document


class Echoing(HostApp):
    """Echoes the id and a correlation id in its errors: conforming."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        details = {"toolId": request.path_params["tool_id"], "requestId": str(id(request))}
        return answer if answer.status_code == 200 else json_response({**ENVELOPE, "details": details}, 404)


class Throttling(HostApp):
    """Is busy the first time that anybody asks for a list: conforming."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.served: set[tuple[str, str]] = set()

    async def list_tools(self, request: Request) -> Response:
        asked = (self.caller(request).name, request.url.query)
        if asked not in self.served:
            self.served.add(asked)
            return json_response({"error": "busy", "message": "Later."}, 429, {"Retry-After": "0"})
        return await super().list_tools(request)


class BareList(Listing):
    """Serves a bare array: tolerated, with an advisory."""

    advises = ("list-body",)

    def change(self, body: Any) -> Any:
        return body["tools"]


class Empty(HostApp):
    """Has nothing to show to anybody: conforming, but then nothing is shown about it."""

    blocked = True

    async def list_tools(self, request: Request) -> Response:
        self.caller(request)
        return json_response({"tools": []}, headers=PRIVATE)

    async def one_tool(self, request: Request) -> Response:
        self.caller(request)
        return error_response(404, "not_found", "There is no such tool.")

    async def agents(self, request: Request) -> Response:
        self.caller(request)
        return json_response({"agents": []}, headers=PRIVATE)


class Chatty(HostApp):
    """Echoes the id, a request id, a time and a weak tag over them in its errors."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        number = f"req_{secrets.token_urlsafe(12)}"
        told = {"toolId": request.path_params["tool_id"], "requestId": number, "at": time.time()}
        body = {"error": "not_found", "message": f"No tool {request.path_params['tool_id']}.", "details": told}
        tag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()[:20]}"'
        return json_response(body, 404, {**PRIVATE, "X-Request-Id": number, "ETag": tag})


class Counting(HostApp):
    """Numbers its answers, so that their length changes now and then."""

    counted = 95

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        self.counted += 1
        answer.headers["x-answer-number"] = str(self.counted)
        if answer.status_code == 200:
            return answer
        return rewritten(answer, lambda body: {**body, "details": {"answer": self.counted}})


class Redacting(HostApp):
    """Shows an error page in HTML from which the id was taken out: an advisory for the missing envelope."""

    advises = ("unknown-id-envelope",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        return HTMLResponse("<h1>404</h1><p>No tool named &lt;redacted&gt;</p>", 404, headers=PRIVATE)


class HtmlForWrites(HostApp):
    """Answers other methods with 501 and a page: an advisory, because 405 is preferred."""

    advises = ("writes-answered-405",)

    async def refusal(self, request: Request, error: Exception) -> Response:
        answer = await super().refusal(request, error)
        return HTMLResponse("<h1>Unsupported method</h1>", 501) if answer.status_code == 405 else answer


class NotFoundForWrites(HostApp):
    """Answers other methods with 404: an advisory, because 405 is preferred."""

    advises = ("writes-answered-405",)

    async def refusal(self, request: Request, error: Exception) -> Response:
        answer = await super().refusal(request, error)
        return error_response(404, "not_found", "Nothing here.") if answer.status_code == 405 else answer


class NoHead(HostApp):
    """Does not know HEAD."""

    async def one_tool(self, request: Request) -> Response:
        self.refuse_head(request)
        return await super().one_tool(request)

    async def list_tools(self, request: Request) -> Response:
        self.refuse_head(request)
        return await super().list_tools(request)

    @staticmethod
    def refuse_head(request: Request) -> None:
        if request.method == "HEAD":
            raise HTTPException(405, headers={"Allow": "GET"})


class AnswersOptions(HostApp):
    """Answers OPTIONS with 204 and mirrors the method and path of HEAD in headers."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if request.method == "HEAD":
            answer.headers["x-mirrored"] = request.scope["raw_path"].decode("ascii")
        return answer

    def routes(self) -> list[Route]:
        async def options(_: Request) -> Response:
            return Response(status_code=204, headers={"Allow": "GET, HEAD, OPTIONS"})

        return [Route("/v1/tools/{tool_id:path}", options, methods=["OPTIONS"]), *super().routes()]


class OddIds(HostApp):
    """Has ids with slashes, blanks, emoji, per cent signs, dots alone, and one of 2,000 characters."""

    advises = ("tool-id-scope-form",)
    names = ("a/b c", "tea 🍵", "50%25", "..", "ä" * 2000)

    def __init__(self, catalog: Any, *more: Any) -> None:
        odd = [
            replace(
                one,
                descriptor={**one.descriptor, "toolId": name if name == ".." else f"connector:{name}"},
            )
            for one, name in zip(
                [one for one in catalog.tools if one.source == "connector"] * 3, self.names, strict=False
            )
        ]
        super().__init__(replace(catalog, tools=(*catalog.tools, *odd)), *more)


class Squeezed(HostApp):
    """Serves everything with gzip."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asgi.add_middleware(GZipMiddleware, minimum_size=1)


class Chunked(HostApp):
    """Serves its list in chunks of a few bytes."""

    async def list_tools(self, request: Request) -> Response:
        body = bytes((await super().list_tools(request)).body)
        pieces = [body[start : start + 7] for start in range(0, len(body), 7)]
        return StreamingResponse(iter(pieces), media_type="application/json", headers=PRIVATE)


class Busy(HostApp):
    """Asks for a second of patience now and then."""

    answered = 0

    async def one_tool(self, request: Request) -> Response:
        principal = self.caller(request)
        Busy.answered += 1
        if Busy.answered % 90 == 0 and principal:
            return error_response(429, "busy", "Later.", {"Retry-After": "1"})
        return await super().one_tool(request)


class ByTenantAlone(HostApp):
    """Shows everything to everybody of a tenant, and each tenant its own."""

    second = "carol"

    def __init__(self, catalog: Any, *more: Any) -> None:
        everything = tuple({scope for tool in catalog.tools for scope in tool.scopes})
        people = tuple(replace(one, scopes=everything) for one in catalog.principals)
        super().__init__(replace(catalog, principals=people), *more)


class CaseBlind(HostApp):
    """Finds a tool whatever the case of its id: an advisory for the id that it then tells."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        world = {name.lower(): tool for name, tool in self.catalog.world(self.caller(request)).items()}
        found = world.get(asked.lower()) if answer.status_code == 404 else None
        return json_response(found.descriptor, headers=PRIVATE) if found else answer


class ForbiddenReader(HostApp):
    """Does not let its second principal read the catalog at all."""

    async def list_tools(self, request: Request) -> Response:
        self.reader(request)
        return await super().list_tools(request)

    async def one_tool(self, request: Request) -> Response:
        self.reader(request)
        return await super().one_tool(request)

    async def agents(self, request: Request) -> Response:
        self.reader(request)
        return await super().agents(request)

    def reader(self, request: Request) -> None:
        if self.caller(request).name == "bob":
            raise HTTPException(403)


class Placeholders(HostApp):
    """Explains how to give a key, with blanks to fill in, a hash, a UUID, and a property named password."""

    def __init__(self, catalog: Any, *more: Any) -> None:
        properties = {
            "password": {"type": "string", "description": "Sent as Bearer <token>.", "examples": ["{{secret}}"]},
            "apiKey": {"type": "string", "default": "$TOKEN", "description": "sk-… or <your key>"},
            "digest": {"type": "string", "default": hashlib.sha256(b"x").hexdigest()},
            "run": {"type": "string", "default": "550e8400-e29b-41d4-a716-446655440000"},
        }
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "inputSchema": {"type": "object", "properties": properties}})
            if one.source == "workflow"
            else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)
