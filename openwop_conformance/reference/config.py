"""The one file that describes a host: sources with their assignments, tenants, principals, scopes."""

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 60
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


class HostConfig(_Shape, frozen=True):
    """A whole host."""

    principals: list[PrincipalConfig]
    sources: list[SourceConfig]
    implementation: dict[str, str] = {}
    rate_limit: int = 20


def read_document(path: Path) -> Any:
    """A YAML or JSON file of the host's, bounded; aliases are refused because they can grow without bound."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes")
        text = raw.decode("utf-8")
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
                raise ConfigError(f"{path}: aliases and deep nesting are not accepted")
        return yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        raise ConfigError(f"{path}: {place}{getattr(error, 'problem', None) or 'not readable as YAML'}") from None


def read_config(path: Path | None = None) -> tuple[HostConfig, Path]:
    """A host description and the folder that its files are relative to; without a path, the host that ships along."""
    path = path or DATA / "host.yaml"
    try:
        return msgspec.convert(read_document(path), HostConfig), path.parent
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None
