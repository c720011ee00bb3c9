"""`project`, `lint` and `host`: for people who build catalogs of their own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from openwop_conformance.cli import main
from openwop_conformance.validation import is_valid
from tests.plugin.conftest import Suite

GECX = {
    "name": "lookup_order",
    "description": "Finds an order.",
    "inputSchema": {"items": [{}]},
    "sideEffectLevel": "read_only",
}
TOOL = {"toolId": "mcp:fs.read", "source": "mcp", "safetyTier": "read"}


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(content: Any, name: str = "tools.json") -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_project(file: Any, output: str) -> None:
    assign = file("lookup_order: {safetyTier: read}\n", "assign.yaml")
    given = ("project", "--from", "gecx", file([GECX]), "--scope", "connector", "--source", "connector")
    result = command(*given, "--assign", assign, "--output", output)
    assert result.exit_code == 0
    parsed = json.loads(result.stdout) if output == "json" else yaml.safe_load(result.stdout)
    [descriptor] = parsed["tools"]
    assert is_valid("tool-descriptor", descriptor)
    assert descriptor["inputSchema"] == {"prefixItems": [{}]}
    assert "lost: lookup_order: /sideEffectLevel: no member for it" in result.stderr
    refused = command(*given)
    assert refused.exit_code == 1
    assert "refused: lookup_order: no safetyTier is assigned; a suggestion would be read" in refused.stderr
    assert json.loads(refused.stdout) == {"tools": []}


def test_project_for_an_mcp_server(file: Any) -> None:
    record = {"tools": [{"name": "fs.read", "inputSchema": {"type": "object"}}]}
    assign = file("fs.read: {safetyTier: read}\n", "assign.yaml")
    result = command("project", "--from", "toolfoundation", file(record), "--server", "files", "--assign", assign)
    assert json.loads(result.stdout)["tools"][0]["toolId"] == "mcp:files.fs.read"


@pytest.mark.parametrize("assigned", ["[1]", "a: 1"])
def test_project_with_an_impossible_assignment(file: Any, assigned: str) -> None:
    result = command("project", "--from", "gecx", file([GECX]), "--assign", file(assigned, "assign.yaml"))
    assert result.exit_code == 2
    assert "a mapping from tool names to mappings is needed" in result.stderr


def test_lint_a_catalog(file: Any) -> None:
    assert command("lint", file({"tools": [TOOL]})).exit_code == 0
    assert command("lint", file([TOOL])).exit_code == 0
    assert command("lint", file(TOOL)).output.startswith("0 findings")
    bad = {
        "tools": [TOOL, {**TOOL, "safetyTier": "exec"}, {"toolId": "x", "source": "mcp", "inputSchema": {"type": 5}}]
    }
    result = command("lint", file(bad))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert ":10: exec-only-host-extension: /tools/1/source: " in result.output
    assert ":13: listed-descriptors-valid: /tools/2: x is not a valid descriptor" in result.output
    assert ":17: input-schema-valid: /tools/2/inputSchema/type: " in result.output
    assert ":8: tool-ids-unique: /tools/1: " in result.output
    assert lines[-1].startswith("4 findings in ")


def test_lint_finds_lines_whatever_stands_around(file: Any) -> None:
    text = '{\n\t"tools": [\n\t\t{"toolId": "\\ud83d\\ude00 \u2028", "source":\n "mcp", "safetyTier": "reed"},\n\n {}]}'
    output = command("lint", file(text)).output
    assert ":4: listed-descriptors-valid: /tools/0/safetyTier" in output
    assert ":6: listed-descriptors-valid: /tools/1" in output


def test_lint_stays_quick_and_short_over_many_findings(file: Any) -> None:
    result = command("lint", file([{"toolId": f"a:{place}"} for place in range(1500)]))
    lines = result.output.splitlines()
    assert len(lines) == 102
    assert lines[-2] == "and 2900 more"


def test_dates_in_yaml_are_text(file: Any) -> None:
    text = "name: ab\ndescription: 2026-01-01\ninputSchema: {}\n"
    assert command("lint", "--format", "gecx", file(text, "tool.yaml")).exit_code == 0


def test_lint_a_catalog_in_yaml(file: Any) -> None:
    text = "tools:\n  - toolId: a:b\n    source: mcp\n    safetyTier: reed\n"
    assert ":4: listed-descriptors-valid: /tools/0/safetyTier" in command("lint", file(text, "c.yaml")).output
    assert ":1: list-body: /: the body is not a list of tools" in command("lint", file("7", "c.yaml")).output
    flow = command("lint", file("{tools: [{toolId: a, source: mcp, safetyTier: read}]}", "c.yaml"))
    assert flow.exit_code == 0


@pytest.mark.parametrize(
    ("format_name", "document", "said"),
    [
        ("gecx", {**GECX, "name": "A"}, ":2: error: /name"),
        ("gecx", {"status": "completed"}, ":1: error: /"),
        ("toolfoundation", [{"name": "a", "inputSchema": {}, "version": "1"}], ":5: error: /0/version"),
        ("tool-contract", {"name": "a"}, ":1: error: /"),
    ],
)
def test_lint_native_documents(file: Any, format_name: str, document: Any, said: str) -> None:
    result = command("lint", "--format", format_name, file(document))
    assert result.exit_code == 1
    assert said in result.output
    assert command("lint", "--format", "gecx", file(GECX)).exit_code == 0


BAD_FILES: list[tuple[str, bytes, str]] = [
    ("latin.json", b'{"a": "\xe9"}', "not UTF-8"),
    ("broken.json", b'{"a": ', "line 1"),
    ("deep.json", b"[" * 5000 + b"]" * 5000, "nested deeper"),
    ("nested.json", b"[" * 150 + b"]" * 150, "nested deeper"),
    ("bomb.yaml", b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "aliases are not accepted"),
    ("huge.json", b"[" + b" " * 100_000_000 + b"]", "larger than"),
    ("big.yaml", b"# " + b"x" * 2_000_000, "which only JSON may be"),
    ("date.yaml", b"description: !!timestamp foo\n", "could not determine a constructor"),
    ("int.yaml", b'a: !!int ""\n', "not readable"),
    ("keys.yaml", b"1: 2\n", "a key is not text"),
    ("set.yaml", b"!!set {a}\n", "could not determine a constructor"),
    ("half.json", b'{"a": "\\ud800"}', "surrogate"),
    ("twice.json", b'{"a": 1, "a": 2}', "stands twice"),
    ("nan.json", b"[NaN]", "NaN is not a JSON value"),
    ("digits.json", b"[" + b"1" * 5000 + b"]", "digits"),
]


@pytest.mark.parametrize("words", [("lint",), ("project", "--from", "gecx"), ("lint", "--format", "tool-contract")])
@pytest.mark.parametrize(("name", "content", "said"), BAD_FILES, ids=[name for name, _, _ in BAD_FILES])
def test_bad_files_get_one_line(file: Any, words: tuple[str, ...], name: str, content: bytes, said: str) -> None:
    result = command(*words, file(content, name))
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("words", [("lint",), ("project", "--from", "gecx")])
def test_missing_files_get_one_line(words: tuple[str, ...]) -> None:
    result = command(*words, "no-such-file")
    assert result.exit_code == 2
    assert result.stderr == "Error: no-such-file: No such file or directory\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--config", "missing.yaml"), "missing.yaml: No such file"),
        (("--data", "missing"), "there is no such folder"),
        (("--port", "70000"), "not in the range"),
    ],
)
def test_a_host_that_cannot_be_served(options: tuple[str, ...], said: str) -> None:
    result = command("host", *options)
    assert result.exit_code == 2
    assert said in result.output


def test_a_host_in_another_process(suite: Suite, tmp_path: Path) -> None:
    """It prints its tokens, passes with principals of two tenants, keeps its port to itself and stops cleanly."""
    words = [sys.executable, "-m", "openwop_conformance", "host", "--data", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(6)]
        url = lines[0].removeprefix("serving ")
        tokens = {line.split()[0]: line.split()[-1] for line in lines[1:4]}
        taken = command("host", "--port", url.rpartition(":")[2])
        assert taken.exit_code == 2
        assert "Address already in use" in taken.output
        run = suite("--host-url", url, "--openwop-token", tokens["alice"], "--openwop-second-token", tokens["carol"])
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    assert run.code == 0
    assert run.report["summary"]["conformant"] is True
    assert run.blamed("advisory") == set()
    assert process.returncode == 0
    assert rest.strip() == "stopped"
    assert errors == ""
    assert os.path.getsize(tmp_path / "events.sqlite3") > 0  # noqa: PTH202 - one look at one file
