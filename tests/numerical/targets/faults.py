"""Which faults the CPU plugin of the installed runtime still has, on this processor.

    python -m tests.numerical.targets.faults [FAULT …] [--attempts N]

For each fault it prints `there`, `gone`, `not on this processor` (it lacks the feature that the record names) or where
it is tested otherwise. Each attempt is a process of its own, in new memory that is filled; a fault is there if one of
them is wrong, does not compile, or ends. A fault that is gone on all processors is taken out, with its form.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial

from tests.numerical.forks import forked
from tests.numerical.processors import processor_features
from tests.numerical.targets.models import EVERY_PROOF, FAULTS, PROVEN_ELSEWHERE, is_right

FILLED = "85"
"""The byte with which glibc fills new memory, so that what reads it is wrong each time."""


def state(name: str, attempts: int) -> str:
    """Whether the plugin has a fault."""
    if name in PROVEN_ELSEWHERE:
        return f"see {PROVEN_ELSEWHERE[name]}"
    if (feature := FAULTS[name].feature) and feature not in processor_features():
        return f"not on this processor, which lacks {feature}"
    right = sum(forked(partial(is_right, name)) is True for _ in range(attempts))
    return "gone" if right == attempts else "there" if right == 0 else f"there, {attempts - right} of {attempts} times"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python -m tests.numerical.targets.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="names of faults (default: all)")
    parser.add_argument("--attempts", type=int, default=3, help="how often each model runs (default: 3)")
    options = parser.parse_args(arguments)
    if unknown := [each for each in options.faults if each not in FAULTS]:
        parser.error(f"there is no fault {unknown[0]}; docs/plugin-faults.md lists them")
    counts: Counter[str] = Counter()
    for name in options.faults or (*EVERY_PROOF, *PROVEN_ELSEWHERE):
        result = state(name, options.attempts)
        counts[result.partition(",")[0].partition(" ")[0]] += 1
        print(f"{name:32}{result}", flush=True)
    print(", ".join(f"{count} {each}" for each, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    if os.environ.get("MALLOC_PERTURB_") != FILLED:
        arguments = [sys.executable, "-m", "tests.numerical.targets.faults", *sys.argv[1:]]
        os.execve(sys.executable, arguments, os.environ | {"MALLOC_PERTURB_": FILLED})
    sys.exit(main())
