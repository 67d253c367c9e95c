"""`moir diff`: the differences of two models, as tables or as JSON.

The exit status is that of `diff`: 0 if the models are equal, 1 if they differ, 2 if they cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from moir.tools.argument_parser import ArgumentParser
from moir.tools.argument_types import tolerance
from moir.tools.conversion_arguments import add_reading_arguments, conversion_options
from moir.tools.failures import report_failures
from moir.tools.streams import text_output
from moir.tools.terminal import print_tables

TROUBLE = 2
"""The exit status of a comparison that fails."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir diff`."""
    parser = ArgumentParser(
        prog="moir diff",
        description="Compare two models of any format; the exit status is 0 if they are equal, 1 if they differ, 2 for a failure.",
    )
    parser.add_argument("first", metavar="A", help="a model, the folder of a SavedModel, or a text of --dump-ir; - for standard input")
    parser.add_argument("second", metavar="B", help="the other one")
    parser.add_argument(
        "--tolerance",
        metavar="SHARE",
        type=tolerance,
        default=0.0,
        help="constants are equal if they differ by at most this share of their largest element (default: 0)",
    )
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("--json", action="store_true", help="print JSON")
    volume.add_argument("--quiet", "-q", action="store_true", help="print nothing; the exit status says it")
    add_reading_arguments(parser)
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir diff`; returns the exit status."""
    return report_failures("moir diff", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments, failed=TROUBLE)


def _print(options: argparse.Namespace) -> int:
    from moir.conversion import collection_paused
    from moir.difference.comparison import compare
    from moir.tools.model_reading import read_any

    given = conversion_options(options)
    with ExitStack() as stack, collection_paused():
        first, second = (read_any(each, given, stack)[0] for each in (options.first, options.second))
        comparison = compare(first, second, options.tolerance)
        if options.json:
            text_output().write(json.dumps(comparison.to_dict(), indent=2, ensure_ascii=False) + "\n")
        elif not comparison.is_empty and not options.quiet:
            print_tables(comparison.tables(), sys.stdout)
    return 0 if comparison.is_empty else 1
