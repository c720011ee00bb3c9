"""§F-1: the catalog is for reading."""

from urllib.parse import quote

import pytest

from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.writes import check_nothing_changed, check_writes_answered, check_writes_refused
from openwop_conformance.client.host import LIST_PATH, Host, item_path
from openwop_conformance.exchanges import Answer
from openwop_conformance.plugin.trial import Trial

BODY = b"{}"
READINGS = 2
JSON = (("Content-Type", "application/json"),)
HARMLESS_ON_LIST = ("POST", "PATCH")
NEVER = (("Content-Type", "text/plain"), ("If-Match", '"openwop-conformance-nothing-has-this-tag"'))
WRITES = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.openwop_scenario(
    "read-only", settles=["list-rejects-writes", "item-rejects-writes", "writes-change-nothing", "writes-answered-405"]
)
def test_read_only(host: Host, settle: Trial) -> None:
    """Nothing can be written to the catalog.

    Sent: POST, PUT, PATCH and DELETE on ids that no tool has, with an empty object; on the list POST and PATCH with an
    empty object, PUT and DELETE with a body that is no catalog and a condition that nothing meets. With
    --openwop-destructive all four also without such care, on the list and on a listed id. The careful ones also without
    a credential. Everybody's list, and the ids by id, before and after.
    Required: none succeeds, nothing changes; 405 with Allow is preferred.
    """
    before = [[host.read_list(one) for _ in range(READINGS)] for one in host.credentials()]
    known = before[0][0].ids()
    destructive = host.settings.destructive
    targets = decoys((known or [EXAMPLE])[0], host.known_ids(), 1) + (known[:1] if destructive else [])
    found_before = host.items(targets, host.primary)
    on_list = [careful_write(host, method, targets[0]) for method in WRITES]
    on_list += [write(host, method, LIST_PATH) for method in WRITES] if destructive else []
    on_items = [write(host, method, item_path(target)) for target in targets for method in WRITES]
    unknown = [write(host, method, item_path(targets[0]), nobody=True) for method in WRITES]
    unknown_on_list = [careful_write(host, method, targets[0], nobody=True) for method in WRITES]
    settle(check_writes_refused("list-rejects-writes", [*on_list, *unknown_on_list]), "list-rejects-writes")
    settle(check_writes_refused("item-rejects-writes", [*on_items, *unknown]), "item-rejects-writes")
    settle(check_writes_answered([*on_list, *on_items]), "writes-answered-405")
    pairs = list(zip(found_before, host.items(targets, host.primary), strict=True))
    changes = [
        check_nothing_changed(earlier, host.read_list(one), pairs if one == host.primary else ())
        for one, earlier in zip(host.credentials(), before, strict=True)
        if one == host.primary or earlier[0].tools is not None
    ]
    settle([finding for found in changes for finding in found], "writes-change-nothing")
    done = "writes were tried on ids that no tool has" + (
        ", on the list and on a listed id" if destructive else "; --openwop-destructive tries real ones too"
    )
    settle.note(done, "list-rejects-writes", "item-rejects-writes", "writes-change-nothing", "writes-answered-405")


def careful_write(host: Host, method: str, decoy: str, *, nobody: bool = False) -> Answer:
    """An attempt on the list that could do no harm even where it counts: it is aimed at an id that no tool has."""
    if method in HARMLESS_ON_LIST:
        return write(host, method, LIST_PATH, nobody=nobody)
    path = f"{LIST_PATH}?toolId={quote(decoy, safe='', errors='surrogatepass')}"
    return host.client.send(method, path, None if nobody else host.primary, headers=NEVER, body=b"no catalog")


def write(host: Host, method: str, path: str, *, nobody: bool = False) -> Answer:
    """One attempt to write something empty."""
    return host.client.send(method, path, None if nobody else host.primary, headers=JSON, body=BODY)
