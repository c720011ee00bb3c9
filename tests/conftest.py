"""One line at the end that says what the kill matrix came to."""

from typing import Any

MUTANT = "test_a_mutant_is_blamed"
VARIANT = "test_a_variant_"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    def ended(how: str, mark: str) -> set[str]:
        reports = terminalreporter.stats.get(how, [])
        return {one.nodeid.partition("[")[2] for one in reports if mark in getattr(one, "nodeid", "")}

    survived, accused = ended("failed", MUTANT), ended("failed", VARIANT)
    killed, cleared = ended("passed", MUTANT), ended("passed", VARIANT) - accused
    if killed or survived or cleared or accused:
        terminalreporter.write_line(
            f"{len(killed | survived)} mutants, {len(killed)} killed, {len(survived)} survived; "
            f"{len(cleared | accused)} variants, {len(accused)} accused"
        )
