"""What the host knows: tools projected from its surfaces, principals, and which of them belong together."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openwop_conformance.dialects.projection import Naming, Projection, project, tools_of
from openwop_conformance.dialects.shapes import descriptor_errors
from openwop_conformance.reference.config import (
    ConfigError,
    HostConfig,
    SourceConfig,
    ToolConfig,
    read_config,
    read_document,
)
from openwop_conformance.reference.mcp_link import McpLink, McpUnavailable, link_to


@dataclass(frozen=True, slots=True)
class HostPrincipal:
    """Somebody with a token, a tenant and scopes."""

    name: str
    token: str = field(repr=False)
    tenant: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostTool:
    """A tool as it is shown, the tenants that it is shown to, and what stands behind it."""

    descriptor: dict[str, Any]
    tenants: frozenset[str]
    native: dict[str, Any] = field(default_factory=dict)
    session: tuple[dict[str, Any], ...] = ()

    @property
    def id(self) -> str:
        """The toolId."""
        return str(self.descriptor["toolId"])

    @property
    def source(self) -> str:
        """The surface that runs it."""
        return str(self.descriptor["source"])

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
    rate_limit: int = 20
    endpoint: str | None = None
    mcp: McpLink | None = None
    agents: tuple[tuple[str, tuple[str, ...]], ...] = ()

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
        return sorted({tool.source for tool in self.tools})


def load_catalog(path: Path | None = None, *, live: bool = False) -> Catalog:
    """Build a catalog from a host description; `live` asks the MCP server itself instead of its saved list."""
    config, folder = read_config(path)
    link = _link(config) if live else None
    tools = [tool for source in config.sources for tool in _tools(source, folder, link)]
    _check_ids(tools)
    endpoint = next((one.endpoint for one in config.sources if one.endpoint), None)
    agents = tuple((one.name, tuple(one.tools)) for one in config.agents)
    strange = {name for _, names in agents for name in names} - {tool.id for tool in tools}
    if strange:
        raise ConfigError(f"agents: no tool has the id {', '.join(sorted(strange))}")
    return Catalog(tuple(tools), _principals(config), config.implementation, config.rate_limit, endpoint, link, agents)


def _principals(config: HostConfig) -> tuple[HostPrincipal, ...]:
    made = tuple(
        HostPrincipal(one.name, one.token or f"owop_{secrets.token_urlsafe(24)}", one.tenant, tuple(one.scopes))
        for one in config.principals
    )
    if len({one.token for one in made}) < len(made) or len({one.name for one in made}) < len(made):
        raise ConfigError("principals: names and tokens have to differ")
    return made


def _link(config: HostConfig) -> McpLink | None:
    """A connection to the MCP server; None where the extra is not installed, and the saved list has to serve."""
    for source in config.sources:
        if source.command is not None:
            command = (source.command,) if isinstance(source.command, str) else tuple(source.command)
            link = link_to(command)
            try:
                link.tools()
            except McpUnavailable as problem:
                if "No module named 'mcp'" in str(problem):
                    return None
                raise ConfigError(f"sources: mcp: {problem}") from None
            return link
    return None


def _tools(source: SourceConfig, folder: Path, link: McpLink | None) -> list[HostTool]:
    natives = link.tools() if link is not None and source.command is not None else _documents(source, folder)
    if source.format in {"workflow", "extension"}:
        projection = _own(source, natives)
    else:
        naming = Naming(source.scope, source.source, source.server)
        assigned = {name: one.assign for name, one in source.tools.items()}
        named = [one for one in natives if isinstance(one, dict) and isinstance(one.get("name"), str)]
        chosen = [native for native in named if native["name"] in source.tools]
        projection = project(source.format, chosen, naming, assigned)
    if projection.refusals:
        first = projection.refusals[0]
        raise ConfigError(f"sources: {source.source}: {first.tool}: {first.reason}")
    by_name = {native.get("name"): one for one, native in projection.natives.items()}
    missing = source.tools.keys() - by_name.keys()
    if missing:
        raise ConfigError(f"sources: {source.source}: no definition of {', '.join(sorted(missing))}")
    descriptors = {one["toolId"]: one for one in projection.descriptors}
    return [
        _hosted(descriptors[by_name[name]], projection.natives[by_name[name]], one)
        for name, one in source.tools.items()
    ]


def _documents(source: SourceConfig, folder: Path) -> list[Any]:
    names = [*source.documents, *([source.saved] if source.saved else [])]
    return [tool for name in names for tool in tools_of(read_document(folder / name))]


def _own(source: SourceConfig, natives: list[Any]) -> Projection:
    """Workflows that are marked as tools, and host extensions: formats of the host's own."""
    result = Projection()
    for native in natives:
        if not isinstance(native, dict) or not isinstance(native.get("name"), str):
            raise ConfigError(f"sources: {source.source}: a definition without a name")
        if not native.get("tool", True) or native["name"] not in source.tools:
            continue
        descriptor = {"toolId": f"{source.scope}:{native['name']}", "source": source.source}
        descriptor |= {member: native[member] for member in ("title", "description", "inputSchema") if member in native}
        descriptor |= source.tools[native["name"]].assign
        result.descriptors.append(descriptor)
        result.natives[str(descriptor["toolId"])] = native
    return result


def _hosted(descriptor: dict[str, Any], native: dict[str, Any], one: ToolConfig) -> HostTool:
    schema = descriptor.get("inputSchema")
    if descriptor["source"] == "mcp" and isinstance(schema, dict) and schema.get("type") == "object":
        descriptor["inputSchema"] = {"additionalProperties": False, **schema}
    if one.scopes:
        held = descriptor.get("auth", {})
        descriptor["auth"] = {**held, "scopes": list(dict.fromkeys([*held.get("scopes", ()), *one.scopes]))}
    errors = descriptor_errors(descriptor)
    if errors:
        raise ConfigError(f"{descriptor['toolId']}: {errors[0].pointer}: {errors[0].message}")
    return HostTool(descriptor, frozenset(one.tenants), native, tuple(one.session))


def _check_ids(tools: list[HostTool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.id in seen:
            raise ConfigError(f"two tools would share the id {tool.id}")
        seen.add(tool.id)
