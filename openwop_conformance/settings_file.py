"""The YAML settings file: its shape, and how its values become ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from openwop_conformance.documents import DocumentError, read_text, read_yaml
from openwop_conformance.secret import Secret
from openwop_conformance.settings import UsageProblem

TOKEN_FILE_BYTES = 64 * 1024


class _Shape(msgspec.Struct, rename="kebab", forbid_unknown_fields=True, frozen=True):
    pass


class SecretShape(_Shape, frozen=True):
    """Where a secret is kept, other than in the file itself."""

    env: str | None = None
    file: str | None = None


class PrincipalShape(_Shape, frozen=True):
    """One principal. Without a token here, the options or the environment supply it."""

    name: str
    token: str | None = None
    token_env: str | None = None
    token_file: str | None = None
    scopes: list[str] | None = None
    tenant: str | None = None
    hidden_tool_ids: list[str] = []


class LimitsShape(_Shape, frozen=True):
    """Overrides of single limits."""

    connect_seconds: float | None = None
    read_seconds: float | None = None
    total_seconds: float | None = None
    max_body_bytes: int | None = None
    max_items: int | None = None
    concurrency: int | None = None
    retry_seconds: float | None = None


class TlsShape(_Shape, frozen=True):
    """Files for https, relative to the settings file."""

    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


class ImplementationShape(_Shape, frozen=True):
    """What the host calls itself in reports."""

    name: str | None = None
    version: str | None = None


class FileShape(_Shape, frozen=True):
    """The whole settings file; every member may be absent."""

    host_url: str | None = None
    principals: list[PrincipalShape] = []
    hidden_tool_ids: list[str] = []
    run_ids: list[str] = []
    planted_secrets: list[str | SecretShape] = []
    strict: bool | None = None
    opt_out: list[str] = []
    list_shape: Literal["any", "object", "array"] | None = None
    destructive: bool | None = None
    timing: bool | None = None
    previous: str | None = None
    fail_on: Literal["fail", "advisory"] | None = None
    reports: list[str] = []
    select: list[str] = []
    limits: LimitsShape = LimitsShape()
    tls: TlsShape = TlsShape()
    headers: dict[str, str | SecretShape] = {}
    key_header: str | None = None
    implementation: ImplementationShape = ImplementationShape()


def read_settings_file(path: Path) -> FileShape:
    """Read and check the shape; an empty file sets nothing."""
    try:
        value: Any = read_yaml(path)
    except DocumentError as error:
        raise UsageProblem(str(error)) from None
    try:
        return msgspec.convert({} if value is None else value, FileShape)
    except msgspec.ValidationError as error:
        raise UsageProblem(f"{path}: {_sentence(str(error))}") from None


def _sentence(text: str) -> str:
    """A message of msgspec's with the place first, as other messages have it."""
    message, _, place = text.partition(" - at ")
    return f"{place.strip('`').removeprefix('$.')}: {message}" if place.strip("`") not in {"", "$"} else message


def secret_from_file(path: Path) -> Secret:
    """The content of a file that holds one secret, without the white space around it."""
    try:
        text = read_text(path, TOKEN_FILE_BYTES).strip()
    except DocumentError as error:
        raise UsageProblem(str(error)) from None
    if not text:
        raise UsageProblem(f"{path}: the file is empty, but it should hold a secret")
    return Secret(text)


def secret_from_env(name: str, environ: Mapping[str, str], where: str) -> Secret:
    """The value of an environment variable that has to be set."""
    if not environ.get(name):
        raise UsageProblem(f"{where}: the environment variable {name} is not set")
    return Secret(environ[name])


def secret_of(value: str | SecretShape, environ: Mapping[str, str], folder: Path, where: str) -> Secret:
    """A secret given in place, by environment variable or by file."""
    if isinstance(value, str):
        return Secret(value)
    if (value.env is None) == (value.file is None):
        raise UsageProblem(f"{where}: give either env or file")
    if value.env is not None:
        return secret_from_env(value.env, environ, where)
    return secret_from_file(folder / str(value.file))


def principal_token(one: PrincipalShape, environ: Mapping[str, str], folder: Path) -> Secret | None:
    """The token that the file names for a principal, or None where it names none."""
    given = [value for value in (one.token, one.token_env, one.token_file) if value is not None]
    where = f"principal {one.name!r}"
    if len(given) > 1:
        raise UsageProblem(f"{where}: give one of token, token-env and token-file")
    if one.token_env is not None:
        return secret_from_env(one.token_env, environ, where)
    if one.token_file is not None:
        return secret_from_file(folder / one.token_file)
    return Secret(one.token) if one.token is not None else None
