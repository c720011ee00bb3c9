"""Secrets, portable schemas, sound schemas, hooks, agents and stability over time, each with both outcomes."""

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from openwop_conformance.checks.agents import check_allowlists
from openwop_conformance.checks.credentials import check_scheme_minded
from openwop_conformance.checks.hooks import (
    Invocation,
    check_call_payloads,
    check_redacted_hash,
    check_refused,
)
from openwop_conformance.checks.listing import read_listing
from openwop_conformance.checks.portable import check_input_portable, remarks
from openwop_conformance.checks.secrets import check_nothing_returned, check_secret_free, nothing_shown
from openwop_conformance.checks.stability import check_stable_over_time
from openwop_conformance.client.redaction import Redactor
from openwop_conformance.credential_material import find_material, without_material
from openwop_conformance.documents import DocumentError
from openwop_conformance.earlier import Earlier, read_earlier
from openwop_conformance.findings import Weight
from openwop_conformance.schema_soundness import dangling_references, unreadable_patterns
from openwop_conformance.secret import Secret
from tests.answers import JSON, answer, listing, only, told, weights

ADVISORY, BLOCKED, INAPPLICABLE, VIOLATION = (
    Weight.ADVISORY,
    Weight.BLOCKED,
    Weight.INAPPLICABLE,
    Weight.VIOLATION,
)
BASE: dict[str, Any] = {"toolId": "mcp:fs.read", "source": "mcp", "safetyTier": "read"}
GITHUB = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
REAL = [
    GITHUB,
    "AKIA" + "Q3EGSR7WXYLPMNTV",
    "xoxb-123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "sk-ant-api03-" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
    "AIza" + "SyD4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T",
    "glpat-" + "Ab3dE5fG7hJ9kL1mN3pQ",
    "Bearer " + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
    "https://bob:hunter2x9@db.internal/x",
    "password=" + "hunter2hunter2",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
    "postgres://svc:Pa55w0rd!@db.internal/app",
    "Authorization: Basic " + "c3ZjOmh1bnRlcjI=",
    "GOCSPX-" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
    "ya29." + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
    "shpat_" + hashlib.md5(b"x").hexdigest(),
    "dop_v1_" + hashlib.sha256(b"x").hexdigest(),
    "SK" + hashlib.md5(b"x").hexdigest(),
    "https://x.blob.core.windows.net/c?sv=1&sig=" + "Ab3dE5fG7h" * 4 + "J9kL%3D",
    "api_key=" + hashlib.md5(b"x").hexdigest(),
    "Authorization: Token " + hashlib.sha1(b"x").hexdigest(),
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFHDBOBgkqhkiG\n-----END ENCRYPTED PRIVATE KEY-----",
    "npm_" + "a1B2c3D4e5F6" * 3,
    "AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYQ3W9T7ZK1x",
    "redis://:p4ssw0rdX@cache.internal:6379",
    "postgres://svc:Pa$$w0rd!@db.internal/app",
    "hvs." + "CAESIJ1x2y3z4A5b6C7d8E9f0",
    "token=" + "abc123def456ghi789",
    "Bearer " + "k3v9x1q8z7w6j5h4g3f2d1s0a9p8o7i6u5y4t3r2",
    "password=" + "Summer2024!xyz9",
]
HARMLESS = [
    "$TOKEN",
    "<your key>",
    "sk-…",
    "{{secret}}",
    "Bearer <token>",
    "Bearer ${TOKEN}",
    "password",
    "a property named password: a string",
    hashlib.sha256(b"x").hexdigest(),
    hashlib.md5(b"x").hexdigest(),
    "550e8400-e29b-41d4-a716-446655440000",
    "sk-550e8400e29b41d4a716446655440000",
    "AKIAIOSFODNN7EXAMPLE",
    "https://user:password@host/",
    "api_key=YOUR_API_KEY_12345",
    "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx",
    "Use a bearer token issued by the administrator-console.",
    "APDocuments and APEndpoints",
    "pk_customerorganization",
    "sk_learn_randomforestclassifier",
    "a key file starts with -----BEGIN PRIVATE KEY-----",
    "BEGIN RSA PRIVATE KEY headers",
    "api_key: base64_encoded_value",
    "access_token: oauth2_bearer_token",
    "password: min12charsAnd1digit",
    "token see/docs/oauth2/client-credentials",
    "Basic guides/oauth2/client-credentials",
    "Basic ISO8601-formatting of dates",
    "OAuth 2.0 bearer RFC6750-compliant tokens",
    "Supports Bearer OAuth2.0/OIDC",
    "basic UTF-8/UTF-16 decoding",
    "basic COVID-19-statistics",
    "Basic x509/certificate parsing",
    "mcp://server:tools@v1",
    "docker://registry:tag1@sha256",
    'Bearer resource_metadata="https://host.example/.well-known/oauth2-protected-resource"',
    'Basic realm="a1b2c3d4e5f6"',
    "password: pbkdf2_sha256 hashed",
    "api_key: 32hexadecimalcharacters",
    "password: 12+characters",
    "api-key=%24API_KEY_V2_VALUE",
    "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "Bearer 2YotnFZFEjr1zCsicMWpAA",
    "Authorization: Bearer mF_9.B5f-4.1JqM",
    "mysql://root:root@localhost",
    "amqp://guest:guest@localhost",
    "ftp://anonymous:anonymous@ftp.example.org",
    "pk-01HV3Z8QK2M9X4T7Y6W5R1N0P",
    "pageToken: 550e8400-e29b-41d4-a716-446655440000",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
]


