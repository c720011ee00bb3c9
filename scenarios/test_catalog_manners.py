"""§B, §C and §F: the filter, ids, scopes and caches of a catalog."""

from collections.abc import Sequence

import pytest

from openwop_conformance.checks.caching import check_shared_caches
from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.filtering import check_source_filter
from openwop_conformance.checks.identity import check_id_form, check_id_prefix
from openwop_conformance.checks.listing import Listing, across, read_listing, sample
from openwop_conformance.checks.scopes import check_within_scopes
from openwop_conformance.checks.stability import (
    check_ids_stable,
    check_items_stable,
    check_stable_over_time,
    check_tools_stable,
)
from openwop_conformance.client.host import LIST_PATH, Host
from openwop_conformance.findings import Finding
from openwop_conformance.plugin.trial import Trial

STABLE_SAMPLES = 4
READINGS = 3


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

    Sent: GET /v1/tools, and the same for each source, with every principal's credential.
    Required: the scopes that the settings declare for a principal cover `auth.scopes` of each tool listed to it (R20).
    """
    people = dict(zip((one.label for one in host.credentials()), host.principals, strict=True))
    settle(check_within_scopes([(people[one.answer.exchange.principal], one) for one in host.views()]))


@pytest.mark.openwop_scenario(
    "stability", settles=["tool-ids-stable", "reading-changes-nothing", "tool-ids-stable-over-time"]
)
def test_stability(host: Host, settle: Trial) -> None:
    """Reading the catalog does not change it.

    Sent: GET /v1/tools five times with the first principal's credential, over connections that are kept and closed;
    GET /v1/tools/{id} three times for some ids.
    Required: the same ids with the same sources and tiers, in any order. One change that stays is inconclusive, other
    members that change are an advisory (R18). With --openwop-previous also: what an earlier report on the same version
    of the host lists to a principal is still listed to it, with the same source and tier.
    """
    close = (("Connection", "close"),)
    ways = ((), close, (), close, ())
    readings = [read_listing(host.client.send("GET", LIST_PATH, host.primary, headers=way)) for way in ways]
    settle(check_ids_stable(readings), "tool-ids-stable")
    by_id = {
        tool_id: [host.item(tool_id, host.primary) for _ in range(READINGS)]
        for tool_id in sample(readings[0], STABLE_SAMPLES)
    }
    settle([*check_tools_stable(readings), *check_items_stable(by_id)], "reading-changes-nothing")
    settle(
        check_stable_over_time(host.listings(), host.implementation, host.settings.previous),
        "tool-ids-stable-over-time",
    )
    for listing in host.listings():
        settle.remember(listing)


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

    Sent: GET /v1/tools, whole and by source; GET /v1/tools/{id} for listed ids and for an unknown one, with every
    credential.
    Required: no answer may be stored and reused for somebody else by a shared cache (R12).
    """
    answers = [listing.answer for listing in host.listings()]
    for credential in host.credentials():
        known = host.sampled(credential)
        unknown = decoys(next(iter(known), EXAMPLE), host.known_ids(), 1)
        answers += [one.answer for one in host.filtered(credential).values()]
        answers += [*known.values(), *host.items(unknown, credential)]
    settle(check_shared_caches(answers, host.settings.key_header))
