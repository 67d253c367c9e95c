"""Random models for each form of the target, on the CPU plugin against the definitions of their operations.

    python -m tests.fuzz.forms [--count N] [--seed SEED] [--only FORM,…]
    python -m tests.fuzz.forms --only FORM --seed SEED --case NUMBER

Each model runs in a process of its own: a variant of a lit test of the form, with sizes that are known or not, other
users and neighbours, or a model around a convolution, an average, a normalization or a recurrent cell. The exit status
is 1 if one is wrong, does not run, or ends the process. The second form prints a model before and after the forms.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence

from moir.pipeline import load_pass
from tests.fuzz.forms.models import model
from tests.fuzz.forms.runner import FORMS, judged, run
from tests.fuzz.forms.sweeps import SWEEPS

DEFECTS = ("wrong", "fails", "ends the process")
EXAMPLES = 4
FILLED = "85"
"""The byte with which glibc fills new memory, so that what reads it is wrong each time."""


def show(form: str, seed: int, number: int) -> int:
    """Print a model before and after the forms, and what becomes of it."""
    from xdsl.context import Context

    module, _ = model(form, seed, number)
    print(module)
    for name in (*FORMS, "deduplicate", "eliminate-dead"):
        load_pass(name)().apply(Context(), module)
    print(module, flush=True)
    outcome = judged(form, seed, number)
    print(outcome.verdict, outcome.message)
    return int(outcome.verdict in DEFECTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz.forms", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, default=100, help="models of each form, four times as many of those with a sweep (default: 100)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which models (default: 0)")
    parser.add_argument("--only", default=",".join(FORMS), help="forms")
    parser.add_argument("--case", type=int, help="this model alone")
    options = parser.parse_args(arguments)
    forms = options.only.split(",")
    if unknown := [each for each in forms if each not in FORMS]:
        parser.error(f"there is no form {unknown[0]}; there are {', '.join(FORMS)}")
    if options.case is not None:
        return show(forms[0], options.seed, options.case)
    total: Counter[str] = Counter()
    started = time.monotonic()
    for form in forms:
        counts: Counter[str] = Counter()
        for number, outcome in run(form, options.seed, range(options.count * (4 if form in SWEEPS else 1))):
            counts[outcome.verdict] += 1
            if outcome.verdict in DEFECTS and sum(counts[each] for each in DEFECTS) <= EXAMPLES:
                print(f"    {outcome.verdict}: {outcome.message}")
                print(f"        python -m tests.fuzz.forms --only {form} --seed {options.seed} --case {number}")
        print(f"{form:28}" + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()), flush=True)
        total += counts
    print(f"{total.total()} models in {time.monotonic() - started:.0f} s: " + ", ".join(f"{n} {each}" for each, n in total.most_common()))
    return int(any(total[each] for each in DEFECTS))


if __name__ == "__main__":
    if os.environ.get("MALLOC_PERTURB_") != FILLED:
        os.execve(sys.executable, [sys.executable, "-m", "tests.fuzz.forms", *sys.argv[1:]], os.environ | {"MALLOC_PERTURB_": FILLED})
    sys.exit(main())
