"""§C-2 and §F-3: the catalog says that a credential is needed, never what it is."""

import pytest

from openwop_conformance.checks.decoys import EXAMPLE, decoys
from openwop_conformance.checks.secrets import MATERIAL, RETURNED, nothing_shown
from openwop_conformance.client.host import LIST_PATH, Host
from openwop_conformance.plugin.trial import Trial


@pytest.mark.openwop_scenario("secret-free", settles=[MATERIAL, RETURNED])
def test_secret_free(host: Host, settle: Trial) -> None:
    """Nothing that the catalog answers holds a secret.

    Sent: GET /v1/tools, whole and by source; GET /v1/tools/{id} for listed ids and for an unknown one, with every
    principal's credential; both without a credential and with an unknown one.
    Required: no key, text, default, example, const or enum, at any depth, and no header holds credential material; no
    token that was sent and no secret from the settings comes back, here or in any other answer of the run.
    Values are judged, not names; what was found is never shown. Every answer of the run is looked at as it comes in
    (client/watches.py), whichever scenario asked for it; here it is asked for, and said where there was nothing to see.
    """
    host.client.send("GET", LIST_PATH, follow=False)
    host.client.send("GET", LIST_PATH, host.stranger, follow=False)
    for credential in host.credentials():
        known = host.listing(credential)
        unknown = decoys((known.ids() or [EXAMPLE])[0], host.known_ids(), 1)
        host.filtered(credential)
        host.sampled(credential)
        host.items(unknown, credential)
        host.items([*known.ids()[:1], *unknown], None, follow=False)
    settle(nothing_shown(host.listings()), MATERIAL)
    settle(iter(()), RETURNED)
