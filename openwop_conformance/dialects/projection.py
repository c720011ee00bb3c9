"""Native definitions turned into descriptors: what carries over, what is lost, what is refused."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from openwop_conformance.dialects import gecx, tool_contract, toolfoundation
from openwop_conformance.dialects.draft07 import to_2020_12
from openwop_conformance.dialects.notices import Kind, Notice
from openwop_conformance.dialects.shapes import DIALECT_07, DIALECT_2020_12, descriptor_errors, schema_errors

FORMATS = ("gecx", "toolfoundation", "tool-contract")
SOURCES = ("node-pack", "workflow", "mcp", "connector", "host-extension")
TIERS = ("pure", "read", "write", "exec")
ASSIGNABLE = (
    "safetyTier",
    "toolId",
    "source",
    "title",
    "egress",
    "approval",
    "replayPolicy",
    "costHint",
    "latencyHint",
)
_GECX_TIER = {"none": "pure", "read_only": "read", "state_changing": "write", "external_side_effect": "write"}
_GECX_APPROVAL = {"auto": "never", "user_confirm": "always", "supervisor_approve": "always", "async_pending": "always"}
_CONTRACT_TIER = {"IdempotentWrite": "write", "NonIdempotentWrite": "write", "ExternalSideEffects": "write"}


@dataclass(frozen=True, slots=True)
class Naming:
    """What the caller says about ids: the scope before the colon, the source, and the MCP server, if there is one."""

    scope: str | None = None
    source: str | None = None
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """A member that has no place in a descriptor."""

    tool: str
    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A definition that cannot be projected, and why."""

    tool: str
    reason: str


