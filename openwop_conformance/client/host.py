"""A host as scenarios see it: whom we are there, what it advertises, and how to ask it for things."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from openwop_conformance.capabilities import Capabilities
from openwop_conformance.checks.discovery import check_discovery_served
from openwop_conformance.checks.listing import Listing, read_listing
from openwop_conformance.client.http import Client, Credential, Unobservable
from openwop_conformance.exchanges import Answer
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Principal, Settings

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

    def read_list(self, credential: Credential) -> Listing:
        """The list as this principal sees it now."""
        return read_listing(self.client.send("GET", LIST_PATH, credential))

    def item(self, tool_id: str, credential: Credential | None, *, literal: str = "", follow: bool = True) -> Answer:
        """One tool by id."""
        return self.client.send("GET", item_path(tool_id, literal=literal), credential, follow=follow)

    def credentials(self) -> list[Credential]:
        """Everybody's credential, the first principal's first."""
        return [self.client.credential(one) for one in self.principals]
