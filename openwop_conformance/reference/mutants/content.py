"""Hosts with one vice each in what stands in descriptors, answers and call events."""

import hashlib
from dataclasses import replace
from typing import Any

import rfc8785
from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.mutants.base import ENVELOPE, rewritten

TOKEN = f"ghp_{hashlib.sha256(b'nobody issued this').hexdigest()[:36]}"


class Described(HostApp):
    """Changes one descriptor, in the list and by id alike."""

    tool = "slugify"

    def __init__(self, catalog: Any, *more: Any) -> None:
        tools = tuple(
            replace(one, descriptor=self.described({**one.descriptor})) if self.tool in one.id else one
            for one in catalog.tools
        )
        super().__init__(replace(catalog, tools=tools), *more)

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        return descriptor


class SecretInDescription(Described):
    """Gives a token in a description."""

    kills = ("descriptor-secret-free",)

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        return {**descriptor, "description": f"Call it with {TOKEN} as the key."}


class SecretDeepInDefault(Described):
    """Gives a token in a default five levels down."""

    kills = ("descriptor-secret-free",)
    tool = "weekly"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        inner: dict[str, Any] = {"type": "string", "default": TOKEN}
        for name in ("key", "auth", "http", "client", "options"):
            inner = {"type": "object", "properties": {name: inner}}
        return {**descriptor, "inputSchema": inner}


class SecretInKey(Described):
    """Has a token for the name of a property."""

    kills = ("descriptor-secret-free",)
    tool = "weekly"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        return {**descriptor, "inputSchema": {"type": "object", "properties": {TOKEN: {"type": "string"}}}}


