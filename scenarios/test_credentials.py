"""§B: callers whom the host does not know are turned away."""

import pytest

from openwop_conformance.checks.credentials import check_item_refused, check_list_refused
from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.client.host import LIST_PATH, Host
from openwop_conformance.client.http import Credential
from openwop_conformance.exchanges import Answer
from openwop_conformance.plugin.trial import Trial

LISTED_SAMPLES = 3
DECOYS = 2


@pytest.mark.openwop_scenario(
    "no-credential", settles=["list-rejects-missing-credential", "item-rejects-missing-credential"]
)
def test_no_credential(host: Host, settle: Trial) -> None:
    """Nobody reads the catalog without a credential.

    Sent: GET /v1/tools, and GET /v1/tools/{id} for listed ids and for decoys, without a credential.
    Required: 401 on the list (another refusal is an advisory); by id one and the same of 401, 403 and 404 (R14).
    """
    settle(
        check_list_refused("list-rejects-missing-credential", host.client.send("GET", LIST_PATH, follow=False)),
        "list-rejects-missing-credential",
    )
    settle(check_item_refused("item-rejects-missing-credential", *by_id(host, None)), "item-rejects-missing-credential")


@pytest.mark.openwop_scenario(
    "unknown-credential", settles=["list-rejects-unknown-credential", "item-rejects-unknown-credential"]
)
def test_unknown_credential(host: Host, settle: Trial) -> None:
    """Nobody reads the catalog with a credential that the host did not issue.

    Sent: the same requests with a made-up token.
    Required: the same.
    """
    stranger = host.stranger
    settle(
        check_list_refused(
            "list-rejects-unknown-credential", host.client.send("GET", LIST_PATH, stranger, follow=False)
        ),
        "list-rejects-unknown-credential",
    )
    settle(
        check_item_refused("item-rejects-unknown-credential", *by_id(host, stranger)), "item-rejects-unknown-credential"
    )


def by_id(host: Host, credential: Credential | None) -> tuple[list[Answer], int]:
    """Answers for ids that exist for somebody and for ids that exist for nobody, and how many are of the first kind."""
    listed = [tool_id for listing in host.listings() for tool_id in listing.ids()]
    existing = [*dict.fromkeys(listed)][:LISTED_SAMPLES] + list(host.settings.hidden_tool_ids)
    unknown = decoys(existing[0] if existing else EXAMPLE, listed, DECOYS)
    return [host.item(tool_id, credential, follow=False) for tool_id in [*existing, *unknown]], len(existing)
