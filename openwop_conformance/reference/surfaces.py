"""The five surfaces: how a tool of each of them is really called."""

import re
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from openwop_conformance.dialects.gecx import check_envelope
from openwop_conformance.dialects.notices import has_errors
from openwop_conformance.reference.catalog import HostTool
from openwop_conformance.reference.connector_endpoint import KEY_HEADER, PATH
from openwop_conformance.reference.mcp_link import McpLink, McpUnavailable

TRANSPORTS = {"mcp": "mcp", "connector": "http"}
SHELL_SECONDS = 5
DEFAULT_TIMEOUT_MS = 5000


@dataclass(frozen=True, slots=True)
class Call:
    """One call in a session."""

    session_id: str
    turn: int
    call_id: str
    arguments: dict[str, Any]
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: a result, or an error with a code."""

    result: Any = None
    error: dict[str, str] | None = None
    duration_ms: int = 0


class ToolFailed(Exception):
    """A call that ended in an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Surfaces:
    """Calls tools wherever they live."""

    def __init__(self, mcp: McpLink | None, endpoint: str | None, connector_key: str) -> None:
        self._mcp = mcp
        self._endpoint = endpoint
        self._key = connector_key
        self._counter = 0
        self._lock = threading.Lock()
        self._by_source: dict[str, Callable[[HostTool, Call], Any]] = {
            "node-pack": lambda tool, call: self._pack(tool.native["name"], call.arguments),
            "workflow": self._workflow,
            "mcp": self._over_mcp,
            "connector": self._over_http,
            "host-extension": self._shell,
        }

    def call(self, tool: HostTool, call: Call) -> Outcome:
        """Call a tool and time it; failures are outcomes too."""
        started = time.monotonic()
        try:
            result, error = self._by_source[tool.source](tool, call), None
        except ToolFailed as failure:
            result, error = None, {"code": failure.code, "message": str(failure)}
        except Exception:  # noqa: BLE001 - whatever a tool does, its session is brought to an end
            result, error = None, {"code": "TOOL_EXECUTION_FAILED", "message": "The tool broke down."}
        return Outcome(result, error, round((time.monotonic() - started) * 1000))

    def _pack(self, name: str, given: dict[str, Any]) -> Any:
        if name == "local::text.slugify":
            return {"slug": re.sub(r"[^a-z0-9]+", "-", str(given["heading"]).lower()).strip("-")}
        if name == "local::counter.bump":
            with self._lock:
                self._counter += int(given["by"])
                return {"value": self._counter}
        raise ToolFailed("TOOL_EXECUTION_FAILED", f"The pack has no {name}.")

    def _workflow(self, tool: HostTool, call: Call) -> Any:
        results = []
        for step in tool.native["steps"]:
            given = {name: _filled(value, call.arguments) for name, value in step["with"].items()}
            results.append(self._pack(step["use"], given))
        return {"steps": results}

    def _over_mcp(self, tool: HostTool, call: Call) -> Any:
        if self._mcp is None:
            raise ToolFailed("TOOL_EXECUTION_FAILED", "There is no live MCP server; install the mcp extra.")
        try:
            answer = self._mcp.call(tool.native["name"], call.arguments)
        except McpUnavailable as problem:
            raise ToolFailed("TOOL_EXECUTION_FAILED", str(problem)) from None
        if answer.get("isError"):
            raise ToolFailed("TOOL_EXECUTION_FAILED", "The MCP server reports an error.")
        return answer.get("structuredContent", answer.get("content"))

    def _over_http(self, tool: HostTool, call: Call) -> Any:
        context = {"sessionId": call.session_id, "turnIndex": call.turn, "toolCallId": call.call_id}
        body: dict[str, Any] = {"name": tool.native["name"], "input": call.arguments, "context": context}
        if tool.native.get("idempotency", {}).get("mode", "none") != "none":
            body["idempotencyKey"] = call.idempotency_key
        try:
            seconds = tool.native.get("timeoutMs", DEFAULT_TIMEOUT_MS) / 1000
            answer = httpx.post(
                f"{self._endpoint}{PATH}", json=body, headers={KEY_HEADER: self._key}, timeout=seconds, trust_env=False
            )
            envelope = answer.json()
        except httpx.TimeoutException:
            raise ToolFailed("TOOL_TIMEOUT", "The endpoint did not answer in time.") from None
        except (httpx.HTTPError, ValueError):
            raise ToolFailed(
                "SERVER_TOOL_HTTP_FAILED", "The endpoint could not be reached or did not answer in JSON."
            ) from None
        if has_errors(check_envelope(envelope)):
            raise ToolFailed("SERVER_TOOL_HTTP_FAILED", "The endpoint broke its contract.")
        if "output" not in envelope:
            raise ToolFailed(envelope.get("errorCode", "TOOL_EXECUTION_FAILED"), str(envelope["error"]))
        return envelope["output"]

    def _shell(self, tool: HostTool, call: Call) -> Any:
        """The one command that this extension knows; nothing that a caller sends reaches it."""
        del tool, call
        done = subprocess.run(["uptime"], capture_output=True, text=True, timeout=SHELL_SECONDS, check=False)  # noqa: S607
        return {"exitCode": done.returncode}


def _filled(value: Any, given: dict[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    for name, part in given.items():
        value = value.replace(f"{{{name}}}", str(part))
    return value
