"""Gate, verdicts and the run as a whole."""

from dataclasses import replace
from typing import Any

import pytest

from openwop_conformance.capabilities import Advertised, Capabilities
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.gate import Gate
from openwop_conformance.report.json_writer import as_json
from openwop_conformance.report.model import Exit, Implementation, Result, RunReport, SelfCheck
from openwop_conformance.report.terminal import conclusion, render
from openwop_conformance.requirements import load_registry
from openwop_conformance.secret import Secret
from openwop_conformance.settings import Principal, Settings
from openwop_conformance.validation import violations
from openwop_conformance.verdicts import Settlement, Verdict, merge, settle, strictly, verdict_of
from openwop_conformance.wording import listed, printable, shown

REGISTRY = load_registry()
LIST_BODY = REGISTRY["list-body"]
ENVELOPE = REGISTRY["unknown-id-envelope"]
CATALOG = {"toolCatalog": {"supported": True}}
ALICE = Principal("alice", Secret("a"))


def finding(weight: Weight = Weight.VIOLATION, **more: Any) -> Finding:
    return Finding("list-body", more.pop("message", "it is wrong"), weight=weight, **more)


@pytest.mark.parametrize(
    ("weights", "must", "should"),
    [
        ([], Verdict.PASS, Verdict.PASS),
        ([Weight.VIOLATION], Verdict.FAIL, Verdict.ADVISORY),
        ([Weight.ADVISORY], Verdict.ADVISORY, Verdict.ADVISORY),
        ([Weight.BLOCKED], Verdict.BLOCKED, Verdict.BLOCKED),
        ([Weight.BLOCKED, Weight.VIOLATION], Verdict.FAIL, Verdict.ADVISORY),
        ([Weight.INCONCLUSIVE, Weight.ADVISORY], Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
        ([Weight.INCONCLUSIVE, Weight.VIOLATION], Verdict.FAIL, Verdict.ADVISORY),
    ],
)
def test_findings_become_a_verdict(weights: list[Weight], must: Verdict, should: Verdict) -> None:
    findings = [finding(weight) for weight in weights]
    assert verdict_of(LIST_BODY.level, findings) is must
    assert verdict_of(ENVELOPE.level, findings) is should


def test_strict_mode_fails_what_was_not_shown_and_says_why() -> None:
    blocked = settle(LIST_BODY, "s", [finding(Weight.BLOCKED, message="nothing there")])
    hard = strictly(blocked)
    assert (blocked.verdict, hard.verdict) == (Verdict.BLOCKED, Verdict.FAIL)
    assert hard.findings[0].message == "blocked: nothing there"
    assert not hard.exercised
    for verdict in (Verdict.PASS, Verdict.OPTED_OUT, Verdict.INCONCLUSIVE, Verdict.ADVISORY):
        assert strictly(Settlement("list-body", "s", verdict)).verdict is verdict


def test_of_many_findings_the_first_ones_stay() -> None:
    found = settle(LIST_BODY, "s", [finding(where=f"/{place}") for place in range(50)]).findings
    assert len(found) == 21
    assert found[-1].message.startswith("30 more")


def test_verdicts_on_one_requirement_merge_to_the_worst_that_was_seen() -> None:
    passed = settle(LIST_BODY, "one", [])
    failed = settle(LIST_BODY, "two", [finding()])
    blocked = settle(LIST_BODY, "three", [finding(Weight.BLOCKED)])
    merged = merge([passed, failed, blocked])["list-body"]
    assert merged.verdict is Verdict.FAIL
    assert merged.scenarios == ("one", "two", "three")
    assert [one.weight for one in merged.findings] == [Weight.VIOLATION]
    assert merge([passed, blocked])["list-body"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("document", "path", "said"),
    [
        (CATALOG, "toolCatalog.supported", Advertised.YES),
        (CATALOG, "toolCatalog.sessionLifecycle", Advertised.NO),
        (CATALOG, "toolCatalog", Advertised.YES),
        ({}, "toolCatalog", Advertised.NO),
        ({}, "toolCatalog.supported", Advertised.NO),
        (None, "toolCatalog.supported", Advertised.UNCLEAR),
        ({"toolCatalog": {"supported": "yes"}}, "toolCatalog.supported", Advertised.UNCLEAR),
        ({"toolCatalog": True}, "toolCatalog.supported", Advertised.UNCLEAR),
        (
            {"toolCatalog": {"supported": False, "sessionLifecycle": True}},
            "toolCatalog.sessionLifecycle",
            Advertised.NO,
        ),
        ({"capabilities": CATALOG}, "toolCatalog.supported", Advertised.YES),
        ({"toolCatalog": {"supported": False}, "capabilities": CATALOG}, "toolCatalog.supported", Advertised.NO),
        ({"capabilities": []}, "toolCatalog.supported", Advertised.NO),
        ({"agents": {"manifestRuntime": {"supported": True}}}, "agents.manifestRuntime.supported", Advertised.YES),
        ({"agents": {"manifestRuntime": 1}}, "agents.manifestRuntime.supported", Advertised.UNCLEAR),
    ],
)
def test_what_is_advertised(document: Any, path: str, said: Advertised) -> None:
    assert Capabilities(document).advertised(path) is said


@pytest.mark.parametrize(("sources", "read"), [(["mcp", 5], {"mcp"}), ([], set()), ("mcp", None), (None, None)])
def test_advertised_sources(sources: Any, read: set[str] | None) -> None:
    assert Capabilities({"toolCatalog": {"supported": True, "sources": sources}}).sources() == read


def gate(document: Any, **changes: Any) -> Gate:
    return Gate(REGISTRY, Settings(**{"principals": (ALICE,), **changes}), Capabilities(document))


def verdict_at(own: Gate, name: str) -> Verdict | None:
    closed = own.closed(REGISTRY[name])
    return closed.verdict if closed else None


def test_gates() -> None:
    open_gate, silent = gate(CATALOG), gate({})
    assert open_gate.closed(REGISTRY["list-body"]) is None
    assert open_gate.closed(REGISTRY["discovery-served"]) is None
    assert verdict_at(open_gate, "session-opened-once") is Verdict.NOT_ADVERTISED
    assert verdict_at(silent, "list-body") is Verdict.NOT_ADVERTISED
    assert silent.closed(REGISTRY["catalog-absent-when-unadvertised"]) is None
    inapplicable = open_gate.closed(REGISTRY["catalog-absent-when-unadvertised"])
    assert inapplicable is not None
    assert inapplicable.verdict is None
    assert verdict_at(gate(None), "list-body") is Verdict.BLOCKED
    assert verdict_at(gate(None), "catalog-absent-when-unadvertised") is Verdict.BLOCKED
    assert gate(None).missing_profiles() == ["openwop-tool-catalog", "openwop-tool-session-lifecycle"]


def test_gates_of_principals() -> None:
    assert verdict_at(gate(CATALOG, principals=()), "list-body") is Verdict.BLOCKED
    assert gate(CATALOG, principals=()).closed(REGISTRY["list-rejects-missing-credential"]) is None
    assert verdict_at(gate(CATALOG), "hidden-same-status") is Verdict.BLOCKED
    assert gate(CATALOG, hidden_tool_ids=("x",)).closed(REGISTRY["hidden-same-status"]) is None
    bob = Principal("bob", Secret("b"))
    assert gate(CATALOG, principals=(ALICE, bob)).closed(REGISTRY["hidden-same-status"]) is None


def test_opt_outs_count_only_for_what_is_not_advertised() -> None:
    both = frozenset({"openwop-tool-catalog", "openwop-tool-session-lifecycle"})
    silent, loud = gate({}, opt_outs=both), gate(CATALOG, opt_outs=both)
    assert verdict_at(silent, "list-body") is Verdict.OPTED_OUT
    assert silent.missing_profiles() == []
    assert loud.closed(REGISTRY["list-body"]) is None
    assert loud.contradicted_opt_outs() == ["openwop-tool-catalog"]
    assert verdict_at(loud, "session-opened-once") is Verdict.OPTED_OUT


def test_strict_mode_demands_the_two_profiles_and_nothing_else() -> None:
    silent = gate({})
    demanded = {
        name: silent.closed(REGISTRY[name]) for name in ("list-body", "session-opened-once", "call-payloads-valid")
    }
    assert {name: closed.demanded for name, closed in demanded.items() if closed} == {
        "list-body": True,
        "session-opened-once": True,
        "call-payloads-valid": False,
    }
    agents = gate(CATALOG).closed(REGISTRY["agent-allowlist-resolves"])
    assert agents is not None
    assert not agents.demanded


def report(*settlements: Settlement, **changes: Any) -> RunReport:
    results = tuple(Result(REGISTRY[name], settled) for name, settled in merge(settlements).items())
    base = RunReport(
        suite_version="1", started_at="2026-01-01T00:00:00Z", duration_ms=5, mode="default", host_url="http://h"
    )
    return replace(base, results=results, **changes)


def of(name: str, *weights: Weight) -> Settlement:
    return settle(REGISTRY[name], "s", [Finding(name, "seen something", weight=weight) for weight in weights])


DISCOVERED = of("discovery-served")
LISTED = of("list-body")


@pytest.mark.parametrize(
    ("run", "conformant", "code", "words"),
    [
        (report(DISCOVERED, LISTED), True, Exit.GREEN, "CONFORMANT"),
        (report(DISCOVERED), None, Exit.GREEN, "No profile was tested"),
        (report(DISCOVERED, of("list-body", Weight.VIOLATION)), False, Exit.NOT_CONFORMANT, "NOT CONFORMANT"),
        (report(of("discovery-served", Weight.VIOLATION)), False, Exit.NOT_CONFORMANT, "NOT CONFORMANT"),
        (report(LISTED, of("list-status", Weight.INCONCLUSIVE)), False, Exit.UNOBSERVED, "INCONCLUSIVE"),
        (report(of("list-status", Weight.INCONCLUSIVE)), None, Exit.UNOBSERVED, "INCONCLUSIVE"),
        (report(of("list-body", Weight.BLOCKED)), None, Exit.UNOBSERVED, "NOTHING WAS EXERCISED"),
        (report(), None, Exit.UNOBSERVED, "NOTHING WAS EXERCISED"),
        (report(LISTED, of("list-status", Weight.ADVISORY)), True, Exit.GREEN, "CONFORMANT"),
        (report(LISTED, self_check=SelfCheck(1, ("v",))), True, Exit.UNOBSERVED, "fail their vectors"),
        (report(LISTED, selection=("B",)), None, Exit.GREEN, "What was selected holds"),
        (report(LISTED, not_run=("list-status",)), None, Exit.GREEN, "What was selected holds"),
        (report(of("list-rejects-missing-credential")), None, Exit.GREEN, "No profile was tested"),
        (
            report(of("list-rejects-missing-credential"), of("list-body", Weight.BLOCKED)),
            None,
            Exit.GREEN,
            "blocked: 1 requirement",
        ),
        (report(of("unknown-id-envelope")), None, Exit.GREEN, "No profile was tested"),
        (report(DISCOVERED, without_credential=True), None, Exit.UNOBSERVED, "no credential was given"),
        (report(host_url=None), None, Exit.GREEN, "No host was tested"),
        (report(host_url=None, mode="strict"), None, Exit.NOT_CONFORMANT, "Strict mode demands one"),
        (report(host_url=None, self_check=SelfCheck(0, ("v",))), None, Exit.NOT_CONFORMANT, "fail their vectors"),
        (report(DISCOVERED, missing_profiles=("p",)), None, Exit.GREEN, "advertises none of p"),
        (
            report(strictly(of("list-body", Weight.BLOCKED)), mode="strict", missing_profiles=("p",)),
            False,
            Exit.NOT_CONFORMANT,
            "Missing profiles: p",
        ),
        (
            report(of("list-status", Weight.INCONCLUSIVE), unobservable="gone"),
            None,
            Exit.UNOBSERVED,
            "COULD NOT OBSERVE http://h: gone",
        ),
    ],
)
def test_what_a_run_amounts_to(run: RunReport, conformant: bool | None, code: Exit, words: str) -> None:
    assert run.conformant is conformant
    assert run.exit is code
    assert words in conclusion(run)
    assert violations("report", as_json(run)) == []
    assert words.split(maxsplit=1)[0] in render(run, width=100, color=False)


def test_the_summary_is_safe_to_print() -> None:
    """Escapes, markup and endless text from a host reach no terminal."""
    nasty = "\x1b[31mred\x1b[0m [bold]b[/bold] :smile: \u202e \ud800 " + "x" * 5000
    run = report(
        settle(LIST_BODY, "s", [finding(message=nasty, where=nasty, seen=nasty)] * 7),
        implementation=Implementation(nasty, None),
        warnings=(nasty,),
        sent=(("GET", 3),),
    )
    text = render(run, width=80, color=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]b[/bold]" in text
    assert ":smile:" in text
    assert "Sent: 3 GET" in text
    assert len(text) < 20_000
    text.encode("utf-8")
    assert "\x1b[" in render(run, width=80, color=True)


def test_findings_are_cut_and_like_ones_are_told_together() -> None:
    many = [finding(where=f"/tools/{place}") for place in range(9)]
    text = render(report(settle(LIST_BODY, "s", many)), width=100, color=False)
    assert text.count("finding  ") == 5
    assert "and 4 more" in text
    lost = [of("list-status", Weight.INCONCLUSIVE), of("list-media-type", Weight.INCONCLUSIVE)]
    assert render(report(*lost), width=100, color=False).count("seen something") == 1


@pytest.mark.parametrize(
    ("text", "safe"),
    [("plain", "plain"), ("a\nb", "a\\u000ab"), ("\U000e0001", "\\U000e0001"), ("é🙂", "é🙂"), ("abcdef", "abcd…")],
)
def test_printable(text: str, safe: str) -> None:
    assert printable(text, 4 if text == "abcdef" else 40) == safe
    assert printable("a\nb\t\x07", keep="\n\t") == "a\nb\t\\u0007"


def test_words_for_values() -> None:
    assert shown({"a": "é"}) == '{"a": "é"}'
    assert shown({1, 2}) == "set"
    assert listed(range(9), 3) == "0, 1, 2 and 6 more"
