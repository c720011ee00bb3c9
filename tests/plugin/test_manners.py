"""Manners: what the plugin does not do, and what it keeps to itself."""

import json
import socket
import textwrap

import pytest
from starlette.requests import Request
from starlette.responses import Response

from openwop_conformance.plugin.marks import MARK
from openwop_conformance.reference.app import HostApp
from openwop_conformance.reference.catalog import load_catalog
from tests.hosts import discovery_only, nobody_home, reference, serving
from tests.plugin.conftest import Suite

OTHER = "def test_other():\n    assert True\n"


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_other_peoples_runs_are_left_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    """Installed and with the environment names set, but not used: no network, no files, no collection, no output."""
    pytester.makepyfile(OTHER)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        monkeypatch.setenv("OPENWOP_BASE_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.setenv("OPENWOP_API_KEY", "token")
        monkeypatch.setenv("OPENWOP_REQUIRE_BEHAVIOR", "true")
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers", *workers)
        with pytest.raises(TimeoutError):
            listener.accept()
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    assert "openwop" not in result.stdout.str().replace("openwop-conformance-", "").lower()
    own = {"stdout", "stderr", "__pycache__", ".hypothesis"}
    left = {path.name for path in pytester.path.iterdir() if not path.name.startswith("runpytest-")} - own
    assert left == {"test_other_peoples_runs_are_left_alone.py"}


def test_a_malformed_environment_disturbs_nobody_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENWOP_BASE_URL", "ftp://nonsense")
    pytester.makepyfile(OTHER)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_other_peoples_tests_beside_the_scenarios(suite: Suite, pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(OTHER)
    run = suite(
        "--host-url", "reference", "-k", "test_tool_list or test_other", str(path), "--openwop-select", "list-body"
    )
    assert run.result.parseoutcomes()["passed"] == 2


def test_the_marker_and_the_options_are_declared(pytester: pytest.Pytester) -> None:
    assert f"@pytest.mark.{MARK}(slug, settles)" in pytester.runpytest_inprocess("--markers").stdout.str()
    text = pytester.runpytest_inprocess("--help").stdout.str()
    for option in (
        "host-url",
        "openwop-token",
        "openwop-token-file",
        "openwop-second-token",
        "openwop-hidden-tool-id",
        "openwop-strict",
        "openwop-opt-out",
        "openwop-config",
        "openwop-list-shape",
        "openwop-destructive",
        "openwop-report",
        "openwop-select",
    ):
        assert f"--{option}" in text


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_collecting_alone_sends_nothing(suite: Suite, workers: tuple[str, ...]) -> None:
    with serving(discovery_only({})) as (url, app):
        run = suite("--collect-only", "-q", "--host-url", url, *workers, subprocess=bool(workers))
    assert run.code == 0
    assert app.requests == []
    assert run.report == {}


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host-url", "ftp://x"), "not an http or https URL"),
        (("--openwop-config", "missing.yaml"), "missing.yaml: No such file"),
        (("--host-url", "http://h", "--openwop-second-token", "b"), "no first"),
        (("--openwop-select", "nothing"), "nothing is selected by 'nothing'"),
    ],
)
def test_usage_errors_come_before_anything_is_sent(
    suite: Suite, arguments: tuple[str, ...], said: str, workers: tuple[str, ...]
) -> None:
    run = suite(*arguments, *workers, subprocess=bool(workers))
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert said in run.text
    assert "Traceback" not in run.text


def test_a_bad_choice_is_a_usage_error(suite: Suite) -> None:
    assert suite("--openwop-list-shape", "tree").code == pytest.ExitCode.USAGE_ERROR


