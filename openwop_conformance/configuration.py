"""Options before environment before file: how the three become one checked `Settings`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from openwop_conformance.documents import DocumentError
from openwop_conformance.earlier import Earlier, read_earlier
from openwop_conformance.requirements import Registry
from openwop_conformance.secret import Secret
from openwop_conformance.settings import (
    REFERENCE,
    REPORT_ENDINGS,
    Header,
    Limits,
    ListShape,
    Principal,
    Settings,
    Tls,
    UsageProblem,
    checked_host_url,
)
from openwop_conformance.settings_file import (
    FileShape,
    LimitsShape,
    PrincipalShape,
    principal_token,
    read_settings_file,
    secret_from_file,
    secret_of,
)

PRINCIPAL_NAMES = ("primary", "second")
MIN_PLANTED = 8
MIN_TOKEN = 3
MAX_SECONDS = 86_400
MAX_COUNT = 1 << 31
_RESERVED = frozenset({"authorization", "host", "content-length", "transfer-encoding", "connection"})
_KEYS = ("OPENWOP_API_KEY", "OPENWOP_SECOND_API_KEY")
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off", ""})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was said on the command line; None and empty mean that nothing was."""

    host_url: str | None = None
    token: Secret | None = None
    token_file: Path | None = None
    second_token: Secret | None = None
    second_token_file: Path | None = None
    hidden_tool_ids: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    strict: bool = False
    opt_outs: tuple[str, ...] = ()
    config: Path | None = None
    list_shape: str | None = None
    destructive: bool = False
    timing: bool = False
    previous: Path | None = None
    fail_on: str | None = None
    reports: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()


def configure(options: Options, environ: Mapping[str, str], registry: Registry) -> Settings:
    """Merge and check; raises `UsageProblem` before anything is sent.

    The embedded host issues its own tokens, so keys of a real host in the environment are not for it.
    """
    file = read_settings_file(options.config) if options.config else FileShape()
    folder = options.config.parent if options.config else Path()
    if options.host_url is not None and not options.host_url.strip():
        raise UsageProblem("--host-url is empty: give a URL or `reference`")
    _check_text(environ)
    host = options.host_url or _env_value(environ, "OPENWOP_BASE_URL") or file.host_url
    if host == REFERENCE:
        environ = {name: value for name, value in environ.items() if name not in _KEYS}
    opt_outs, warnings = _opt_outs(options, environ, file, registry)
    hidden = (
        options.hidden_tool_ids
        or _optional(environ.get("OPENWOP_CROSS_PRINCIPAL_TOOL_ID"))
        or tuple(file.hidden_tool_ids)
    )
    if not all(hidden):
        raise UsageProblem("a hidden tool id is empty")
    run_ids = options.run_ids or tuple(file.run_ids)
    if not all(run_ids):
        raise UsageProblem("a run id is empty")
    key_header = _checked_key_header(file.key_header)
    return Settings(
        host_url=checked_host_url(host) if host is not None else None,
        principals=_principals(options, environ, file, folder),
        hidden_tool_ids=tuple(hidden),
        run_ids=run_ids,
        planted_secrets=_planted(file, environ, folder),
        strict=options.strict or _env_flag(environ, "OPENWOP_REQUIRE_BEHAVIOR", otherwise=bool(file.strict)),
        opt_outs=opt_outs,
        list_shape=ListShape(options.list_shape or file.list_shape or "any"),
        destructive=options.destructive or bool(file.destructive),
        timing=options.timing or bool(file.timing),
        previous=_previous(options.previous or (folder / file.previous if file.previous else None)),
        fail_on_advisory=(options.fail_on or file.fail_on) == "advisory",
        reports=_reports(options.reports or tuple(folder / name for name in file.reports)),
        select=_selection(options.select or tuple(file.select), registry),
        limits=_limits(file.limits),
        tls=_tls(file, folder),
        headers=_headers(file, environ, folder, key_header),
        key_header=key_header,
        implementation_name=environ.get("OPENWOP_IMPLEMENTATION_NAME") or file.implementation.name,
        implementation_version=environ.get("OPENWOP_IMPLEMENTATION_VERSION") or file.implementation.version,
        warnings=warnings,
    )