@pytest.mark.parametrize("text", REAL)
def test_credential_material_is_found_and_taken_out(text: str) -> None:
    assert find_material(text)
    shown = without_material(f"before {text} after")
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert not find_material(shown)


@pytest.mark.parametrize("text", HARMLESS)
def test_blanks_hashes_and_names_are_no_material(text: str) -> None:
    assert find_material(text) == ()
    assert without_material(text) == text


def secret_free(tool: Any, **more: Any) -> list[tuple[str, str, Weight]]:
    return told(check_secret_free([listing({**BASE, **tool}).answer], **more))


@pytest.mark.parametrize("keyword", ["default", "const", "description", "$comment"])
def test_secrets_at_any_depth_of_a_schema(keyword: str) -> None:
    inner: Any = {keyword: GITHUB}
    for name in ("a", "b", "c", "d", "e"):
        inner = {"properties": {name: inner}}
    [(requirement, where, weight)] = secret_free({"inputSchema": inner})
    assert (requirement, weight) == ("descriptor-secret-free", VIOLATION)
    assert where.endswith(f"/{keyword}")


def test_secrets_in_lists_keys_errors_and_headers() -> None:
    assert len(secret_free({"inputSchema": {"enum": ["a", GITHUB], "examples": [GITHUB]}})) == 2
    [(_, where, _)] = secret_free({"inputSchema": {"properties": {GITHUB: {}}}})
    assert GITHUB not in where
    one = listing(BASE).answer
    assert weights(check_secret_free([one, answer(404, {"message": GITHUB})])) == {VIOLATION}
    assert weights(check_secret_free([one, answer(404, raw=f"<p>{GITHUB}")])) == {VIOLATION}
    assert weights(check_secret_free([one, answer(404, {}, headers=(*JSON, ("X-Key", GITHUB)))])) == {VIOLATION}
    assert list(check_secret_free([one, answer(404, {}, headers=(*JSON, ("Set-Cookie", GITHUB)))])) == []
    assert weights(nothing_shown([listing()])) == {BLOCKED}
    assert list(nothing_shown([listing(), listing(BASE)])) == []


def test_values_are_judged_and_names_are_not() -> None:
    assert secret_free({"inputSchema": {"properties": {"password": {"type": "string"}}}}) == []
    chosen = {"inputSchema": {"properties": {"password": {"type": "string", "default": "Winter2026!Castle"}}}}
    assert [weight for _, _, weight in secret_free(chosen)] == [ADVISORY]
    assert secret_free({"inputSchema": {"properties": {"color": {"default": "Winter2026!Castle"}}}}) == []


