"""Hosts with one vice each, and the requirement that has to catch it; hosts without one, that stay green."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from openwop_conformance.plugin.marks import scenarios_by_requirement
from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.requirements import load_registry
from tests.hosts import reference
from tests.plugin.conftest import Suite

ENVELOPE = {"error": "not_found", "message": "No."}


def rewritten(answer: Response, change: Callable[[Any], Any]) -> Response:
    """The same answer with another JSON body."""
    return json_response(change(json.loads(bytes(answer.body))), answer.status_code)


class NoDiscovery(HostApp):
    """Serves no discovery document."""

    kills = ("discovery-served",)

    async def discovery(self, request: Request) -> Response:
        return PlainTextResponse("not here", 404)


class Discovering(HostApp):
    """Changes its discovery document."""

    async def discovery(self, request: Request) -> Response:
        return rewritten(await super().discovery(request), self.change)

    def change(self, document: Any) -> Any:
        return document


class OpenBlock(Discovering):
    """Adds a member to the closed block."""

    kills = ("toolcatalog-block-valid",)

    def change(self, document: Any) -> Any:
        document["toolCatalog"]["paging"] = True
        return document


class BadHooks(Discovering):
    """Says yes in a word."""

    kills = ("toolhooks-block-valid",)

    def change(self, document: Any) -> Any:
        return {**document, "toolHooks": {"supported": "yes"}}


class InTheWrapper(Discovering):
    """Advertises in the deprecated wrapper alone."""

    advises = ("toolcatalog-block-at-root",)

    def change(self, document: Any) -> Any:
        return {"capabilities": document}


class UnadvertisedSource(Discovering):
    """Lists tools of a source that it does not advertise."""

    kills = ("listed-sources-advertised",)

    def change(self, document: Any) -> Any:
        document["toolCatalog"]["sources"].remove("workflow")
        return document


class NoListEndpoint(HostApp):
    """Advertises a list that it does not have."""

    kills = ("catalog-list-endpoint-served",)

    async def list_tools(self, request: Request) -> Response:
        self.caller(request)
        return json_response(ENVELOPE, 404)


class Listing(HostApp):
    """Changes its list."""

    async def list_tools(self, request: Request) -> Response:
        return rewritten(await super().list_tools(request), self.change)

    def change(self, body: Any) -> Any:
        return body


class BrokenList(HostApp):
    """Breaks down over the list."""

    kills = ("list-status",)

    async def list_tools(self, request: Request) -> Response:
        self.caller(request)
        return json_response(ENVELOPE, 500)


class BareArray(Listing):
    """Serves the list as a bare array."""

    advises = ("list-body",)

    def change(self, body: Any) -> Any:
        return body["tools"]


class OtherName(Listing):
    """Calls the array items."""

    kills = ("list-body",)

    def change(self, body: Any) -> Any:
        return {"items": body["tools"]}


class Paged(Listing):
    """Serves the list in pages."""

    advises = ("list-complete",)

    def change(self, body: Any) -> Any:
        return {**body, "nextCursor": "abc"}


class OneBadDescriptor(Listing):
    """Adds a member to the last descriptor of the list."""

    kills = ("listed-descriptors-valid",)
    advises = ("item-agrees-with-list",)

    def change(self, body: Any) -> Any:
        body["tools"][-1]["vendor"] = "acme"
        return body


class ExecOfMcp(Listing):
    """Labels an MCP tool as exec, in the list alone."""

    kills = ("exec-only-host-extension", "item-agrees-with-list")

    def change(self, body: Any) -> Any:
        for tool in body["tools"]:
            if tool["source"] == "mcp":
                tool["safetyTier"] = "exec"
        return body


class DoubledId(Listing):
    """Lists a tool twice."""

    kills = ("tool-ids-unique",)

    def change(self, body: Any) -> Any:
        return {"tools": [*body["tools"], body["tools"][0]]}


class BadInputSchema(Listing):
    """Has an input schema that is none."""

    kills = ("input-schema-valid", "item-agrees-with-list")

    def change(self, body: Any) -> Any:
        body["tools"][0]["inputSchema"] = {"type": "objekt"}
        return body


class BadOutputSchema(Listing):
    """Has an output schema that is none in the dialect that it declares."""

    kills = ("output-schema-valid", "item-agrees-with-list")

    def change(self, body: Any) -> Any:
        body["tools"][0]["outputSchema"] = {"$schema": "http://json-schema.org/draft-07/schema#", "required": "slug"}
        return body


class NobodySeesConnectors(Listing):
    """Advertises a source of which it lists nothing."""

    advises = ("advertised-sources-seen",)

    def change(self, body: Any) -> Any:
        return {"tools": [tool for tool in body["tools"] if tool["source"] != "connector"]}


class ById(HostApp):
    """Changes what it serves by id."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200:
            return answer
        return rewritten(answer, self.change)

    def change(self, tool: Any) -> Any:
        return tool


