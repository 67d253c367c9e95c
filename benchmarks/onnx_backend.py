"""The backend tests of the installed package `onnx`, through moir and OpenVINO Runtime.

    python benchmarks/onnx_backend.py [--symbolic [data]] [--only GLOB] [--json FILE] [--workers 2]
    python benchmarks/onnx_backend.py --compare BEFORE.json AFTER.json

Every test is converted and run in a worker process, so that a crash or a hang of the runtime costs that test only; the
table counts the outcomes. `--symbolic` makes every dimension of every input a symbol of its own and drops what the
model says about other dimensions; ranks stay. `--symbolic data` keeps the lengths of lists of integers (axes, shapes,
sizes), too. `--compare` lists the tests whose outcome changed between two results, and its exit
status is 1 if one got worse.

Not applicable are tests of training, those whose result is the luck of a random generator, and those whose inputs or
outputs are sequences, optional values or maps, which an IR does not have.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from processes import print_table

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.numerical.onnx.backend_suite import Symbols, run_test, suite
from tests.numerical.outcomes import Judgement, Outcome, counts, died
from tests.numerical.workers import Died, Workers

LIMIT_SECONDS = 120.0
VERSIONS = ("onnx", "openvino", "moir")


def run(names: Sequence[str], symbols: Symbols, count: int, limit: float) -> dict[str, Judgement]:
    """The judgement of each test."""
    workers: Workers[str, Judgement] = Workers(partial(run_test, symbols=symbols), count, limit)
    found: dict[str, Judgement] = {}
    start = time.monotonic()
    for name, answer in workers.run(names):
        found[name] = died(answer) if isinstance(answer, Died) else answer
        if len(found) % 100 == 0:
            print(f"{len(found)} of {len(names)}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return dict(sorted(found.items()))


def summary(judgements: Mapping[str, Judgement]) -> None:
    """Print how often each outcome occurs."""
    table = counts(each.outcome for each in judgements.values())
    applicable = len(judgements) - table.get(Outcome.INAPPLICABLE.value, 0)
    print_table([["outcome", "tests"], *([name, str(number)] for name, number in table.items())])
    print(f"{table.get(Outcome.EQUAL.value, 0)} of {applicable} applicable tests are equal")


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Print the tests whose outcome differs between two results; whether none got worse, that is, is equal no more."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--symbolic", nargs="?", choices=("all", "data"), const="all", default="none", help="make the dimensions of inputs symbols"
    )
    parser.add_argument("--only", metavar="GLOB", default="*", help="names of the tests to run")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write outcome and message of each test")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that a test may take")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), type=Path, help="compare two results, and run nothing")
    options = parser.parse_args(arguments)
    if options.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in options.compare)
        return 0 if compare(before, after) else 1
    names = [name for name in sorted(suite()) if fnmatch(name, options.only)]
    if not names:
        parser.error(f"no test of the suite is called {options.only}")
    judgements = run(names, options.symbolic, max(1, options.workers), options.limit)
    summary(judgements)
    if options.json:
        tests = {name: {"outcome": each.outcome, "message": each.message} for name, each in judgements.items()}
        content = {"versions": {name: version(name) for name in VERSIONS}, "symbolic": options.symbolic, "tests": tests}
        options.json.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