def _optional(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def _env_value(environ: Mapping[str, str], name: str) -> str | None:
    """A variable that may be absent but not empty: an empty one is a secret or address that went missing."""
    value = environ.get(name)
    if value is not None and not value.strip():
        raise UsageProblem(f"{name} is set but empty: give it a value or unset it")
    return value


def _env_flag(environ: Mapping[str, str], name: str, *, otherwise: bool) -> bool:
    value = environ.get(name)
    if value is None:
        return otherwise
    word = value.strip().lower()
    if word not in _TRUE | _FALSE:
        raise UsageProblem(f"{name}={value!r} is neither true nor false")
    return word in _TRUE


def _opt_outs(
    options: Options, environ: Mapping[str, str], file: FileShape, registry: Registry
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Opted-out profiles. The variable is shared with other suites, so a name unknown here is only a warning there."""
    ours = [name for entry in options.opt_outs for name in _names(entry)]
    if ours or "OPENWOP_OPTED_OUT_PROFILES" not in environ:
        chosen = ours or file.opt_out
        for name in chosen:
            if name not in registry.profiles:
                raise UsageProblem(f"unknown profile {name!r}: known are {', '.join(registry.profiles)}")
        return frozenset(chosen), ()
    named = _names(environ["OPENWOP_OPTED_OUT_PROFILES"])
    strange = [name for name in named if name not in registry.profiles]
    warnings = (f"OPENWOP_OPTED_OUT_PROFILES names {', '.join(strange)}: not a profile of this suite, ignored",)
    return frozenset(named) - frozenset(strange), warnings if strange else ()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _principals(options: Options, environ: Mapping[str, str], file: FileShape, folder: Path) -> tuple[Principal, ...]:
    """The file's principals, the first two of them with the tokens that options or environment give."""
    given = (
        _given_token(options.token, options.token_file, _env_value(environ, "OPENWOP_API_KEY"), "--openwop-token"),
        _given_token(
            options.second_token,
            options.second_token_file,
            _env_value(environ, "OPENWOP_SECOND_API_KEY"),
            "--openwop-second-token",
        ),
    )
    if given[1] is not None and given[0] is None and not file.principals:
        raise UsageProblem("a second token was given, but no first: give one with --openwop-token or OPENWOP_API_KEY")
    shapes = list(file.principals)
    for place, token in enumerate(given):
        if token is not None and place >= len(shapes):
            shapes.append(PrincipalShape(name=PRINCIPAL_NAMES[place]))
    principals = []
    for place, shape in enumerate(shapes):
        override = given[place] if place < len(given) else None
        token = override or principal_token(shape, environ, folder)
        if token is None:
            raise UsageProblem(f"principal {shape.name!r} has no token: give token, token-env or token-file")
        _check_header_value(token, f"the token of principal {shape.name!r}")
        scopes = None if shape.scopes is None else tuple(shape.scopes)
        variable = shape.token_env if override is None and shape.token_env else key_variable(place, shape.name)
        hidden = tuple(shape.hidden_tool_ids)
        if not all(hidden):
            raise UsageProblem(f"principal {shape.name!r}: a hidden tool id is empty")
        principals.append(Principal(shape.name, token, scopes, shape.tenant, variable, hidden))
    _check_distinct(principals)
    return tuple(principals)


def key_variable(place: int, name: str) -> str:
    """The shell variable that stands for a token in what is shown."""
    plain = "".join(char if char.isalnum() and char.isascii() else "_" for char in name.upper())
    return _KEYS[place] if place < len(_KEYS) else f"OPENWOP_KEY_{plain}"


def _given_token(token: Secret | None, file: Path | None, env: str | None, option: str) -> Secret | None:
    if token is not None and file is not None:
        raise UsageProblem(f"{option} and {option}-file were both given: give one")
    if token is not None and not token:
        raise UsageProblem(f"{option} is empty")
    return token or (secret_from_file(file) if file else None) or (Secret(env) if env else None)


def _check_distinct(principals: list[Principal]) -> None:
    names = [one.name for one in principals]
    if "" in names or len(set(names)) < len(names) or not all(name.isprintable() for name in names):
        raise UsageProblem("principals need names that are printable, not empty and not shared")
    if any(len(one.token.reveal()) < MIN_TOKEN for one in principals):
        raise UsageProblem(f"a token is shorter than {MIN_TOKEN} characters: it could not be kept out of the output")
    if len({one.token for one in principals}) < len(principals):
        raise UsageProblem("two principals have the same token: they would be one and the same to the host")


def _check_header_value(value: Secret, what: str) -> None:
    text = value.reveal()
    if not text or not text.isascii() or not text.isprintable() or text != text.strip():
        raise UsageProblem(f"{what} cannot be sent in a header: it has to be printable ASCII without spaces around it")


def _checked_header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise UsageProblem(f"{name!r} is not a header name")
    return name


def _checked_key_header(name: str | None) -> str | None:
    if name is not None and _checked_header_name(name).lower() in _RESERVED - {"authorization"}:
        raise UsageProblem(f"key-header: {name} cannot carry a token")
    return name


def _check_text(environ: Mapping[str, str]) -> None:
    for name, value in environ.items():
        if name.startswith("OPENWOP_") and any("\ud800" <= char <= "\udfff" for char in value):
            raise UsageProblem(f"{name} is not valid text in this locale")


def _headers(file: FileShape, environ: Mapping[str, str], folder: Path, key_header: str | None) -> tuple[Header, ...]:
    reserved = _RESERVED | {(key_header or "authorization").lower()}
    pairs = []
    for name, value in file.headers.items():
        if _checked_header_name(name).lower() in reserved:
            raise UsageProblem(f"headers: {name} is set by the suite itself; name tokens under principals")
        secret = secret_of(value, environ, folder, f"headers: {name}")
        _check_header_value(secret, f"the header {name}")
        variable = None if isinstance(value, str) else value.env or f"OPENWOP_HEADER_{name.upper().replace('-', '_')}"
        pairs.append(Header(name, secret, f"${variable}" if variable else secret.reveal()))
    return tuple(pairs)


def _planted(file: FileShape, environ: Mapping[str, str], folder: Path) -> tuple[Secret, ...]:
    planted = tuple(
        secret_of(value, environ, folder, f"planted-secrets[{place}]")
        for place, value in enumerate(file.planted_secrets)
    )
    if any(not one.reveal().isprintable() for one in planted):
        raise UsageProblem("a planted secret holds characters that no text has")
    if any(len(one.reveal()) < MIN_PLANTED for one in planted):
        raise UsageProblem(f"a planted secret is shorter than {MIN_PLANTED} characters: it would be found by accident")
    return planted


def _limits(shape: LimitsShape) -> Limits:
    given: dict[str, Any] = {name: value for name, value in msgspec.structs.asdict(shape).items() if value is not None}
    for name, value in given.items():
        least = 0 if name == "retry_seconds" else 1 if isinstance(value, int) else 0.001
        if not least <= value <= (MAX_SECONDS if name.endswith("_seconds") else MAX_COUNT):
            raise UsageProblem(f"limits.{name.replace('_', '-')}: {value} is out of range")
    return replace(Limits(), **given)


def _tls(file: FileShape, folder: Path) -> Tls:
    shape = file.tls
    if shape.client_key and not shape.client_cert:
        raise UsageProblem("tls.client-key was given without tls.client-cert")
    paths = {name: folder / value for name, value in msgspec.structs.asdict(shape).items() if value is not None}
    for name, path in paths.items():
        if not path.is_file():
            raise UsageProblem(f"tls.{name.replace('_', '-')}: there is no file {path}")
    return Tls(**paths)


def _reports(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    for path in paths:
        if not str(path).isprintable():
            raise UsageProblem("a report has a name that no file can have")
        if path.suffix.lower() not in REPORT_ENDINGS:
            raise UsageProblem(f"report {path}: the ending chooses the format, known: {', '.join(REPORT_ENDINGS)}")
        if path.is_dir():
            raise UsageProblem(f"report {path}: that is a folder")
        if not path.absolute().parent.is_dir():
            raise UsageProblem(f"report {path}: the folder {path.parent} does not exist")
    return paths


def _previous(path: Path | None) -> Earlier | None:
    try:
        return read_earlier(path) if path else None
    except DocumentError as error:
        raise UsageProblem(str(error)) from None


def _selection(wanted: tuple[str, ...], registry: Registry) -> tuple[str, ...]:
    for one in wanted:
        if not registry.matching(one):
            near = get_close_matches(one, registry.requirements, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; `openwop-conformance requirements` lists all"
            raise UsageProblem(f"nothing is selected by {one!r}: no section and no requirement has that name{hint}")
    return wanted
