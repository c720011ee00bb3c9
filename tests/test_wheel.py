"""The wheel: installed in an empty folder it gives the same results as the checkout."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import reference

ROOT = Path(__file__).parents[1]


def said(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(
        ROOT, folder / "source", ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info")
    )
    said(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", source, cwd=folder)
    [wheel] = (folder / "dist").glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    said(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    return folder / "env" / "bin"


def verdicts(path: Path) -> dict[str, Any]:
    report = json.loads(path.read_text(encoding="utf-8"))
    settled = {one["id"]: (one["verdict"], one["scenarios"]) for one in report["requirements"]}
    return {"settled": settled, "selfCheck": report["selfCheck"], "summary": report["summary"]}


def test_checkout_wheel_and_command_give_the_same_result(installed: Path, tmp_path: Path) -> None:
    with reference() as host:
        alice, bob = host.principals[:2]
        tokens = ["--openwop-token", alice.token, "--openwop-second-token", bob.token]
        given = ["--host-url", host.url, *tokens, "--openwop-report"]
        said(sys.executable, "-m", "pytest", *given, tmp_path / "checkout.json", cwd=ROOT)
        said(installed / "pytest", "--pyargs", "openwop_conformance.scenarios", *given, "wheel.json", cwd=tmp_path)
        plain = [word.replace("--openwop-", "--") for word in given]
        said(installed / "openwop-conformance", "run", *plain, "command.json", cwd=tmp_path)
    checkout, wheel, command = (verdicts(tmp_path / f"{name}.json") for name in ("checkout", "wheel", "command"))
    assert wheel == checkout
    assert command == checkout
    assert checkout["summary"]["conformant"] is True


def test_the_wheel_runs_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    assert "CONFORMANT" in said(installed / "openwop-conformance", "run", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
