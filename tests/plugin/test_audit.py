"""The audit command: every kind of file, exit codes, reports, and input that nobody could want."""

import gzip
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openwop_conformance.cli import main
from openwop_conformance.commands import event_files
from openwop_conformance.validation import violations
from tests.logs import Log, session

GOOD = session(Log("r1").started()).ended().events
BAD = session(Log("r2").started()).closed().ended().events


def ndjson(*runs: list[Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in chain(*runs))


def audit(*arguments: Any, data: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, arguments)], input=data)


FORMS: dict[str, Callable[[bytes, list[Any]], bytes]] = {
    "lines": lambda lines, _: lines,
    "lines with a mark and blank ones": lambda lines, _: b"\xef\xbb\xbf\n" + lines.replace(b"\n", b"\r\n\n"),
    "no newline at the end": lambda lines, _: lines.rstrip(),
    "gzip": lambda lines, _: gzip.compress(lines),
    "zstandard": lambda lines, _: zstandard.ZstdCompressor().compress(lines),
    "an array": lambda _, events: json.dumps(events).encode(),
    "an array over lines": lambda _, events: b"\n " + json.dumps(events, indent=2).encode() + b"\n",
    "an answer": lambda _, events: json.dumps({"events": events, "isComplete": True}).encode(),
    "an answer over lines": lambda _, events: json.dumps({"events": events}, indent=1).encode(),
    "an array in gzip": lambda _, events: gzip.compress(json.dumps(events).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_file(tmp_path: Path, form: str) -> None:
    for events, code, counts in ((GOOD, 0, "0 fail"), (GOOD + BAD, 1, "1 fail")):
        path = tmp_path / "log"
        path.write_bytes(FORMS[form](ndjson(events), events))
        run = audit(path)
        assert run.exit_code == code, run.output
        assert counts in run.output
        assert audit("-", data=path.read_bytes()).exit_code == code


def test_arrays_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "CHUNK", 37)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(GOOD + BAD, indent=1), encoding="utf-8")
    run = audit(path)
    assert run.exit_code == 1
    assert "run r2, sequence 7, line" in run.output


def test_what_was_found_is_told_with_its_place(tmp_path: Path) -> None:
    path, report = tmp_path / "log.ndjson", tmp_path / "report.json"
    path.write_bytes(ndjson(GOOD, BAD))
    run = audit(path, "--report", report)
    assert "session-closed-once" in run.output
    assert "run r2, sequence 7, line 16" in run.output
    assert "NOT CONFORMANT" in run.output
    told = json.loads(report.read_text(encoding="utf-8"))
    assert violations("report", told) == []
    assert told["log"]["runs"] == 2
    assert told["summary"]["conformant"] is False


def test_lines_are_counted_in_their_own_file(tmp_path: Path) -> None:
    for name, events in (("a", GOOD), ("b", BAD)):
        (tmp_path / name).write_bytes(ndjson(events))
    run = audit(tmp_path / "a", tmp_path / "b")
    assert "/bline8" in "".join(run.output.split())


def test_a_broken_line_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\xff\xfe noise\n" + ndjson(GOOD) + b'{"cut": ')
    run = audit(path)
    assert run.exit_code == 1
    assert "line 1\n" in run.output
    assert "line 10\n" in run.output
    assert "16 pass" in run.output
    path.write_text("[\n" + ",\n".join([json.dumps(one) for one in GOOD[:3]] + ["{oops"]) + ",\n", encoding="utf-8")
    assert "line 5" in audit(path).output


@pytest.mark.parametrize("cut", [1, 60, 100])
def test_a_compressed_log_that_is_cut_off_is_not_taken_for_a_short_one(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "log.zst"
    frames = [zstandard.ZstdCompressor().compress(ndjson(one)) for one in (GOOD, BAD)]
    path.write_bytes(b"".join(frames))
    assert audit(path).exit_code == 1
    for packed in (frames[0] + frames[1][:-cut], gzip.compress(ndjson(GOOD, BAD))[:-cut]):
        path.write_bytes(packed)
        run = audit(path)
        assert run.exit_code == 2
        assert "cannot be read to its end" in run.output


@pytest.mark.parametrize("noise", [b'"\\ud800"', b'"\xff"', b"NaN", b"Infinity"])
def test_what_no_json_text_can_hold_is_told_in_arrays_and_in_lines(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "log"
    rows = [b'{"outcome": ' + noise + b"}", *ndjson(GOOD).splitlines()]
    for body in (b"\n".join(rows), b"[" + b",\n".join(rows) + b"]"):
        path.write_bytes(body)
        run = audit(path)
        assert run.exit_code == 1
        assert "events-well-formed" in run.output
        assert "a line cannot be read" in " ".join(run.output.split())


def test_what_follows_an_array_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(json.dumps(GOOD) + " tail", encoding="utf-8")
    assert "something follows the array" in " ".join(audit(path).output.split())
    path.write_text(json.dumps(GOOD) + " \n", encoding="utf-8")
    assert audit(path).exit_code == 0


def test_a_document_over_lines_that_is_broken_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'{"events": [\n' + ndjson(GOOD))
    run = audit(path)
    assert run.exit_code == 1
    assert "16 pass" in run.output


def test_a_line_that_is_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "MAX_LINE", 1000)
    path = tmp_path / "log"
    path.write_bytes(b"x" * 5000 + b"\n" + ndjson(GOOD))
    run = audit(path)
    assert "longer than 1000 bytes" in run.output
    assert "16 pass" in run.output


