"""Tool sessions: opened, several real calls, closed; every step is in the log before the next one is taken."""

import uuid
from dataclasses import dataclass
from typing import Any

from openwop_conformance.reference.catalog import Catalog, HostPrincipal, HostTool
from openwop_conformance.reference.event_log import EventLog
from openwop_conformance.reference.hooks import REDACTED, TokenBucket, args_hash, redacted
from openwop_conformance.reference.surfaces import TRANSPORTS, Call, Outcome, Surfaces

AGENT = "agent-reference"


@dataclass(frozen=True, slots=True)
class Session:
    """What a session-run is answered with."""

    run_id: str
    session_id: str
    tool_id: str


class Sessions:
    """Runs sessions for principals, on tools of their world."""

    def __init__(self, catalog: Catalog, log: EventLog, surfaces: Surfaces, secrets: tuple[str, ...]) -> None:
        self._catalog = catalog
        self._log = log
        self._surfaces = surfaces
        self._secrets = secrets
        self.bucket = TokenBucket(catalog.rate_limit)

    def run(self, principal: HostPrincipal, tool: HostTool) -> Session:
        """Open a session on a tool, make its calls, close it, end the run."""
        run_id = self._log.start_run(principal.tenant, principal.name)
        session_id = f"ses_{uuid.uuid4().hex}"
        named = {"sessionId": session_id, "toolId": tool.id}
        self._log.append(run_id, "tool.session.opened", named)
        approved = tool.descriptor.get("approval") != "always"
        failed = False
        for turn, arguments in enumerate(tool.session):
            call = Call(session_id, turn, f"call_{uuid.uuid4().hex}", arguments, f"{session_id}-{_key(arguments)}")
            self._called(run_id, principal, tool, call)
            if not approved:
                self._approve(run_id, call)
                approved = True
            failed = self._returned(run_id, tool, call, self._surfaces.call(tool, call)) or failed
        outcome = "failed" if failed else "completed"
        self._log.append(run_id, "tool.session.closed", {**named, "outcome": outcome})
        self._log.append(run_id, "run.failed" if failed else "run.completed", {})
        return Session(run_id, session_id, tool.id)

    def _called(self, run_id: str, principal: HostPrincipal, tool: HostTool, call: Call) -> None:
        inputs = redacted(_shown(tool, call.arguments), self._secrets)
        payload = {
            **_named(tool, call),
            "inputs": inputs,
            "argsHash": args_hash(inputs),
            "principal": principal.name,
            "transport": TRANSPORTS.get(tool.source, "native"),
        }
        self._log.append(run_id, "agent.toolCalled", payload)

    def _approve(self, run_id: str, call: Call) -> None:
        """The approval interrupt in mid-session; the operator of this host always agrees."""
        asked = {"interruptId": f"int_{uuid.uuid4().hex}", "kind": "approval", "callId": call.call_id}
        self._log.append(run_id, "interrupt.requested", asked)
        self._log.append(run_id, "interrupt.resolved", {**asked, "resolution": "approved"})

    def _returned(self, run_id: str, tool: HostTool, call: Call, outcome: Outcome) -> bool:
        told: dict[str, Any] = {"durationMs": outcome.duration_ms}
        if outcome.error is None:
            told |= {"status": "ok", "outcome": redacted(outcome.result, self._secrets)}
        else:
            told |= {"status": "error", "error": redacted(outcome.error, self._secrets)}
        self._log.append(run_id, "agent.toolReturned", {**_named(tool, call), **told})
        return outcome.error is not None

    def invoke(self, caller: HostPrincipal, request: dict[str, Any]) -> dict[str, Any]:
        """The hook seam: decide on one call by principal, scopes and rate, and tell both of its events."""
        inputs = redacted(request.get("args", {}), self._secrets)
        base = {"agentId": AGENT, "toolName": request["toolName"], "callId": f"call_{uuid.uuid4().hex}"}
        called = {**base, "argsHash": args_hash(inputs), "principal": request["principal"], "transport": "native"}
        returned = {**base, **self._decided(caller, request)}
        return {"toolCalled": called, "toolReturned": returned}

    def _decided(self, caller: HostPrincipal, request: dict[str, Any]) -> dict[str, Any]:
        """Whoever is not known here, or lacks a scope, is refused; what cannot be decided is refused too."""
        known = [one for one in self._catalog.principals if one.tenant == caller.tenant]
        principal = next((one for one in known if one.name == request["principal"]), None)
        needed = request.get("requiredScopes", [])
        readable = isinstance(needed, list) and all(isinstance(one, str) for one in needed)
        if principal is None or not readable or not self._may(principal, request["toolName"], set(needed)):
            return {
                "status": "forbidden",
                "error": {"code": "forbidden", "message": "The principal may not call this."},
            }
        if request.get("simulateRateLimitExhausted") is True or not self.bucket.take(
            principal.name, request["toolName"]
        ):
            return {"status": "rate_limited", "error": {"code": "rate_limited", "message": "Too many calls."}}
        return {"status": "ok", "outcome": {"accepted": True}, "durationMs": 0}

    def _may(self, principal: HostPrincipal, name: str, needed: set[str]) -> bool:
        """Whether a principal holds what the request names, and sees the tool where the name is that of one."""
        named = [tool for tool in self._catalog.tools if name in {tool.id, tool.native.get("name")}]
        seen = self._catalog.world(principal)
        return needed <= set(principal.scopes) and all(tool.id in seen for tool in named)


def _named(tool: HostTool, call: Call) -> dict[str, Any]:
    name = str(tool.native.get("name", tool.id))
    return {"agentId": AGENT, "toolName": name, "callId": call.call_id, "sessionId": call.session_id}


def _shown(tool: HostTool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments without what the audit policy of the tool keeps out of logs."""
    hidden = tool.native.get("audit", {}).get("redactInput", ())
    return {name: REDACTED if name in hidden else value for name, value in arguments.items()}


def _key(arguments: dict[str, Any]) -> str:
    """The same arguments in one session are the same write, tried again."""
    return args_hash(arguments)[:16]
