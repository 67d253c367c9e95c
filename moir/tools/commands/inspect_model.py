"""`moir inspect`: the contents of a model, and the operations that moir cannot convert, as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_model_arguments, conversion_options
from moir.tools.failures import report_failures
from moir.tools.streams import text_output
from moir.tools.terminal import print_tables


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir inspect`."""
    parser = ArgumentParser(
        prog="moir inspect", description="Show what a model consists of, and what of it moir cannot convert; nothing is converted."
    )
    parser.add_argument("model", metavar="MODEL", help="a model, the folder of a SavedModel, or a text of --dump-ir; - for standard input")
    parser.add_argument("--node", metavar="NAME", help="show the node, or the producer of the tensor, of this name with its neighbours")
    parser.add_argument(
        "--nodes",
        nargs="?",
        const="*",
        metavar="PATTERN",
        help="list the nodes, or those whose name, kind or tensor is like PATTERN, in which * stands for any text",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir inspect`; returns the exit status."""
    return report_failures("moir inspect", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _print(options: argparse.Namespace) -> int:
    from moir.inspection.interface import inspected
    from moir.tools.model_reading import read_any

    given = conversion_options(options)
    with ExitStack() as stack:
        module, framework = read_any(options.model, given, stack)
        inspection = inspected(module, framework, given, stack, node=options.node, nodes=options.nodes, is_text=True)
        if options.json:
            content = [each.to_dict() for each in inspection] if isinstance(inspection, tuple) else inspection.to_dict()
            text_output().write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        else:
            print_tables(
                [table for each in (inspection if isinstance(inspection, tuple) else [inspection]) for table in each.tables()],
                sys.stdout,
            )
    return 0
