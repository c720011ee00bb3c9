"""gecx tools: definitions, server manifests, and the HTTP envelopes of server tools."""

import re
from collections.abc import Iterator
from typing import Any

from openwop_conformance.dialects.notices import Notice, advisory, error, has_errors
from openwop_conformance.dialects.shapes import shape_errors

FORMAT = "gecx"
STRICTEST_FIRST = ("denied", "supervisor_approve", "async_pending", "user_confirm", "auto")
TIMEOUTS = range(100, 600_001)
_ENVELOPE = frozenset(
    {
        *("status", "output", "error", "errorCode", "requestId", "idempotencyKey"),
        *("duplicateDisposition", "approvalPolicy"),
    }
)
_NAME = re.compile(r"[a-z][a-z0-9_-]+")


def check_definition(tool: Any) -> list[Notice]:
    """A client or server tool."""
    notices = shape_errors(FORMAT, tool)
    return notices if has_errors(notices) else [*notices, *_odd(tool)]


def check_manifest(tool: Any) -> list[Notice]:
    """One server tool of a manifest, whose schema is looser than a definition's."""
    notices = shape_errors(FORMAT, tool, "ServerToolManifest")
    if has_errors(notices):
        return notices
    notices += _odd(tool)
    if not _NAME.fullmatch(tool["name"]):
        notices.append(advisory("/name", "a tool definition could not have this name"))
    if tool["timeoutMs"] not in TIMEOUTS:
        notices.append(advisory("/timeoutMs", "a tool definition allows 100 to 600000"))
    return notices


def check_document(document: Any) -> list[Notice]:
    """A manifest document: each of its tools, and no name twice."""
    notices = shape_errors(FORMAT, document, "ServerToolManifestDocument")
    if has_errors(notices):
        return notices
    seen: dict[str, int] = {}
    for place, tool in enumerate(document["tools"]):
        notices += [one.below(f"/tools/{place}") for one in check_manifest(tool)]
        if tool["name"] in seen:
            notices.append(error(f"/tools/{place}/name", f"the tool at /tools/{seen[tool['name']]} has the same name"))
        seen.setdefault(tool["name"], place)
    return notices


def check_envelope(envelope: Any) -> list[Notice]:
    """What an endpoint answered: output or error, and output where it succeeded."""
    notices = shape_errors(FORMAT, envelope, "ServerToolResultEnvelope")
    if has_errors(notices):
        return notices
    succeeded = envelope.get("status") == "completed" or (
        envelope.get("status") == "duplicate" and envelope.get("duplicateDisposition", "replayed") == "replayed"
    )
    if "output" not in envelope and "error" not in envelope:
        notices.append(error("", "neither output nor error is there; one of them has to be"))
    elif succeeded and "output" not in envelope:
        notices.append(error("", f"status {envelope['status']} needs an output"))
    if "output" in envelope and "error" in envelope:
        notices.append(advisory("", "output and error stand together; a reader has to guess which one counts"))
    return notices


def check_request(request: Any) -> list[Notice]:
    """What is posted to an endpoint."""
    notices = shape_errors(FORMAT, request, "ServerToolInvocationRequest")
    if not has_errors(notices):
        keys = {request.get("idempotencyKey"), request["context"].get("idempotencyKey")} - {None}
        if len(keys) > 1:
            notices.append(advisory("/idempotencyKey", "body and context carry different idempotency keys"))
    return notices


def check_any(document: Any) -> list[Notice]:
    """Whichever of these a document is, by its members; a list is a list of definitions."""
    if isinstance(document, list):
        return [one.below(f"/{place}") for place, part in enumerate(document) for one in check_any(part)]
    if isinstance(document, dict):
        if "tools" in document and "inputSchema" not in document:
            return check_document(document)
        if "context" in document and "input" in document:
            return check_request(document)
        if document.keys() <= _ENVELOPE:
            return check_envelope(document)
        if document.get("kind") == "server" and "http" not in document:
            return check_manifest(document)
    return check_definition(document)


def approval_policies(tool: dict[str, Any]) -> list[str]:
    """Every approval policy that a tool declares, the strictest first."""
    permissions = tool.get("permissions", {})
    declared = {tool.get("approvalPolicy"), permissions.get("approvalPolicy")}
    declared |= {"user_confirm"} if permissions.get("requiresUserApproval") else set()
    return sorted((one for one in declared if one), key=STRICTEST_FIRST.index)


def _odd(tool: dict[str, Any]) -> Iterator[Notice]:
    policies = approval_policies(tool)
    if len(policies) > 1:
        yield advisory("/approvalPolicy", f"conflicting approval policies: {', '.join(policies)}")
    if "http" in tool and tool.get("kind", "client") == "client":
        yield advisory("/http", "a client tool has no use for http")
    idempotency = tool.get("idempotency", {})
    if idempotency.get("mode") == "none" and "duplicateBehavior" in idempotency:
        yield advisory("/idempotency/duplicateBehavior", "without keys there are no duplicates to treat")
