"""Seams of the host on which mutants and variants are made: one method each to change."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.reference.app import HostApp, json_response

ENVELOPE = {"error": "not_found", "message": "No."}


def rewritten(answer: Response, change: Callable[[Any], Any]) -> Response:
    """The same answer with another JSON body."""
    kept = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
    return json_response(change(json.loads(bytes(answer.body))), answer.status_code, kept)


def with_member(body: Any, tool_id: str, member: str, value: Any) -> Any:
    """A list in which one tool has another member."""
    return {**body, "tools": [{**one, member: value} if one["toolId"] == tool_id else one for one in body["tools"]]}


class Discovering(HostApp):
    """Changes its discovery document."""

    async def discovery(self, request: Request) -> Response:
        return rewritten(await super().discovery(request), self.change)

    def change(self, document: Any) -> Any:
        return document


class Listing(HostApp):
    """Changes its list."""

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        return rewritten(answer, self.change) if json.loads(bytes(answer.body))["tools"] else answer

    def change(self, body: Any) -> Any:
        return body


class ById(HostApp):
    """Changes what it serves by id."""

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code != 200:
            return answer
        return rewritten(answer, self.change)

    def change(self, tool: Any) -> Any:
        return tool


class Misses(HostApp):
    """Changes what it answers to unknown ids."""

    status: ClassVar[int] = 404
    body: ClassVar[Any] = ENVELOPE

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        return answer if answer.status_code == 200 else json_response(self.body, self.status)


class Strangers(HostApp):
    """Treats callers whom it does not know in its own way."""

    def caller(self, request: Request) -> Any:
        try:
            return super().caller(request)
        except HTTPException as refusal:
            return self.stranger(request, refusal)

    def stranger(self, request: Request, refusal: HTTPException) -> Any:
        raise refusal