def test_what_was_sent_is_left_to_its_own_requirement() -> None:
    token = "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9v"
    told_back = answer(404, {"seen": f"Bearer {token}"})
    assert list(check_secret_free([listing(BASE).answer, told_back], [Secret(token)])) == []
    assert weights(check_nothing_returned([Secret(token)], [told_back])) == {VIOLATION}
    assert weights(check_nothing_returned([Secret("a/b+cdefgh")], [answer(404, raw="x a%2Fb%2Bcdefgh")])) == {VIOLATION}
    assert list(check_nothing_returned([Secret(token[:12])], [answer(404, {"seen": f"x{token[:12]}"})])) == []
    for written in (
        f"x{token}y",
        base64.b64encode(f"svc:{token}!".encode()).decode(),
        token.encode().hex(),
        token.upper(),
    ):
        assert weights(check_nothing_returned([Secret(token)], [answer(404, {"seen": written})])) == {VIOLATION}
    assert weights(check_nothing_returned([Secret(token)], [answer(404, headers=((f"x-{token}", "1"),))])) == {
        VIOLATION
    }


def test_a_short_token_is_found_only_as_a_whole_value() -> None:
    assert list(check_nothing_returned([Secret("alice")], [answer(200, {"text": "for alice only"})])) == []
    assert weights(check_nothing_returned([Secret("alice")], [answer(200, {"text": "Bearer alice"})])) == {VIOLATION}


def test_the_redactor_hides_what_was_found_as_well() -> None:
    assert GITHUB not in Redactor([]).text(f"see {GITHUB}")
    assert "s3cret-token" not in Redactor([Secret("s3cret-token")]).text("see s3cret-token")


CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({**CLOSED, "properties": {"a": {"type": "string"}}, "required": ["a"]}, None),
        (CLOSED, None),
        ({"type": "string"}, "/type"),
        ({"type": "object"}, "/additionalProperties"),
        ({**CLOSED, "properties": {"a": {}}}, "/required"),
        ({**CLOSED, "properties": {"a": {"oneOf": [{}]}}, "required": ["a"]}, "/properties/a/oneOf"),
        ({**CLOSED, "properties": {"a": {"maxLength": 3}}, "required": ["a"]}, "/properties/a/maxLength"),
        ({**CLOSED, "properties": {"a": {"items": {"minimum": 3}}}, "required": ["a"]}, "/properties/a/items/minimum"),
        ({**CLOSED, "allOf": []}, "/allOf"),
    ],
)
def test_portable_schemas(schema: Any, where: str | None) -> None:
    found = [one.where for one in check_input_portable(listing({**BASE, "inputSchema": schema}))]
    assert found == ([] if where is None else [f"/tools/0/inputSchema{where}"])


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "string"}
    for _ in range(levels - 1):
        inner = {**CLOSED, "properties": {"a": inner}, "required": ["a"]}
    return inner


def test_portable_schemas_are_neither_deep_nor_wide() -> None:
    properties: dict[str, Any] = {f"p{place}": {} for place in range(101)}
    wide = {**CLOSED, "properties": properties, "required": list(properties)}
    assert list(check_input_portable(listing({**BASE, "inputSchema": nested(5)}))) == []
    assert len(list(check_input_portable(listing({**BASE, "inputSchema": nested(6)})))) == 1
    assert "101" in only(check_input_portable(listing({**BASE, "inputSchema": wide}))).seen


def test_portability_is_asked_only_of_what_models_are_given() -> None:
    workflow = {**BASE, "source": "workflow", "inputSchema": {"type": "string"}}
    assert weights(check_input_portable(listing(workflow))) == {INAPPLICABLE}
    assert weights(check_input_portable(listing())) == {BLOCKED}


