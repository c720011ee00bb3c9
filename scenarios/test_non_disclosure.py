"""§B and §F-2: what a principal may not see does not exist for it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from urllib.parse import quote

import pytest

from openwop_conformance.checks.decoys import decoys
from openwop_conformance.checks.disclosure import (
    NOTHING_HIDDEN,
    NOWHERE,
    PLAIN,
    REQUIREMENTS,
    Probe,
    Resolution,
    Round,
    check_hidden_like_unknown,
    check_unlisted,
)
from openwop_conformance.checks.filtering import SOURCES
from openwop_conformance.checks.likeness import Asked, marks
from openwop_conformance.checks.listing import OK, sample
from openwop_conformance.checks.tenants import TenantReading, check_within_tenant
from openwop_conformance.checks.timing import REQUIREMENT as TIMING
from openwop_conformance.checks.timing import check_timing
from openwop_conformance.client.host import DISCOVERY_PATH, LIST_PATH, Host, item_path
from openwop_conformance.client.http import TOO_MANY_REQUESTS, Credential, Unobservable
from openwop_conformance.client.watches import watch_hidden_ids
from openwop_conformance.exchanges import Answer, Pairs
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.plugin.trial import Trial

DECOYS = 3
PLAINLY = 6
IN_EVERY_WAY = 2
ROUNDS = 5
TIMED = 60
UNANSWERED = 0
PREFIXES = {"mcp": "mcp", "connector": "connector", "openwop": "node-pack"}
WRITES = ("POST", "PUT", "PATCH", "DELETE")
OTHER_TAG = '"openwop-conformance-nothing-has-this-tag"'
NO_SOURCES = ("openwop-conformance-none", "", "mcp,connector")


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking for an id; `path` spells it."""

    name: str
    words: str
    credential: Credential | None
    path: Callable[[str], str] = item_path
    spelled: Callable[[str], str] = str
    method: str = "GET"
    headers: Pairs = ()
    body: bytes | None = None

    def ask(self, host: Host, tool_id: str) -> Answer:
        """Ask for an id in this way; one that is throttled for good, or gets no answer, has been told something too."""
        send = partial(
            host.client.send, self.method, self.path(tool_id), self.credential, headers=self.headers, body=self.body
        )
        try:
            return send(follow=False)
        except Unobservable as loss:
            if loss.exchange.status != TOO_MANY_REQUESTS:
                return Answer(loss.exchange, UNANSWERED, (), b"")
            return send(follow=False, throttled_is_answer=True)


@pytest.mark.openwop_scenario("non-disclosure", settles=[*REQUIREMENTS, NOWHERE])
def test_non_disclosure(host: Host, settle: Trial) -> None:
    """A hidden id is answered exactly as an id that no tool has.

    Sent: for ids that one principal is shown and another is not, in every direction, and for hidden ids from the
    settings: GET and HEAD; for some of them also conditional GET, OPTIONS, GET with ?source=, in other case, with
    other percent-encoding, with a slash behind, without a credential and with one that nobody issued; without a
    credential also for an id that everybody is shown; with --openwop-destructive also POST, PUT, PATCH and DELETE. Each
    among decoys: ids of the same length, scope and kinds of characters that no tool has. What seems to differ is asked
    again. And the list for sources that there are not, HEAD on it, and the public document, by every principal.
    Required: nothing in status, headers or body sets the hidden id apart from all decoys; and the id itself stands in
    no answer of the run to the principal from whom it is hidden.
    """
    probes = [probe for viewer in host.credentials() for probe in probes_of(host, viewer)]
    probes += strangers(host) if probes else []
    for viewer in host.credentials():
        host.client.send("HEAD", LIST_PATH, viewer)
        host.client.send("GET", DISCOVERY_PATH, viewer)
        for source in NO_SOURCES:
            host.client.send("GET", f"{LIST_PATH}?source={source}", viewer)
    settle(check_hidden_like_unknown(probes), *REQUIREMENTS)
    settle(nowhere(host, probes), NOWHERE)


