"""The client: what it sends, what it takes, what it keeps to itself."""

import gzip
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from openwop_conformance.client.bodies import read_json
from openwop_conformance.client.host import Host, item_path, read_discovery
from openwop_conformance.client.http import Client, Unobservable
from openwop_conformance.client.redaction import Redactor
from openwop_conformance.configuration import key_variable
from openwop_conformance.exchanges import Answer, Exchange
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Header, Limits, Principal, Settings, Tls, UsageProblem
from tests.hosts import Plain, nobody_home, serving, speaking

TOKEN = "tok-s3cret/value+1"
ALICE = Principal("alice", Secret(TOKEN))
QUICK = Limits(connect_seconds=2, read_seconds=0.3, total_seconds=1.0, max_body_bytes=1000, retry_seconds=2)


def settings(**changes: Any) -> Settings:
    return Settings(**{"principals": (ALICE,), "limits": QUICK, **changes})


def client(url: str, **changes: Any) -> Client:
    return Client(url, settings(**changes))


def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


def lost(url: str, method: str = "GET", **changes: Any) -> Unobservable:
    with pytest.raises(Unobservable) as caught:
        client(url, **changes).send(method, "/v1/tools")
    return caught.value


@pytest.mark.parametrize(
    ("tool_id", "path"),
    [
        ("mcp:fs.read", "/v1/tools/mcp%3Afs.read"),
        ("a/b c%2F", "/v1/tools/a%2Fb%20c%252F"),
        ("..", "/v1/tools/.."),
        (".", "/v1/tools/."),
        ("ü🙂", "/v1/tools/%C3%BC%F0%9F%99%82"),
        ("\ud800", "/v1/tools/%ED%A0%80"),
    ],
)
def test_ids_travel_as_they_are(tool_id: str, path: str) -> None:
    with serving(hello) as (url, app):
        answer = client(f"{url}/prefix").send("GET", item_path(tool_id))
    assert app.paths == [f"/prefix{path}"]
    assert answer.exchange.url == f"{url}/prefix{path}"


def test_an_exchange_is_recorded_with_variables_instead_of_tokens() -> None:
    def echo(request: Request) -> Response:
        token = request.headers["authorization"]
        return PlainTextResponse(f"you said {token}", headers={"X-Echo": token, "Set-Cookie": "sid=1"})

    with serving(echo) as (url, app):
        one = client(
            url, headers=(Header("X-Team", Secret("blue-team"), "$TEAM"), Header("X-Env", Secret("staging"), "staging"))
        )
        answer = one.send("POST", "/v1/tools", one.credential(ALICE), body=TOKEN.encode())
    exchange = answer.exchange
    assert app.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert app.requests[0].headers["x-team"] == "blue-team"
    assert TOKEN in answer.body.decode()
    assert TOKEN not in repr(answer)
    assert "blue-team" not in repr(exchange)
    assert exchange.response_body == "you said Bearer [redacted]"
    assert dict(exchange.response_headers)["set-cookie"] == "[redacted]"
    assert exchange.principal == "alice"
    assert exchange.curl() == (
        'curl -si --path-as-is -X POST -H "Authorization: Bearer $OPENWOP_API_KEY"'
        f" -H \"X-Team: $TEAM\" -H 'X-Env: staging' --data-binary '[redacted]' {url}/v1/tools"
    )
    assert one.sent == {"POST": 1}


@pytest.mark.parametrize(
    "spelling",
    [
        TOKEN,
        "tok-s3cret%2Fvalue%2B1",
        "tok-s3cret%2fvalue%2b1",
        "dG9rLXMzY3JldC92YWx1ZSsx",
        "tok-s3cret\\/value+1",
        "tok-s3cret/value\\u002B1",
        "tok-s3cret&#x2F;value&#43;1",
    ],
)
def test_tokens_are_redacted_in_every_spelling(spelling: str) -> None:
    with serving(lambda _: PlainTextResponse(f"<{spelling}>")) as (url, _):
        assert client(url).send("GET", "/").exchange.response_body == "<[redacted]>"


def test_redaction_reaches_cut_texts_and_leaves_words_alone() -> None:
    redactor = Redactor([Secret(TOKEN), Secret("abc")])
    assert redactor.text("seen tok-s3cret…") == "seen [redacted]…"
    assert redactor.text("tok… and tok-s3…") == "tok… and [redacted]…"
    assert redactor.text("abcd abc (abc) Abc") == "abcd [redacted] ([redacted]) Abc"
    assert Redactor([]).text("abc") == "abc"
    assert redactor.text(redactor.text(f"<{TOKEN}>")) == "<[redacted]>"


def test_a_silent_host_is_not_asked_over_and_over() -> None:
    with speaking(b"", keep_open=True) as url:
        one = client(url)
        reasons = []
        for _ in range(5):
            with pytest.raises(Unobservable) as caught:
                one.send("GET", "/")
            reasons.append(caught.value.reason)
    assert [reason.startswith("not asked") for reason in reasons] == [False, False, False, True, True]
    assert one.sent == {"GET": 3}