@pytest.mark.parametrize(
    ("schema", "dangling"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, 0),
        ({"$ref": "#/$defs/b", "$defs": {"a": {}}}, 1),
        ({"properties": {"x": {"$ref": "#name"}}, "$defs": {"a": {"$anchor": "name"}}}, 0),
        ({"properties": {"x": {"$ref": "#name"}}}, 1),
        ({"$ref": "#"}, 0),
        ({"$ref": "https://elsewhere.example/schema"}, 0),
        ({"default": {"$ref": "#/nowhere"}}, 0),
        ({"$ref": "#/nowhere", "$defs": {"a": {"$id": "other"}}}, 0),
        ({"$ref": "#/$defs/a%20b~1c", "$defs": {"a b/c": {}}}, 0),
    ],
)
def test_dangling_references(schema: Any, dangling: int) -> None:
    assert len(list(dangling_references(schema))) == dangling


@pytest.mark.parametrize(
    ("pattern", "broken"),
    [("^a+$", False), ("([", True), ("a)", True), ("*a", True), (r"(?<n>a)\k<n>", False), (r"\p{L}", False)],
)
def test_unreadable_patterns(pattern: str, *, broken: bool) -> None:
    assert bool(list(unreadable_patterns({"properties": {"a": {"pattern": pattern}}}))) is broken
    assert bool(list(unreadable_patterns({"patternProperties": {pattern: {}}}))) is broken


NAMED = {"agentId": "agent", "toolName": "t", "callId": "c"}


def call(returned: Any, *, called: Any = NAMED, args: Any = None, status: int = 200) -> Invocation:
    body = {"toolCalled": called, "toolReturned": returned}
    return Invocation("a call", args, answer(status, body))


UNWIRED = Invocation("a call", {}, answer(404, {"error": "x", "message": "y"}))
ERROR = {"code": "x", "message": "y"}


@pytest.mark.parametrize(
    ("returned", "blamed"),
    [
        ({**NAMED, "status": "ok", "outcome": 1, "durationMs": 0}, []),
        ({**NAMED, "status": "forbidden", "error": ERROR}, []),
        (NAMED, []),
        ({**NAMED, "status": "done"}, ["call-payloads-valid"]),
        ({**NAMED, "callId": "other"}, ["call-payloads-valid"]),
        ({**NAMED, "durationMs": -1}, ["call-payloads-valid"]),
        ({**NAMED, "status": "forbidden", "durationMs": 3}, ["call-status-consistent"]),
        ({**NAMED, "status": "rate_limited", "outcome": 3}, ["call-status-consistent"]),
        ({**NAMED, "status": "error", "outcome": 3}, ["call-status-consistent"]),
    ],
)
def test_call_payloads(returned: Any, blamed: list[str]) -> None:
    assert [one.requirement for one in check_call_payloads([call(returned)])] == blamed


def test_outcome_and_error_contradict_each_other() -> None:
    both = call({**NAMED, "status": "ok", "outcome": 1, "error": ERROR})
    assert {one.requirement for one in check_call_payloads([both])} == {"call-status-consistent"}


def test_refusals() -> None:
    refused = call({**NAMED, "status": "forbidden"}, status=403)
    assert list(check_refused("missing-scope-forbidden", "forbidden", [refused])) == []
    assert weights(check_refused("missing-scope-forbidden", "forbidden", [call({**NAMED, "status": "ok"})])) == {
        VIOLATION
    }
    ran = call({**NAMED, "status": "forbidden", "outcome": 1})
    assert weights(check_refused("missing-scope-forbidden", "forbidden", [ran])) == {VIOLATION}
    assert weights(check_refused("exhausted-rate-limited", "rate_limited", [refused], refused)) == {BLOCKED}
    assert weights(check_refused("missing-scope-forbidden", "forbidden", [UNWIRED])) == {BLOCKED}
    assert "wire" in only(check_refused("missing-scope-forbidden", "forbidden", [UNWIRED])).message


def hashed(args: Any, over: Any) -> Invocation:
    digest = hashlib.sha256(rfc8785.dumps(over)).hexdigest()
    return call({**NAMED, "status": "ok"}, called={**NAMED, "argsHash": digest}, args=args)


