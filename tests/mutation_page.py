"""The score of the mutated checks as a page, after `mutmut run`: `python -m tests.mutation_page > docs/mutation.md`."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant

MUTATED = Path("mutants/openwop_conformance/checks")
SURVIVED, UNTESTED = 0, 33
MOST = 240
REASONS = Path(__file__).parent / "data" / "survivors.txt"


def outcomes() -> dict[str, int]:
    """What became of every mutant; the tests' exit code tells."""
    found: dict[str, int] = {}
    for meta in sorted(MUTATED.glob("*.meta")):
        found |= json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return found


def named(mutant: str) -> tuple[str, str]:
    """Module and function of a mutant."""
    module, _, rest = mutant.rpartition(".")
    function = re.sub(r"__mutmut_\d+$", "", rest).removeprefix("x_").replace("xǁ", "").replace("ǁ", ".")
    return module.rpartition(".")[2], function


def change(mutant: str) -> str:
    """The lines that a mutant changes, as one text."""
    lines = get_diff_for_mutant(mutant).splitlines()
    return " ".join(line[:1] + line[1:].strip() for line in lines if re.match(r"[-+](?![-+])", line))


def reasons() -> list[tuple[re.Pattern[str], str]]:
    """Why mutants may live: a pattern for module.function and change, a tab, and the reason, a line each."""
    lines = REASONS.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [(re.compile(pattern), reason) for pattern, reason in pairs]


def page() -> Iterator[str]:
    """The score by module, and every survivor with its reason."""
    results = outcomes()
    survivors = [one for one, code in results.items() if code in {SURVIVED, UNTESTED}]
    totals = Counter(named(one)[0] for one in results)
    alive = Counter(named(one)[0] for one in survivors)
    killed = len(results) - len(survivors)
    yield from (
        "# Mutation of the checks",
        "",
        f"`make mutate` changed `openwop_conformance/checks/` in {len(results)} ways with mutmut and ran the unit",
        f"tests of the checks on each: {killed} were found out, {len(survivors)} were not, which is a score of",
        f"{killed / len(results):.1%}. Below stands why a survivor may live; where nothing stands, a test is missing.",
        "",
        "| module | mutants | survived | score |",
        "| --- | ---: | ---: | ---: |",
    )
    for module, total in sorted(totals.items()):
        yield f"| {module} | {total} | {alive[module]} | {1 - alive[module] / total:.0%} |"
    yield from ("", "## Survivors", "", "| where | change | why it may live |", "| --- | --- | --- |")
    known = reasons()
    for one in survivors:
        module, function = named(one)
        text = change(one)
        why = next((reason for pattern, reason in known if pattern.search(f"{module}.{function} {text}")), "")
        shown = (text if len(text) < MOST else f"{text[: MOST - 1]}…").translate({ord("`"): "'", ord("|"): "/"})
        yield f"| {module}.{function} | `{shown}` | {why} |"


if __name__ == "__main__":
    print("\n".join(page()))
