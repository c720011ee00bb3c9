"""Hosts with one vice each in what they tell of tools that a caller may not see."""

import asyncio
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.catalog import HostPrincipal
from openwop_conformance.reference.mutants.base import rewritten


class Telling(HostApp):
    """Answers for tools that are hidden from the caller in its own way."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        hidden = self.hidden_tool(request) if answer.status_code != 200 else None
        return self.told(request, answer, hidden) if hidden is not None else answer

    def hidden_tool(self, request: Request) -> Any:
        asked = request.path_params["tool_id"]
        return next((tool for tool in self.catalog.tools if tool.id == asked), None)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return answer


class Forbidding(Telling):
    """Answers hidden ids with 403."""

    kills = ("hidden-same-status",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return json_response(json.loads(bytes(answer.body)), 403)


class OpenById(Telling):
    """Checks rights in the list alone; by id everything resolves."""

    kills = ("hidden-same-status", "nothing-unlisted-resolves", "item-within-tenant")

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return json_response(tool.descriptor, headers={"Cache-Control": "private"})


class Gone(Telling):
    """Says 410 of one hidden tool among many."""

    kills = ("hidden-same-status",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return json_response(json.loads(bytes(answer.body)), 410) if "uptime" in tool.id else answer


class OneWordLonger(Telling):
    """Says one word more of hidden ids."""

    kills = ("hidden-same-body",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return rewritten(answer, lambda body: {**body, "message": body["message"] + " Sorry."})


class SameLengthOtherWord(Telling):
    """Says another word of the same length of hidden ids."""

    kills = ("hidden-same-body",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return rewritten(answer, lambda body: {**body, "message": body["message"].replace("such", "open")})


class OtherOrder(Telling):
    """Writes the members of the error in another order for hidden ids."""

    kills = ("hidden-same-body",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return rewritten(answer, lambda body: dict(reversed(body.items())))


class TellingHeader(Telling):
    """Adds a header for hidden ids."""

    kills = ("hidden-same-headers",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        answer.headers["x-policy"] = "denied"
        return answer


class TellingVary(Telling):
    """Varies by Authorization only where there is a tool."""

    kills = ("hidden-same-headers",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        answer.headers["vary"] = "Authorization"
        return answer


class TellingHead(Telling):
    """Finds hidden tools by HEAD."""

    kills = ("hidden-same-head",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        if request.method == "HEAD":
            answer.status_code = 200
        return answer


class TellingHeadHeader(Telling):
    """Tells by a header of HEAD that there is a tool."""

    kills = ("hidden-same-head",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        if request.method == "HEAD":
            answer.headers["accept-ranges"] = "none"
        return answer


class TellingCondition(Telling):
    """Looks at If-None-Match before it looks at rights."""

    kills = ("hidden-same-conditional",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        return Response(status_code=304) if request.headers.get("if-none-match") == "*" else answer


class TellingPrecondition(Telling):
    """Answers If-Match with 412 where there is no tool, and with 404 where one is hidden."""

    kills = ("hidden-same-conditional",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404 and "if-match" in request.headers and self.hidden_tool(request) is None:
            return json_response(json.loads(bytes(answer.body)), 412)
        return answer


class TellingFilter(Telling):
    """Resolves a hidden tool where the request names its source."""

    kills = ("hidden-same-variants",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        same = request.query_params.get("source") == tool.source
        return json_response(tool.descriptor, headers={"Cache-Control": "private"}) if same else answer


class TellingSlash(HostApp):
    """Redirects hidden ids with a slash behind, and does not find others."""

    kills = ("hidden-same-variants",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        if asked.endswith("/") and any(tool.id == asked[:-1] for tool in self.catalog.tools):
            return Response(status_code=301, headers={"Cache-Control": "private", "X-Moved": "yes"})
        return answer


class TellingCase(HostApp):
    """Forbids what it would find in another case, and does not find the rest."""

    kills = ("hidden-same-variants",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        known = {tool.id.lower() for tool in self.catalog.tools} if asked != asked.lower() else set()
        return json_response({"error": "forbidden", "message": "No."}, 403) if asked.lower() in known else answer


class TellingEncoding(Telling):
    """Skips the check of rights where every character is percent-encoded."""

    kills = ("hidden-same-variants",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        raw = request.scope["raw_path"].removeprefix(b"/v1/tools/")
        whole = len(raw) >= 3 * len(tool.id)
        return json_response(tool.descriptor, headers={"Cache-Control": "private"}) if whole else answer


class TellingStrangers(HostApp):
    """Tells strangers by a header which ids exist."""

    kills = ("hidden-same-without-credential",)

    async def refusal(self, request: Request, error: Exception) -> Response:
        answer = await super().refusal(request, error)
        asked = request.path_params.get("tool_id")
        if answer.status_code == 401 and any(tool.id == asked for tool in self.catalog.tools):
            answer.headers["x-realm"] = "tools"
        return answer


class LeakyFilter(HostApp):
    """Has the list right and the filter wrong: it forgets rights for workflows."""

    kills = ("hidden-id-nowhere", "list-within-tenant")
    advises = ("source-filter-exact",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if request.query_params.get("source") != "workflow":
            return answer
        return json_response(
            {"tools": [one.descriptor for one in self.catalog.tools if one.source == "workflow"]},
            headers={"Cache-Control": "private"},
        )


class LeakyHeader(HostApp):
    """Names the next tool in a header of the list, whoever asks."""

    kills = ("hidden-id-nowhere",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        answer.headers["x-last-tool"] = self.catalog.tools[-1].id
        return answer


class LeakyError(HostApp):
    """Suggests tools in its errors that the caller may not see."""

    kills = ("hidden-id-nowhere",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        hint = {"didYouMean": [self.catalog.tools[-1].id]}
        return rewritten(answer, lambda body: {**body, "details": hint})


class LeakyAgents(HostApp):
    """Lists agents to people who may not use their tools."""

    kills = ("hidden-id-nowhere",)
    advises = ("agent-allowlist-resolves",)

    async def agents(self, request: Request) -> Response:
        self.caller(request)
        return json_response({"agents": [{"toolAllowlist": list(tools)} for _, tools in self.catalog.agents]})


class TenantBlind(HostApp):
    """Lists a principal the tools of every tenant."""

    kills = ("list-within-tenant", "item-within-tenant", "hidden-id-nowhere", "hidden-same-status")
    allows = ("nothing-unlisted-resolves", "hidden-same-headers", "hidden-same-body")
    third = True

    def caller(self, request: Request) -> HostPrincipal:
        known = super().caller(request)
        return HostPrincipal(known.name, known.token, "acme", known.scopes)


class Slow(Telling):
    """Takes its time over hidden ids; seen only with --openwop-timing."""

    advises = ("hidden-same-timing",)
    timing = True

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404 and self.hidden_tool(request) is not None:
            await asyncio.sleep(0.01)
        return answer