def test_hashes_are_taken_after_redaction() -> None:
    plain, secret = {"a": 1}, {"key": "planted-secret"}
    good = hashed(plain, plain)
    assert list(check_redacted_hash(good, [hashed(secret, {"key": "***"})])) == []
    assert weights(check_redacted_hash(good, [hashed(secret, secret)])) == {VIOLATION}
    assert weights(check_redacted_hash(hashed(plain, {"b": 1}), [hashed(secret, {"key": "***"})])) == {ADVISORY}
    assert weights(check_redacted_hash(good, [])) == {BLOCKED}
    assert weights(check_redacted_hash(good, [call({**NAMED, "status": "ok"}, args=secret)])) == {BLOCKED}
    assert weights(check_redacted_hash(good, [UNWIRED])) == {BLOCKED}


def test_agents() -> None:
    own = listing(BASE)
    agents = answer(200, {"agents": [{"toolAllowlist": ["mcp:fs.read"]}]})
    bare = answer(200, [{"manifest": {"toolAllowlist": ["mcp:fs.read", "mcp:fs.write", 7]}}])
    assert list(check_allowlists([agents], [own])) == []
    assert [one.where for one in check_allowlists([bare], [own])] == [
        "/0/manifest/toolAllowlist/1",
        "/0/manifest/toolAllowlist/2",
    ]
    assert weights(check_allowlists([agents], [listing(BASE, BASE)])) == {VIOLATION}
    assert weights(check_allowlists([answer(404, {})], [own])) == {BLOCKED}


def test_a_token_under_another_scheme() -> None:
    assert weights(check_scheme_minded("list-rejects-unknown-credential", answer(200, {}))) == {ADVISORY}
    assert list(check_scheme_minded("list-rejects-unknown-credential", answer(401, {}))) == []


HOST = ("acme", "1.0")


def over_time(known: dict[str, Any] | None, *, version: str = "1.0", now: Any = BASE) -> set[Weight]:
    earlier = Earlier("acme", version, {"alice": known}) if known is not None else None
    return weights(check_stable_over_time([listing(now)], HOST, earlier))


def test_stability_over_time() -> None:
    assert over_time({"mcp:fs.read": ("mcp", "read")}) == set()
    assert over_time({"mcp:fs.gone": ("mcp", "read")}) == {VIOLATION}
    assert over_time({"mcp:fs.read": ("mcp", "write")}) == {VIOLATION}
    assert over_time({"mcp:fs.gone": ("mcp", "read")}, version="0.9") == {INAPPLICABLE}
    assert over_time(None) == {INAPPLICABLE}
    assert over_time({}) == {BLOCKED}


def test_an_earlier_report_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    tool = {"toolId": "a", "source": "mcp", "safetyTier": "read"}
    report = {"host": {"implementation": {"name": "n", "version": "1"}}, "catalog": {"alice": [tool]}}
    path.write_text(json.dumps(report), encoding="utf-8")
    assert read_earlier(path) == Earlier("n", "1", {"alice": {"a": ("mcp", "read")}})
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(DocumentError, match="not a JSON report"):
        read_earlier(path)


def test_a_refused_credential_on_the_list_leaves_allowlists_unseen() -> None:
    refused = read_listing(answer(401, {}))
    agents = answer(200, {"agents": [{"manifest": {"toolAllowlist": ["mcp:x"]}}, "noise", {"manifest": 7}]})
    assert only(check_allowlists([agents], [refused])).weight is Weight.INCONCLUSIVE
    assert only(
        check_allowlists([answer(404, {"agents": [{"toolAllowlist": ["mcp:x"]}]})], [listing(BASE)])
    ).weight is (BLOCKED)
    found = only(check_allowlists([agents], [listing(BASE)]))
    assert (found.where, found.seen) == ("/agents/0/manifest/toolAllowlist/0", "none")
    odd = answer(200, [{"toolAllowlist": [7, BASE["toolId"]]}])
    assert only(check_allowlists([odd], [listing(BASE)])).where == "/0/toolAllowlist/0"


