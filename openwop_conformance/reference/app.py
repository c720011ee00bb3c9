"""The HTTP face of the embedded host: discovery and the two catalog endpoints."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openwop_conformance.reference.catalog import Catalog, HostPrincipal

ITEM_PREFIX = b"/v1/tools/"
PRIVATE = {"Cache-Control": "private, no-store"}


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, dict(headers or {}), "application/json")


def error_response(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The error envelope."""
    return json_response({"error": code, "message": message}, status, {**PRIVATE, **(headers or {})})


class HostApp:
    """The endpoints over one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.asgi = Starlette(
            routes=[
                Route("/.well-known/openwop", self.discovery, methods=["GET"]),
                Route("/v1/tools", self.list_tools, methods=["GET"]),
                Route("/v1/tools/{tool_id:path}", self.one_tool, methods=["GET"]),
            ],
            exception_handlers={HTTPException: self.refusal},
        )

    async def discovery(self, request: Request) -> Response:
        """What the host is and what it takes on."""
        del request
        return json_response(
            {
                "protocolVersion": "1.0",
                "implementation": self.catalog.implementation,
                "supportedEnvelopes": [],
                "schemaVersions": {},
                "limits": {},
                "toolCatalog": {"supported": True, "sources": self.catalog.sources, "sessionLifecycle": False},
            }
        )

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

    def caller(self, request: Request) -> HostPrincipal:
        """Who asks; whoever cannot say so is turned away."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        principal = self.catalog.authenticate(token.strip()) if scheme.lower() == "bearer" else None
        if principal is None:
            raise HTTPException(401, headers={"WWW-Authenticate": 'Bearer realm="openwop"'})
        return principal

    async def refusal(self, request: Request, error: Exception) -> Response:
        """Every error in the same envelope."""
        del request
        status = error.status_code if isinstance(error, HTTPException) else 500
        codes = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed"}
        texts = {401: "A bearer token is needed.", 404: "There is nothing here.", 405: "This can only be read."}
        headers = error.headers if isinstance(error, HTTPException) else None
        return error_response(status, codes.get(status, "error"), texts.get(status, "The request failed."), headers)
