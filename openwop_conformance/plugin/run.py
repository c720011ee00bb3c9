"""One run in one process: settings, the host and its gate; handed from the controller to its workers."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from openwop_conformance.capabilities import Capabilities
from openwop_conformance.client.bodies import read_json
from openwop_conformance.client.host import Discovery, Host, read_discovery
from openwop_conformance.client.http import Client, Unobservable
from openwop_conformance.configuration import key_variable
from openwop_conformance.exchanges import Answer, Exchange
from openwop_conformance.findings import Finding
from openwop_conformance.gate import Gate
from openwop_conformance.reference.server import RunningHost, start
from openwop_conformance.requirements import Registry
from openwop_conformance.secret import Secret
from openwop_conformance.settings import REFERENCE, Principal, Settings

HANDOVER = "openwop"


@dataclass(slots=True)
class Run:
    """What the scenarios of one process share; without a host, only settings and registry."""

    settings: Settings
    registry: Registry
    base_url: str | None = None
    client: Client | None = None
    host: Host | None = None
    gate: Gate | None = None
    unobservable: str | None = None
    lost: Exchange | None = None
    embedded: RunningHost | None = None
    opening: Counter[str] = field(default_factory=Counter)
    _told: set[tuple[str, str, str]] = field(default_factory=set)

    def news(self, findings: Iterable[Finding]) -> list[Finding]:
        """What was not told before: the same vice shows in many answers, and one scenario is enough to report it."""
        fresh = {(one.requirement, one.message, one.where): one for one in findings}
        new = [one for key, one in fresh.items() if key not in self._told]
        self._told |= fresh.keys()
        return new

    @property
    def selected(self) -> frozenset[str]:
        """The requirements that this run is about."""
        wanted = self.settings.select or ()
        everything = frozenset(self.registry.requirements)
        return frozenset().union(*map(self.registry.matching, wanted)) if wanted else everything

    def close(self) -> None:
        """Close connections and stop the embedded host, if this process started it."""
        if self.client is not None:
            self.client.close()
        if self.embedded is not None:
            self.embedded.stop()
            self.embedded = None

    def handover(self) -> dict[str, Any]:
        """What a worker needs to take part, in types that travel between processes."""
        answer = self.host.discovery.answer if self.host else None
        return {
            "url": self.base_url,
            "embedded": self.embedded is not None,
            "principals": [
                [
                    one.name,
                    one.token.reveal(),
                    list(one.scopes) if one.scopes is not None else None,
                    one.tenant,
                    one.variable,
                    list(one.hidden),
                ]
                for one in self.settings.principals
            ],
            "planted": [one.reveal() for one in self.settings.planted_secrets],
            "unobservable": self.unobservable,
            "lost": _packed(self.lost) if self.lost else None,
            "discovery": [answer.status, [list(pair) for pair in answer.headers], answer.body, _packed(answer.exchange)]
            if answer
            else None,
        }


def begin(settings: Settings, registry: Registry) -> Run:
    """Start the embedded host if it is asked for, and read the discovery document once."""
    run = Run(settings, registry)
    if settings.host_url is None:
        return run
    if settings.host_url == REFERENCE:
        run.embedded = start()
        own = tuple(
            Principal(one.name, Secret(one.token), one.scopes, one.tenant, key_variable(place, one.name), foreign)
            for place, (one, foreign) in enumerate(run.embedded.tenants())
        )
        planted = (*settings.planted_secrets, *map(Secret, run.embedded.planted))
        run.settings = replace(
            settings, principals=settings.principals or own, destructive=True, planted_secrets=planted
        )
    run.base_url = run.embedded.url if run.embedded else settings.host_url
    try:
        run.client = Client(str(run.base_url), run.settings, direct=run.embedded is not None)
        discovery = read_discovery(run.client)
    except Unobservable as loss:
        run.unobservable, run.lost = loss.reason, loss.exchange
        run.gate = Gate(registry, run.settings, Capabilities(None), loss.reason)
    except BaseException:
        run.close()
        raise
    else:
        _attach(run, discovery)
    run.opening.update(run.client.sent if run.client else {})
    return run


def resume(settings: Settings, registry: Registry, handed: dict[str, Any], worker: str) -> Run:
    """Take part in a run that the controller has begun."""
    principals = tuple(
        Principal(name, Secret(token), None if scopes is None else tuple(scopes), tenant, variable, tuple(hidden))
        for name, token, scopes, tenant, variable, hidden in handed["principals"]
    )
    settings = replace(
        settings,
        principals=principals,
        planted_secrets=tuple(map(Secret, handed["planted"])),
        destructive=settings.destructive or handed["embedded"],
    )
    run = Run(settings, registry, base_url=handed["url"], unobservable=handed["unobservable"])
    if run.base_url is None:
        return run
    run.client = Client(run.base_url, settings, direct=handed["embedded"], name=f"{worker}-x")
    if handed["discovery"] is None:
        run.lost = _unpacked(handed["lost"])
        run.gate = Gate(registry, settings, Capabilities(None), run.unobservable)
        return run
    status, headers, body, exchange = handed["discovery"]
    reading = read_json(body)
    pairs = tuple((name, value) for name, value in headers)
    answer = Answer(_unpacked(exchange), status, pairs, body, reading.value, reading.error, reading.too_deep)
    _attach(run, Discovery.of(answer))
    return run


def _attach(run: Run, discovery: Discovery) -> None:
    assert run.client is not None  # noqa: S101 - both callers have just made it
    run.host = Host(run.client, run.settings, discovery)
    run.gate = Gate(run.registry, run.settings, discovery.capabilities)


def _packed(exchange: Exchange) -> bytes:
    return msgspec.json.encode(exchange)


def _unpacked(data: bytes) -> Exchange:
    return msgspec.json.decode(data, type=Exchange)
