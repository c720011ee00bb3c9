"""The command: the same run without pytest's words, and exit codes that mean something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from openwop_conformance.cli import main
from openwop_conformance.requirements import load_registry
from tests.hosts import discovery_only, nobody_home, reference, serving


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def spoken(*arguments: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, in a folder with settings that would spoil a plain pytest."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (folder / "conftest.py").write_text("raise SystemExit('nobody asked for this')\n")
    return subprocess.run(
        [sys.executable, "-m", "openwop_conformance", *arguments],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_a_host_the_embedded_one_is_taken_and_said(tmp_path: Path) -> None:
    result = spoken("run", "--report", "r.json", folder=tmp_path, PYTEST_ADDOPTS="--also-wrong")
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith("No host given: this runs against the embedded one.")
    assert "CONFORMANT" in result.stdout
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["summary"]["conformant"] is True
    assert {path.name for path in tmp_path.iterdir()} == {"pytest.ini", "conftest.py", "r.json"}


def test_workers(tmp_path: Path) -> None:
    result = spoken("run", "-n", "2", folder=tmp_path)
    assert result.returncode == 0, result.stdout


def test_exit_codes() -> None:
    assert command("run", "--host-url", nobody_home()).exit_code == 3
    with serving(discovery_only({})) as (url, _):
        assert command("run", "--host-url", url).exit_code == 0
        assert command("run", "--host-url", url, "--strict").exit_code == 1
        assert command("run", "--host-url", url, "--select", "hidden-same-status").exit_code == 3
    with reference() as host:
        wrong = command("run", "--host-url", host.url, "--token", "wrong-token", "--verbose")
        right = command(
            "run", "--host-url", host.url, "--token", host.principals[0].token, "--select", "B", "--select", "C"
        )
    assert wrong.exit_code == 3
    assert "test_tool_list FAILED" in wrong.output
    assert right.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host-url", "ftp://x"), "is not an http or https URL"),
        (("--second-token", "x"), "--token or OPENWOP_API_KEY"),
        (("--token", "a", "--token-file", "b"), "--token and --token-file were both given"),
        (("--report", "x.pdf"), "the ending chooses the format"),
        (("--list-shape", "tree"), "is not one of 'any', 'object', 'array'"),
        (("--workers", "-1"), "-1 is not in the range"),
        (("--nonsense",), "No such option"),
    ],
)
def test_usage_problems_are_one_line_and_exit_2(arguments: tuple[str, ...], said: str) -> None:
    result = command("run", *arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert "openwop-token" not in result.output
    assert "Traceback" not in result.output


def test_an_unusable_proxy_exits_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    assert command("run", "--host-url", "http://host.example").exit_code == 2


def test_the_surroundings_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-v")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "0")
    command("run", "--host-url", nobody_home())
    assert os.environ["PYTEST_ADDOPTS"] == "-v"
    assert os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "0"


def test_requirements() -> None:
    text = command("requirements").output
    listed = {line.split()[0] for line in text.splitlines()[1:] if line and not line.startswith(" ")}
    assert listed == set(load_registry().requirements)
    assert "tool-list" in text
    pending = json.loads(command("requirements", "--pending", "--json").output)
    assert [one["id"] for one in pending] == list(load_registry().pending)
    assert all(one["scenarios"] == [] for one in pending)
    [body] = [one for one in json.loads(command("requirements", "--json").output) if one["id"] == "list-body"]
    assert body["ruling"] == ["R1"]
    assert body["scenarios"] == ["tool-list"]


def test_help_and_version() -> None:
    assert "Run every scenario against a host" in command("run", "--help").output
    assert command("--version").output.startswith("openwop-conformance, version ")


def test_explain_tells_all_that_is_known_of_a_requirement() -> None:
    run = CliRunner().invoke(main, ["explain", "hidden-same-status"])
    assert run.exit_code == 0
    for words in ("MUST §F-2", "non-disclosure (scenarios/test_non_disclosure.py::", "Forbidding: ", "fix", "R6"):
        assert words in run.output
    assert "vectors" in CliRunner().invoke(main, ["explain", "descriptor-closed"]).output
    assert "not tested" in CliRunner().invoke(main, ["explain", "safety-tier-honest"]).output
    unknown = CliRunner().invoke(main, ["explain", "hidden-same-statsu"])
    assert unknown.exit_code == 2
    assert "did you mean hidden-same-status" in unknown.output
