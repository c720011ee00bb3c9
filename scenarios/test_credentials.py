"""§B: callers whom the host does not know are turned away."""

import base64
import re
from collections.abc import Iterator

import pytest

from openwop_conformance.checks.credentials import (
    check_item_refused,
    check_list_refused,
    check_never_given,
    check_scheme_minded,
)
from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.filtering import SOURCES
from openwop_conformance.checks.listing import read_listing
from openwop_conformance.client.host import LIST_PATH, UNKNOWN_TOKEN, Host
from openwop_conformance.client.http import Credential
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding
from openwop_conformance.plugin.trial import Trial
from openwop_conformance.secret import Secret

LISTED_SAMPLES = 3
IN_ANY_CASE = re.compile(r"[0-9A-Fa-f-]+")
DECOYS = 2


@pytest.mark.openwop_scenario(
    "no-credential", settles=["list-rejects-missing-credential", "item-rejects-missing-credential"]
)
def test_no_credential(host: Host, settle: Trial) -> None:
    """Nobody reads the catalog without a credential.

    Sent: GET and HEAD on /v1/tools, GET /v1/tools?source=S, and GET /v1/tools/{id} for listed ids and for decoys,
    without a credential; the list also wherever a redirect leads.
    Required: 401 on the list (another refusal is an advisory); by id one and the same of 401, 403 and 404 (R14).
    """
    missing = "list-rejects-missing-credential"
    found = list(check_list_refused(missing, host.client.send("GET", LIST_PATH, follow=False)))
    found += other_ways(host, missing, None)
    led = host.client.send("GET", LIST_PATH)
    found += check_never_given(missing, led) if read_listing(led).tools is not None else ()
    settle(found, missing)
    most = host.settings.limits.max_items
    settle(
        check_item_refused("item-rejects-missing-credential", *by_id(host, None, most)),
        "item-rejects-missing-credential",
    )


@pytest.mark.openwop_scenario(
    "unknown-credential", settles=["list-rejects-unknown-credential", "item-rejects-unknown-credential"]
)
def test_unknown_credential(host: Host, settle: Trial) -> None:
    """Nobody reads the catalog with a credential that the host did not issue.

    Sent: the same requests with a made-up token; fewer of them with one as Basic, with none behind Bearer, and with
    real ones that changed case, lost their last character or gained one. The list also with an empty Authorization
    header, and with a real token under a wrong scheme.
    Required: the same. That a real token counts under a wrong scheme is an advisory.
    """
    unknown = "list-rejects-unknown-credential"
    of_list: list[Finding] = []
    of_items: list[Finding] = []
    for credential in unknown_credentials(host):
        answer = host.client.send("GET", LIST_PATH, credential, follow=False)
        of_list += check_list_refused(unknown, answer, malformed=credential == credential_without_token())
        most = LISTED_SAMPLES
        if credential == host.stranger:
            of_list += other_ways(host, unknown, credential)
            most = host.settings.limits.max_items
        of_items += check_item_refused(
            "item-rejects-unknown-credential",
            *by_id(host, credential, most),
            malformed=credential == credential_without_token(),
        )
    empty = (("Authorization", ""),)
    of_list += check_never_given(unknown, host.client.send("GET", LIST_PATH, headers=empty, follow=False))
    for credential in misplaced_credentials(host):
        of_list += check_scheme_minded(unknown, host.client.send("GET", LIST_PATH, credential, follow=False))
    settle(of_list, unknown)
    settle(of_items, "item-rejects-unknown-credential")


def other_ways(host: Host, requirement: str, credential: Credential | None) -> Iterator[Finding]:
    """Other ways to the list than plain GET."""
    for method, path in [("HEAD", LIST_PATH), *(("GET", f"{LIST_PATH}?source={one}") for one in SOURCES)]:
        yield from check_never_given(requirement, host.client.send(method, path, credential, follow=False))


def credential_without_token() -> Credential:
    """A scheme and nothing behind it: a malformed request to some hosts."""
    return Credential("a stranger without a token", "Authorization", Secret("Bearer"), "Bearer")


def unknown_credentials(host: Host) -> list[Credential]:
    """Credentials that no host can have issued, in the ways in which a careless one may take them for good."""
    stranger = host.stranger
    basic = base64.b64encode(f"nobody:{UNKNOWN_TOKEN}".encode()).decode()
    made = [
        stranger,
        credential_without_token(),
        Credential("a stranger with Basic", "Authorization", Secret(f"Basic {basic}"), f"Basic {basic}"),
    ]
    tokens = {one.token.reveal() for one in host.principals}
    for one in host.principals:
        token = one.token.reveal()
        altered = {"in other case": token.swapcase(), "cut short": token[:-1], "and one more": f"{token}x"}
        for words, changed in altered.items():
            alike = words == "in other case" and IN_ANY_CASE.fullmatch(token)
            if changed and not alike and changed not in tokens and changed == changed.strip():
                shown = f"${one.variable}_{words.replace(' ', '_').upper()}"
                made.append(host.client.custom_credential(f"{one.name} {words}", Secret(changed), shown))
    return made


def misplaced_credentials(host: Host) -> list[Credential]:
    """Real tokens under a scheme that they were not issued for."""
    if host.settings.key_header:
        return []
    return [
        Credential(
            f"{one.name} with Basic", "Authorization", Secret(f"Basic {one.token.reveal()}"), f"Basic ${one.variable}"
        )
        for one in host.principals[:1]
    ]


def by_id(host: Host, credential: Credential | None, most: int = LISTED_SAMPLES) -> tuple[list[Answer], int]:
    """Answers for ids that exist for somebody and for ids that exist for nobody, and how many are of the first kind."""
    listed = [tool_id for listing in host.listings() for tool_id in listing.ids()]
    existing = [*dict.fromkeys(listed)][:most] + list(host.settings.hidden_tool_ids)
    unknown = decoys(existing[0] if existing else EXAMPLE, listed, DECOYS)
    return host.items([*existing, *unknown], credential, follow=False), len(existing)