class SecretInHeader(HostApp):
    """Sends a token in a header of the list."""

    kills = ("descriptor-secret-free",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        answer.headers["x-upstream-key"] = TOKEN
        return answer


class SecretInError(HostApp):
    """Tells a token in the error for unknown ids."""

    kills = ("descriptor-secret-free",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        return rewritten(answer, lambda body: {**body, "message": f"Tried {TOKEN}."})


class ChosenPassword(Described):
    """Has a default for a password that looks like one."""

    advises = ("descriptor-secret-free",)
    tool = "weekly"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        password = {"type": "string", "default": "Winter2026!Castle"}
        return {**descriptor, "inputSchema": {"type": "object", "properties": {"password": password}}}


class TokenEchoed(HostApp):
    """Repeats the caller's token in its errors."""

    kills = ("tokens-never-returned",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        if answer.status_code == 200:
            return answer
        seen = {"authorization": request.headers.get("authorization", "")}
        return rewritten(answer, lambda body: {**body, "details": seen})


class TokenInHeader(HostApp):
    """Repeats the caller's token in a header."""

    kills = ("tokens-never-returned",)

    async def list_tools(self, request: Request) -> Response:
        answer = await super().list_tools(request)
        if "source" in request.query_params:
            answer.headers["x-caller"] = request.headers["authorization"].partition(" ")[2]
        return answer


class Unportable(Described):
    """Bounds a number in the input of a node-pack tool."""

    advises = ("input-schema-portable",)
    tool = "bump"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        schema = {**descriptor["inputSchema"], "properties": {"by": {"type": "integer", "minimum": 1}}}
        return {**descriptor, "inputSchema": schema}


class DanglingReference(Described):
    """Refers to a definition that is not there."""

    kills = ("input-schema-valid",)
    tool = "weekly"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        return {**descriptor, "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}}


class BrokenPattern(Described):
    """Has a pattern that is no regular expression."""

    advises = ("input-schema-valid",)
    tool = "weekly"

    def described(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(["}}}
        return {**descriptor, "inputSchema": schema}


class UnknownAllowed(HostApp):
    """Lets an agent name a tool that there is not."""

    advises = ("agent-allowlist-resolves",)

    async def agents(self, request: Request) -> Response:
        self.caller(request)
        return json_response([{"toolAllowlist": ["mcp:notes.notes_add", "mcp:notes.notes_delete"]}])


class Invoking(HostApp):
    """Tells single calls in its own way."""

    whole = True

    async def invoke(self, request: Request) -> Response:
        asked = await self.body(request)
        answer = await super().invoke(request)
        return rewritten(answer, lambda body: self.told(asked, body))

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        return pair

    @staticmethod
    async def body(request: Request) -> dict[str, Any]:
        known = getattr(request.state, "asked", None)
        if known is None:
            known = request.state.asked = await HostApp.body(request)
        return dict(known)


RAN = {"status": "ok", "outcome": {"accepted": True}, "durationMs": 0}


def ran(returned: dict[str, Any]) -> dict[str, Any]:
    """The same return, of a call that went through."""
    kept = {name: value for name, value in returned.items() if name not in {"status", "error"}}
    return {**kept, **RAN}


class ScopesForgotten(Invoking):
    """Invokes without looking at scopes."""

    kills = ("missing-scope-forbidden",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        missed = asked.get("requiredScopes") and asked["principal"] == self.catalog.principals[0].name
        return {**pair, "toolReturned": ran(pair["toolReturned"])} if missed else pair


class FailsOpen(Invoking):
    """Invokes where it cannot decide."""

    kills = ("undecidable-forbidden",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        known = asked["principal"] in {one.name for one in self.catalog.principals}
        return pair if known else {**pair, "toolReturned": ran(pair["toolReturned"])}


class NeverExhausted(Invoking):
    """Invokes however often it is called."""

    kills = ("exhausted-rate-limited",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        spent = asked.get("simulateRateLimitExhausted")
        return {**pair, "toolReturned": ran(pair["toolReturned"])} if spent else pair


class UnpairedCall(Invoking):
    """Gives a return another callId than its call."""

    kills = ("call-payloads-valid",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        return {**pair, "toolReturned": {**pair["toolReturned"], "callId": "call_other"}}


class OddStatus(Invoking):
    """Has a status of its own for what went well."""

    kills = ("call-payloads-valid",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        returned = pair["toolReturned"]
        return {**pair, "toolReturned": {**returned, "status": "done"} if returned["status"] == "ok" else returned}


class TimedRefusal(Invoking):
    """Tells how long a call took that never ran."""

    kills = ("call-status-consistent",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        return {**pair, "toolReturned": {**pair["toolReturned"], "durationMs": 3}}


class BothSides(Invoking):
    """Tells an outcome and an error at once."""

    kills = ("call-status-consistent",)

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        returned = pair["toolReturned"]
        error = {"code": "none", "message": "No error."}
        return {**pair, "toolReturned": {**returned, "error": error} if returned["status"] == "ok" else returned}


class HashesSecrets(Invoking):
    """Hashes arguments before it redacts them."""

    kills = ("secrets-redacted-before-hashing",)
    planted = True

    def told(self, asked: dict[str, Any], pair: dict[str, Any]) -> dict[str, Any]:
        digest = hashlib.sha256(rfc8785.dumps(asked["args"])).hexdigest()
        return {**pair, "toolCalled": {**pair["toolCalled"], "argsHash": digest}}


class NotFoundAsText(HostApp):
    """Answers unknown ids with a text."""

    advises = ("unknown-id-envelope",)

    async def one_tool(self, request: Request) -> Response:
        answer = await super().one_tool(request)
        return answer if answer.status_code == 200 else Response(ENVELOPE["message"], 404)


class SecretInRefusal(HostApp):
    """Tells a token when it refuses a method."""

    kills = ("descriptor-secret-free",)

    async def refusal(self, request: Request, error: Exception) -> Response:
        answer = await super().refusal(request, error)
        if answer.status_code != 405:
            return answer
        changed = rewritten(answer, lambda body: {**body, "details": {"key": TOKEN}})
        changed.headers["allow"] = "GET, HEAD"
        return changed
