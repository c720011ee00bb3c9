"""Settings: precedence, defaults, and one clear line for everything that cannot be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openwop_conformance.configuration import Options, configure
from openwop_conformance.requirements import load_registry
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Limits, ListShape, Settings, UsageProblem

NOTHING = Options()


def made(options: Options = NOTHING, **environ: str) -> Settings:
    return configure(options, environ, load_registry())


def problem(options: Options = NOTHING, **environ: str) -> str:
    with pytest.raises(UsageProblem) as caught:
        made(options, **environ)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str, **options: Any) -> Options:
        path = tmp_path / "settings.yaml"
        path.write_text(text, encoding="utf-8")
        return replace(NOTHING, config=path, **options)

    return write


def test_nothing_said() -> None:
    assert made() == Settings()
    assert made().mode == "default"


def test_options_win_over_environment_over_file(file: Any) -> None:
    ann_in_file = "{name: ann, token: file-token, scopes: [a], tenant: t}"
    text = f"host-url: http://file\nlist-shape: array\nprincipals: [{ann_in_file}]\n"
    by_file = made(file(text))
    assert by_file.host_url == "http://file"
    assert by_file.list_shape is ListShape.ARRAY
    assert by_file.principals[0].token.reveal() == "file-token"
    by_environment = made(file(text), OPENWOP_BASE_URL="http://env/", OPENWOP_API_KEY="env-token")
    assert by_environment.host_url == "http://env"
    [ann] = by_environment.principals
    assert (ann.name, ann.token.reveal(), ann.scopes, ann.tenant) == ("ann", "env-token", ("a",), "t")
    options = file(text, host_url="http://option", token=Secret("option-token"), list_shape="object")
    by_option = made(options, OPENWOP_BASE_URL="http://env", OPENWOP_API_KEY="env-token")
    assert by_option.host_url == "http://option"
    assert by_option.list_shape is ListShape.OBJECT
    assert by_option.principals[0].token.reveal() == "option-token"


def test_environment_names() -> None:
    settings = made(
        OPENWOP_BASE_URL="https://h.example:8443/base",
        OPENWOP_API_KEY="one",
        OPENWOP_SECOND_API_KEY="two",
        OPENWOP_REQUIRE_BEHAVIOR="TRUE",
        OPENWOP_OPTED_OUT_PROFILES="openwop-tool-catalog, other-profile",
        OPENWOP_CROSS_PRINCIPAL_TOOL_ID="mcp:theirs",
        OPENWOP_IMPLEMENTATION_NAME="Acme",
        OPENWOP_IMPLEMENTATION_VERSION="7",
    )
    assert settings.host_url == "https://h.example:8443/base"
    assert [(one.name, one.token.reveal()) for one in settings.principals] == [("primary", "one"), ("second", "two")]
    assert settings.strict
    assert settings.mode == "strict"
    assert settings.opt_outs == {"openwop-tool-catalog"}
    assert settings.hidden_tool_ids == ("mcp:theirs",)
    assert (settings.implementation_name, settings.implementation_version) == ("Acme", "7")
    assert "other-profile" in settings.warnings[0]


def test_keys_of_a_real_host_are_not_for_the_embedded_one() -> None:
    assert made(replace(NOTHING, host_url="reference"), OPENWOP_API_KEY="real").principals == ()
    assert made(replace(NOTHING, host_url="reference", token=Secret("mine"))).principals[0].token.reveal() == "mine"


def test_a_full_file(file: Any, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" from-file \n")
    (tmp_path / "ca.pem").write_text("x")
    settings = made(
        file(
            """
            host-url: http://h
            principals:
              - {name: ann, token-env: ANN, scopes: []}
              - {name: bob, token-file: token, tenant: t}
              - {name: cy, token: third}
            hidden-tool-ids: [a, b]
            planted-secrets: [planted-one, {env: PLANT}, {file: token}]
            strict: true
            opt-out: [openwop-tool-hooks]
            destructive: true
            reports: [out.json]
            select: [B, list-body]
            limits: {read-seconds: 3, max-items: 5, retry-seconds: 0}
            tls: {ca-file: ca.pem}
            headers: {X-Env: staging, X-Key: {env: PLANT}}
            key-header: X-API-Key
            implementation: {name: n, version: v}
            """
        ),
        ANN="ann-token",
        PLANT="planted-by-environment",
    )
    assert [one.token.reveal() for one in settings.principals] == ["ann-token", "from-file", "third"]
    assert [one.scopes for one in settings.principals] == [(), None, None]
    assert [one.reveal() for one in settings.planted_secrets] == ["planted-one", "planted-by-environment", "from-file"]
    assert settings.limits == Limits(read_seconds=3, max_items=5, retry_seconds=0)
    assert settings.reports == (tmp_path / "out.json",)
    assert settings.tls.ca_file == tmp_path / "ca.pem"
    assert [one.shown for one in settings.headers] == ["staging", "$PLANT"]
    assert settings.principals[0].variable == "ANN"
    assert settings.key_header == "X-API-Key"
    assert settings.strict
    assert settings.destructive
    assert "ann-token" not in repr(settings)
    assert len(settings.secrets) == 7


def test_tokens_from_files(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("first\n")
    (tmp_path / "two").write_text("second\n")
    options = replace(NOTHING, token_file=tmp_path / "one", second_token_file=tmp_path / "two")
    assert [one.token.reveal() for one in made(options).principals] == ["first", "second"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://h", "not an http or https URL"),
        ("h.example", "not an http or https URL"),
        ("http://", "not an http or https URL"),
        ("http://h:port", "not a URL"),
        ("http://h/?a=1", "query"),
        ("http://h/#a", "query or fragment"),
        ("http://h/a b", "space"),
        ("http://user:hunter22@h", "user name or password"),
        ("alice:hunter22@h.example", "user name or password"),
        ("http://h/?api_key=hunter22", "query"),
        ("http://h/é", "percent-encoded"),
        ("http://a..b/", "not a URL"),
        ("", "--host-url is empty"),
    ],
)
def test_impossible_urls(url: str, said: str) -> None:
    text = problem(replace(NOTHING, host_url=url))
    assert said in text
    assert "hunter22" not in text


@pytest.mark.parametrize(
    ("options", "environ", "said"),
    [
        ({}, {"OPENWOP_IMPLEMENTATION_NAME": "\udcff"}, "not valid text"),
        ({"token": Secret("ab")}, {}, "shorter than 3"),
        ({"token_file": Path("a\0b")}, {}, "no file can have that name"),
        ({"reports": (Path("a\0b.json"),)}, {}, "no file can have"),
        ({}, {"OPENWOP_BASE_URL": " "}, "OPENWOP_BASE_URL is set but empty"),
        ({}, {"OPENWOP_API_KEY": ""}, "OPENWOP_API_KEY is set but empty"),
        ({}, {"OPENWOP_REQUIRE_BEHAVIOR": "maybe"}, "neither true nor false"),
        ({}, {"OPENWOP_SECOND_API_KEY": "two"}, "no first"),
        ({"token": Secret("abc"), "token_file": Path("b")}, {}, "both given"),
        ({"token": Secret("")}, {}, "--openwop-token is empty"),
        ({"token": Secret("s3cret-ü")}, {}, "printable ASCII"),
        ({"token": Secret("s3cret\n")}, {}, "printable ASCII"),
        ({"token": Secret("same"), "second_token": Secret("same")}, {}, "same token"),
        ({"token_file": Path("no-such-file")}, {}, "No such file"),
        ({"opt_outs": ("openwop-nothing",)}, {}, "unknown profile"),
        ({"hidden_tool_ids": ("",)}, {}, "hidden tool id is empty"),
        ({"reports": (Path("r.pdf"),)}, {}, "the ending chooses the format"),
        ({"reports": (Path("no/such/folder/r.json"),)}, {}, "does not exist"),
        ({"select": ("list-bdy",)}, {}, "did you mean list-body?"),
        ({"select": ("Z",)}, {}, "lists all"),
        ({"config": Path("no-such.yaml")}, {}, "No such file"),
    ],
)
def test_impossible_values(options: dict[str, Any], environ: dict[str, str], said: str) -> None:
    text = problem(replace(NOTHING, **options), **environ)
    assert said in text
    assert "s3cret" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour: red", "unknown field `colour`"),
        ("limits: {max-item: 1}", "limits: Object contains unknown field `max-item`"),
        ("limits: {max-items: 0}", "limits.max-items: 0 is out of range"),
        ("limits: {read-seconds: -1}", "out of range"),
        ("limits: {read-seconds: .inf}", "out of range"),
        ("limits: {read-seconds: 1.0e+300}", "out of range"),
        ("key-header: Host", "cannot carry a token"),
        ('principals: [{name: "\\ud800", token: abc}]', "printable"),
        ('planted-secrets: ["long-enough\\u0001"]', "characters that no text has"),
        ("limits: {max-items: many}", "limits.max-items: Expected `int"),
        ("strict: maybe", "strict: Expected `bool"),
        ("[1]", "Expected `object`, got `array`"),
        ("principals: [{token: a}]", "missing required field `name`"),
        ("principals: [{name: a}]", "has no token"),
        ("principals: [{name: a, token: bbb, token-env: C}]", "one of token"),
        ("principals: [{name: a, token-env: NOT_SET}]", "NOT_SET is not set"),
        ("principals: [{name: a, token: bbb}, {name: a, token: ccc}]", "not shared"),
        ("principals: [{name: '', token: bbb}]", "not empty"),
        ("planted-secrets: [short]", "shorter than 8"),
        ("planted-secrets: [{env: A, file: b}]", "either env or file"),
        ("planted-secrets: [{}]", "either env or file"),
        ("headers: {Authorization: x}", "set by the suite itself"),
        ("headers: {'a b': x}", "not a header name"),
        ('headers: {X-A: "a\\r\\nb"}', "cannot be sent in a header"),
        ("key-header: 'x:y'", "not a header name"),
        ("tls: {client-key: k.pem}", "without tls.client-cert"),
        ("tls: {ca-file: missing.pem}", "there is no file"),
        ("list-shape: tree", "list-shape: Invalid enum value"),
        ("strict: true\nstrict: false", "stands twice"),
        ("a: &x [1]\nb: *x", "aliases are not accepted"),
        ("a: [", "line 1"),
        ("[" * 150 + "]" * 150, "nested deeper"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("opt-out: [x]", "unknown profile"),
        ("a: \x01", "not readable as YAML"),
    ],
)
def test_impossible_files(file: Any, text: str, said: str) -> None:
    assert said in problem(file(text))


def test_files_are_bounded_and_utf8(tmp_path: Path) -> None:
    for name, content, said in (
        ("big", b" " * 2_000_000, "larger than"),
        ("latin", b"a: \xe9", "not UTF-8"),
        ("empty", b"", ""),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        if said:
            assert said in problem(replace(NOTHING, config=path))
        else:
            assert made(replace(NOTHING, config=path)) == Settings()
            assert "the file is empty" in problem(replace(NOTHING, token_file=path))
    assert "that is a folder" in problem(replace(NOTHING, reports=(_folder(tmp_path),)))


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "r.json"
    folder.mkdir()
    return folder


def test_a_secret_never_shows_itself() -> None:
    secret = Secret("hunter22")
    assert "hunter22" not in f"{secret} {secret!r} {[secret]}"
    assert secret
    assert not Secret("")