@dataclass(slots=True)
class Projection:
    """What came of a set of definitions."""

    descriptors: list[dict[str, Any]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    natives: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class _Draft:
    """One descriptor in the making."""

    name: str
    descriptor: dict[str, Any] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    suggestion: str | None = None
    why: str = ""
    problem: str = ""
    unnamed: str = ""


def tools_of(document: Any) -> list[Any]:
    """The definitions in a document: one, a list, or an object around a list."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and isinstance(document.get("tools"), list) and "inputSchema" not in document:
        return list(document["tools"])
    return [document]


def check_tool(format_name: str, tool: Any) -> list[Notice]:
    """What the parser of a format has to say about one definition."""
    if format_name == "gecx":
        is_manifest = isinstance(tool, dict) and tool.get("kind") == "server" and "http" not in tool
        return gecx.check_manifest(tool) if is_manifest else gecx.check_definition(tool)
    return toolfoundation.check_tool(tool) if format_name == "toolfoundation" else tool_contract.check_contract(tool)


def project(
    format_name: str, tools: Iterable[Any], naming: Naming, assignments: dict[str, dict[str, Any]] | None = None
) -> Projection:
    """Project definitions of one format; two that would share an id are both refused."""
    drafts = [(_drafted(format_name, tool, naming, assignments or {}, place), tool) for place, tool in enumerate(tools)]
    result = Projection()
    by_id: dict[str, list[str]] = defaultdict(list)
    for draft, _ in drafts:
        if not draft.problem:
            by_id[draft.descriptor["toolId"]].append(draft.name)
    for draft, tool in drafts:
        shared = by_id.get(draft.descriptor.get("toolId", ""), []) if not draft.problem else []
        if len(shared) > 1:
            draft.problem = f"shares the toolId {draft.descriptor['toolId']} with {_others(shared, draft.name)}"
        if draft.problem:
            result.refusals.append(Refusal(draft.name, draft.problem))
            continue
        result.descriptors.append(draft.descriptor)
        result.natives[draft.descriptor["toolId"]] = tool
        result.losses += [Loss(draft.name, pointer, reason) for pointer, reason in draft.lost.items()]
    return result


def _others(names: list[str], own: str) -> str:
    others = list(names)
    others.remove(own)
    return ", ".join(others)


def _drafted(format_name: str, tool: Any, naming: Naming, assignments: dict[str, dict[str, Any]], place: int) -> _Draft:
    name = str(tool.get("name", f"#{place}")) if isinstance(tool, dict) else f"#{place}"
    draft = _Draft(name)
    errors = [one for one in check_tool(format_name, tool) if one.kind is Kind.ERROR]
    if errors:
        draft.problem = f"not a valid definition: {errors[0].pointer or 'the document'}: {errors[0].message}"
        return draft
    if format_name == "toolfoundation":
        draft.name = toolfoundation.tool_id(tool)
    {"gecx": _gecx, "toolfoundation": _toolfoundation, "tool-contract": _contract}[format_name](tool, naming, draft)
    _assign(draft, assignments.get(draft.name, {}))
    return draft


def _gecx(tool: dict[str, Any], naming: Naming, draft: _Draft) -> None:
    _name(draft, naming, tool["name"])
    _carry(tool, draft, "description")
    for member in ("inputSchema", "outputSchema"):
        if member in tool:
            _schema(draft, member, tool[member], _declared(tool[member], DIALECT_07))
    auth = tool.get("auth", {})
    if auth.get("scopes"):
        draft.descriptor["auth"] = {"scopes": list(dict.fromkeys(auth["scopes"]))}
    draft.lost |= {f"/auth/{one}": "descriptors know scopes alone" for one in auth if one != "scopes"}
    policies = gecx.approval_policies(tool)
    if policies and policies[0] == "denied":
        draft.problem = "its approval policy is denied, so it has no place in a catalog"
    elif policies:
        draft.descriptor["approval"] = _GECX_APPROVAL[policies[0]]
    if len(policies) > 1:
        draft.lost["/approvalPolicy"] = f"of the conflicting policies {', '.join(policies)} the strictest was taken"
    idempotency = tool.get("idempotency", {})
    if (idempotency.get("mode"), idempotency.get("duplicateBehavior")) == ("required", "return_cached"):
        draft.descriptor["replayPolicy"] = "idempotent"
    if "http" in tool:
        draft.lost["/http"] = "a catalog is no invocation path, and headers may hold secrets"
    known = {
        *("kind", "name", "description", "inputSchema", "outputSchema", "auth", "approvalPolicy", "http", "execute")
    }
    draft.lost |= {f"/{one}": "no member for it" for one in tool if one not in known}
    level = tool.get("sideEffectLevel")
    draft.suggestion = _GECX_TIER.get(level) if level else None
    draft.why = f"sideEffectLevel is {level}" if level else "nothing is said about side effects"


def _toolfoundation(tool: dict[str, Any], naming: Naming, draft: _Draft) -> None:
    name = tool["name"] if naming.server or "namespace" not in tool else f"{tool['namespace']}.{tool['name']}"
    _name(draft, naming, name)
    _carry(tool, draft, "title", "description")
    for member in ("inputSchema", "outputSchema"):
        if member in tool:
            _schema(draft, member, tool[member], _declared(tool[member], DIALECT_2020_12))
    known = {"name", "title", "description", "inputSchema", "outputSchema", *(() if naming.server else ("namespace",))}
    draft.lost |= {f"/{one}": "no member for it" for one in tool if one not in known}
    draft.why = "annotations are hints that nobody may rely on"


def _contract(tool: dict[str, Any], naming: Naming, draft: _Draft) -> None:
    parts = tool["name"].split("::")
    own = Naming("mcp", "mcp", parts[1]) if parts[0] == "mcp" else naming
    _name(draft, own, parts[-1])
    _carry(tool, draft, "title", "description")
    for member in ("inputSchema", "outputSchema"):
        if member in tool:
            if tool_contract.real_schema(tool[member]):
                _schema(draft, member, tool[member], _declared(tool[member], DIALECT_2020_12))
            else:
                draft.lost[f"/{member}"] = "like JSON Schema, but not JSON Schema"
    auth: dict[str, Any] = {}
    if tool.get("requiredScopes"):
        auth["scopes"] = list(dict.fromkeys(tool["requiredScopes"]))
    if tool.get("secretRefs"):
        auth["credentialRef"] = True
        draft.lost["/secretRefs"] = "that there is a credential carries over, its name does not"
    if auth:
        draft.descriptor["auth"] = auth
    effect = tool["effect"]
    if effect == "IdempotentWrite" and tool.get("idempotencyKeyRequirement") == "required":
        draft.descriptor["replayPolicy"] = "idempotent"
    elif effect == "NonIdempotentWrite":
        draft.descriptor["replayPolicy"] = "non-deterministic"
    known = {"name", "title", "description", "inputSchema", "outputSchema", "requiredScopes", "secretRefs"}
    draft.lost |= {f"/{one}": "no member for it" for one in tool if one not in known}
    draft.suggestion = _CONTRACT_TIER.get(effect)
    draft.why = f"effect is {effect}" + (", which may compute or may read" if effect == "Pure" else "")


def _declared(schema: dict[str, Any], otherwise: str) -> str:
    declared = str(schema.get("$schema", otherwise)).rstrip("#")
    return DIALECT_07 if declared == DIALECT_07.replace("http:", "https:") else declared


def _schema(draft: _Draft, member: str, schema: dict[str, Any], dialect: str) -> None:
    if dialect not in {DIALECT_07, DIALECT_2020_12}:
        draft.lost[f"/{member}"] = "a dialect other than draft-07 and 2020-12"
    elif schema_errors(schema, dialect):
        first = schema_errors(schema, dialect)[0]
        draft.problem = draft.problem or f"its {member} is not a schema: {first.pointer or '/'}: {first.message}"
    elif dialect == DIALECT_07:
        converted = to_2020_12(schema)
        draft.descriptor[member] = converted.schema
        if converted.dangling:
            draft.problem = (
                draft.problem or f"its {member} refers to what 2020-12 has no place for: {converted.dangling[0]}"
            )
        draft.lost |= {f"/{member}{loss.rpartition(': ')[0]}": loss.rpartition(": ")[2] for loss in converted.losses}
    else:
        draft.descriptor[member] = schema


def _name(draft: _Draft, naming: Naming, name: str) -> None:
    if naming.server:
        draft.descriptor |= {"toolId": f"mcp:{naming.server}.{name}", "source": "mcp"}
        return
    if not naming.scope:
        draft.unnamed = "no scope was given for its toolId (--scope)"
    elif naming.source is None:
        draft.unnamed = "no source was given (--source)"
    else:
        draft.descriptor |= {"toolId": f"{naming.scope}:{name}", "source": naming.source}


def _carry(tool: dict[str, Any], draft: _Draft, *members: str) -> None:
    draft.descriptor |= {member: tool[member] for member in members if member in tool}


def _assign(draft: _Draft, assigned: dict[str, Any]) -> None:
    """Apply what the caller assigned; the safety tier has to be among it."""
    for member in ("approval", "replayPolicy"):
        native, given = draft.descriptor.get(member), assigned.get(member)
        if native is not None and given is not None and native != given:
            draft.lost[f"/{member}"] = f"assigned {given}, although the definition amounts to {native}"
    draft.descriptor |= {member: assigned[member] for member in ASSIGNABLE if member in assigned}
    if not {"toolId", "source"} <= draft.descriptor.keys():
        draft.problem = draft.problem or draft.unnamed
    draft.problem = draft.problem or next(_assignment_problems(draft, assigned), "")


def _assignment_problems(draft: _Draft, assigned: dict[str, Any]) -> Iterator[str]:
    tier = assigned.get("safetyTier")
    unknown = assigned.keys() - set(ASSIGNABLE)
    if unknown:
        yield f"the assignment has unknown members: {', '.join(sorted(unknown))}"
    if tier is None:
        hint = f"a suggestion would be {draft.suggestion}" if draft.suggestion else "nothing suggests one"
        yield (
            f"no safetyTier is assigned; {hint} ({draft.why}), but it says what the tool does to data and may not be "
            "derived from approval, risk or permission: assign it by hand"
        )
    elif tier not in TIERS:
        yield f"safetyTier {tier!r} is none of {', '.join(TIERS)}"
    elif tier == "exec" and draft.descriptor["source"] != "host-extension":
        yield "only a host extension may be exec"
    yield from (f"{one.pointer or 'the descriptor'}: {one.message}" for one in descriptor_errors(draft.descriptor))
