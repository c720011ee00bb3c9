"""The one file that describes a host: sources with their assignments, tenants, principals, scopes."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from openwop_conformance.dialects.strict_yaml import DocumentError, read_yaml

DATA = Path(__file__).parent / "data"


class ConfigError(ValueError):
    """A host description that cannot be used; one line."""


class _Shape(msgspec.Struct, rename="kebab", forbid_unknown_fields=True, frozen=True):
    pass


class PrincipalConfig(_Shape, frozen=True):
    """Somebody who may come; without a token here, one is made at every start."""

    name: str
    tenant: str
    scopes: list[str] = []
    token: str | None = None


class ToolConfig(_Shape, frozen=True):
    """What the host adds to a native definition: who sees it, what it needs, what is assigned, what a session does."""

    assign: dict[str, Any]
    tenants: list[str]
    scopes: list[str] = []
    session: list[dict[str, Any]] = []


class SourceConfig(_Shape, frozen=True):
    """One tool surface."""

    source: Literal["node-pack", "workflow", "mcp", "connector", "host-extension"]
    format: Literal["tool-contract", "gecx", "toolfoundation", "workflow", "extension"]
    tools: dict[str, ToolConfig]
    documents: list[str] = []
    scope: str | None = None
    server: str | None = None
    command: str | list[str] | None = None
    saved: str | None = None
    endpoint: str | None = None


class AgentConfig(_Shape, frozen=True):
    """An agent and the tools that it may use."""

    name: str
    tools: list[str]


class HostConfig(_Shape, frozen=True):
    """A whole host."""

    principals: list[PrincipalConfig]
    sources: list[SourceConfig]
    implementation: dict[str, str] = {}
    rate_limit: int = 20
    agents: list[AgentConfig] = []


def read_document(path: Path) -> Any:
    """A YAML or JSON file of the host's, read strictly."""
    try:
        return read_yaml(path)
    except DocumentError as error:
        raise ConfigError(str(error)) from None


def read_config(path: Path | None = None) -> tuple[HostConfig, Path]:
    """A host description and the folder that its files are relative to; without a path, the host that ships along."""
    path = path or DATA / "host.yaml"
    try:
        config = msgspec.convert(read_document(path), HostConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None
    _check(config, path)
    return config, path.parent


def _check(config: HostConfig, path: Path) -> None:
    if not config.principals:
        raise ConfigError(f"{path}: a host needs at least one principal")
    for member in ("command", "endpoint"):
        if sum(getattr(one, member) is not None for one in config.sources) > 1:
            raise ConfigError(f"{path}: only one source may have a {member}")
    for one in config.sources:
        if one.scope is None and one.server is None:
            raise ConfigError(f"{path}: sources: {one.source}: no scope was given for its ids")
        if one.source == "host-extension" and not str(one.scope).startswith("x-host-"):
            raise ConfigError(f"{path}: sources: the scope of a host extension has to begin with x-host-")