@pytest.mark.parametrize("written", ["sha256:{hex}", "SHA-256={hex}", "{HEX}", "{base64}", "{url}", " {hex} "])
def test_a_digest_is_known_in_every_writing(written: str) -> None:
    args = {"b": "é", "key": "planted-value-1"}
    digest = hashlib.sha256(rfc8785.dumps(args)).digest()
    encoded = base64.b64encode(digest).decode()
    told_as = written.format(hex=digest.hex(), HEX=digest.hex().upper(), base64=encoded, url=encoded.rstrip("="))
    secret = call({**NAMED, "status": "ok"}, called={**NAMED, "argsHash": told_as}, args=args)
    assert weights(check_redacted_hash(secret, [secret])) == {VIOLATION}


@pytest.mark.parametrize("separators", [None, (",", ":")])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_hash_of_other_writings_is_known_too(separators: Any, *, ordered: bool, ascii_only: bool) -> None:
    args = {"b": "é", "a": "planted-value-1"}
    text = json.dumps(args, separators=separators, sort_keys=ordered, ensure_ascii=ascii_only).encode()
    for raw in (text, text + b"\n", json.dumps(args, indent=2).encode()):
        secret = call(
            {**NAMED, "status": "ok"}, called={**NAMED, "argsHash": hashlib.sha256(raw).hexdigest()}, args=args
        )
        assert VIOLATION in weights(check_redacted_hash(secret, [secret]))


def test_what_stands_beside_the_tools_and_behind_a_name_is_looked_at() -> None:
    beside = answer(200, {"tools": [BASE], "debug": {"key": GITHUB}})
    doubled = answer(200, raw=f'{{"toolId": "mcp:x", "title": "{GITHUB}", "title": "x"}}')
    bare = answer(200, [{**BASE, "title": GITHUB}])
    found = [only(check_secret_free([one])) for one in (beside, doubled, bare)]
    assert [one.where for one in found] == ["/debug/key", "a member title that stands twice", "/0/title"]
    assert not list(check_secret_free([beside, doubled], [Secret(GITHUB)]))
    assert not list(check_secret_free([answer(200, {"key": GITHUB}, path="/v1/agents")]))
    assert weights(check_secret_free([answer(400, {"key": GITHUB}, path="/v1/agents")])) == {VIOLATION}
    assert weights(check_nothing_returned([Secret(GITHUB)], [doubled])) == {VIOLATION}


def test_each_text_is_told_once_whoever_gets_it() -> None:
    header = ((("X-Key"), GITHUB),)
    twice = [answer(404, {"m": GITHUB}, headers=header), answer(404, {"m": GITHUB}, headers=header, path="/b")]
    assert [one.where for one in check_secret_free(twice)] == ["/m", "header X-Key"]
    assert [one.where for one in check_nothing_returned([Secret(GITHUB)], twice)] == ["/m", "header X-Key"]


def test_a_value_that_was_chosen_is_remarked_in_lists_too() -> None:
    chosen = {"anyOf": [{"properties": {"password": {"examples": ["hunter2", "x"], "default": "hunter2"}}}]}
    found = list(check_secret_free([listing({**BASE, "inputSchema": chosen}).answer]))
    base = "/tools/0/inputSchema/anyOf/0/properties/password"
    assert [(one.where, one.weight) for one in found] == [(f"{base}/examples", ADVISORY), (f"{base}/default", ADVISORY)]
    assert all(one.exchange for one in found)


def test_bytes_that_are_no_text_are_looked_at_all_the_same() -> None:
    noise = replace(answer(404, raw=""), body=b"\xff\xfe " + GITHUB.encode())
    assert only(check_secret_free([noise])).where == "body"
    assert only(check_nothing_returned([Secret(GITHUB)], [noise])).where == "body"
    assert not list(check_nothing_returned([Secret("a%41b+cdefghijklmnop")], [answer(404, raw="none of it")]))
    assert only(check_nothing_returned([Secret("a b+cdefgh")], [answer(404, raw="x a%20b%2Bcdefgh")])).where == "body"