def strangers(host: Host) -> Iterator[Probe]:
    """To those whom the host does not know every tool is hidden, one that all principals are shown too."""
    common = set.intersection(*(set(one.ids()) for one in host.listings()))
    for tool_id in sample(host.listing(host.primary), len(host.listing(host.primary).ids())):
        if tool_id in common:
            yield from asked(host, tool_id, list(anonymous_ways(host)))
            return


def nowhere(host: Host, probes: Sequence[Probe]) -> Iterator[Finding]:
    """Other answers are looked at as they come in; here the public document, and whether there was anything to hide."""
    if not probes:
        yield Finding(NOWHERE, NOTHING_HIDDEN, weight=Weight.BLOCKED)
    yield from watch_hidden_ids(host, [host.discovery.answer])


def probes_of(host: Host, viewer: Credential) -> Iterator[Probe]:
    """All that is asked about what is hidden from one principal: of every source something, and the rest more briefly.

    Further ids are asked for once in each way; of those that stand out among the decoys so far, a few are looked into.
    """
    hidden = various(host, host.hidden_from(viewer))
    plainly = [Way(PLAIN, "GET", viewer), Way("head", "HEAD", viewer, method="HEAD")]
    probes: list[Probe] = []
    for place, one in enumerate(hidden[:PLAINLY]):
        ways = [*plainly, *(ways_for(host, viewer, one) if place < IN_EVERY_WAY else ())]
        probes += asked(host, one, ways)
    yield from probes
    pools = {
        words: [decoy for probe in probes if probe.words == words for turn in probe.rounds for decoy in turn.decoys]
        for words in dict.fromkeys(probe.words for probe in probes)
    }
    for way in plainly:
        rest = hidden[PLAINLY : host.settings.limits.max_items]
        for one in suspects(host, way, rest, pools.get(way.words, []), closely=True):
            yield from asked(host, one, [way])
    for one in hidden[IN_EVERY_WAY:PLAINLY]:
        for way in ways_for(host, viewer, one):
            if suspects(host, way, [one], pools.get(way.words, [])):
                yield from asked(host, one, [way])


def various(host: Host, hidden: Sequence[str]) -> list[str]:
    """The same ids, those first that are the first of their scope or source."""
    kinds = {one: (one.partition(":")[0], source_of(host, one)) for one in hidden}
    firsts = {kind: one for one, kind in reversed(kinds.items())}
    return sorted(hidden, key=lambda one: firsts[kinds[one]] != one)


def suspects(host: Host, way: Way, hidden: Sequence[str], pool: Sequence[Asked], *, closely: bool = False) -> list[str]:
    """Of further hidden ids, a few of those that stand out even among decoys of other shapes, or of their own."""
    if not pool:
        return []
    visible = pool[0].visible
    own = [decoys(one, host.known_ids(), 1) if closely else [] for one in hidden]
    names = [name for one, more in zip(hidden, own, strict=True) for name in (one, *more)]
    answers = dict(zip(names, host.together([partial(way.ask, host, one) for one in names]), strict=True))

    def seen(name: str) -> Asked:
        return Asked(name, answers[name], visible, way.spelled(name))

    odd = [one for one, more in zip(hidden, own, strict=True) if marks(seen(one), [*pool, *map(seen, more)])]
    return odd[:PLAINLY]


