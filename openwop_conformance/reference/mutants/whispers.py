"""Hosts that tell of hidden tools in a low voice: by a redirect, a spelling, a word beside what varies, a method."""

import json
import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openwop_conformance.reference.app import HostApp, error_response, json_response
from openwop_conformance.reference.mutants.base import rewritten
from openwop_conformance.reference.mutants.disclosure import Telling

HIDDEN = "connector:crm_update_contact"


class RedirectsHidden(Telling):
    """Sends readers of hidden ids to another spelling of the same address."""

    kills = ("hidden-same-status",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        raw = request.scope["raw_path"].split(b"?")[0].decode()
        return answer if "%3A" not in raw else Response(status_code=308, headers={"Location": raw.replace("%3A", ":")})


class EchoesInUpperCase(HostApp):
    """Echoes unknown ids as they are, and hidden ones in upper case."""

    kills = ("hidden-same-body",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 404:
            return answer
        asked = request.path_params["tool_id"]
        hidden = any(tool.id == asked for tool in self.catalog.tools)
        return rewritten(answer, lambda body: {**body, "details": {"id": asked.upper() if hidden else asked}})


class OtherNounBesideANumber(HostApp):
    """Gives every miss a number, and says item instead of tool of hidden ones."""

    kills = ("hidden-same-body",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 404:
            return answer
        hidden = any(tool.id == request.path_params["tool_id"] for tool in self.catalog.tools)
        noun = "item" if hidden else "tool"
        return rewritten(answer, lambda body: {**body, "message": f"No such {noun} (ref {secrets.token_hex(4)})."})


class OtherEndOfRequestId(HostApp):
    """Ends the request ids of hidden ids otherwise than those of unknown ones."""

    kills = ("hidden-same-headers",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 404:
            hidden = any(tool.id == request.path_params["tool_id"] for tool in self.catalog.tools)
            answer.headers["X-Request-Id"] = f"{secrets.token_hex(6)}-{'acl' if hidden else 'idx'}"
        return answer


class OptionsTell(Telling):
    """Answers OPTIONS for tools that exist, whoever asks."""

    kills = ("hidden-same-variants",)

    def routes(self) -> list[Route]:
        return [Route("/v1/tools/{tool_id:path}", self.options, methods=["OPTIONS"]), *super().routes()]

    async def options(self, request: Request) -> Response:
        self.caller(request)
        if self.hidden_tool(request) is None:
            return error_response(404, "not_found", "There is no such tool.")
        return Response(status_code=204, headers={"Allow": "GET, HEAD"})


class ConditionFirst(Telling):
    """Evaluates If-Match before it looks who asks."""

    kills = ("hidden-same-conditional",)

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        if request.headers.get("if-match", "*") != "*":
            return json_response(json.loads(bytes(answer.body)), 412)
        return answer


class LooseWithCase(Telling):
    """Finds hidden tools when the case of an id is changed throughout."""

    kills = ("hidden-same-variants",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        found = next((tool for tool in self.catalog.tools if tool.id == asked.swapcase() and asked.isascii()), None)
        mine = found is not None and found.id in self.catalog.world(self.caller(request))
        return json_response(found.descriptor) if found is not None and not mine else answer


class DecodesTwice(HostApp):
    """Decodes ids twice, and checks rights after the first time."""

    kills = ("hidden-same-variants",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        asked = request.path_params["tool_id"]
        twice = asked.replace("%3A", ":")
        found = next((tool for tool in self.catalog.tools if twice != asked and tool.id == twice), None)
        return json_response(found.descriptor) if found is not None else answer


class TellsStrangers(HostApp):
    """Asks strangers for another realm where a tool exists, one that everybody may see too."""

    kills = ("hidden-same-without-credential",)

    async def one_tool(self, request: Request) -> Response:
        known = any(tool.id == request.path_params["tool_id"] for tool in self.catalog.tools)
        if known and not request.headers.get("authorization"):
            return error_response(401, "unauthorized", "A bearer token is needed.", {"WWW-Authenticate": "Bearer"})
        return await super().one_tool(request)


class NamesAllForAnOddSource(HostApp):
    """Lists what there is to choose from when it does not know a source."""

    kills = ("hidden-id-nowhere",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        source = request.query_params.get("source")
        if source is not None and source not in self.catalog.sources and self.caller(request).name == "bob":
            return error_response(400, "bad_source", f"Try one of {', '.join(tool.id for tool in self.catalog.tools)}")
        return answer


class SurrogateKey(HostApp):
    """Tags its list for a cache with the keys of all tools."""

    kills = ("hidden-id-nowhere",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        answer.headers["Surrogate-Key"] = " ".join(f"tool-{tool.id}" for tool in self.catalog.tools)
        return answer


class DropsHidden(Telling):
    """Hangs up on whoever asks for a hidden id."""

    kills = ("hidden-same-status",)
    allows = ("nothing-unlisted-resolves", "item-within-tenant", "list-within-tenant")

    def told(self, request: Request, answer: Response, tool: Any) -> Response:
        answer.headers["content-length"] = str(len(bytes(answer.body)) + 10)
        return answer
