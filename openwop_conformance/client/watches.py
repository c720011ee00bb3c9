"""What every answer of a run is looked at for, whichever scenario asked for it."""

from collections.abc import Callable, Iterator, Sequence

from openwop_conformance.checks.disclosure import NOWHERE, Received, check_hidden_nowhere
from openwop_conformance.checks.secrets import RETURNED, check_nothing_returned
from openwop_conformance.client.host import Host
from openwop_conformance.exchanges import Answer
from openwop_conformance.findings import Finding

Watch = Callable[[Host, Sequence[Answer]], Iterator[Finding]]


def watch_hidden_ids(host: Host, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`hidden-id-nowhere`, over answers to principals from whom something is hidden."""
    hidden = {one.label: frozenset(host.hidden_from(one)) for one in host.credentials()}
    received = [
        Received(answer, hidden[answer.exchange.principal])
        for answer in list(answers)
        if hidden.get(answer.exchange.principal)
    ]
    return check_hidden_nowhere(received)


def watch_returned(host: Host, answers: Sequence[Answer]) -> Iterator[Finding]:
    """`tokens-never-returned`, over all answers."""
    return check_nothing_returned(host.settings.secrets, list(answers))


WATCHES: dict[str, Watch] = {NOWHERE: watch_hidden_ids, RETURNED: watch_returned}
