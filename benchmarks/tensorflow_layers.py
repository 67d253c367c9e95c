"""Layer tests of TensorFlow: graphs around operations of `tf.raw_ops`, layers of Keras and functions, through moir and OpenVINO Runtime.

    python benchmarks/tensorflow_layers.py [--dynamic] [--only GLOB] [--json FILE] [--workers 2]
    python benchmarks/tensorflow_layers.py --compare BEFORE.json AFTER.json

For each operation that moir lowers and that TensorFlow has a kernel for on the CPU there are graphs of every element type, with
ranks, modes and constant or computed operands spread evenly over them (`tests/numerical/tensorflow/layers`). Every test is
converted and run in a worker process, so that a crash or a hang of the runtime costs that test only; the table counts the
outcomes. `--dynamic` makes every dimension of every input unknown, but for those that the runtime has to know, such as the
sizes of kernels. `--compare` lists the tests whose outcome changed between two results, and its exit status is 1 if one got
worse. Not applicable are graphs that TensorFlow itself does not compute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial

from judgements import add_arguments, compare, run, summary, write

from tests.numerical.tensorflow.layers.suite import run_test, suite

VERSIONS = ("tensorflow-cpu", "keras", "openvino", "moir")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynamic", action="store_true", help="leave the dimensions of inputs unknown")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    if options.compare:
        return 0 if compare(options.compare) else 1
    names = [name for name in suite() if fnmatch(name, options.only)]
    if not names:
        parser.error(f"no test of the suite is called {options.only}")
    form = "dynamic" if options.dynamic else "static"
    judgements = run(partial(run_test, form=form), names, max(1, options.workers), options.limit)
    summary(judgements)
    if options.json:
        write(options.json, judgements, VERSIONS, form=form)
    return 0


if __name__ == "__main__":
    sys.exit(main())