def ways_for(host: Host, viewer: Credential, hidden: str) -> Iterator[Way]:
    """Everything but plain GET that might tell whether `hidden` exists."""
    owner, source = owned(host, hidden), source_of(host, hidden)
    conditions: list[tuple[str, str]] = [
        ("If-None-Match", "*"),
        ("If-Match", "*"),
        ("If-Match", OTHER_TAG),
        ("If-Modified-Since", formatdate(usegmt=True)),
        ("If-Unmodified-Since", formatdate(0, usegmt=True)),
        ("Range", "bytes=0-0"),
    ]
    if owner is not None:
        known = (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since"))
        conditions += [(ours, value) for theirs, ours in known if (value := owner.header(theirs))]
    for name, value in conditions:
        yield Way("conditional", f"GET with {name}: {value[:2]}…", viewer, headers=((name, value),))
    yield Way("conditional", "HEAD with If-None-Match", viewer, method="HEAD", headers=(("If-None-Match", "*"),))
    yield Way("variant", "OPTIONS", viewer, method="OPTIONS")
    yield Way("variant", "Accept: text/plain", viewer, headers=(("Accept", "text/plain"),))
    other = next(one for one in SOURCES if one != source)
    yield Way("variant", "?source= of its source", viewer, lambda one: f"{item_path(one)}?source={source}")
    yield Way("variant", "?source= of another source", viewer, lambda one: f"{item_path(one)}?source={other}")
    yield Way("variant", "a trailing slash", viewer, lambda one: f"{item_path(one)}/")
    yield Way("variant", "lower-case percent-encoding", viewer, lambda one: encoded(one).lower())
    yield Way("variant", "percent-encoding throughout", viewer, encoded)
    yield Way("variant", "percent-encoding twice", viewer, lambda one: quote(item_path(one), safe="/"))
    yield Way("variant", "an id sent as it is", viewer, lambda one: item_path(one, literal=":@!$&'()*+,;=~"))
    for words, change in (("a scope in other case", recased), ("an id in other case", str.swapcase)):
        if change(hidden) != hidden and change(hidden) not in host.listing(viewer).ids():
            yield Way("variant", words, viewer, spelling(change), change)
    for method in WRITES if host.settings.destructive else ():
        json = (("Content-Type", "application/json"),)
        yield Way("variant", method, viewer, method=method, headers=json, body=b"{}")
    yield from anonymous_ways(host)


def spelling(change: Callable[[str], str]) -> Callable[[str], str]:
    """The path of an id as it is changed."""
    return lambda one: item_path(change(one))


def anonymous_ways(host: Host) -> Iterator[Way]:
    """Asking as nobody, or as somebody whom the host does not know."""
    tagged = (("If-None-Match", "*"),)
    yield Way("anonymous", "GET without a credential", None)
    yield Way("anonymous", "HEAD without a credential", None, method="HEAD")
    yield Way("anonymous", "GET with If-None-Match without a credential", None, headers=tagged)
    yield Way("anonymous", "GET with an unknown credential", host.stranger)


def encoded(tool_id: str) -> str:
    """The path of an id with every byte percent-encoded."""
    raw = tool_id.encode("utf-8", "surrogatepass")
    return f"{LIST_PATH}/{''.join(f'%{byte:02X}' for byte in raw)}"


def recased(tool_id: str) -> str:
    """An id whose scope stands in other case."""
    scope, colon, name = tool_id.partition(":")
    return scope.swapcase() + colon + name


def owned(host: Host, hidden: str) -> Answer | None:
    """How the tool answers somebody who may see it."""
    for credential in host.credentials():
        if hidden in host.listing(credential).ids():
            return host.item(hidden, credential)
    return None


def source_of(host: Host, hidden: str) -> str:
    """The source that a tool has, or may have by its scope."""
    for credential in host.credentials():
        for tool in host.listing(credential).named(hidden):
            return quote(tool.text("source") or SOURCES[0])
    return PREFIXES.get(hidden.partition(":")[0], SOURCES[-1])


def asked(host: Host, hidden: str, ways: Sequence[Way]) -> Iterator[Probe]:
    """Each way once; those in which the hidden id seems to stand out, again with other decoys.

    At last with decoys that were asked for before, as the hidden id was: caches answer those otherwise.
    """
    stock = decoys(hidden, host.known_ids(), DECOYS * (ROUNDS - 1))
    first = rounds(host, hidden, ways, stock[:DECOYS])
    for way, one in zip(ways, first, strict=True):
        probe = Probe(way.name, way.words, (one,))
        later = [stock[turn * DECOYS : (turn + 1) * DECOYS] or stock[:DECOYS] for turn in range(1, ROUNDS - 1)]
        again = [
            turn
            for names in ([*later, stock[:DECOYS]] if probe.marks() else [])
            for turn in rounds(host, hidden, [way], names)
        ]
        yield Probe(way.name, way.words, (one, *again))


def rounds(host: Host, hidden: str, ways: Sequence[Way], names: Sequence[str]) -> list[Round]:
    """The hidden id in the midst of decoys, for several ways at once."""
    order = [*names[:1], hidden, *names[1:]]
    answers = iter(host.together([partial(way.ask, host, one) for way in ways for one in order]))
    made = []
    for way in ways:
        shown = frozenset(host.listing(way.credential).ids()) if way.credential in host.credentials() else frozenset()
        group = {one: Asked(one, next(answers), shown, way.spelled(one)) for one in order}
        lost = [one.answer for name, one in group.items() if one.answer.status == UNANSWERED and name != hidden]
        if lost:
            raise Unobservable(lost[0].exchange.error or "no answer", lost[0].exchange)
        made.append(Round(group.pop(hidden), tuple(group.values())))
    return made


@pytest.mark.openwop_scenario(
    "unlisted-ids", settles=["nothing-unlisted-resolves", "item-within-tenant", "list-within-tenant"]
)
def test_unlisted_ids(host: Host, settle: Trial) -> None:
    """What the list does not show to a principal cannot be read by it, in any list or by id.

    Sent: GET /v1/tools/{id} for all ids that others are shown, up to the limit; GET /v1/tools?source=S for every
    source; with every principal's credential. The list again where an id resolved, because tools may be deployed (R18).
    Required: none resolves; no list holds an id that belongs to another tenant.
    """
    most = host.settings.limits.max_items
    resolutions: list[Resolution] = []
    readings: list[TenantReading] = []
    for viewer in host.credentials():
        every = host.hidden_from(viewer)
        hidden = every[:most]
        if len(every) > most:
            settle.note(f"{most} of the {len(every)} ids hidden from {viewer.label} were tried (limits.max-items)")
        foreign = frozenset(host.hidden_from(viewer, foreign=True))
        answers = host.items(hidden, viewer)
        now = host.read_list(viewer).ids() if any(one.status == OK for one in answers) else []
        named = frozenset(host.named_hidden(viewer))
        resolutions += [
            Resolution(one, answer, one in foreign, listed_since=one in now and one not in named)
            for one, answer in zip(hidden, answers, strict=True)
        ]
        listings = [host.listing(viewer), *host.filtered(viewer).values()] if foreign else []
        readings += [TenantReading(one, foreign - set(now) | named & foreign) for one in listings]
    settle(check_unlisted(resolutions), "nothing-unlisted-resolves", "item-within-tenant")
    settle(check_within_tenant(readings), "list-within-tenant")


@pytest.mark.openwop_scenario("timing", settles=[TIMING])
def test_timing(host: Host, settle: Trial) -> None:
    """The time of an answer does not tell a hidden id from an unknown one.

    Sent, only with --openwop-timing: GET /v1/tools/{id} for a hidden id and for a decoy, in turns.
    Required: by a rank test, neither is clearly answered sooner. A difference is an advisory.
    """
    if not host.settings.timing:
        why = "times are compared only on request (--openwop-timing)"
        settle([Finding(TIMING, why, weight=Weight.INAPPLICABLE)])
        return
    findings: list[Finding] = []
    pairs = [(viewer, one) for viewer in host.credentials() for one in host.hidden_from(viewer)[:1]]
    for viewer, hidden in pairs:
        names = (hidden, *decoys(hidden, host.known_ids(), 1))
        samples: dict[str, list[float]] = {name: [] for name in names}
        for turn in range(TIMED):
            for name in names if turn % 2 else reversed(names):
                started = time.perf_counter()
                answer = host.item(name, viewer)
                samples[name].append(time.perf_counter() - started)
        findings += check_timing(hidden, samples[names[0]], samples[names[1]], answer.exchange)
    settle(findings if pairs else [Finding(TIMING, NOTHING_HIDDEN, weight=Weight.BLOCKED)])