class NoItemEndpoint(HostApp):
    """Advertises tools by id that it does not have."""

    kills = ("catalog-item-endpoint-served", "item-resolves")

    async def one_tool(self, request: Request) -> Response:
        self.caller(request)
        return json_response(ENVELOPE, 404)


class OneDoesNotResolve(HostApp):
    """Does not find one of its tools by id."""

    kills = ("item-resolves",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        return json_response(ENVELOPE, 404) if b"weekly" in request.scope["raw_path"] else answer


class SomeOtherTool(ById):
    """Answers with another tool."""

    kills = ("item-resolves",)

    def change(self, tool: Any) -> Any:
        return {**tool, "toolId": tool["toolId"].upper()}


class BadById(ById):
    """Adds a member by id."""

    kills = ("item-valid",)
    advises = ("item-agrees-with-list",)

    def change(self, tool: Any) -> Any:
        return {**tool, "vendor": "acme"}


class ExecById(ById):
    """Is exec by id alone."""

    kills = ("exec-only-host-extension", "item-agrees-with-list")

    def change(self, tool: Any) -> Any:
        return {**tool, "safetyTier": "exec"} if tool["source"] == "mcp" else tool


class OtherTitle(ById):
    """Has another title by id."""

    kills = ("item-agrees-with-list",)

    def change(self, tool: Any) -> Any:
        return {**tool, "title": "Something else"}


class ItemAsText(HostApp):
    """Labels a descriptor as text."""

    kills = ("item-media-type",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            answer.headers["content-type"] = "text/plain"
        return answer


class EncodedOnly(HostApp):
    """Finds a tool only where its colon is encoded."""

    advises = ("item-literal-colon",)

    async def one_tool(self, request: Request) -> Response:
        self.caller(request)
        return json_response(ENVELOPE, 404) if b":" in request.scope["raw_path"] else await super().one_tool(request)


class Misses(HostApp):
    """Changes what it answers to unknown ids."""

    status: ClassVar[int] = 404
    body: ClassVar[Any] = ENVELOPE

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        return answer if answer.status_code == 200 else json_response(self.body, self.status)


class UnknownIs200(Misses):
    """Answers unknown ids with nothing at all, and 200."""

    kills = ("unknown-id-status",)
    status, body = 200, None


class UnknownIs400(Misses):
    """Answers unknown ids with 400."""

    kills = ("unknown-id-status",)
    status = 400


class OtherEnvelope(Misses):
    """Has an error envelope of its own."""

    advises = ("unknown-id-envelope",)
    body: ClassVar[Any] = {"code": 404}


class Strangers(HostApp):
    """Treats callers whom it does not know in its own way."""

    def caller(self, request: Request) -> Any:
        try:
            return super().caller(request)
        except HTTPException as refusal:
            return self.stranger(request, refusal)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        raise refusal


class OpenList(Strangers):
    """Gives the list to whoever sends no credential."""

    kills = ("list-rejects-missing-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if request.url.path == "/v1/tools" and "authorization" not in request.headers:
            return self.catalog.principals[0]
        raise refusal


class AnyToken(Strangers):
    """Takes any token for the list."""

    kills = ("list-rejects-unknown-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if request.url.path == "/v1/tools" and "authorization" in request.headers:
            return self.catalog.principals[0]
        raise refusal


class OpenItems(Strangers):
    """Gives single tools to whoever sends no credential."""

    kills = ("item-rejects-missing-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if request.url.path != "/v1/tools" and "authorization" not in request.headers:
            return self.catalog.principals[0]
        raise refusal


class TellingRefusal(Strangers):
    """Turns a stranger with a token away by 404 where there is no tool, and by 401 where there is one."""

    kills = ("item-rejects-unknown-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        known = any(tool.id in request.url.path for tool in self.catalog.tools)
        if request.url.path != "/v1/tools" and "authorization" in request.headers and not known:
            raise HTTPException(404)
        raise refusal


class ForbiddenList(Strangers):
    """Answers strangers with 403."""

    advises = ("list-rejects-missing-credential", "list-rejects-unknown-credential")

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        raise HTTPException(403)


class SecondListBroken(HostApp):
    """Breaks down over the second principal's list."""

    kills = ("list-status",)

    async def list_tools(self, request: Request) -> Response:
        principal = self.caller(request)
        return json_response(ENVELOPE, 500) if principal.name == "bob" else await super().list_tools(request)


class SecondListAsText(HostApp):
    """Labels the second principal's list as text."""

    kills = ("list-media-type",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if self.caller(request).name == "bob":
            answer.headers["content-type"] = "text/html"
        return answer


class SecondItemsMissing(HostApp):
    """Finds nothing by id for the second principal."""

    kills = ("catalog-item-endpoint-served", "item-resolves")

    async def one_tool(self, request: Request) -> Response:
        principal = self.caller(request)
        return json_response(ENVELOPE, 404) if principal.name == "bob" else await super().one_tool(request)


class NamelessById(ById):
    """Leaves the id out by id, and tells another title."""

    kills = ("item-valid", "item-agrees-with-list")

    def change(self, tool: Any) -> Any:
        return {key: value for key, value in tool.items() if key != "toolId"} | {"title": "Another"}


class LoginPage(Strangers):
    """Sends strangers to a login page: odd, but nothing is given away."""

    advises = (
        "list-rejects-missing-credential",
        "list-rejects-unknown-credential",
        "item-rejects-missing-credential",
        "item-rejects-unknown-credential",
    )

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        raise HTTPException(302, headers={"Location": "/.well-known/openwop"})


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
    allows = ("writes-change-nothing", "item-agrees-with-list")
    read = 0

    async def list_tools(self, request: Request) -> Response:
        self.read += 1
        tier = ("pure", "read", "write")[self.read % 3]

        def changed(body: Any) -> Any:
            return {
                "tools": [{**tool, "safetyTier": tier} if tool["source"] == "mcp" else tool for tool in body["tools"]]
            }

        return rewritten(await super().list_tools(request), changed)


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
    """Is busy now and then: conforming."""

    answered = 0

    async def list_tools(self, request: Request) -> Response:
        Throttling.answered += 1
        if Throttling.answered % 2:
            return json_response({"error": "busy", "message": "Later."}, 429, {"Retry-After": "0"})
        return await super().list_tools(request)


HOSTS = [
    one
    for one in list(globals().values())
    if isinstance(one, type)
    and issubclass(one, HostApp)
    and one not in {HostApp, Discovering, Listing, ById, Misses, Strangers}
]


@pytest.mark.parametrize("vice", HOSTS, ids=lambda one: one.__name__)
def test_a_host_is_blamed_for_its_vice_and_for_nothing_else(suite: Suite, vice: type[HostApp]) -> None:
    with reference(vice(load_catalog())) as host:
        first, second = host.principals[:2]
        run = suite.live(host.url, "--openwop-token", first.token, "--openwop-second-token", second.token)
    allowed = set(getattr(vice, "allows", ()))
    assert run.blamed("fail") - allowed == set(getattr(vice, "kills", ()))
    assert run.blamed("advisory") - allowed == set(getattr(vice, "advises", ()))
    assert run.blamed("inconclusive") - allowed == set()
    assert run.code == (1 if getattr(vice, "kills", ()) else 0)


def test_every_live_requirement_with_a_scenario_is_caught_by_a_vice() -> None:
    caught = {name for vice in HOSTS for name in (*getattr(vice, "kills", ()), *getattr(vice, "advises", ()))}
    live = {name for name in scenarios_by_requirement() if load_registry()[name].live}
    elsewhere = {"catalog-absent-when-unadvertised", "list-within-scopes"}
    assert live - caught == elsewhere
