"""The reference host: five surfaces, authorization, a durable log, sessions that do something."""

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.dialects.gecx import check_envelope
from openwop_conformance.dialects.notices import has_errors
from openwop_conformance.reference import mcp_link
from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.config import ConfigError, read_config, read_document
from openwop_conformance.reference.connector_endpoint import KEY_HEADER, PATH, ConnectorEndpoint
from openwop_conformance.reference.event_log import EventLog, recover
from openwop_conformance.reference.hooks import TokenBucket, args_hash, redacted
from openwop_conformance.reference.mcp_link import McpLink, McpUnavailable
from openwop_conformance.reference.server import RunningHost, serve, start_host
from openwop_conformance.reference.surfaces import Call, Surfaces
from openwop_conformance.validation import EVENT_PAYLOADS, is_valid, violations

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def host() -> Iterator[RunningHost]:
    """The whole host, with a live MCP server behind it."""
    running = start_host()
    yield running
    running.stop()


def caller(host: RunningHost, name: str) -> httpx.Client:
    token = next(one.token for one in host.principals if one.name == name)
    return httpx.Client(base_url=host.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)


def ids(client: httpx.Client, query: str = "") -> set[str]:
    return {one["toolId"] for one in client.get(f"/v1/tools{query}").json()["tools"]}