def test_the_key_may_travel_in_another_header() -> None:
    with serving(hello) as (url, app):
        one = client(url, key_header="X-API-Key")
        answer = one.send("GET", "/", one.credential(ALICE))
    assert app.requests[0].headers["x-api-key"] == TOKEN
    assert "authorization" not in app.requests[0].headers
    assert '"X-API-Key: $OPENWOP_API_KEY"' in answer.exchange.curl()


def test_later_principals_have_variables_of_their_own() -> None:
    names = ["alice", "bob", "carol d."]
    principals = tuple(
        Principal(name, Secret(f"token-of-{name}"), variable=key_variable(place, name))
        for place, name in enumerate(names)
    )
    one = client("http://127.0.0.1:1", principals=principals)
    shown = [one.credential(principal).shown for principal in principals]
    assert shown == ["Bearer $OPENWOP_API_KEY", "Bearer $OPENWOP_SECOND_API_KEY", "Bearer $OPENWOP_KEY_CAROL_D_"]


def test_redirects_stay_within_the_origin() -> None:
    with serving(hello) as (elsewhere, stranger):

        def lead(request: Request) -> Response:
            if request.url.path == "/away":
                return RedirectResponse(f"{elsewhere}/v1/tools")
            return hello(request) if request.url.path == "/there" else RedirectResponse("/there?x=1", 307)

        with serving(lead) as (url, app):
            one = client(url)
            key = one.credential(ALICE)
            assert one.send("GET", "/here", key).body == b"hello"
            assert one.send("GET", "/away", key).status == 307
            assert one.send("GET", "/here", key, follow=False).status == 307
            assert one.send("POST", "/here", key).status == 307
        assert stranger.requests == []
    assert app.paths[:2] == ["/here", "/there"]


@pytest.mark.parametrize("location", ["http://[", "//", "/a b", "/ü"])
def test_strange_redirects_are_answers(location: str) -> None:
    raw = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    with speaking(raw) as url:
        assert client(url).send("GET", "/").status == 302


def test_redirects_in_a_circle_end() -> None:
    with serving(lambda _: RedirectResponse("/again", 302)) as (url, app):
        assert client(url).send("GET", "/").status == 302
    assert len(app.requests) == 3


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "lost"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "lost"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope", "Content-Encoding"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"a" * 5000, "larger than 1000 bytes"),
    ],
)
def test_a_broken_answer_is_no_verdict(raw: bytes, reason: str) -> None:
    with speaking(raw) as url:
        error = lost(url)
    assert reason in error.reason
    assert error.exchange.error == error.reason
    assert error.exchange.status is None


def test_a_compressed_body_is_bounded_by_what_it_becomes() -> None:
    body = gzip.compress(b"a" * 100_000)
    with serving(lambda _: Response(body, headers={"Content-Encoding": "gzip"})) as (url, _):
        assert "larger than" in lost(url).reason


def test_silence_and_dripping_end_in_time() -> None:
    with speaking(b"", keep_open=True) as url:
        assert "read-seconds" in lost(url).reason
    with speaking(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 500, drip=0.05) as url:
        assert "total-seconds" in lost(url).reason
    with speaking(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b"a" * 500, drip=0.02) as url:
        assert "total-seconds" in lost(url).reason


def test_a_host_that_is_not_there() -> None:
    assert "no connection" in lost(nobody_home()).reason


def test_a_lost_connection_is_tried_once_more_for_reads_alone() -> None:
    with speaking(b"") as url:
        one = client(url)
        for method in ("GET", "DELETE"):
            with pytest.raises(Unobservable):
                one.send(method, "/")
    assert one.sent == {"GET": 2, "DELETE": 1}


def throttling(times: int, retry_after: str | None) -> Any:
    left = [times]

    def answer(request: Request) -> Response:
        left[0] -= 1
        headers = {"Retry-After": retry_after} if retry_after else {}
        return Response(status_code=429, headers=headers) if left[0] >= 0 else hello(request)

    return answer


@pytest.mark.parametrize("wait", ["0", "Thu, 01 Jan 2026 00:00:00 GMT"])
def test_throttling_is_waited_for(wait: str) -> None:
    with serving(throttling(2, wait)) as (url, app):
        assert client(url).send("GET", "/").body == b"hello"
    assert len(app.requests) == 3


