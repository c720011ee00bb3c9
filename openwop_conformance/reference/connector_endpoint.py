"""A customer's endpoint for gecx server tools: a small CRM that ships along, with idempotency keys honored."""

import hashlib
import json
import secrets
import threading
from typing import Any

import rfc8785
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openwop_conformance.dialects.gecx import check_request
from openwop_conformance.dialects.notices import has_errors

PATH = "/chat/tool-call"
KEY_HEADER = "X-Connector-Key"
_BEHAVIOR = {"crm_find_contact": None, "crm_update_contact": "return_cached", "crm_create_ticket": "reject"}


class ConnectorEndpoint:
    """Takes `ServerToolInvocationRequest`, answers `ServerToolResultEnvelope`."""

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._contacts = {"c-1": {"id": "c-1", "name": "Ada", "phone": "555-0001"}}
        self._tickets = 0
        self._done: dict[str, tuple[str, dict[str, Any]]] = {}
        self.asgi = Starlette(routes=[Route(PATH, self.call, methods=["POST"])])

    async def call(self, request: Request) -> Response:
        """One call."""
        if not secrets.compare_digest(request.headers.get(KEY_HEADER, "").encode(), self.key.encode()):
            return _envelope({"status": "denied", "error": "Who is calling?"}, 401)
        try:
            body = await request.json()
            rfc8785.dumps(body)
        except (ValueError, RecursionError):
            return _envelope({"status": "failed", "error": "The body is not JSON with a canonical form."}, 400)
        if has_errors(check_request(body)) or body["name"] not in _BEHAVIOR:
            return _envelope({"status": "failed", "error": "The request is not one that this endpoint knows."}, 400)
        with self._lock:
            return self._answer(body)

    def _answer(self, body: dict[str, Any]) -> Response:
        behavior = _BEHAVIOR[body["name"]]
        key = body.get("idempotencyKey") or body["context"].get("idempotencyKey")
        if behavior is None:
            return _envelope({"status": "completed", "output": self._run(body)})
        if not key:
            return _envelope({"status": "failed", "error": "An idempotency key is needed."}, 400)
        print_ = hashlib.sha256(rfc8785.dumps([body["name"], body["input"]])).hexdigest()
        known = self._done.get(key)
        if known is None:
            output = self._run(body)
            self._done[key] = (print_, output)
            return _envelope({"status": "completed", "output": output, "idempotencyKey": key})
        repeated = {"status": "duplicate", "idempotencyKey": key}
        if known[0] != print_:
            return _envelope(
                {**repeated, "duplicateDisposition": "conflict", "error": "The key was used for another call."}, 409
            )
        if behavior == "reject":
            return _envelope({**repeated, "duplicateDisposition": "rejected", "error": "The key was used before."}, 409)
        return _envelope({**repeated, "duplicateDisposition": "replayed", "output": known[1]})

    def _run(self, body: dict[str, Any]) -> dict[str, Any]:
        given = body["input"]
        if body["name"] == "crm_find_contact":
            return {"ids": [one["id"] for one in self._contacts.values() if one["name"] == given.get("name")]}
        if body["name"] == "crm_update_contact":
            contact = self._contacts.setdefault(str(given.get("id")), {"id": str(given.get("id")), "name": ""})
            contact["phone"] = str(given.get("phone"))
            return {"id": contact["id"], "updated": True}
        self._tickets += 1
        return {"ticket": self._tickets}


def _envelope(value: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(value), status, media_type="application/json")