def session(client: httpx.Client, tool_id: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    started = client.post("/v1/host/sample/tools/session-run", json={"toolId": tool_id}).json()
    events = client.get(f"/v1/host/sample/test/runs/{started['runId']}/events").json()["events"]
    return started, events


def test_five_sources_stand_behind_one_catalog(host: RunningHost) -> None:
    with caller(host, "alice") as client:
        tools = client.get("/v1/tools").json()["tools"]
    assert {one["source"] for one in tools} == {"node-pack", "workflow", "mcp", "connector", "host-extension"}
    assert all(is_valid("tool-descriptor", one) for one in tools)
    assert {one["toolId"] for one in tools if one["safetyTier"] == "exec"} == {"x-host-acme-shell:uptime"}
    [find] = [one for one in tools if one["toolId"] == "connector:crm_find_contact"]
    assert find["inputSchema"]["properties"]["name"]["$ref"] == "#/$defs/name"


def test_tenants_and_scopes_make_a_world(host: RunningHost) -> None:
    with caller(host, "alice") as alice, caller(host, "bob") as bob, caller(host, "carol") as carol:
        assert "openwop:counter.bump" in ids(alice) & ids(bob)
        assert "openwop:counter.bump" not in ids(carol)
        assert "connector:crm_find_contact" in ids(carol)
        assert "connector:crm_find_contact" not in ids(bob)
        assert ids(alice, "?source=mcp") == {"mcp:notes.notes_add", "mcp:notes.notes_list"}
        hidden, unknown = bob.get("/v1/tools/openwop%3Aweekly-report"), bob.get("/v1/tools/openwop%3Aweekly-repost")
        assert (hidden.status_code, hidden.content) == (unknown.status_code, unknown.content)
        assert hidden.status_code == 404
        assert (
            bob.post("/v1/host/sample/tools/session-run", json={"toolId": "openwop:weekly-report"}).status_code == 404
        )


def test_strangers_and_other_methods(host: RunningHost) -> None:
    with httpx.Client(base_url=host.url, trust_env=False) as nobody, caller(host, "alice") as alice:
        refused = nobody.get("/v1/tools", headers={"Authorization": "Basic abc"})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert is_valid("error-envelope", refused.json())
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = alice.request(method, "/v1/tools/openwop%3Atext.slugify")
            assert answer.status_code == 405
            assert "GET" in answer.headers["allow"]
        assert alice.get("/v1/tools").headers["cache-control"] == "private, no-store"
        assert alice.head("/v1/tools/openwop%3Atext.slugify").status_code == 200
        assert alice.get("/nothing").json()["error"] == "not_found"


@pytest.mark.parametrize(
    ("tool_id", "transport", "approval"),
    [
        ("mcp:notes.notes_add", "mcp", False),
        ("connector:crm_update_contact", "http", True),
        ("openwop:counter.bump", "native", False),
        ("openwop:weekly-report", "native", False),
        ("x-host-acme-shell:uptime", "native", True),
    ],
)
def test_sessions_make_real_calls(host: RunningHost, tool_id: str, transport: str, *, approval: bool) -> None:
    with caller(host, "alice") as client:
        started, events = session(client, tool_id)
    kinds = [event["type"] for event in events]
    assert kinds[:3] == ["run.started", "tool.session.opened", "agent.toolCalled"]
    assert kinds[-2:] == ["tool.session.closed", "run.completed"]
    assert kinds.count("agent.toolCalled") == kinds.count("agent.toolReturned") == 2
    assert ("interrupt.requested" in kinds) == approval
    for event in events:
        assert violations("run-event", event) == []
        if event["type"] in EVENT_PAYLOADS:
            assert violations(EVENT_PAYLOADS[event["type"]], event["payload"]) == []
    opened, closed = events[1]["payload"], events[-2]["payload"]
    assert opened == {"sessionId": started["sessionId"], "toolId": tool_id}
    assert closed == {**opened, "outcome": "completed"}
    calls = [event["payload"] for event in events if event["type"] == "agent.toolCalled"]
    assert {call["transport"] for call in calls} == {transport}
    returns = [event["payload"] for event in events if event["type"] == "agent.toolReturned"]
    assert all(one["status"] == "ok" for one in returns)
    assert "555-0100" not in json.dumps(events)


def test_odd_requests_get_an_envelope(host: RunningHost) -> None:
    with caller(host, "alice") as client:
        odd: list[Any] = [[], {}, 7, "nothing:here"]
        for tool_id in odd:
            answer = client.post("/v1/host/sample/tools/session-run", json={"toolId": tool_id})
            assert answer.status_code == 404
            assert is_valid("error-envelope", answer.json())
        assert client.get("/.well-known/openwop/").status_code == 404
        first = client.post("/v1/host/sample/tools/session-run")
        assert first.status_code == 200


def test_reset_forgets_the_finished_runs_of_one_tenant(host: RunningHost) -> None:
    with caller(host, "alice") as alice, caller(host, "carol") as carol:
        mine, _ = session(alice, "openwop:text.slugify")
        theirs, _ = session(carol, "openwop:text.slugify")
        carol.post("/v1/host/sample/test/reset")
        assert alice.get(f"/v1/runs/{mine['runId']}/events/poll").status_code == 200
        assert carol.get(f"/v1/runs/{theirs['runId']}/events/poll").status_code == 404


def test_a_log_belongs_to_one_host(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.sqlite3")
    with pytest.raises(ConfigError, match="another host"):
        start_host(data=tmp_path, live=False)
    run_id = log.start_run("acme", "alice")
    log.release()
    assert log.is_over(run_id)
    assert log.wait(run_id, 0, 30) == []
    log.close()
    (tmp_path / "events.sqlite3").write_bytes(b"no database, but long enough to be taken for one" * 40)
    with pytest.raises(ConfigError, match="not a database"):
        start_host(data=tmp_path, live=False)


def test_a_host_stops_while_somebody_listens(tmp_path: Path) -> None:
    """A poll and a stream of a run that goes on are let go, with an answer, when the host stops."""
    arrived = threading.Semaphore(0)

    class Telling(HostApp):
        """Says when somebody has come to listen."""

        async def poll(self, request: Request) -> Response:
            arrived.release()
            return await super().poll(request)

        async def stream(self, request: Request) -> Response:
            arrived.release()
            return await super().stream(request)

    running = start_host(data=tmp_path, live=False, app=Telling)
    with sqlite3.connect(tmp_path / "events.sqlite3", timeout=5) as db:
        db.execute("insert into runs values ('run_open', 'acme', 'alice')")
    answers: dict[str, httpx.Response] = {}

    def listen(path: str) -> None:
        with caller(running, "alice") as client:
            answers[path] = client.get(f"/v1/runs/run_open/events{path}", timeout=60)

    listeners = [threading.Thread(target=listen, args=(path,)) for path in ("/poll?timeout=25", "")]
    for one in listeners:
        one.start()
    for _ in listeners:
        assert arrived.acquire(timeout=30)
    running.stop()
    for one in listeners:
        one.join(30)
        assert not one.is_alive()
    assert answers["/poll?timeout=25"].json() == {"events": [], "isComplete": False}
    assert answers[""].text == ""


def test_a_tool_that_breaks_down_ends_its_session(tmp_path: Path) -> None:
    _, folder = read_config()
    text = (
        (folder / "host.yaml")
        .read_text(encoding="utf-8")
        .replace("{heading: Hello World}, {heading: Second Call}", "{}")
    )
    for name in ("node-pack.yaml", "connector.yaml", "workflows.yaml", "extensions.yaml", "mcp-tools.json"):
        (tmp_path / name).write_text((folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "host.yaml").write_text(text, encoding="utf-8")
    running = start_host(tmp_path / "host.yaml", live=False)
    with caller(running, "alice") as client:
        _, events = session(client, "openwop:text.slugify")
    running.stop()
    assert events[-3]["payload"]["error"]["message"] == "The tool broke down."
    assert events[-2]["payload"]["outcome"] == "failed"


def test_an_mcp_session_keeps_its_state_between_calls(host: RunningHost) -> None:
    with caller(host, "bob") as client:
        _, events = session(client, "mcp:notes.notes_add")
    counts = [event["payload"]["outcome"]["count"] for event in events if event["type"] == "agent.toolReturned"]
    assert counts[1] == counts[0] + 1


def test_a_log_reads_the_same_by_seam_poll_and_stream(host: RunningHost) -> None:
    with caller(host, "alice") as client, caller(host, "carol") as stranger:
        started, events = session(client, "openwop:text.slugify")
        path = f"/v1/runs/{started['runId']}/events"
        polled = client.get(f"{path}/poll").json()
        assert polled == {"events": events, "isComplete": True}
        assert client.get(f"{path}/poll?lastSequence=4&timeout=1").json()["events"] == events[5:]
        assert _streamed(client, path, {}) == events
        assert _streamed(client, path, {"Last-Event-ID": "2"}) == events[3:]
        assert stranger.get(f"{path}/poll").status_code == 404
        with caller(host, "bob") as colleague:
            assert colleague.get(f"{path}/poll").status_code == 404
        assert len(_streamed(client, path, {"Last-Event-ID": "9" * 5000})) == len(events)
        assert client.get(f"{path}/poll?timeout=--1").status_code == 400
        assert client.get("/v1/runs/nothing/events").status_code == 404
        assert client.get("/v1/host/sample/test/runs/__probe__/events").json() == {"events": []}


def _streamed(client: httpx.Client, path: str, headers: dict[str, str]) -> list[Any]:
    text = client.get(path, headers=headers).text
    blocks = [dict(line.split(": ", 1) for line in block.split("\n")) for block in text.strip().split("\n\n")]
    events = [json.loads(block["data"]) for block in blocks]
    assert [(block["id"], block["event"]) for block in blocks] == [
        (str(one["sequence"]), one["type"]) for one in events
    ]
    return events


def test_a_poll_waits_for_what_is_still_to_come(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "log")
    run_id = log.start_run("t", "p")
    assert log.wait(run_id, 0, 0.01) == []
    log.append(run_id, "vendor.thing", {})
    assert [one["sequence"] for one in log.wait(run_id, 0, 5)] == [1]
    log.close()


def test_the_hook_seam(host: RunningHost) -> None:
    def invoke(**body: Any) -> Any:
        return client.post("/v1/host/sample/toolhooks/invoke", json={"toolName": "x", "principal": "bob", **body})

    with caller(host, "alice") as client:
        assert client.post("/v1/host/sample/test/reset").json() == {"reset": True}
        token = next(one.token for one in host.principals if one.name == "bob")
        plain, secret = invoke(args={"key": "[redacted]"}).json(), invoke(args={"key": token}).json()
        assert plain["toolReturned"]["status"] == "ok"
        assert plain["toolCalled"]["argsHash"] == secret["toolCalled"]["argsHash"]
        refusals: list[dict[str, Any]] = [
            {"requiredScopes": ["nope"]},
            {"requiredScopes": "nope"},
            {"principal": "mallory"},
            {"principal": "carol"},
            {"toolName": "x-host-acme-shell:uptime"},
            {"toolName": "uptime"},
        ]
        for refused in refusals:
            returned = invoke(**refused).json()["toolReturned"]
            assert returned["status"] == "forbidden"
            assert "durationMs" not in returned
        assert invoke(simulateRateLimitExhausted=True).json()["toolReturned"]["status"] == "rate_limited"
        statuses = [invoke(toolName="often").json()["toolReturned"]["status"] for _ in range(60)]
        assert {"ok", "rate_limited"} == set(statuses)
        assert invoke(principal=7).status_code == 400
        assert invoke(args={"n": 2**60}).status_code == 400
        for odd in (
            b"{",
            b'{"principal": "\\ud800", "toolName": "x"}',
            b'{"principal": "bob", "toolName": "x", "args": %s}',
        ):
            deep = odd.replace(b"%s", b"[" * 900 + b"]" * 900)
            answer = client.post("/v1/host/sample/toolhooks/invoke", content=deep)
            assert answer.status_code == 400
            assert is_valid("error-envelope", answer.json())
        assert client.post("/v1/host/sample/toolhooks/invoke", content=b"[]").status_code == 400
        assert client.post("/v1/host/sample/toolhooks/invoke", content=b" " * 70_000).status_code == 413


def test_a_killed_host_leaves_a_whole_log() -> None:
    """Fifty kills at random points; the numbers are in the closing line of the script."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill_host", "50"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    outcome = json.loads(done.stdout)
    assert outcome["rounds"] == 50
    assert outcome["cutOff"] > 0
    assert outcome["problems"] == []


def test_recovery_returns_open_calls_and_then_closes_the_session(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "log")
    run_id = log.start_run("acme", "alice")
    call = {"agentId": "agent", "toolName": "x", "callId": "c", "sessionId": "s", "inputs": {"a": 1}}
    log.append(run_id, "tool.session.opened", {"sessionId": "s", "toolId": "a:b"})
    log.append(run_id, "agent.toolCalled", call)
    log.append(run_id, "interrupt.requested", {"interruptId": "i", "kind": "approval"})
    log.close()
    log = EventLog(tmp_path / "log")
    assert recover(log) == 1
    kinds = [(event["type"], event["payload"]) for event in log.read(run_id)[4:]]
    assert [kind for kind, _ in kinds] == [
        "interrupt.resolved",
        "agent.toolReturned",
        "tool.session.closed",
        "run.cancelled",
    ]
    assert kinds[1][1]["error"]["code"] == "interrupted"
    assert "inputs" not in kinds[1][1]
    assert kinds[2][1]["outcome"] == "cancelled"
    assert recover(log) == 0
    with pytest.raises(TypeError):
        log.append_all(run_id, [("vendor.fine", {}), ("vendor.broken", {"a": object()})])
    assert [event["type"] for event in log.read(run_id)][-1] == "run.cancelled"
    log.close()


@pytest.fixture
def endpoint() -> Iterator[httpx.Client]:
    connector = ConnectorEndpoint()
    served = serve(connector.asgi)
    yield httpx.Client(base_url=served.url, headers={KEY_HEADER: connector.key}, trust_env=False)
    served.stop()


def posted(
    client: httpx.Client, name: str, given: dict[str, Any], key: str | None = None, **more: Any
) -> tuple[int, Any]:
    context = {"sessionId": "s", "turnIndex": 0, "toolCallId": "c"}
    body = {"name": name, "input": given, "context": context, **({"idempotencyKey": key} if key else {}), **more}
    answer = client.post(PATH, json=body)
    assert not has_errors(check_envelope(answer.json()))
    return answer.status_code, answer.json()


def test_the_connector_endpoint_honors_idempotency_keys(endpoint: httpx.Client) -> None:
    change = {"id": "c-1", "phone": "1"}
    assert posted(endpoint, "crm_update_contact", change)[0] == 400
    assert posted(endpoint, "crm_update_contact", change, "k")[1]["status"] == "completed"
    replayed = posted(endpoint, "crm_update_contact", change, "k")[1]
    assert (replayed["duplicateDisposition"], replayed["output"]["id"]) == ("replayed", "c-1")
    status, conflict = posted(endpoint, "crm_update_contact", {**change, "phone": "2"}, "k")
    assert (status, conflict["duplicateDisposition"]) == (409, "conflict")
    assert posted(endpoint, "crm_create_ticket", {}, "t")[1]["output"] == {"ticket": 1}
    status, rejected = posted(endpoint, "crm_create_ticket", {}, "t")
    assert (status, rejected["duplicateDisposition"]) == (409, "rejected")
    assert posted(endpoint, "crm_find_contact", {"name": "Ada"})[1]["output"] == {"ids": ["c-1"]}


def test_the_connector_endpoint_refuses_what_it_does_not_know(endpoint: httpx.Client) -> None:
    assert posted(endpoint, "crm_unknown", {})[0] == 400
    assert posted(endpoint, "crm_find_contact", {}, extra=1)[0] == 400
    assert endpoint.post(PATH, content=b"{").status_code == 400
    assert posted(endpoint, "crm_update_contact", {"id": 2**60}, "k")[0] == 400
    assert endpoint.post(PATH, content=b"{}", headers={KEY_HEADER.encode(): b"\xff"}).status_code == 401
    assert endpoint.post(PATH, json={}, headers={KEY_HEADER: "wrong"}).status_code == 401


def test_calls_that_fail_are_outcomes() -> None:
    catalog = load_catalog()
    tools = {tool.id: tool for tool in catalog.tools}
    call = Call("s", 0, "c", {"name": "Ada"}, "k")
    deaf = Surfaces(None, "http://127.0.0.1:1", "key")
    assert deaf.call(tools["connector:crm_find_contact"], call).error == {
        "code": "SERVER_TOOL_HTTP_FAILED",
        "message": "The endpoint could not be reached or did not answer in JSON.",
    }
    no_mcp = deaf.call(tools["mcp:notes.notes_list"], call).error
    assert no_mcp is not None
    assert "mcp extra" in no_mcp["message"]


def test_a_session_that_fails_is_closed_as_failed() -> None:
    running = start_host(live=False)
    with caller(running, "bob") as client:
        _, events = session(client, "mcp:notes.notes_add")
    running.stop()
    assert [event["payload"].get("outcome") for event in events][-2] == "failed"
    assert events[-1]["type"] == "run.failed"
    returned = [event["payload"] for event in events if event["type"] == "agent.toolReturned"]
    assert {one["status"] for one in returned} == {"error"}


def test_the_saved_list_is_the_live_one() -> None:
    """The saved `tools/list` answer serves where the extra is not installed, so it must not be out of date."""
    _, folder = read_config()
    assert read_document(folder / "mcp-tools.json")["tools"] == mcp_link.link_to(("embedded",)).tools()


def test_an_mcp_server_that_is_none() -> None:
    link = McpLink((sys.executable, "-c", "print('not JSON-RPC')"))
    with pytest.raises(McpUnavailable):
        link.tools()
    with pytest.raises(McpUnavailable):
        link.call("x", {})
    link.close()


def test_without_the_extra_the_saved_list_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def tools(self) -> Any:
            raise McpUnavailable("No module named 'mcp'")

    monkeypatch.setattr("openwop_conformance.reference.catalog.link_to", lambda _: Missing())
    catalog = load_catalog(live=True)
    assert catalog.mcp is None
    assert "mcp" in catalog.sources


MINIMAL = """
principals: [{name: a, tenant: t, token: fixed-token}]
sources:
  - {source: host-extension, format: extension, scope: x-host-a-b, documents: [own.yaml], tools: {%s}}
"""


UNNAMED = """
principals: [{name: a, tenant: t}]
sources:
  - {source: mcp, format: toolfoundation, saved: tools.json, tools: {x: {assign: {}, tenants: [t]}}}
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("principals: []", "missing required field `sources`"),
        ("principals: [{name: a, tenant: t}]\nsources: [{source: plugin}]", "Invalid enum value 'plugin'"),
        (MINIMAL % "go: {assign: {safetyTier: read}, tenants: [t], extra: 1}", "unknown field `extra`"),
        (MINIMAL % "gone: {assign: {safetyTier: read}, tenants: [t]}", "no definition of gone"),
        (MINIMAL % "go: {assign: {}, tenants: [t]}", "safetyTier"),
        (MINIMAL % "go: {assign: {safetyTier: read, source: mcp, egress: open}, tenants: [t]}", "egress"),
        ("principals: [{name: a, tenant: t}, {name: a, tenant: t}]\nsources: []", "have to differ"),
        (UNNAMED, "no scope was given"),
        ("a: &a [1]\nb: *a", "aliases"),
        ("[" * 120 + "]" * 120, "nested deeper"),
        ("principals: []\nsources: []", "at least one principal"),
        ("principals: 2026-13-45\nsources: []", "Expected `array`"),
        ('principals: !!int ""\nsources: []', "not readable"),
        ("principals: []\nprincipals: []\nsources: []", "stands twice"),
        (
            (MINIMAL % "go: {assign: {safetyTier: read}, tenants: [t]}").replace("x-host-a-b", "foo"),
            "begin with x-host-",
        ),
        (
            (MINIMAL % "go: {assign: {safetyTier: read}, tenants: [t]}").replace("own.yaml", "odd.yaml"),
            "without a name",
        ),
        (
            (MINIMAL % "go: {assign: {safetyTier: read}, tenants: [t]}").replace("own.yaml", '"a\\0b"'),
            "no file can have",
        ),
        ("a: [", "line 1"),
        ("\x01", "not readable"),
        ("- 1", "Expected `object`"),
    ],
)
def test_impossible_host_descriptions(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "host.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "own.yaml").write_text("[{name: go}, {name: other, tool: false}]", encoding="utf-8")
    (tmp_path / "odd.yaml").write_text("[5]", encoding="utf-8")
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "x", "inputSchema": {}}]}', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_catalog(tmp_path / "host.yaml")
    assert said in str(caught.value)


