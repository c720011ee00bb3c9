"""Hosts with one vice each in discovery, lists, single tools and credentials."""

from dataclasses import replace
from typing import Any, ClassVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.mutants.base import (
    ENVELOPE,
    ById,
    Discovering,
    Listing,
    Misses,
    Strangers,
    with_member,
)


class NoDiscovery(HostApp):
    """Serves no discovery document."""

    kills = ("discovery-served",)

    async def discovery(self, request: Request) -> Response:
        return PlainTextResponse("not here", 404)


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
    advises = ("input-schema-portable",)

    def change(self, body: Any) -> Any:
        return with_member(body, "openwop:text.slugify", "inputSchema", {"type": "objekt"})


class BadOutputSchema(Listing):
    """Has an output schema that is none in the dialect that it declares."""

    kills = ("output-schema-valid", "item-agrees-with-list")

    def change(self, body: Any) -> Any:
        broken = {"$schema": "http://json-schema.org/draft-07/schema#", "required": "slug"}
        return with_member(body, "openwop:text.slugify", "outputSchema", broken)


class NobodySeesConnectors(Listing):
    """Advertises a source of which it lists nothing."""

    advises = ("advertised-sources-seen", "agent-allowlist-resolves")

    def change(self, body: Any) -> Any:
        return {"tools": [tool for tool in body["tools"] if tool["source"] != "connector"]}


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
        lost = answer.status_code == 200 and b"weekly" in request.scope["raw_path"]
        return json_response(ENVELOPE, 404) if lost else answer


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

    kills = ("item-rejects-missing-credential", "hidden-same-without-credential")

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if request.url.path != "/v1/tools" and "authorization" not in request.headers:
            return self.catalog.principals[0]
        raise refusal


class TellingRefusal(Strangers):
    """Turns a stranger with a token away by 404 where there is no tool, and by 401 where there is one."""

    kills = ("item-rejects-unknown-credential", "hidden-same-without-credential")

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


class Unadvertised(Discovering):
    """Serves a catalog that it does not advertise."""

    advises = ("catalog-absent-when-unadvertised",)

    def change(self, document: Any) -> Any:
        del document["toolCatalog"]
        return document


class BeyondScopes(HostApp):
    """Lists one principal a tool that it may not invoke, and serves it by id."""

    kills = ("list-within-scopes",)
    declared = True

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "auth": {"scopes": ["tools:nobody"]}})
            if "slugify" in one.id
            else one
            for one in catalog.tools
        )
        people = tuple(replace(one, scopes=(*one.scopes, "tools:nobody")) for one in catalog.principals)
        super().__init__(replace(catalog, tools=tools, principals=people), *more)


class Renamed(HostApp):
    """Has given a tool another id within one host version."""

    kills = ("tool-ids-stable-over-time",)
    earlier = True

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "toolId": f"{one.id}-2"}) if "slugify" in one.id else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class Reclassified(HostApp):
    """Has given a tool another tier within one host version."""

    kills = ("tool-ids-stable-over-time",)
    earlier = True

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor={**one.descriptor, "safetyTier": "write"}) if "slugify" in one.id else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)


class OpenFilter(Strangers):
    """Gives the list by source to whoever sends no credential."""

    kills = ("list-rejects-missing-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if request.url.path == "/v1/tools" and request.url.query and "authorization" not in request.headers:
            return self.catalog.principals[0]
        raise refusal


class OpenHead(Strangers):
    """Answers HEAD on the list to whoever sends no credential."""

    kills = ("list-rejects-missing-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        if (request.method, request.url.path) == ("HEAD", "/v1/tools") and "authorization" not in request.headers:
            return self.catalog.principals[0]
        raise refusal


class AnyScheme(Strangers):
    """Takes a token under whatever scheme it comes."""

    advises = ("list-rejects-unknown-credential",)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        known = self.catalog.authenticate(request.headers.get("authorization", "").partition(" ")[2])
        if known is None:
            raise refusal
        return known
