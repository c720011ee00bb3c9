"""§E: single calls through the hook seam (RFC 0064), and the tools that agents name."""

import json
from typing import Any

import pytest

from openwop_conformance.checks.agents import check_allowlists
from openwop_conformance.checks.decoys import EXAMPLE
from openwop_conformance.checks.hooks import (
    REDACTED_FIRST,
    Invocation,
    check_call_payloads,
    check_redacted_hash,
    check_refused,
)
from openwop_conformance.client.host import Host
from openwop_conformance.plugin.trial import Trial

SEAM_PATH = "/v1/host/sample/toolhooks/invoke"
AGENTS_PATH = "/v1/agents"
JSON = (("Content-Type", "application/json"),)
NOBODY = "openwop-conformance-nobody"
NO_SCOPE = "openwop-conformance:nobody-holds-this"


def invoke(host: Host, words: str, *, principal: str | None = None, args: Any = None, **more: Any) -> Invocation:
    """One call of a listed tool through the seam."""
    args = {"probe": "openwop-conformance"} if args is None else args
    tool = next(iter(host.listing(host.primary).ids()), EXAMPLE)
    body = {"principal": principal or host.primary.label, "toolName": tool, "args": args, **more}
    answer = host.client.send(
        "POST", SEAM_PATH, host.primary, headers=JSON, body=json.dumps(body).encode(), throttled_is_answer=True
    )
    return Invocation(words, args, answer)


@pytest.mark.openwop_scenario(
    "hook-calls",
    settles=[
        "call-payloads-valid",
        "call-status-consistent",
        "missing-scope-forbidden",
        "undecidable-forbidden",
        "exhausted-rate-limited",
    ],
)
def test_hook_calls(host: Host, settle: Trial) -> None:
    """Every call is told by two events, and one that may not run never runs.

    Sent through the seam: a plain call; one that needs a scope which nobody holds, alone and beside one that is held;
    some on behalf of a principal that the host does not know, with and without scopes; one whose rate is said to be
    exhausted.
    Required: valid payloads whose members fit together; `forbidden`, `forbidden` and `rate_limited`, with no outcome.
    The HTTP status beside the pair may be 200, 403 or 429.
    """
    plain = invoke(host, "a plain call")
    held = list(host.principals[0].scopes or ())[:1]
    needed = [[NO_SCOPE], *([[*held, NO_SCOPE]] if held else [])]
    scoped = [invoke(host, "a call without a required scope", requiredScopes=one) for one in needed]
    asked = [{"requiredScopes": [NO_SCOPE]}, {}, *([{"requiredScopes": held}] if held else [])]
    unknown = [invoke(host, "a call for an unknown principal", principal=NOBODY, **more) for more in asked]
    spent = invoke(host, "a call over its rate", simulateRateLimitExhausted=True)
    every = [plain, *scoped, *unknown, spent]
    wired = any(call.pair for call in every)
    settle(check_call_payloads(every), "call-payloads-valid", "call-status-consistent")
    settle(check_refused("missing-scope-forbidden", "forbidden", scoped, wired=wired), "missing-scope-forbidden")
    settle(check_refused("undecidable-forbidden", "forbidden", unknown, wired=wired), "undecidable-forbidden")
    settle(
        check_refused("exhausted-rate-limited", "rate_limited", [spent], plain, wired=wired), "exhausted-rate-limited"
    )


@pytest.mark.openwop_scenario("hook-hashes", settles=[REDACTED_FIRST])
def test_hook_hashes(host: Host, settle: Trial) -> None:
    """Arguments are hashed after secrets were taken out of them.

    Sent through the seam: a plain call, and two with a secret from the settings (planted-secrets) among the arguments,
    at the top and further down.
    Required: `argsHash` of those is not the hash of the arguments as they were sent.
    """
    planted = next(iter(host.settings.planted_secrets), None)
    places = [{"key": planted.reveal()}, {"options": {"keys": [1, planted.reveal()]}}] if planted else []
    secret = [invoke(host, "a call with a secret", args=one) for one in places]
    settle(check_redacted_hash(invoke(host, "a plain call"), secret))


@pytest.mark.openwop_scenario("agent-allowlists", settles=["agent-allowlist-resolves"])
def test_agent_allowlists(host: Host, settle: Trial) -> None:
    """The tools that agents name are in the catalog.

    Sent: GET /v1/agents with every principal's credential.
    Required: every entry of a `toolAllowlist` is the id of exactly one tool that the same principal is listed.
    """
    answers = [host.client.send("GET", AGENTS_PATH, one) for one in host.credentials()]
    settle(check_allowlists(answers, host.listings()))