def test_two_sources_with_one_id_are_refused(tmp_path: Path) -> None:
    tools = "{go: {assign: {safetyTier: read}, tenants: [t]}}"
    one = f"{{source: host-extension, format: extension, scope: x-host-a-b, documents: [own.yaml], tools: {tools}}}"
    (tmp_path / "own.yaml").write_text("[{name: go}]")
    (tmp_path / "host.yaml").write_text(f"principals: [{{name: a, tenant: t}}]\nsources: [{one}, {one}]")
    with pytest.raises(ConfigError, match="share the id"):
        load_catalog(tmp_path / "host.yaml")


def test_files_of_a_host_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b" " * 2_000_000)
    (tmp_path / "latin").write_bytes(b"\xe9")
    for name, said in (("big", "larger than"), ("latin", "not UTF-8"), ("missing", "No such file")):
        with pytest.raises(ConfigError, match=said):
            read_document(tmp_path / name)


def test_a_token_bucket_fills_with_time() -> None:
    now = [0.0]
    bucket = TokenBucket(2, clock=lambda: now[0])
    assert [bucket.take("a", "x") for _ in range(3)] == [True, True, False]
    assert bucket.take("b", "x")
    now[0] = 0.5
    assert [bucket.take("a", "x") for _ in range(2)] == [True, False]
    bucket.clear()
    assert bucket.take("a", "x")


def test_hashes_are_over_canonical_redacted_arguments() -> None:
    assert args_hash({"b": 1.0, "a": "é"}) == args_hash({"a": "é", "b": 1})
    assert redacted({"k-s3": ["x s3 y", 7, None]}, ["s3", ""]) == {"k-[redacted]": ["x [redacted] y", 7, None]}
