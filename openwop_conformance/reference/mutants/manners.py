"""Hosts with one vice each in caches, filters, ids, writes and stability."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.mutants.base import ENVELOPE, rewritten


class Cached(HostApp):
    """Lets shared caches keep an answer by id."""

    kills = ("shared-caches-kept-out",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        answer.headers["cache-control"] = "public, max-age=60"
        return answer


class Revalidated(HostApp):
    """Lets shared caches keep the list until they ask again."""

    advises = ("shared-caches-kept-out",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        answer.headers["cache-control"] = "max-age=60, must-revalidate"
        return answer


class FilterIgnored(HostApp):
    """Does not know the source filter."""

    advises = ("source-filter-exact",)

    async def list_tools(self, request: Request) -> Response:
        request.scope["query_string"] = b""
        return await super().list_tools(request)


class FilterWrong(HostApp):
    """Filters connectors by another source."""

    advises = ("source-filter-exact",)

    async def list_tools(self, request: Request) -> Response:
        request.scope["query_string"] = request.scope["query_string"].replace(b"connector", b"workflow")
        return await super().list_tools(request)


class Unscoped(HostApp):
    """Has ids without a scope."""

    advises = ("tool-id-scope-form",)

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(tool, descriptor={**tool.descriptor, "toolId": tool.id.replace("openwop:", "")})
            for tool in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class Misscoped(HostApp):
    """Names its connectors like MCP tools."""

    advises = ("tool-id-prefix-fits-source",)

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(tool, descriptor={**tool.descriptor, "toolId": tool.id.replace("connector:", "mcp:")})
            for tool in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class Writable(HostApp):
    """Takes a PATCH on the list."""

    kills = ("list-rejects-writes",)

    def routes(self) -> list[Route]:
        async def patch(_: Request) -> Response:
            return json_response({})

        return [Route("/v1/tools", patch, methods=["PATCH"]), *super().routes()]


class Deletable(HostApp):
    """Takes a DELETE on a tool, and says so."""

    kills = ("item-rejects-writes",)

    def routes(self) -> list[Route]:
        async def delete(_: Request) -> Response:
            return Response(status_code=204)

        return [Route("/v1/tools/{tool_id:path}", delete, methods=["DELETE"]), *super().routes()]


class QuietlyWritten(HostApp):
    """Refuses a POST on the list, and loses a tool over it."""

    kills = ("writes-change-nothing",)

    def routes(self) -> list[Route]:
        async def post(_: Request) -> Response:
            self.catalog = replace(self.catalog, tools=self.catalog.tools[1:])
            return json_response(ENVELOPE, 405, {"Allow": "GET"})

        return [Route("/v1/tools", post, methods=["POST"]), *super().routes()]


class WritesAreLost(HostApp):
    """Answers other methods with 404."""

    advises = ("writes-answered-405",)

    async def refusal(self, request: Request, error: Exception) -> Response:
        answer = await super().refusal(request, error)
        if answer.status_code == 405:
            return json_response(ENVELOPE, 404)
        return answer


class Flickering(HostApp):
    """Hides its last tool from every third list."""

    kills = ("tool-ids-stable",)
    allows = ("writes-change-nothing", "item-agrees-with-list", "source-filter-exact", "advertised-sources-seen")
    read = 0

    async def list_tools(self, request: Request) -> Response:
        self.read += 1
        answer = await super().list_tools(request)
        if self.read % 3:
            return answer
        return rewritten(answer, lambda body: {"tools": body["tools"][:-1]})


class Climbing(HostApp):
    """Changes a tier with every list."""

    kills = ("reading-changes-nothing",)
    allows = ("writes-change-nothing", "item-agrees-with-list", "tool-ids-unique", "source-filter-exact")
    read = 0

    async def list_tools(self, request: Request) -> Response:
        self.read += 1
        tier = ("pure", "read", "write")[self.read % 3]

        def changed(body: Any) -> Any:
            return {
                "tools": [{**tool, "safetyTier": tier} if tool["source"] == "mcp" else tool for tool in body["tools"]]
            }

        return rewritten(await super().list_tools(request), changed)


class ClimbingById(HostApp):
    """Changes a tier with every read by id, after a while."""

    kills = ("reading-changes-nothing",)
    allows = ("item-agrees-with-list", "item-literal-colon", "writes-change-nothing")
    read = 0

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200 or "slugify" not in request.path_params["tool_id"]:
            return answer
        self.read += 1
        tier = ("pure", "read")[self.read % 2]
        return rewritten(answer, lambda tool: {**tool, "safetyTier": tier})
