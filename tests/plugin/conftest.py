"""Runs of the suite inside a test, with the report that they wrote."""

import json
import os
from dataclasses import dataclass
from typing import Any

import pytest

SCENARIOS = "openwop_conformance.scenarios"


@dataclass(frozen=True)
class Outcome:
    """What a run said and wrote."""

    result: pytest.RunResult
    report: dict[str, Any]

    @property
    def code(self) -> int:
        return int(self.result.ret)

    @property
    def text(self) -> str:
        return f"{self.result.stdout.str()}\n{self.result.stderr.str()}"

    @property
    def verdicts(self) -> dict[str, str]:
        return {one["id"]: one["verdict"] for one in self.report["requirements"]}

    def blamed(self, verdict: str) -> set[str]:
        return {name for name, given in self.verdicts.items() if given == verdict}

    def findings(self, name: str) -> list[dict[str, Any]]:
        [one] = [one for one in self.report["requirements"] if one["id"] == name]
        found: list[dict[str, Any]] = one["findings"]
        return found


class Suite:
    """The scenarios, run in this process or in one of their own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester

    def __call__(self, *arguments: str, subprocess: bool = False) -> Outcome:
        run = self._pytester.runpytest_subprocess if subprocess else self._pytester.runpytest_inprocess
        path = self._pytester.path / "report.json"
        path.unlink(missing_ok=True)
        result = run("--pyargs", SCENARIOS, f"--openwop-report={path}", "-p", "no:cacheprovider", *arguments)
        report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return Outcome(result, report)

    def live(self, url: str, *arguments: str) -> Outcome:
        """Against a host, without the vectors."""
        return self("--host-url", url, "-k", "not shape", *arguments)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    return Suite(pytester)


@pytest.fixture(autouse=True)
def no_openwop_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENWOP_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
