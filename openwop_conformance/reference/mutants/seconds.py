"""Hosts that do right by the first principal, the first reading and the plain way, and wrong by others."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openwop_conformance.reference.app import HostApp, error_response, json_response
from openwop_conformance.reference.mutants.base import Listing, Strangers, rewritten, with_member
from openwop_conformance.reference.mutants.content import TOKEN

SLUG = "openwop:text.slugify"


class UnknownConnectorsAreGone(HostApp):
    """Says 410 of every connector tool that a caller cannot see, existing or not."""

    kills = ("unknown-id-status",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404 and request.path_params["tool_id"].startswith("connector:"):
            return json_response(json.loads(bytes(answer.body)), 410)
        return answer


class SecondBreaksDown(HostApp):
    """Breaks down over unknown ids of the second principal."""

    kills = ("unknown-id-status",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404 and self.caller(request).name == "bob":
            return error_response(500, "error", "The request failed.")
        return answer


class FindsByBeginning(HostApp):
    """Finds a tool by the beginning of its id."""

    kills = ("unknown-id-status",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        if answer.status_code == 404 and len(asked) > 10:
            for name, tool in self.catalog.world(self.caller(request)).items():
                if name.startswith(asked):
                    return json_response(tool.descriptor, headers={"Cache-Control": "private"})
        return answer


class SecondFlickers(HostApp):
    """Leaves a tool out of every other list of the second principal."""

    kills = ("tool-ids-stable",)
    allows = (
        "writes-change-nothing", "item-agrees-with-list", "source-filter-exact", "hidden-same-status",
        "nothing-unlisted-resolves", "item-within-tenant", "list-within-tenant", "hidden-id-nowhere", "item-resolves",
        "agent-allowlist-resolves",
    )  # fmt: skip
    read = 0

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if self.caller(request).name != "bob" or request.query_params.get("source"):
            return answer
        self.read += 1
        return rewritten(answer, lambda body: {"tools": body["tools"][self.read % 2 :]})


class SecondClimbsById(HostApp):
    """Changes a tier with every reading by id of the second principal."""

    kills = ("reading-changes-nothing",)
    allows = ("item-agrees-with-list", "writes-change-nothing")
    read = 0

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200 or self.caller(request).name != "bob" or request.path_params["tool_id"] != SLUG:
            return answer
        self.read += 1
        tier = ("pure", "read")[self.read % 2]
        return rewritten(answer, lambda tool: {**tool, "safetyTier": tier})


class FilterTellsOtherwise(HostApp):
    """Gives a tool another tier where the list is filtered."""

    advises = ("source-filter-exact",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if not request.query_params.get("source"):
            return answer
        return rewritten(answer, lambda body: with_member(body, SLUG, "safetyTier", "read"))


class ScopesById(HostApp):
    """Keeps quiet in the list about a scope that its reader lacks, and tells of it by id."""

    kills = ("list-within-scopes",)
    advises = ("item-agrees-with-list",)
    declared = True

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200 or request.path_params["tool_id"] != SLUG:
            return answer
        return rewritten(answer, lambda tool: {**tool, "auth": {"scopes": ["tools:vault:admin"]}})


class OneIdTwoTools(HostApp):
    """Has another tool under the same id for its second principal."""

    advises = ("tool-ids-unique",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if self.caller(request).name != "bob":
            return answer
        return rewritten(answer, lambda body: with_member(body, SLUG, "safetyTier", "write"))

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200 or self.caller(request).name != "bob" or request.path_params["tool_id"] != SLUG:
            return answer
        return rewritten(answer, lambda tool: {**tool, "safetyTier": "write"})


class SecretBesideTools(Listing):
    """Leaves a token in a member beside the tools."""

    kills = ("descriptor-secret-free",)

    def change(self, body: Any) -> Any:
        return {**body, "debug": {"upstream": {"authorization": TOKEN}}}


class SecretLater(HostApp):
    """Shows a token in a description from the fourth list on."""

    kills = ("descriptor-secret-free",)
    allows = ("reading-changes-nothing", "source-filter-exact", "item-agrees-with-list", "writes-change-nothing")
    read = 0

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        self.read += not request.query_params.get("source")
        if self.read < 4:
            return answer
        return rewritten(answer, lambda body: with_member(body, SLUG, "description", f"Slugs. {TOKEN}"))


class SecretBehindItsName(HostApp):
    """Writes a title twice, the first time with a token that most readers never see."""

    kills = ("descriptor-secret-free",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200:
            return answer
        doubled = bytes(answer.body).replace(b'"title":', f'"title":"{TOKEN}","title":'.encode(), 1)
        return Response(doubled, 200, {"Cache-Control": "private"}, "application/json")


class EchoesStrangers(Strangers):
    """Repeats a token that it does not know when it turns its bearer away."""

    kills = ("tokens-never-returned",)

    def stranger(self, request: Request, refusal: Any) -> Any:
        token = request.headers.get("authorization", "").partition(" ")[2]
        refusal.headers = {**(refusal.headers or {}), "X-Refused": token or "none"}
        raise refusal


class HeadForAnyToken(HostApp):
    """Answers HEAD on the list to whoever sends any token."""

    kills = ("list-rejects-unknown-credential",)

    async def list_tools(self, request: Request) -> Response:
        if request.method == "HEAD" and request.headers.get("authorization"):
            return json_response({"tools": []})
        return await super().list_tools(request)


class WritesForTheSecond(HostApp):
    """Takes what the second principal posts."""

    kills = ("list-rejects-writes",)

    def routes(self) -> list[Route]:
        return [Route("/v1/tools", self.post, methods=["POST"]), *super().routes()]

    async def post(self, request: Request) -> Response:
        if self.caller(request).name == "bob":
            return json_response({}, 201)
        return error_response(405, "method_not_allowed", "No.", {"Allow": "GET, HEAD"})


class PublicHead(HostApp):
    """Lets shared caches keep the headers of its list."""

    kills = ("shared-caches-kept-out",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if request.method == "HEAD":
            answer.headers["Cache-Control"] = "public, max-age=60"
        return answer
