"""Whole runs: the embedded host, hosts that advertise nothing, hosts that are not there."""

import json
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from openwop_conformance.reference.app import HostApp, json_response
from openwop_conformance.reference.catalog import load_catalog
from openwop_conformance.reference.mutants.content import TOKEN, SecretInDescription
from openwop_conformance.reference.variants import BareList
from openwop_conformance.requirements import load_registry
from openwop_conformance.validation import violations
from tests.hosts import discovery_only, nobody_home, reference, serving, speaking
from tests.plugin.conftest import Suite

CATALOG = "openwop-tool-catalog"
SESSIONS = "openwop-tool-session-lifecycle"


def test_the_embedded_host_is_green(suite: Suite) -> None:
    run = suite("--host-url", "reference")
    assert run.code == 0
    assert violations("report", run.report) == []
    assert run.report["summary"]["conformant"] is True
    assert run.blamed("fail") == run.blamed("advisory") == run.blamed("blocked") == run.blamed("inconclusive") == set()
    assert len(run.blamed("pass")) >= 25
    assert run.report["host"]["embedded"] is True
    assert run.report["host"]["implementation"]["name"] == "openwop-reference-host"
    assert run.report["selfCheck"]["passed"] >= 80
    assert run.report["selfCheck"]["failed"] == 0
    assert run.report["traffic"]["requests"]["GET"] > 10
    run.result.stdout.fnmatch_lines(["*OpenWOP conformance*", "*pass*0 fail*", "*Sent: * GET*", "CONFORMANT*"])


def test_every_live_requirement_has_one_place_in_the_report(suite: Suite) -> None:
    report = suite("--host-url", "reference").report
    beside = [one["id"] for part in ("notApplicable", "notTestable") for one in report[part]]
    places = [one["id"] for one in report["requirements"]] + beside + report["pending"] + report["notRun"]
    live = [one.id for one in load_registry() if one.gate != ("none",)]
    assert sorted(places) == sorted(live)
    assert report["notRun"] == []
    counts = report["summary"]["counts"]
    assert sum(counts.values()) == len(report["requirements"])


@pytest.mark.parametrize("arguments", [(), ("--openwop-strict",)])
def test_workers_give_the_same_verdicts(suite: Suite, arguments: tuple[str, ...]) -> None:
    alone = suite("--host-url", "reference", *arguments)
    shared = suite("--host-url", "reference", "-n", "2", *arguments, subprocess=True)
    assert shared.verdicts == alone.verdicts
    assert shared.code == alone.code
    for part in ("selfCheck", "notApplicable", "notTestable", "pending"):
        assert shared.report[part] == alone.report[part]
    assert shared.report["summary"] == alone.report["summary"]


def test_discovery_is_read_once_for_all_workers(suite: Suite) -> None:
    with serving(discovery_only({})) as (url, app):
        run = suite("--host-url", url, "-n", "2", subprocess=True)
    assert run.code == 0
    assert app.paths.count("/.well-known/openwop") == 1
    assert run.report["traffic"]["requests"] == {"GET": len(app.paths)}


def test_a_host_that_advertises_nothing(suite: Suite) -> None:
    with serving(discovery_only({"protocolVersion": "1.0"})) as (url, app):
        run = suite.live(url, "--openwop-token", "tok")
    assert run.code == 0
    assert run.report["summary"]["conformant"] is None
    assert run.blamed("pass") == {"discovery-served", "catalog-absent-when-unadvertised"}
    assert run.blamed("fail") == set()
    assert "No profile was tested" in run.text
    assert CATALOG in run.text
    assert app.paths[:2] == ["/.well-known/openwop", "/v1/tools"]
    assert app.paths[3:] == ["/v1/host/sample/tools/session-run"]
    assert run.blamed("blocked") == {"sessions-absent-when-unadvertised"}


