"""§A: the discovery document and what it advertises."""

import pytest

from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.discovery import (
    check_block_at_root,
    check_capability_block,
    check_catalog_absent,
    check_discovery_served,
)
from openwop_conformance.client.host import LIST_PATH, Host
from openwop_conformance.plugin.trial import Trial


@pytest.mark.openwop_scenario("discovery-document", settles=["discovery-served"])
def test_discovery_document(host: Host, settle: Trial) -> None:
    """The discovery document is public.

    Sent: GET /.well-known/openwop without a credential.
    Required: status 200 and a JSON object. What else it holds is not judged here.
    """
    settle(check_discovery_served(host.discovery.answer))


@pytest.mark.openwop_scenario("catalog-block", settles=["toolcatalog-block-valid", "toolcatalog-block-at-root"])
def test_catalog_block(host: Host, settle: Trial) -> None:
    """The toolCatalog block is closed and stands at the root.

    Sent: nothing more; the discovery document is looked at.
    Required: a boolean `supported`, types as defined, no unknown member, at the root and in the wrapper alike.
    A block in the deprecated wrapper alone is read, and earns an advisory.
    """
    answer, capabilities = host.discovery.answer, host.discovery.capabilities
    settle(check_capability_block("toolCatalog", answer, capabilities), "toolcatalog-block-valid")
    settle(check_block_at_root(answer, capabilities), "toolcatalog-block-at-root")


@pytest.mark.openwop_scenario("hooks-block", settles=["toolhooks-block-valid"])
def test_hooks_block(host: Host, settle: Trial) -> None:
    """The toolHooks block is closed.

    Sent: nothing more; the discovery document is looked at.
    Required: a boolean `supported`, types as defined, no unknown member.
    """
    settle(check_capability_block("toolHooks", host.discovery.answer, host.discovery.capabilities))


@pytest.mark.openwop_scenario("catalog-absent", settles=["catalog-absent-when-unadvertised"])
def test_catalog_absent(host: Host, settle: Trial) -> None:
    """A host without the capability has no catalog endpoints.

    Sent: GET /v1/tools and GET /v1/tools/{id}, with the first principal's credential where there is one.
    Required: 404 or 501; 401 will do where no credential was sent.
    """
    credential = host.primary if host.principals else None
    unknown = decoys(EXAMPLE, (), 1)[0]
    answers = [host.client.send("GET", LIST_PATH, credential), host.item(unknown, credential)]
    settle(check_catalog_absent(answers, credential_sent=credential is not None))