def test_an_unusable_proxy_is_a_usage_error(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    run = suite.live("http://host.example")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "proxy" in run.text


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_host_without_scenarios_is_never_green(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    """Somebody who names a host and collects only other tests must not believe that the host was tested."""
    pytester.makepyfile(OTHER)
    with serving(discovery_only({})) as (url, _):
        result = pytester.runpytest_subprocess("--host-url", url, *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*no scenario was collected: add --pyargs openwop_conformance.scenarios*"])


def test_scenarios_of_other_people_can_use_the_fixtures(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.openwop_scenario("mine", settles=["list-body", "list-status"])
        def test_mine(host, settle):
            settle([], "list-body")

        @pytest.mark.openwop_scenario("stray", settles=["list-body"])
        def test_stray(host, settle):
            settle([], "list-status")

        def test_unmarked(host):
            pass

        def test_unmarked_settle(settle):
            pass
        """
    )
    result = pytester.runpytest_inprocess("--host-url", "reference")
    result.assert_outcomes(failed=2, skipped=1, passed=1)
    result.stdout.fnmatch_lines(["*list-status: inconclusive: the scenario ended without settling this*"])
    result.stdout.fnmatch_lines(["*stray does not declare list-status*"])


CRASHING = """
    import os
    import pytest

    @pytest.mark.openwop_scenario("mine", settles=["discovery-served"])
    def test_mine(host, settle):
        settle([])

    @pytest.mark.openwop_scenario("tool-list", settles=["list-body"])
    def test_tool_list(host, settle):
        os._exit(1)
"""


def test_a_crashed_worker_loses_nothing_that_was_settled(pytester: pytest.Pytester) -> None:
    """What a dead worker had not settled is inconclusive, never green; what it had settled stays."""
    pytester.mkpydir("scenarios")
    (pytester.path / "scenarios" / "test_catalog_projection.py").write_text(textwrap.dedent(CRASHING))
    result = pytester.runpytest_subprocess(
        "scenarios", "--host-url", "reference", "-n", "1", "--max-worker-restart=0", "--openwop-report=r.json"
    )
    assert result.ret != 0
    text = (pytester.path / "r.json").read_text(encoding="utf-8")
    verdicts = {one["id"]: one["verdict"] for one in json.loads(text)["requirements"]}
    assert verdicts["discovery-served"] == "pass"
    assert verdicts["list-body"] == "inconclusive"


def test_an_error_of_our_own_is_no_verdict(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.openwop_scenario("mine", settles=["list-body"])
        def test_mine(host, settle):
            raise ZeroDivisionError("oops")
        """
    )
    result = pytester.runpytest_inprocess("--host-url", "reference", "--openwop-report=r.json")
    assert result.ret == 1
    assert "an error of the suite itself: ZeroDivisionError: oops" in (pytester.path / "r.json").read_text()


def test_secrets_stay_hidden_in_tracebacks_and_reports(pytester: pytest.Pytester) -> None:
    """`--showlocals`, captured output, JUnit and the JSON report: the token is in none of them."""
    token = "very-s3cret-token-value"
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.openwop_scenario("mine", settles=["list-body"])
        def test_mine(host, settle):
            credential = host.primary
            listing = host.listing(credential)
            print("printed", credential.value.reveal())
            raise ZeroDivisionError(credential.value.reveal())

        @pytest.mark.openwop_scenario("lost", settles=["list-status"])
        def test_lost(host, settle):
            host.client.send("GET", "/lost", host.primary)
        """
    )
    with serving(discovery_only({"toolCatalog": {"supported": True}})) as (url, _):
        result = pytester.runpytest_inprocess(
            "--host-url", url, "--openwop-token", token, "--showlocals", "-rA", "--full-trace",
            "--openwop-report=r.json", "--junitxml=j.xml", "--log-level=DEBUG",
        )  # fmt: skip
    everything = result.stdout.str() + result.stderr.str()
    everything += (pytester.path / "r.json").read_text() + (pytester.path / "j.xml").read_text()
    assert "ZeroDivisionError" in everything
    assert "[redacted]" in everything
    assert token not in everything


def test_junit_carries_readable_verdicts(suite: Suite, pytester: pytest.Pytester) -> None:
    suite.live("reference", "--junitxml=j.xml", "-k", "test_tool_list")
    text = (pytester.path / "j.xml").read_text(encoding="utf-8")
    assert '<property name="openwop.list-body" value="pass"' in text
    assert "settlements" not in text


def test_the_summary_explains_each_failure(suite: Suite) -> None:

    class Labelled(HostApp):
        """Serves the list as plain text."""

        async def list_tools(self, request: Request) -> Response:
            answer = await super().list_tools(request)
            answer.headers["content-type"] = "text/plain"
            return answer

    with reference(Labelled(load_catalog())) as host:
        run = suite.live(host.url, "--openwop-token", host.principals[0].token)
    assert run.code == 1
    assert run.blamed("fail") == {"list-media-type"}
    run.result.stdout.fnmatch_lines(
        [
            "*list-media-type: fail: the list is not labelled as JSON*",
            "Failures (1)",
            "  list-media-type  MUST §B",
            "    The list is answered with a JSON media type.",
            "    finding   the list is not labelled as JSON",
            "    at        Content-Type",
            "    expected  application/json",
            '    seen      "text/plain*"',
            f'    curl -si --path-as-is -H "Authorization: Bearer $OPENWOP_API_KEY" {host.url}/v1/tools',
            "NOT CONFORMANT: 1 requirement*",
        ]
    )
    assert host.principals[0].token not in run.text


@pytest.mark.parametrize(
    "mark", ["openwop_scenario", 'openwop_scenario("mine")', 'openwop_scenario("x", settles=["no-such"])']
)
def test_a_misused_marker_is_a_usage_error(pytester: pytest.Pytester, mark: str) -> None:
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.{mark}\ndef test_mine():\n    pass\n")
    result = pytester.runpytest_inprocess("--host-url", "reference")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_deselecting_everything_is_never_green(suite: Suite) -> None:
    run = suite("--host-url", "reference", "-k", "nothing_of_that_name")
    assert run.code != 0
    assert "none was left to run" in run.text
    workers = suite("--host-url", "reference", "-n", "2", "--openwop-select", "safety-tier-honest", subprocess=True)
    assert workers.code != 0


def test_without_the_terminal_plugin(suite: Suite) -> None:
    assert suite("--host-url", "reference", "-p", "no:terminal", subprocess=True).code == 0


def test_a_host_that_is_not_there_without_vectors_is_told_in_one_line(suite: Suite) -> None:
    run = suite.live(nobody_home(), "-q", "--no-header", "-rN", "--tb=no")
    assert len([line for line in run.text.splitlines() if "no connection" in line]) == 1
