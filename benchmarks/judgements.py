"""Running the tests of a suite in worker processes, counting their outcomes, comparing two results."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from processes import print_table

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.numerical.outcomes import Judgement, Outcome, counts, died
from tests.numerical.workers import Died, Say, Workers

LIMIT_SECONDS = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that suites have in common."""
    parser.add_argument("--only", metavar="GLOB", default="*", help="names of the tests to run")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write outcome and message of each test")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that a test may take")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), type=Path, help="compare two results, and run nothing")


def run(task: Callable[[str, Say], Judgement], names: Sequence[str], count: int, limit: float) -> dict[str, Judgement]:
    """The judgement of each test."""
    workers: Workers[str, Judgement] = Workers(task, count, limit)
    judgements: dict[str, Judgement] = {}
    start = time.monotonic()
    for name, answer in workers.run(names):
        judgements[name] = died(answer) if isinstance(answer, Died) else answer
        if len(judgements) % 100 == 0:
            print(f"{len(judgements)} of {len(names)}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return dict(sorted(judgements.items()))


def summary(judgements: Mapping[str, Judgement]) -> None:
    """Print how often each outcome occurs."""
    table = counts(each.outcome for each in judgements.values())
    applicable = len(judgements) - table.get(Outcome.INAPPLICABLE.value, 0)
    print_table([["outcome", "tests"], *([name, str(number)] for name, number in table.items())])
    print(f"{table.get(Outcome.EQUAL.value, 0)} of {applicable} applicable tests are equal")


def write(path: Path, judgements: Mapping[str, Judgement], packages: Sequence[str], **about: Any) -> None:
    """Write a result as JSON: the versions of packages, what is said about it, outcome and message of each test."""
    tests = {name: {"outcome": each.outcome, "message": each.message} for name, each in judgements.items()}
    content = {"versions": {name: version(name) for name in packages}, **about, "tests": tests}
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def compare(paths: Sequence[Path]) -> bool:
    """Print the tests whose outcome differs between two results; whether none got worse, that is, is equal no more."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    old, new = before["tests"], after["tests"]
    good = True
    for name in sorted(old.keys() | new.keys()):
        left, right = (tests[name]["outcome"] if name in tests else "not run" for tests in (old, new))
        if left != right:
            worse = left == Outcome.EQUAL and right != "not run"
            good = good and not worse
            message = new.get(name, {}).get("message", "")
            print(f"{'WORSE' if worse else 'better' if right == Outcome.EQUAL else 'other'}: {name}: {left} -> {right} {message}".rstrip())
    rows = [
        [outcome, *(str(sum(each["outcome"] == outcome for each in tests.values())) for tests in (old, new))]
        for outcome in (outcome.value for outcome in Outcome)
    ]
    print_table([["outcome", "before", "after"], *(row for row in rows if row[1:] != ["0", "0"])])
    return good