@pytest.mark.parametrize("depth", [100, 700, 980, 5000])
def test_a_deep_line_does_not_end_the_audit(tmp_path: Path, depth: int) -> None:
    deep = ndjson(Log("r5").opened(meta="DEEP").call().closed(meta="DEEP").ended().events)
    path = tmp_path / "log"
    path.write_bytes(deep.replace(b'"DEEP"', b'{"a":' * depth + b"1" + b"}" * depth) + ndjson(GOOD))
    run = audit(path)
    assert run.exception is None or isinstance(run.exception, SystemExit)
    assert run.exit_code in {0, 1}
    assert "session" in " ".join(run.output.split()).partition("suite")[0]


def test_a_log_without_sessions_is_never_green(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for data in (b"", b"\n\n", b"[]", ndjson(Log().started().ended().events)):
        path.write_bytes(data)
        run = audit(path)
        assert run.exit_code == 3
        assert "NOTHING WAS EXERCISED" in run.output


def test_a_log_that_begins_in_the_middle_is_inconclusive(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(ndjson(GOOD[4:], session(Log("r3").started()).ended().events))
    run = audit(path)
    assert run.exit_code == 3
    assert "INCONCLUSIVE" in run.output


def test_the_catalog_resolves_tools(tmp_path: Path) -> None:
    path, catalog = tmp_path / "log", tmp_path / "catalog.json"
    path.write_bytes(ndjson(GOOD))
    catalog.write_text(json.dumps({"tools": [{"toolId": "mcp:fs.read", "approval": "always"}]}), encoding="utf-8")
    assert "session-approval-shown" in audit(path, "--catalog", catalog).output
    assert audit(path, "--catalog", catalog, "--fail-on", "advisory").exit_code == 1
    catalog.write_text("[]", encoding="utf-8")
    assert "session-tool-in-catalog" in audit(path, "--catalog", catalog).output
    catalog.write_text("{}", encoding="utf-8")
    assert audit(path, "--catalog", catalog).exit_code == 2


def test_lines_out_of_order_are_said(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(ndjson([GOOD[0], GOOD[2], GOOD[1], *GOOD[3:]], Log("r9").started().opened().events))
    run = audit(path)
    assert run.exit_code == 0
    assert "put in order" in run.output
    assert "runs without an end in the log: 1" in run.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.ndjson"], "No such file"),
        (["."], "Is a directory"),
        (["-", "--report", "x.doc"], "the ending has to be"),
        (["-", "--catalog", "nowhere.json"], "nowhere.json"),
        (["-", "--report", "no/such/folder/r.json"], "not written"),
    ],
)
def test_usage_is_told_in_one_line(arguments: list[str], words: str) -> None:
    run = audit(*arguments, data=ndjson(GOOD))
    assert run.exit_code == 2
    assert words in run.output


def test_secrets_in_a_log_are_found_and_not_shown(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    path = tmp_path / "log"
    path.write_bytes(ndjson(Log().started().opened(token).call("c", None).closed(token).ended().events))
    run = audit(path, "--report", tmp_path / "r.json")
    assert run.exit_code == 1
    assert token not in run.output
    assert token not in (tmp_path / "r.json").read_text(encoding="utf-8")


@given(data=st.binary(max_size=300) | st.binary(max_size=60).map(lambda noise: ndjson(GOOD[:4]) + noise + ndjson(GOOD)))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_never_ends_in_a_traceback(data: bytes) -> None:
    run = audit("-", data=data)
    assert run.exit_code in {1, 2, 3}
    assert run.exception is None or isinstance(run.exception, SystemExit)


@given(cut=st.integers(0, 3000), form=st.sampled_from(sorted(FORMS)))
@settings(max_examples=60, deadline=None)
def test_cutting_a_file_off_anywhere_never_ends_in_a_traceback(cut: int, form: str) -> None:
    run = audit("-", data=FORMS[form](ndjson(GOOD), GOOD)[:cut])
    assert run.exit_code in {0, 1, 2, 3}
    assert run.exception is None or isinstance(run.exception, SystemExit)
