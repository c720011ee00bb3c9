"""§F-1: the catalog is for reading."""

import json
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.listing import REFUSED, of_all
from openwop_conformance.checks.writes import check_nothing_changed, check_writes_answered, check_writes_refused
from openwop_conformance.client.host import LIST_PATH, Host, item_path
from openwop_conformance.client.http import Credential
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

    Sent, by every principal and without a credential: POST, PUT, PATCH and DELETE on an id that no tool has, with an
    empty object; on the list POST and PATCH with an empty object, PUT and DELETE with a body that is no catalog and a
    condition that nothing meets. With --openwop-destructive also without such care: an empty object, a whole descriptor
    of a tool that there is not, and a patch, on the list, on that id and on a listed one. Everybody's list, whole and
    by source, and the ids by id, before and after.
    Required: none succeeds, nothing changes; 405 with Allow is preferred.
    """
    readers = [one for one in host.credentials() if host.listing(one).answer.status not in REFUSED]
    readers = readers or [host.primary]
    before = [[host.read_list(one) for _ in range(READINGS)] for one in readers]
    known = before[0][0].ids()
    destructive = host.settings.destructive
    decoy = decoys((known or [EXAMPLE])[0], host.known_ids(), 1)[0]
    targets = [decoy, *(known[:1] if destructive else [])]
    seen_before = [[what_is_there(host, one, targets) for _ in range(READINGS)] for one in readers]
    on_list: list[Answer] = []
    on_items: list[Answer] = []
    for who in readers:
        on_list += [careful_write(host, method, decoy, who) for method in WRITES]
        on_items += [write(host, method, item_path(decoy), who) for method in WRITES]
        if destructive:
            on_list += careless_writes(host, LIST_PATH, decoy, who)
            on_items += [one for target in targets for one in careless_writes(host, item_path(target), decoy, who)]
    unknown = [write(host, method, item_path(decoy), None) for method in WRITES]
    unknown_on_list = [careful_write(host, method, decoy, None) for method in WRITES]
    settle(check_writes_refused("list-rejects-writes", [*on_list, *unknown_on_list]), "list-rejects-writes")
    settle(check_writes_refused("item-rejects-writes", [*on_items, *unknown]), "item-rejects-writes")
    settle(check_writes_answered([*on_list, *on_items]), "writes-answered-405")
    changes = []
    for who, earlier, first in zip(readers, before, seen_before, strict=True):
        pairs = list(zip(zip(*first, strict=True), what_is_there(host, who, targets), strict=True))
        changes.append(list(check_nothing_changed(earlier, host.read_list(who), pairs)))
    settle(of_all(changes), "writes-change-nothing")
    done = "writes were tried on ids that no tool has" + (
        ", on the list and on a listed id" if destructive else "; --openwop-destructive tries real ones too"
    )
    settle.note(done, "list-rejects-writes", "item-rejects-writes", "writes-change-nothing", "writes-answered-405")


def what_is_there(host: Host, who: Credential, targets: Sequence[str]) -> list[Answer]:
    """What a principal gets for the targets by id, and for each source."""
    return [*host.items(targets, who), *(one.answer for one in host.filtered(who, again=True).values())]


def careful_write(host: Host, method: str, decoy: str, who: Credential | None) -> Answer:
    """An attempt on the list that could do no harm even where it counts: it is aimed at an id that no tool has."""
    if method in HARMLESS_ON_LIST:
        return write(host, method, LIST_PATH, who)
    path = f"{LIST_PATH}?toolId={quote(decoy, safe='', errors='surrogatepass')}"
    return host.client.send(method, path, who, headers=NEVER, body=b"no catalog")


def careless_writes(host: Host, path: str, decoy: str, who: Credential) -> list[Answer]:
    """Attempts that a host which takes writes would take, whatever it wants to be given."""
    tool = json.dumps({"toolId": decoy, "source": "node-pack", "safetyTier": "pure"}).encode()
    patch = (("Content-Type", "application/merge-patch+json"),)
    return [
        *(write(host, method, path, who) for method in WRITES),
        *(host.client.send(method, path, who, headers=JSON, body=tool) for method in ("POST", "PUT")),
        host.client.send("PATCH", path, who, headers=patch, body=b'{"title":"openwop-conformance"}'),
    ]


def write(host: Host, method: str, path: str, who: Credential | None) -> Answer:
    """One attempt to write something empty."""
    return host.client.send(method, path, who, headers=JSON, body=BODY)
