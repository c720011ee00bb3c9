"""The kill matrix as a page: `python -m tests.matrix_page > docs/kill-matrix.md`."""

import inspect

from openwop_conformance.reference.gallery import Host, blame, declared
from openwop_conformance.requirements import load_registry
from tests.matrix import MUTANTS, VARIANTS


def page() -> str:
    """Every live requirement with the hosts that prove it, every mutant with its vice, every variant."""
    registry = load_registry()
    proof = {one.id: [vice.__name__ for vice in MUTANTS if one.id in blame(vice)] for one in registry if one.live}
    lines = [
        "# The kill matrix",
        "",
        f"{len(MUTANTS)} mutants of the reference host have one vice each, and the suite blames each of them for it",
        f"and for nothing unrelated; {len(VARIANTS)} variants are unusual but right, and it blames none. The tests in",
        "`tests/plugin/test_mutants.py` hold both to be true. This page is written by",
        "`python -m tests.matrix_page > docs/kill-matrix.md`, and a test fails when it is stale. Shape requirements",
        "are proven by the bad vectors in `scenarios/vectors`.",
        "",
        "## Requirements and the mutants that prove them",
        "",
        "| requirement | level | section | mutants |",
        "| --- | --- | --- | --- |",
    ]
    for row in registry:
        if row.untestable:
            lines.append(f"| `{row.id}` | {row.level} | {row.section} | none: {row.untestable} |")
        elif row.live:
            lines.append(f"| `{row.id}` | {row.level} | {row.section} | {', '.join(proof[row.id])} |")
    lines += ["", "## Mutants", "", "| mutant | vice | blamed for | may trip besides |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {one.__name__} | {_said(one)} | {_ids(blame(one))} | {_ids(declared(one, 'allows'))} |" for one in MUTANTS
    ]
    lines += ["", "## Variants", "", "| variant | what it does | advisories | blocks |", "| --- | --- | --- | --- |"]
    for one in VARIANTS:
        blocks = ", ".join(sorted(declared(one, "blocks")))
        lines.append(f"| {one.__name__} | {_said(one)} | {_ids(declared(one, 'advises'))} | {blocks} |")
    return "\n".join(lines) + "\n"


def _said(host: Host) -> str:
    return (inspect.getdoc(host) or "").replace("|", "\\|")


def _ids(found: set[str]) -> str:
    return ", ".join(f"`{one}`" for one in sorted(found))


if __name__ == "__main__":
    print(page(), end="")
