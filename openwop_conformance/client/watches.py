"""What every answer of a run is looked at for, whichever scenario asked for it."""

from collections.abc import Callable, Iterator, Sequence

from openwop_conformance.checks.disclosure import NOWHERE, Received, check_hidden_nowhere
from openwop_conformance.checks.secrets import (
    LOWEST_ERROR,
    MATERIAL,
    RETURNED,
    check_nothing_returned,
    check_secret_free,
)
from openwop_conformance.client.host import UNKNOWN_TOKEN, Host
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding
from openwop_conformance.secret import Secret

Watch = Callable[[Host, Sequence[Answer]], Iterator[Finding]]


def watch_hidden_ids(host: Host, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`hidden-id-nowhere`: over what principals from whom something is hidden are told, and what anybody is told.

    That a stranger is given tools is another matter.
    """
    credentials = host.credentials()
    hidden = {one.label: frozenset(host.hidden_from(one)) for one in credentials}
    visible = {one.label: frozenset(host.listing(one).ids()) for one in credentials}
    everything = frozenset().union(*hidden.values())
    common = frozenset.intersection(*visible.values()) if visible else frozenset()
    received = []
    for answer in list(answers):
        who = answer.exchange.principal
        public = answer.status >= LOWEST_ERROR or answer is host.discovery.answer
        kept = hidden.get(who, everything if public else frozenset())
        if kept:
            received.append(Received(answer, kept, visible.get(who, common) - kept))
    return check_hidden_nowhere(received)


def watch_returned(host: Host, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`tokens-never-returned`, over all answers."""
    return check_nothing_returned([*host.settings.secrets, Secret(UNKNOWN_TOKEN)], list(answers))


def watch_material(host: Host, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`descriptor-secret-free`, over all refusals and all that the catalog answers."""
    return check_secret_free(list(answers), host.settings.secrets)


WATCHES: dict[str, Watch] = {NOWHERE: watch_hidden_ids, RETURNED: watch_returned, MATERIAL: watch_material}