def test_a_host_that_advertises_nothing_in_strict_mode(suite: Suite) -> None:
    with serving(discovery_only({})) as (url, _):
        strict = suite.live(url, "--openwop-strict")
        excused = suite.live(url, "--openwop-strict", "--openwop-opt-out", f"{CATALOG},{SESSIONS}")
        half = suite.live(url, "--openwop-strict", "--openwop-opt-out", CATALOG)
    assert strict.code == 1
    assert strict.report["summary"]["missingProfiles"] == [CATALOG, SESSIONS]
    assert f"Missing profiles: {CATALOG}, {SESSIONS}" in strict.text.replace("\n", " ")
    assert strict.findings("list-body")[0]["message"].startswith("not-advertised: ")
    assert "session-opened-once" in strict.blamed("fail")
    assert "call-payloads-valid" in strict.blamed("not-advertised")
    assert excused.code == 0
    assert excused.report["summary"]["conformant"] is None
    assert "list-body" in excused.blamed("opted-out")
    assert half.code == 1
    assert half.report["summary"]["missingProfiles"] == [SESSIONS]


def test_the_environment_switches_strict_mode_on(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENWOP_REQUIRE_BEHAVIOR", "true")
    monkeypatch.setenv("OPENWOP_OPTED_OUT_PROFILES", f"{SESSIONS},openwop-elsewhere")
    with serving(discovery_only({})) as (url, _):
        monkeypatch.setenv("OPENWOP_BASE_URL", url)
        run = suite("-k", "not shape")
    assert run.report["mode"] == "strict"
    assert run.code == 1
    assert run.report["summary"]["missingProfiles"] == [CATALOG]
    assert "openwop-elsewhere" in run.report["warnings"][0]


def test_an_advertised_profile_wins_over_an_opt_out(suite: Suite) -> None:
    run = suite.live("reference", "--openwop-opt-out", CATALOG)
    assert "list-body" in run.blamed("pass")
    assert f"the opt-out of {CATALOG} does not count" in run.text


def test_an_unadvertised_catalog_that_answers_all_the_same(suite: Suite) -> None:
    def leaking(request: Request) -> Response:
        return json_response({} if request.url.path.endswith("openwop") else {"tools": []})

    with serving(leaking) as (url, _):
        run = suite.live(url)
    assert run.code == 0
    assert run.blamed("advisory") == {"catalog-absent-when-unadvertised"}


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_host_that_is_not_there(suite: Suite, workers: tuple[str, ...]) -> None:
    url = nobody_home()
    run = suite.live(url, *workers)
    assert run.code == 1
    assert run.report["summary"]["conformant"] is None
    assert set(run.verdicts.values()) == {"inconclusive"}
    assert "Traceback" not in run.text
    assert f"COULD NOT OBSERVE {url}: no connection" in run.text.replace("\n", " ")
    assert run.result.parseoutcomes().get("errors") == 1
    [finding] = run.findings("discovery-served")
    assert finding["exchange"]["error"].startswith("no connection")


def test_one_lost_scenario_is_enough_to_be_red(suite: Suite) -> None:
    run = suite.live(nobody_home(), "-k", "test_tool_list")
    assert run.code == 1


def test_a_discovery_document_that_is_no_document(suite: Suite) -> None:
    with serving(lambda _: PlainTextResponse("nothing", 500)) as (url, _):
        run = suite.live(url)
    assert run.code == 1
    assert run.blamed("fail") == {"discovery-served"}
    assert "list-body" in run.blamed("blocked")
    assert run.report["summary"]["conformant"] is False


def test_a_connection_lost_in_the_middle_is_no_verdict(suite: Suite) -> None:
    document = b'{"toolCatalog":{"supported":true}}'
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(
        document
    )
    with speaking(raw + document) as url:
        run = suite.live(url, "--openwop-token", "tok-1")
    assert run.blamed("pass") >= {"discovery-served"}
    with speaking(raw + document, last=3) as url:
        run = suite.live(url, "--openwop-token", "tok-1")
    assert run.code == 1
    assert "list-rejects-unknown-credential" in run.blamed("inconclusive")


def test_a_refused_token_is_never_green(suite: Suite) -> None:
    run = suite.live("reference", "--openwop-token", "expired-token")
    assert run.code == 1
    assert run.report["summary"]["conformant"] is not True
    assert "list-body" in run.blamed("inconclusive")
    assert run.blamed("fail") == set()
    assert "give a token that may read the catalog" in run.text.replace("\n", " ").replace("  ", " ")


def test_without_a_token_most_is_blocked_and_nothing_is_claimed(suite: Suite) -> None:
    with reference() as host:
        run = suite.live(host.url)
        strict = suite.live(host.url, "--openwop-strict")
    assert run.code == 1
    assert "no credential was given" in run.text
    assert run.report["summary"]["conformant"] is None
    assert "list-body" in run.blamed("blocked")
    assert "list-rejects-missing-credential" in run.blamed("pass")
    assert strict.code == 1
    assert strict.findings("list-body")[0]["message"].startswith("blocked: no credential")


def test_no_host_at_all(suite: Suite) -> None:
    run = suite()
    assert run.code == 0
    assert run.report["summary"]["conformant"] is None
    assert run.report["requirements"] == []
    assert run.report["host"]["url"] is None
    assert run.report["selfCheck"]["passed"] >= 80
    assert "No host was tested" in run.text
    skipped = suite("-rs").text
    assert "no host given" in skipped
    strict = suite("--openwop-strict")
    assert strict.code == 1
    assert strict.report["summary"]["conformant"] is None


def test_selection(suite: Suite) -> None:
    section = suite("--host-url", "reference", "--openwop-select", "C-3")
    assert section.verdicts["tool-ids-unique"] == "pass"
    assert section.verdicts.keys() <= load_registry().matching("C-3")
    assert section.code == 0
    assert section.report["summary"] == section.report["summary"] | {"conformant": None, "partial": True}
    single = suite("--host-url", "reference", "--openwop-select", "list-body", "--openwop-select", "descriptor-closed")
    assert single.verdicts == {"list-body": "pass"}
    assert 0 < single.report["selfCheck"]["passed"] < 20
    nobodys = suite("--host-url", "reference", "--openwop-select", "safety-tier-honest")
    assert nobodys.code != 0
    assert [one["id"] for one in nobodys.report["notTestable"]] == ["safety-tier-honest"]


def test_leaving_scenarios_out_is_said(suite: Suite) -> None:
    run = suite("--host-url", "reference", "-k", "test_tool_list or shape")
    assert run.code == 0
    assert "item-resolves" in run.report["notRun"]
    assert run.report["summary"]["partial"] is True
    assert run.report["summary"]["conformant"] is None


def test_a_report_that_cannot_be_written_is_an_error(
    suite: Suite, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    run = suite.live("reference")
    assert run.code == 1
    assert "not written: No space left on device" in run.text
    assert [path.name for path in pytester.path.glob(".*part")] == []


def test_scopes_are_judged_where_the_settings_declare_them(suite: Suite, tmp_path: Path) -> None:
    with reference() as host:
        tokens = {one.name: one.token for one in host.principals}
        for scopes, verdict in (("[tools:notes]", "fail"), ("['tools:*']", "blocked"), ("null", "blocked")):
            principals = f"principals: [{{name: alice, token: '{tokens['alice']}', scopes: {scopes}}}]\n"
            (tmp_path / "settings.yaml").write_text(principals)
            run = suite.live(host.url, "--openwop-config", str(tmp_path / "settings.yaml"))
            assert run.verdicts["list-within-scopes"] == verdict
    assert suite.live("reference").verdicts["list-within-scopes"] == "pass"


def test_what_was_not_read_is_said(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("limits: {max-items: 2}\n")
    run = suite.live("reference", "--openwop-config", str(tmp_path / "settings.yaml"))
    assert run.code == 0
    assert "2 of the 8 tools of alice were read by id (limits.max-items)" in run.report["warnings"]


def test_pages_of_other_principals_are_looked_at_too(suite: Suite) -> None:
    """A descriptor that only the second principal sees is judged as well."""

    def answer(request: Request) -> Response:
        if request.url.path.endswith("openwop"):
            return json_response({"toolCatalog": {"supported": True}})
        token = request.headers.get("authorization", "")
        if token not in {"Bearer one-1", "Bearer two-2"}:
            return json_response({"error": "unauthorized", "message": "Who?"}, 401)
        tool = {"toolId": "mcp:a", "source": "mcp", "safetyTier": "read"}
        if request.method != "GET":
            return json_response({"error": "method_not_allowed", "message": "No."}, 405, {"Allow": "GET"})
        if request.url.path == "/v1/tools":
            return json_response({"tools": [tool if token == "Bearer one-1" else {**tool, "extra": 1}]})
        found = request.url.path.endswith("/mcp:a")
        return json_response(tool if found else {"error": "not_found", "message": "No."}, 200 if found else 404)

    with serving(answer) as (url, _):
        run = suite.live(url, "--openwop-token", "one-1", "--openwop-second-token", "two-2")
    assert run.blamed("fail") == {"listed-descriptors-valid"}
    assert run.findings("listed-descriptors-valid")[0]["exchange"]["principal"] == "second"


def test_an_earlier_report_is_compared_with(suite: Suite, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    with reference(HostApp(load_catalog())) as host:
        first = host.principals[0]
        config.write_text(f"principals: [{{name: alice, token: {first.token}}}]", encoding="utf-8")
        before = suite.live(host.url, "--openwop-config", str(config))
        earlier = tmp_path / "earlier.json"
        earlier.write_text(json.dumps(before.report), encoding="utf-8")
        same = suite.live(host.url, "--openwop-config", str(config), "--openwop-previous", str(earlier))
        before.report["catalog"]["alice"][0]["toolId"] = "openwop:gone"
        earlier.write_text(json.dumps(before.report), encoding="utf-8")
        other = suite.live(host.url, "--openwop-config", str(config), "--openwop-previous", str(earlier))
    assert before.verdicts.get("tool-ids-stable-over-time") is None
    assert same.verdicts["tool-ids-stable-over-time"] == "pass"
    assert other.blamed("fail") == {"tool-ids-stable-over-time"}
    assert "openwop:gone" in other.findings("tool-ids-stable-over-time")[0]["message"]


def test_an_earlier_report_that_is_none_is_a_usage_error(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    run = suite.live("reference", "--openwop-previous", str(tmp_path / "other.json"))
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "not a JSON report of this suite" in run.text


def test_advisories_can_be_made_to_fail_a_run(suite: Suite) -> None:
    with reference(BareList(load_catalog())) as host:
        arguments = ("--openwop-token", host.principals[0].token)
        mild = suite.live(host.url, *arguments)
        hard = suite.live(host.url, *arguments, "--openwop-fail-on", "advisory")
    assert (mild.code, mild.verdicts["list-body"]) == (0, "advisory")
    assert (hard.code, hard.verdicts["list-body"]) == (1, "fail")


def test_a_requirement_on_writes_says_what_was_tried(suite: Suite) -> None:
    with reference(HostApp(load_catalog())) as host:
        arguments = ("--openwop-token", host.principals[0].token, "--openwop-select", "F-1")
        careful = suite.live(host.url, *arguments)
        bold = suite.live(host.url, *arguments, "--openwop-destructive")
    for run, words in ((careful, "--openwop-destructive"), (bold, "on a listed id")):
        [one] = [one for one in run.report["requirements"] if one["id"] == "item-rejects-writes"]
        assert words in one["notes"][0]


def test_what_was_found_is_never_shown(suite: Suite) -> None:
    with reference(SecretInDescription(load_catalog())) as host:
        run = suite.live(host.url, "--openwop-token", host.principals[0].token)
    assert run.verdicts["descriptor-secret-free"] == "fail"
    assert TOKEN not in run.text
    assert TOKEN not in json.dumps(run.report)
