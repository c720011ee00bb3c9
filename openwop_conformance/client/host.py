"""A host as scenarios see it: whom we are there, what it advertises, and how to ask it for things."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import quote

from openwop_conformance.capabilities import Capabilities
from openwop_conformance.checks.discovery import check_discovery_served
from openwop_conformance.checks.filtering import SOURCES
from openwop_conformance.checks.listing import FORBIDDEN, OK, Listing, Tool, read_listing, sample
from openwop_conformance.client.http import Client, Credential, Unobservable
from openwop_conformance.exchanges import Answer
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Principal, Settings
from openwop_conformance.wording import printable

DISCOVERY_PATH = "/.well-known/openwop"
LIST_PATH = "/v1/tools"
UNKNOWN_TOKEN = "openwop-conformance-nobody-issued-this"  # noqa: S105 - nobody issued it


@dataclass(frozen=True, slots=True)
class Discovery:
    """The answer of the discovery endpoint and what it advertises."""

    answer: Answer
    capabilities: Capabilities

    @classmethod
    def of(cls, answer: Answer) -> "Discovery":
        """Read an answer; one that breaks the rules advertises nothing that can be relied on."""
        readable = not list(check_discovery_served(answer))
        return cls(answer, Capabilities(answer.json if readable else None))


def read_discovery(client: Client) -> Discovery:
    """Ask for the discovery document, without a credential."""
    return Discovery.of(client.send("GET", DISCOVERY_PATH))


def item_path(tool_id: str, *, literal: str = "") -> str:
    """The path of a tool by id, percent-encoded but for the characters in `literal`."""
    return f"{LIST_PATH}/{quote(tool_id, safe=literal, errors='surrogatepass')}"


class Host:
    """One host in one run. Lists are read once a principal and then shared by the scenarios."""

    def __init__(self, client: Client, settings: Settings, discovery: Discovery) -> None:
        self.client = client
        self.settings = settings
        self.discovery = discovery
        self._listings: dict[str, Listing | Unobservable] = {}
        self._filtered: dict[str, dict[str, Listing]] = {}
        self._sampled: dict[str, dict[str, Answer]] = {}

    @property
    def principals(self) -> tuple[Principal, ...]:
        """Everybody we are on this host."""
        return self.settings.principals

    @cached_property
    def primary(self) -> Credential:
        """The first principal's credential; scenarios that use it need a principal."""
        return self.client.credential(self.principals[0])

    @property
    def stranger(self) -> Credential:
        """A credential that no host has issued."""
        return self.client.custom_credential("a stranger", Secret(UNKNOWN_TOKEN), UNKNOWN_TOKEN)

    def listing(self, credential: Credential) -> Listing:
        """The list as this principal sees it, read once; a list that could not be read is not asked for again."""
        if credential.label not in self._listings:
            try:
                self._listings[credential.label] = self.read_list(credential)
            except Unobservable as loss:
                self._listings[credential.label] = loss
        known = self._listings[credential.label]
        if isinstance(known, Unobservable):
            raise known
        return known

    def listings(self) -> list[Listing]:
        """The lists of all principals, the first principal's first."""
        return [self.listing(one) for one in self.credentials()]

    def filtered(self, credential: Credential, *, again: bool = False) -> dict[str, Listing]:
        """The lists by source as this principal sees them, read once unless `again` is asked for."""
        if again or credential.label not in self._filtered:
            tasks = [partial(self.client.send, "GET", f"{LIST_PATH}?source={one}", credential) for one in SOURCES]
            answers = map(read_listing, self.together(tasks))
            self._filtered[credential.label] = dict(zip(SOURCES, answers, strict=True))
        return self._filtered[credential.label]

    def views(self) -> list[Listing]:
        """The lists of all principals, and those of their lists by source that hold anything."""
        filtered = [one for credential in self.credentials() for one in self.filtered(credential).values()]
        return [*self.listings(), *(one for one in filtered if one.tools)]

    def read_list(self, credential: Credential) -> Listing:
        """The list as this principal sees it now."""
        return read_listing(self.client.send("GET", LIST_PATH, credential))

    def item(self, tool_id: str, credential: Credential | None, *, literal: str = "", follow: bool = True) -> Answer:
        """One tool by id."""
        return self.client.send("GET", item_path(tool_id, literal=literal), credential, follow=follow)

    def together(self, tasks: Sequence[Callable[[], Answer]]) -> list[Answer]:
        """Several requests at a time, as many as the settings allow; the answers in the order of the requests."""
        workers = min(self.settings.limits.concurrency, len(tasks))
        if workers <= 1:
            return [task() for task in tasks]
        with ThreadPoolExecutor(workers) as pool:
            return [future.result() for future in [pool.submit(task) for task in tasks]]

    def items(self, tool_ids: Sequence[str], credential: Credential | None, *, follow: bool = True) -> list[Answer]:
        """Several tools by id."""
        return self.together([partial(self.item, one, credential, follow=follow) for one in tool_ids])

    def sampled(self, credential: Credential) -> dict[str, Answer]:
        """Listed tools by id, as many as the settings allow, read once and then shared by the scenarios."""
        if credential.label not in self._sampled:
            chosen = sample(self.listing(credential), self.settings.limits.max_items)
            self._sampled[credential.label] = dict(zip(chosen, self.items(chosen, credential), strict=True))
        return self._sampled[credential.label]

    def alone(self, credential: Credential) -> list[Listing]:
        """What a principal reads by id, each tool as if it were a list of one."""
        read = [Listing(answer, None, (Tool("", answer.json),)) for answer in self.sampled(credential).values()]
        return [one for one in read if one.answer.status == OK and one.ids()]

    def named_hidden(self, credential: Credential) -> list[str]:
        """The ids that the settings say a principal must not see."""
        [place] = [place for place, one in enumerate(self.principals) if one.name == credential.label]
        return [*dict.fromkeys([*self.principals[place].hidden, *(self.settings.hidden_tool_ids if not place else ())])]

    def hidden_from(self, credential: Credential, *, foreign: bool = False) -> list[str]:
        """The ids that others are shown and this principal is not, named ones first, telling ones before plain ones.

        With `foreign` only those that may be of another tenant. Where the principal's own list cannot be read whole,
        only the named ones are known.
        """
        named = self.named_hidden(credential)
        own = self.listing(credential)
        if own.answer.status != FORBIDDEN and (own.tools is None or not own.whole):
            return named
        tenants = {one.name: one.tenant for one in self.principals}
        for other in self.credentials():
            same = tenants[other.label] is not None and tenants[other.label] == tenants[credential.label]
            if other.label != credential.label and not (foreign and same):
                theirs, shown = self.listing(other), set(own.ids())
                named += [one for one in sample(theirs, len(theirs.ids())) if one not in shown]
        return list(dict.fromkeys(named))

    def known_ids(self) -> set[str]:
        """Every id that somebody is shown or that the settings name."""
        named = {one for credential in self.credentials() for one in self.named_hidden(credential)}
        return named | {one for listing in self.listings() for one in listing.ids()}

    @property
    def implementation(self) -> tuple[str | None, str | None] | None:
        """Name and version: what the settings call the host, or else what it calls itself."""
        if self.settings.implementation_name or self.settings.implementation_version:
            return self.settings.implementation_name, self.settings.implementation_version
        told = (self.discovery.capabilities.document or {}).get("implementation")
        if not isinstance(told, dict):
            return None
        name, version = (
            printable(self.client.redactor.text(told[key]), 120) if isinstance(told.get(key), str) else None
            for key in ("name", "version")
        )
        return name, version

    def credentials(self) -> list[Credential]:
        """Everybody's credential, the first principal's first."""
        return [self.client.credential(one) for one in self.principals]