@pytest.mark.parametrize(
    ("times", "wait"),
    [(1, None), (1, "60"), (1, "soon"), (9, "0"), (1, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT")],
)
def test_throttling_beyond_the_budget_is_no_verdict(times: int, wait: str | None) -> None:
    with serving(throttling(times, wait)) as (url, _):
        assert "429" in lost(url).reason


def test_throttling_can_be_an_answer() -> None:
    with serving(throttling(1, None)) as (url, _):
        assert client(url).send("POST", "/", throttled_is_answer=True).status == 429


@pytest.mark.parametrize(
    ("body", "value", "error"),
    [
        (b'{"a": 1}', {"a": 1}, None),
        (b"\xef\xbb\xbf[]", [], None),
        (b"", None, "empty"),
        (b"{", None, "not JSON"),
        (b"[NaN]", None, "NaN"),
        (b'"\xff"', None, "not UTF-8"),
        (b"1" * 5000, None, "more digits than the suite reads"),
    ],
)
def test_json_bodies(body: bytes, value: Any, error: str | None) -> None:
    reading = read_json(body)
    assert reading.value == value
    assert (error or "") in (reading.error or "")
    assert (reading.error is None) == (error is None)


@pytest.mark.parametrize("depth", [201, 300, 50_000])
def test_deep_json_is_told_apart_from_bad_json(depth: int) -> None:
    assert read_json(b"[" * depth + b"]" * depth).too_deep
    assert not read_json(b"[" * 190 + b"]" * 190).too_deep
    assert not read_json(b"[" + b"[]," * 200 + b"1]").too_deep


def test_discovery_is_read_without_a_credential() -> None:
    with serving(lambda _: Response('{"toolCatalog": {"supported": true}}', media_type="application/json")) as (
        url,
        app,
    ):
        one = client(url)
        discovery = read_discovery(one)
        host = Host(one, settings(), discovery)
    assert app.paths == ["/.well-known/openwop"]
    assert "authorization" not in app.requests[0].headers
    assert host.discovery.capabilities.sources() is None
    assert host.stranger.label == "a stranger"


@pytest.fixture
def authority(tmp_path: Path) -> tuple[trustme.CA, Path]:
    ca = trustme.CA()
    path = tmp_path / "ca.pem"
    ca.cert_pem.write_to_path(path)
    return ca, path


@pytest.fixture
def https(authority: tuple[trustme.CA, Path], tmp_path: Path) -> Iterator[str]:
    """An https host that demands a client certificate."""
    ca, ca_path = authority
    own = ca.issue_cert("localhost")
    own.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    config = uvicorn.Config(
        Plain(hello),
        port=0,
        log_config=None,
        lifespan="off",
        ssl_certfile=str(tmp_path / "server.pem"),
        ssl_ca_certs=str(ca_path),
        ssl_cert_reqs=ssl.CERT_REQUIRED,
    )
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"https://localhost:{listening.getsockname()[1]}"
    server.should_exit = server.force_exit = True
    thread.join(10)


def test_own_authority_and_client_certificate(https: str, authority: tuple[trustme.CA, Path], tmp_path: Path) -> None:
    ca, ca_path = authority
    ca.issue_cert("client@example.org").private_key_and_cert_chain_pem.write_to_path(tmp_path / "client.pem")
    patient = Limits(read_seconds=5, total_seconds=10)
    trusted = client(https, tls=Tls(ca_file=ca_path, client_cert=tmp_path / "client.pem"), limits=patient)
    assert trusted.send("GET", "/").body == b"hello"
    assert lost(https, limits=patient).reason.startswith("no connection")
    assert lost(https, limits=patient, tls=Tls(ca_file=ca_path)).reason


def test_an_unusable_certificate_file_is_a_usage_problem(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("not a certificate")
    with pytest.raises(UsageProblem, match=r"ca\.pem: not usable"):
        client("https://localhost:1", tls=Tls(ca_file=tmp_path / "ca.pem"))


def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def relay(request: Request) -> Response:
        return PlainTextResponse(
            f"relayed {request.scope['raw_path'].decode()} {request.headers['proxy-authorization']}"
        )

    with serving(relay) as (proxy, app):
        monkeypatch.setenv("http_proxy", proxy.replace("http://", "http://user:p%40ss@"))
        monkeypatch.setenv("no_proxy", "internal.example")
        answer = client("http://host.example:8080/base").send("GET", "/v1/tools/..")
        assert b"Basic dXNlcjpwQHNz" in answer.body
        assert app.requests[0].headers["host"] == "host.example:8080"
        assert "no connection" in lost("http://internal.example:1").reason
        assert len(app.requests) == 1


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://"])
def test_unsupported_proxies_are_a_usage_problem(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(UsageProblem, match="proxy"):
        client("http://host.example")


def test_a_head_request_and_a_quoted_curl_line() -> None:
    headers = (("X-Empty", ""), ("X-A", 'a"$b`c'), ("X-B", "$KEY"))
    exchange = Exchange("x1", "nobody", "HEAD", "http://h/p?a=1&b", headers)
    assert exchange.curl() == (
        "curl -si --path-as-is --head -H 'X-Empty;' -H 'X-A: a\"$b`c' -H \"X-B: $KEY\" 'http://h/p?a=1&b'"
    )


def test_headers_of_an_answer() -> None:
    exchange = Exchange("x1", "nobody", "GET", "http://h/p?q=1", status=200)
    answer = Answer(
        exchange, 200, (("Vary", "a"), ("VARY", "b"), ("Content-Type", "Application/Problem+JSON; x=1")), b""
    )
    assert answer.header("vary") == "a, b"
    assert answer.header("etag") is None
    assert answer.is_json
    assert answer.place == "GET /p?q=1"
    assert not Answer(exchange, 200, (("content-type", "text/json-ish"),), b"").is_json
