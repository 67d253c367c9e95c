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
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial

from judgements import add_arguments, compare, run, summary, write

from tests.numerical.onnx.backend_suite import run_test, suite

VERSIONS = ("onnx", "openvino", "moir")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--symbolic", nargs="?", choices=("all", "data"), const="all", default="none", help="make the dimensions of inputs symbols"
    )
    add_arguments(parser)
    options = parser.parse_args(arguments)
    if options.compare:
        return 0 if compare(options.compare) else 1
    names = [name for name in sorted(suite()) if fnmatch(name, options.only)]
    if not names:
        parser.error(f"no test of the suite is called {options.only}")
    judgements = run(partial(run_test, symbols=options.symbolic), names, max(1, options.workers), options.limit)
    summary(judgements)
    if options.json:
        write(options.json, judgements, VERSIONS, symbolic=options.symbolic)
    return 0


if __name__ == "__main__":
    sys.exit(main())
