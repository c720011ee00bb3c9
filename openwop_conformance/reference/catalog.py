"""What the embedded host knows: tools, principals, and which of them belong together."""

import secrets
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class HostPrincipal:
    """Somebody with a token, a tenant and scopes."""

    name: str
    token: str = field(repr=False)
    tenant: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostTool:
    """A tool as it is shown, and the tenants that it is shown to."""

    descriptor: dict[str, Any]
    tenants: frozenset[str]

    @property
    def id(self) -> str:
        """The toolId."""
        return str(self.descriptor["toolId"])

    @property
    def scopes(self) -> frozenset[str]:
        """What a caller has to hold."""
        return frozenset(self.descriptor.get("auth", {}).get("scopes", ()))


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools and principals of one host."""

    tools: tuple[HostTool, ...]
    principals: tuple[HostPrincipal, ...]
    implementation: dict[str, str]

    def authenticate(self, token: str) -> HostPrincipal | None:
        """Whose token this is; every token is compared, and each in constant time."""
        offered = token.encode()
        known = [one for one in self.principals if secrets.compare_digest(one.token.encode(), offered)]
        return known[0] if known else None

    def world(self, principal: HostPrincipal) -> dict[str, HostTool]:
        """All that exists for a principal, by id. Whatever is not in here does not exist for it."""
        held = frozenset(principal.scopes)
        return {tool.id: tool for tool in self.tools if principal.tenant in tool.tenants and tool.scopes <= held}

    @property
    def sources(self) -> list[str]:
        """The sources that the catalog covers."""
        return sorted({str(tool.descriptor["source"]) for tool in self.tools})


def load_catalog(path: Path | None = None) -> Catalog:
    """Read a host description; tokens are made anew each time."""
    own = resources.files("openwop_conformance.reference").joinpath("host.yaml")
    document = yaml.safe_load((path or own).read_text(encoding="utf-8"))
    return Catalog(
        tools=tuple(HostTool(entry["descriptor"], frozenset(entry["tenants"])) for entry in document["tools"]),
        principals=tuple(
            HostPrincipal(entry["name"], f"owop_{secrets.token_urlsafe(24)}", entry["tenant"], tuple(entry["scopes"]))
            for entry in document["principals"]
        ),
        implementation=document["implementation"],
    )
