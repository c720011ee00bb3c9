"""Tool Contracts: identity, effects, policies, and the shapes of calls and results."""

import re
from typing import Any

from openwop_conformance.dialects.notices import Notice, advisory, error, has_errors
from openwop_conformance.dialects.shapes import DIALECT_07, DIALECT_2020_12, schema_errors, shape_errors

FORMAT = "tool-contract"
TAXONOMY = ("ContractError", "PolicyError", "AuthError", "ExecutionError", "SystemError")
POLICY_REASONS = ("Timeout", "RateLimited", "CircuitOpen", "BudgetExceeded", "ConcurrencyLimited")
_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?", re.ASCII)
_KEYWORDS = frozenset(
    {
        *("type", "properties", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const", "items", "required"),
        *("additionalProperties", "patternProperties", "propertyNames", "minimum", "maximum", "pattern", "format"),
        *("minLength", "maxLength", "minItems", "maxItems", "$schema", "$defs", "definitions"),
    }
)


def check_contract(contract: Any) -> list[Notice]:
    """One contract."""
    notices = shape_errors(FORMAT, contract)
    if has_errors(notices):
        return notices
    effect, imported = contract["effect"], contract["name"].startswith("mcp::")
    if "retryPolicy" in contract and effect != "IdempotentWrite":
        notices.append(error("/retryPolicy", f"{effect} is never retried; only IdempotentWrite is"))
    if effect == "IdempotentWrite" and contract.get("idempotencyKeyRequirement", "required") == "none":
        notices.append(advisory("/idempotencyKeyRequirement", "IdempotentWrite without a key cannot be retried"))
    if imported and "serverVersion" not in contract:
        notices.append(
            advisory("/name", "an imported MCP tool should record the version of its server in serverVersion")
        )
    if not imported and not _SEMVER.fullmatch(contract["version"]):
        notices.append(advisory("/version", "a local tool should have a semantic version"))
    return notices


def check_invocation(invocation: Any) -> list[Notice]:
    """A call."""
    return shape_errors(FORMAT, invocation, "Invocation")


def check_result(result: Any) -> list[Notice]:
    """How a call ended: `Ok` has an output and no error, anything else has an error."""
    notices = shape_errors(FORMAT, result, "Result")
    if not has_errors(notices) and "error" in result:
        notices += [one.below("/error") for one in check_error(result["error"])]
    return notices


def check_error(failure: Any) -> list[Notice]:
    """A failure, with a code from the taxonomy."""
    notices = shape_errors(FORMAT, failure, "Error")
    if not has_errors(notices) and failure["code"].partition(".")[0] not in TAXONOMY:
        notices.append(advisory("/code", f"not from the taxonomy: {', '.join(TAXONOMY)}"))
    return notices


def check_any(document: Any) -> list[Notice]:
    """Whichever of these a document is, by its members; a list is a list of contracts."""
    if isinstance(document, list):
        return [one.below(f"/{place}") for place, part in enumerate(document) for one in check_contract(part)]
    if isinstance(document, dict) and "toolName" in document:
        return check_invocation(document)
    if isinstance(document, dict) and "attempts" in document:
        return check_result(document)
    if isinstance(document, dict) and "isRetryable" in document:
        return check_error(document)
    return check_contract(document)


def real_schema(schema: Any) -> bool:
    """Whether something that is like JSON Schema really is one."""
    if not isinstance(schema, dict) or not schema.keys() & _KEYWORDS:
        return False
    dialect = DIALECT_07 if "draft-07" in str(schema.get("$schema", "")) else DIALECT_2020_12
    return not schema_errors(schema, dialect)


def may_retry(contract: dict[str, Any], *, key: str | None) -> bool:
    """Only an idempotent write with a key is tried again."""
    return contract["effect"] == "IdempotentWrite" and bool(key)


def may_cache(contract: dict[str, Any]) -> bool:
    """Only a pure tool's answer may stand for the next one."""
    return bool(contract["effect"] == "Pure")
