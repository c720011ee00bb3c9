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
    with_member,
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
    """Has nothing to show to anybody: conforming, but then all that needs a tool is blocked."""

    blocks = ("A", "B", "C", "C-1, F-4", "C-2, F-3", "C-3", "D", "E", "F-2")

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
        pieces = [body[start : start + 97] for start in range(0, len(body), 97)]
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

    async def session_run(self, request: Request) -> Response:
        self.reader(request)
        return await super().session_run(request)

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


class Laconic(HostApp):
    """Describes its tools by nothing but what a descriptor must have, in the list and by id."""

    kept = ("toolId", "source", "safetyTier", "auth")

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={name: one.descriptor[name] for name in self.kept if name in one.descriptor})
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class CompactList(Listing):
    """Leaves schemas out of the list and gives them by id: an advisory for each side alone."""

    advises = ("item-agrees-with-list",)

    def change(self, body: Any) -> Any:
        gone = {"inputSchema", "outputSchema"}
        return {"tools": [{name: tool[name] for name in tool.keys() - gone} for tool in body["tools"]]}


class WrapperAlone(Discovering):
    """Advertises in the deprecated wrapper alone: an advisory."""

    advises = ("toolcatalog-block-at-root",)

    def change(self, document: Any) -> Any:
        wrapped = {"toolCatalog": document.pop("toolCatalog")}
        return {**document, "capabilities": wrapped}


class Revalidated(HostApp):
    """Tags its answers, lets callers alone keep them, and knows conditional requests."""

    async def list_tools(self, request: Request) -> Response:
        return self.tagged(request, await super().list_tools(request))

    async def one_tool(self, request: Request) -> Response:
        return self.tagged(request, await super().one_tool(request))

    @staticmethod
    def tagged(request: Request, answer: Response) -> Response:
        if answer.status_code != 200:
            return answer
        tag = f'"{hashlib.sha256(bytes(answer.body)).hexdigest()[:16]}"'
        headers = {"ETag": tag, "Cache-Control": "private, max-age=60"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        answer.headers.update(headers)
        return answer


class Suggesting(HostApp):
    """Names tools that the caller may see where it cannot find one."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        asked = request.path_params["tool_id"]
        world = self.catalog.world(self.caller(request))
        near = [one for one in world if one.partition(":")[0] == asked.partition(":")[0]][:2]
        return json_response({**ENVELOPE, "details": {"didYouMean": near}}, 404, PRIVATE)


class HidesSecretWords(HostApp):
    """Takes ids that look like secrets out of its errors, and echoes others."""

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "toolId": "openwop:token.bump"}) if "counter" in one.id else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        asked = request.path_params["tool_id"]
        told = "[redacted]" if "token" in asked else asked
        return json_response({**ENVELOPE, "details": {"toolId": told}}, 404, PRIVATE)


class WordsForIds(HostApp):
    """Hides a tool whose id is a word that stands in other descriptions; has no agents, which blocks §E."""

    advises = ("tool-id-scope-form",)
    blocks = ("E",)

    def __init__(self, catalog: Any, *more: Any) -> None:
        words = {"crm_update": "update", "counter": "status"}

        def plain(tool: Any) -> Any:
            name = next((word for part, word in words.items() if part in tool.id), tool.id)
            return replace(tool, descriptor={**tool.descriptor, "toolId": name, "description": "update the status"})

        tools = tuple(map(plain, catalog.tools))
        super().__init__(replace(catalog, tools=tools, agents=()), *more)


class WithinOtherIds(HostApp):
    """Hides a tool whose id stands within that of one that is shown, whose prefix earns an advisory."""

    advises = ("tool-id-prefix-fits-source",)

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "toolId": "connector:crm_update_contact.log"})
            if "slugify" in one.id
            else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class TrailingSlash(HostApp):
    """Redirects its list to an address with a slash at the end."""

    def routes(self) -> list[Route]:
        async def onward(request: Request) -> Response:
            query = f"?{request.url.query}" if request.url.query else ""
            return Response(status_code=307, headers={"Location": f"/v1/tools/{query}"})

        async def slashed(request: Request) -> Response:
            return await self.list_tools(request)

        moved = [Route("/v1/tools", onward), Route("/v1/tools/", slashed)]
        return [*moved, *(one for one in super().routes() if one.path != "/v1/tools")]


class OtherScripts(HostApp):
    """Has ids in other scripts, and echoes unknown ones."""

    def __init__(self, catalog: Any, *more: Any) -> None:
        names = {"connector:crm_find_contact": "connector:連絡先", "connector:crm_update_contact": "connector:запись"}
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "toolId": names.get(one.id, one.id)}) for one in catalog.tools
        )
        agents = tuple((name, tuple(names.get(one, one) for one in allowed)) for name, allowed in catalog.agents)
        super().__init__(replace(catalog, tools=tools, agents=agents), *more)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 404:
            return answer
        return rewritten(answer, lambda body: {**body, "details": {"id": request.path_params["tool_id"]}})


class RemembersMisses(HostApp):
    """Says of every miss whether it was asked before, whoever asks and for whatever."""

    def __init__(self, *parts: Any) -> None:
        self.asked: set[tuple[str, str]] = set()
        super().__init__(*parts)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404:
            key = (request.headers.get("authorization", ""), request.path_params["tool_id"])
            answer.headers["X-Cache"] = "HIT" if key in self.asked else "MISS"
            self.asked.add(key)
        return answer


class Challenges(HostApp):
    """Says where to get a token when it turns callers away."""

    def caller(self, request: Request) -> Any:
        try:
            return super().caller(request)
        except HTTPException:
            where = 'Bearer resource_metadata="https://host.example/.well-known/oauth2-protected-resource"'
            raise HTTPException(401, headers={"WWW-Authenticate": where}) from None


class ReadCounter(Listing):
    """Counts in a description how often the list was read: an advisory, wherever the list is compared."""

    advises = ("reading-changes-nothing", "item-agrees-with-list", "source-filter-exact")
    read = 0

    def change(self, body: Any) -> Any:
        self.read += 1
        return with_member(body, "openwop:text.slugify", "description", f"Read {self.read} times.")