def test_a_seam_that_tells_no_pair_leaves_nothing_to_judge() -> None:
    mute = Invocation("a call", {}, answer(500, {"error": "x", "message": "y"}))
    for found in (check_call_payloads([mute]), check_call_payloads([mute, UNWIRED])):
        assert [(one.requirement, one.weight) for one in found] == [
            ("call-payloads-valid", BLOCKED),
            ("call-status-consistent", BLOCKED),
        ]
    assert "500" in only(check_refused("missing-scope-forbidden", "forbidden", [mute])).message
    assert "404" in only(check_refused("missing-scope-forbidden", "forbidden", [UNWIRED], wired=True)).message
    assert [one.weight for one in check_call_payloads([UNWIRED])] == [BLOCKED, BLOCKED]


def test_the_call_is_judged_as_well_as_its_return() -> None:
    ok = {**NAMED, "status": "ok"}
    assert not list(check_call_payloads([call(ok, called=None)]))
    assert [one.where for one in check_call_payloads([call(ok, called={"toolName": "t", "callId": "c"})])] == [
        "/toolCalled",
        "/toolReturned/agentId",
    ]
    for member in ("callId", "toolName", "agentId"):
        found = only(check_call_payloads([call(ok, called={**NAMED, member: "another"})]))
        assert (found.where, found.expected) == (f"/toolReturned/{member}", '"another"')
    both = {**NAMED, "outcome": 1, "error": ERROR, "durationMs": -1}
    assert [one.requirement for one in check_call_payloads([call(both)])] == [
        "call-payloads-valid",
        "call-status-consistent",
    ]


def test_every_refused_call_is_judged() -> None:
    mute = Invocation("a call", {}, answer(500, {}))
    calls = [mute, call({**NAMED, "status": "forbidden"}), call(NAMED)]
    found = only(check_refused("missing-scope-forbidden", "forbidden", calls))
    assert (found.seen, found.where) == ('"no status"', "/toolReturned/status")
    secret = {"key": "planted-secret"}
    hashes = [hashed(secret, {"key": "***"}), hashed(secret, secret)]
    assert weights(check_redacted_hash(hashed({"a": 1}, {"a": 1}), hashes)) == {VIOLATION}
    odd = call({**NAMED, "status": "ok"}, called={**NAMED, "argsHash": 7}, args=secret)
    assert weights(check_redacted_hash(odd, [odd])) == {BLOCKED}


CLOSED_OBJECT: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("inner", "where"),
    [
        (
            {"properties": {"x": {"type": ["object", "null"]}}, "required": ["x"]},
            ["/properties/x/additionalProperties"],
        ),
        ({"properties": {"x": {"type": ["string", "null"]}}, "required": ["x"]}, []),
        ({"properties": {"x": {"anyOf": [{"minLength": 1}]}}, "required": ["x"]}, ["/properties/x/anyOf/0/minLength"]),
        ({"properties": {"x": {"items": {"maximum": 1}}}, "required": ["x"]}, ["/properties/x/items/maximum"]),
        ({"additionalProperties": {"type": "string"}}, ["/additionalProperties"]),
        ({"$defs": {"d": {"items": {"items": {"items": {"items": {}}}}}}}, []),
        ({"definitions": {"d": {"items": {"items": {"items": {"items": {}}}}}}}, []),
        (
            {"$defs": {"d": {"items": {"items": {"items": {"items": {"items": {}}}}}}}},
            ["/$defs/d/items/items/items/items/items"],
        ),
        ({"type": "string"}, ["/type"]),
    ],
)  # fmt: skip
def test_where_a_schema_leaves_the_portable_subset(inner: dict[str, Any], where: list[str]) -> None:
    assert [place for place, _, _ in remarks({**CLOSED_OBJECT, **inner})] == where


def test_a_schema_without_a_type_says_so() -> None:
    assert [one[2] for one in remarks({})] == ['"no type"']
    assert [one[2] for one in remarks({"type": "object"})] == ['"absent"']
