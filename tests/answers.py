"""Answers made by hand, for checks."""

import json
from typing import Any

from openwop_conformance.checks.listing import Listing, read_listing
from openwop_conformance.client.bodies import read_json
from openwop_conformance.exchanges import Answer, Exchange
from openwop_conformance.findings import Finding, Weight

JSON = (("Content-Type", "application/json"),)
DEEP = "[" * 400 + "]" * 400


def answer(
    status: int = 200,
    body: Any = None,
    *,
    raw: str | None = None,
    headers: tuple[tuple[str, str], ...] = JSON,
    path: str = "/v1/tools",
    who: str = "alice",
) -> Answer:
    content = (json.dumps(body) if raw is None else raw).encode()
    reading = read_json(content)
    exchange = Exchange("x1", who, "GET", f"http://host.example{path}", status=status)
    return Answer(
        exchange, status, headers, content, reading.value, reading.error, reading.too_deep, shadowed=reading.shadowed
    )


def listing(*tools: Any, **more: Any) -> Listing:
    return read_listing(answer(200, {"tools": list(tools)}, **more))


def told(findings: Any) -> list[tuple[str, str, Weight]]:
    """Requirement, place and weight of each finding."""
    return [(one.requirement, one.where, one.weight) for one in findings]


def weights(findings: Any) -> set[Weight]:
    return {one.weight for one in findings}


def only(findings: Any) -> Finding:
    [one] = list(findings)
    assert isinstance(one, Finding)
    return one
