"""§B, §C and §F: the filter, ids, scopes and caches of a catalog."""

from collections.abc import Sequence

import pytest

from openwop_conformance.checks.caching import check_shared_caches
from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.filtering import check_source_filter
from openwop_conformance.checks.identity import check_id_form, check_id_prefix
from openwop_conformance.checks.listing import REFUSED, Listing, across, of_all, read_listing
from openwop_conformance.checks.scopes import check_within_scopes
from openwop_conformance.checks.stability import (
    check_ids_stable,
    check_items_stable,
    check_stable_over_time,
    check_tools_stable,
)
from openwop_conformance.client.host import LIST_PATH, Host, item_path
from openwop_conformance.client.http import Credential
from openwop_conformance.exchanges import Answer, Pairs
from openwop_conformance.findings import Finding
from openwop_conformance.plugin.trial import Trial

STABLE_SAMPLES = 4
READINGS = 2
CLOSE = (("Connection", "close"),)
CONNECTIONS: tuple[Pairs, ...] = ((), CLOSE, (), CLOSE, ())


@pytest.mark.openwop_scenario("tool-ids", settles=["tool-id-scope-form", "tool-id-prefix-fits-source"])
def test_tool_ids(host: Host, settle: Trial) -> None:
    """Ids say where a tool comes from.

    Sent: GET /v1/tools with every principal's credential.
    Required: scope:name, with mcp: and connector: for these sources and x-host-… or vendor.host for extensions (R5).
    """
    settle(across(host.listings(), check_id_form), "tool-id-scope-form")
    settle(across(host.listings(), check_id_prefix), "tool-id-prefix-fits-source")


@pytest.mark.openwop_scenario("within-scopes", settles=["list-within-scopes"])
def test_within_scopes(host: Host, settle: Trial) -> None:
    """A principal is listed only what it may invoke.

    Sent: GET /v1/tools, and the same for each source, and GET /v1/tools/{id} for what is listed, with every principal's
    credential.
    Required: the scopes that the settings declare for a principal cover `auth.scopes` of each tool that it is shown
    (R20).
    """
    people = dict(zip((one.label for one in host.credentials()), host.principals, strict=True))
    views = [*host.views(), *(listing for one in host.credentials() for listing in host.alone(one))]
    settle(check_within_scopes([(people[one.answer.exchange.principal], one) for one in views]))


@pytest.mark.openwop_scenario(
    "stability", settles=["tool-ids-stable", "reading-changes-nothing", "tool-ids-stable-over-time"]
)
def test_stability(host: Host, settle: Trial) -> None:
    """Reading the catalog does not change it.

    Sent: GET /v1/tools five times with every principal's credential, over connections that are kept and closed;
    GET /v1/tools/{id} again for listed ids, and several times for some of them and for those that changed.
    Required: the same ids with the same sources and tiers, in any order. One change that stays is inconclusive, other
    members that change are an advisory (R18). With --openwop-previous also: what an earlier report on the same version
    of the host lists to a principal is still listed to it, with the same source and tier.
    """
    ids: list[list[Finding]] = []
    tools: list[list[Finding]] = []
    for credential in host.credentials():
        if credential != host.primary and host.listing(credential).answer.status in REFUSED:
            continue
        readings = [read_listing(host.client.send("GET", LIST_PATH, credential, headers=way)) for way in CONNECTIONS]
        ids.append(list(check_ids_stable(readings)))
        by_id = check_items_stable(readings_by_id(host, credential))
        tools.append([*check_tools_stable(readings), *by_id])
    settle(of_all(ids), "tool-ids-stable")
    settle(of_all(tools), "reading-changes-nothing")
    settle(
        check_stable_over_time(host.listings(), host.implementation, host.settings.previous),
        "tool-ids-stable-over-time",
    )
    for listing in host.listings():
        settle.remember(listing)


def readings_by_id(host: Host, credential: Credential) -> dict[str, list[Answer]]:
    """Tools by id, each twice; some of them, and all that changed meanwhile, a few times more."""
    first = host.sampled(credential)
    read = {one: [first[one], again] for one, again in zip(first, host.items(list(first), credential), strict=True)}
    for place, (tool_id, answers) in enumerate(read.items()):
        if place < STABLE_SAMPLES or list(check_items_stable({tool_id: answers})):
            answers += [host.item(tool_id, credential) for _ in range(READINGS)]
    return read


@pytest.mark.openwop_scenario("source-filter", settles=["source-filter-exact"])
def test_source_filter(host: Host, settle: Trial) -> None:
    """The list can be filtered by source.

    Sent: GET /v1/tools?source=S for each of the five sources, with every principal's credential, and once for a source
    that there is not, to which any answer will do.
    All of it again where something does not fit, because tools may be deployed while we look.
    Required: each answer holds exactly the listed tools of that source. Ignoring the filter is an advisory.
    """
    host.client.send("GET", f"{LIST_PATH}?source=openwop-conformance-none", host.primary)
    found = judge_filters(host.listings(), [host.filtered(one) for one in host.credentials()])
    if found:
        again = [host.read_list(one) for one in host.credentials()]
        found = judge_filters(again, [host.filtered(one, again=True) for one in host.credentials()])
    settle(found)


def judge_filters(whole: Sequence[Listing], filtered: Sequence[dict[str, Listing]]) -> list[Finding]:
    """What the lists by source of all principals leave to be desired."""
    parts = {one.answer.exchange.principal: part for one, part in zip(whole, filtered, strict=True)}
    return list(across(whole, lambda one: check_source_filter(one, parts[one.answer.exchange.principal])))


@pytest.mark.openwop_scenario("shared-caches", settles=["shared-caches-kept-out"])
def test_shared_caches(host: Host, settle: Trial) -> None:
    """No cache between the host and its callers may mix them up.

    Sent, with every credential: GET and HEAD on /v1/tools, whole and by source, and with If-None-Match;
    GET /v1/tools/{id} for listed ids, for one with its colon as it is, and for an unknown one; HEAD for one of them.
    Required: no answer may be stored and reused for somebody else by a shared cache (R12).
    """
    answers = [listing.answer for listing in host.listings()]
    for credential in host.credentials():
        known = host.sampled(credential)
        unknown = decoys(next(iter(known), EXAMPLE), host.known_ids(), 1)
        answers += [one.answer for one in host.filtered(credential).values()]
        answers += [*known.values(), *host.items(unknown, credential)]
        tag = host.listing(credential).answer.header("etag") or "*"
        answers += [host.client.send("GET", LIST_PATH, credential, headers=(("If-None-Match", tag),))]
        answers += [host.item(one, credential, literal=":") for one in list(known)[:1]]
        paths = [LIST_PATH, *(item_path(one) for one in [*list(known)[:1], *unknown])]
        answers += [host.client.send("HEAD", path, credential) for path in paths]
    settle(check_shared_caches(answers, host.settings.key_header))
