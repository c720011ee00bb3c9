"""§B and §C: the catalog as a principal reads it, as a list and tool by tool."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.descriptors import (
    check_descriptors_valid,
    check_exec_source,
    check_ids_mean_one_tool,
    check_ids_unique,
    check_schemas_valid,
    check_sources_advertised,
    check_sources_seen,
)
from openwop_conformance.checks.items import (
    Item,
    check_item_served,
    check_items_agree,
    check_items_exec,
    check_items_media_type,
    check_items_resolve,
    check_items_valid,
    check_literal_colon,
    check_unknown_ids,
    resolved_listing,
)
from openwop_conformance.checks.listing import (
    FORBIDDEN,
    OK,
    REFUSED,
    Listing,
    across,
    check_list_body,
    check_list_complete,
    check_list_served,
    of_all,
)
from openwop_conformance.checks.portable import check_input_portable
from openwop_conformance.client.host import Host
from openwop_conformance.client.http import Credential
from openwop_conformance.findings import Finding
from openwop_conformance.plugin.trial import Trial

ItemsCheck = Callable[[Listing, Sequence[Item]], Iterator[Finding]]
COLON_SAMPLES = 8
MOST_SCOPES = 12
NO_SCOPE = "sample-lookup"


@pytest.mark.openwop_scenario(
    "tool-list",
    settles=["catalog-list-endpoint-served", "list-status", "list-media-type", "list-body", "list-complete"],
)
def test_tool_list(host: Host, settle: Trial) -> None:
    """The list answers a principal with all of its tools.

    Sent: GET /v1/tools with every principal's credential.
    Required: status 200, a JSON media type, and `{"tools": […]}` or a bare array (R1), whole and in one piece (R19).
    """
    listings = host.listings()
    shape = host.settings.list_shape
    settle(across(listings, check_list_served, frozenset({FORBIDDEN})), "catalog-list-endpoint-served", "list-status")
    settle(across(listings, lambda one: check_list_body(one, shape)), "list-media-type", "list-body")
    settle(across(listings, check_list_complete), "list-complete")


@pytest.mark.openwop_scenario(
    "listed-descriptors",
    settles=[
        "listed-descriptors-valid",
        "exec-only-host-extension",
        "tool-ids-unique",
        "input-schema-valid",
        "output-schema-valid",
        "input-schema-portable",
    ],
)
def test_listed_descriptors(host: Host, settle: Trial) -> None:
    """Every listed descriptor is what a descriptor has to be.

    Sent: GET /v1/tools, and the same for each source, with every principal's credential.
    Required: each entry valid against the schema; exec-tier tools from host extensions only; no id twice;
    input and output schemas that are schemas (R23; nothing is fetched to find out). Input schemas of MCP and node-pack
    tools outside the portable subset are an advisory.
    """
    listings = host.listings()
    settle(across(host.views(), check_descriptors_valid), "listed-descriptors-valid")
    settle(across(host.views(), check_exec_source), "exec-only-host-extension")
    tenants = {one.name: one.tenant for one in host.principals}
    unique = [*across(listings, check_ids_unique), *check_ids_mean_one_tool(listings, tenants)]
    settle(unique, "tool-ids-unique")
    views = host.views()
    settle(across(views, lambda one: check_schemas_valid(one, "inputSchema")), "input-schema-valid")
    settle(across(views, lambda one: check_schemas_valid(one, "outputSchema")), "output-schema-valid")
    settle(across(listings, check_input_portable), "input-schema-portable")


@pytest.mark.openwop_scenario("catalog-sources", settles=["listed-sources-advertised", "advertised-sources-seen"])
def test_catalog_sources(host: Host, settle: Trial) -> None:
    """The list holds tools of the advertised sources, and of those alone.

    Sent: GET /v1/tools with every principal's credential.
    Required: where the capability names sources, each tool comes from one of them.
    A source that no principal sees a tool of is an advisory.
    """
    advertised = host.discovery.capabilities.sources()
    listings = host.listings()
    settle(across(listings, lambda one: check_sources_advertised(one, advertised)), "listed-sources-advertised")
    settle(check_sources_seen(listings, advertised), "advertised-sources-seen")


@pytest.mark.openwop_scenario(
    "tools-by-id",
    settles=[
        "catalog-item-endpoint-served",
        "item-resolves",
        "item-valid",
        "item-media-type",
        "item-agrees-with-list",
        "exec-only-host-extension",
        "input-schema-valid",
        "output-schema-valid",
        "input-schema-portable",
    ],
)
def test_tools_by_id(host: Host, settle: Trial) -> None:
    """Every listed id resolves to the tool that the list describes.

    Sent: GET /v1/tools/{id} for listed ids, percent-encoded, with every principal's credential; the list again
    where one of them does not resolve or differs, because tools may be deployed while we look (R18).
    Required: 200, a JSON media type, a valid descriptor with that id, and equal members where both sides carry
    them (R8); schemas that are schemas, here too.
    """
    listings = host.listings()
    read = {one.label: read_items(host, one) for one in host.credentials()}
    most = host.settings.limits.max_items
    for one in listings:
        if len(one.ids()) > most:
            whose = one.answer.exchange.principal
            settle.note(f"{most} of the {len(one.ids())} tools of {whose} were read by id (limits.max-items)")

    def over(check: ItemsCheck) -> Iterator[Finding]:
        return across(listings, lambda one: check(one, read[one.answer.exchange.principal]))

    settle(over(check_item_served), "catalog-item-endpoint-served")
    settle(over(check_items_resolve), "item-resolves")
    settle(over(check_items_valid), "item-valid")
    settle(over(check_items_media_type), "item-media-type")
    settle(over(check_items_agree), "item-agrees-with-list")
    settle(over(check_items_exec), "exec-only-host-extension")
    alone = [resolved_listing(one, read[one.answer.exchange.principal]) for one in listings]
    settle(across(alone, lambda one: check_schemas_valid(one, "inputSchema")), "input-schema-valid")
    settle(across(alone, lambda one: check_schemas_valid(one, "outputSchema")), "output-schema-valid")
    settle(across(alone, check_input_portable), "input-schema-portable")


def read_items(host: Host, credential: Credential) -> list[Item]:
    """Listed tools by id, within the limit; paired with a second reading of the list where they disagree with it."""
    listing = host.listing(credential)
    items = [Item(one, answer, listing.named(one)) for one, answer in host.sampled(credential).items()]
    if not (list(check_items_resolve(listing, items)) or list(check_items_agree(listing, items))):
        return items
    again = host.read_list(credential)
    return [
        Item(item.tool_id, item.answer, item.versions + again.named(item.tool_id), item.tool_id in again.ids())
        for item in items
    ]


@pytest.mark.openwop_scenario("literal-colon", settles=["item-literal-colon"])
def test_literal_colon(host: Host, settle: Trial) -> None:
    """An id may be sent with its colon as it is.

    Sent: GET /v1/tools/{id} twice, with `:` and with `%3A`.
    Required: the same answer.
    """
    ids = [tool_id for tool_id in host.listing(host.primary).ids() if ":" in tool_id][:COLON_SAMPLES]
    pairs = [(host.item(one, host.primary), host.item(one, host.primary, literal=":")) for one in ids]
    settle(check_literal_colon([pair for pair in pairs if pair[0].status == OK]))


@pytest.mark.openwop_scenario("unknown-id", settles=["unknown-id-status", "unknown-id-envelope"])
def test_unknown_id(host: Host, settle: Trial) -> None:
    """An id that no tool has is not found.

    Sent, with every principal's credential: GET /v1/tools/{id} for decoys, which are ids that no tool has, shaped like
    known ones of every scope; for an id without a scope; for listed ids cut short, with a letter more, and with a `*`.
    Required: 404, with the error envelope; of what is no plain id, that it is not given.
    """
    found: list[list[Finding]] = []
    for credential in host.credentials():
        listing = host.listing(credential)
        if credential == host.primary or listing.answer.status not in REFUSED:
            plain = host.items(unknown_ids(host, listing), credential)
            wild = host.items([f"{one[:-1]}*" for one in listing.ids()[:1]], credential)
            given = [one for one in wild if one.status == OK]
            found.append(list(check_unknown_ids(listing, [*plain, *given])))
    settle(of_all(found))


def unknown_ids(host: Host, listing: Listing) -> list[str]:
    """Ids that no tool has: of every scope that somebody is shown, of none, and nearly listed ones."""
    known = host.known_ids()
    like = {one.rpartition(":")[0]: one for one in [*sorted(known), *reversed(listing.ids())]}
    names = [name for one in [*like.values(), NO_SCOPE][-MOST_SCOPES:] for name in decoys(one, known, 1)]
    near = [name for one in listing.ids()[:1] for name in (f"{one}x", one[:-1]) if len(one) > 1]
    return [*dict.fromkeys(one for one in [*names, *near] if one not in known)] or decoys(EXAMPLE, known, 1)
