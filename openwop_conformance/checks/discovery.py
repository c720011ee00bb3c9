"""Checks on the discovery document and on what follows from its silence."""

from collections.abc import Iterator

from openwop_conformance.capabilities import Capabilities
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import violations
from openwop_conformance.wording import shown

OK = 200
UNAUTHORIZED = 401
ABSENT = frozenset({404, 501})


def check_discovery_served(answer: Answer) -> Iterator[Finding]:
    """`discovery-served`: 200 and a JSON object, without any credential."""
    requirement = "discovery-served"
    expected = "status 200 and a JSON object, without a credential"
    if answer.status != OK:
        seen = f"status {answer.status}"
    elif answer.too_deep:
        yield Finding(
            requirement, str(answer.json_error), expected=expected, exchange=answer.exchange, weight=Weight.INCONCLUSIVE
        )
        return
    elif answer.json_error is not None:
        seen = answer.json_error
    elif not isinstance(answer.json, dict):
        seen = f"a JSON value that is no object: {shown(answer.json)}"
    else:
        return
    yield Finding(requirement, "the discovery document cannot be read", answer.place, expected, seen, answer.exchange)


def check_capability_block(name: str, answer: Answer, capabilities: Capabilities) -> Iterator[Finding]:
    """`toolcatalog-block-valid`, `toolhooks-block-valid`: the block is well-formed and closed wherever it stands."""
    for family in capabilities.places(name):
        for violation in violations(f"capabilities#{name}", family.value):
            yield Finding(
                f"{name.lower()}-block-valid",
                f"the {name} block is malformed",
                family.pointer + violation.pointer,
                violation.expected,
                violation.seen,
                answer.exchange,
            )


def check_block_at_root(answer: Answer, capabilities: Capabilities) -> Iterator[Finding]:
    """`toolcatalog-block-at-root`: the wrapper alone is the deprecated place (R7)."""
    family = capabilities.family("toolCatalog")
    if family is not None and family.pointer != "/toolCatalog":
        yield Finding(
            "toolcatalog-block-at-root",
            "toolCatalog stands only in the deprecated wrapper; put it at the root of the document",
            family.pointer,
            "/toolCatalog",
            family.pointer,
            answer.exchange,
        )


def check_catalog_absent(answers: list[Answer], *, credential_sent: bool) -> Iterator[Finding]:
    """`catalog-absent-when-unadvertised`: 404 or 501; 401 is fine where no credential was sent."""
    allowed = ABSENT if credential_sent else ABSENT | {UNAUTHORIZED}
    for answer in answers:
        if answer.status not in allowed:
            yield Finding(
                "catalog-absent-when-unadvertised",
                "the catalog is not advertised, yet its endpoint answers; advertise it or take it away",
                answer.place,
                f"status {' or '.join(map(str, sorted(allowed)))}",
                f"status {answer.status}",
                answer.exchange,
            )
