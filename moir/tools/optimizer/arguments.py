"""The command line of `moir-opt`, with the spellings of `mlir-opt` for the options that both have.

All options are here: xDSL's driver reads some of them, but its own argument parser is not used.
"""

from __future__ import annotations

import argparse

from moir.frameworks import readable
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_dump_argument, add_extension_arguments, add_reading_arguments

TEXT, IR, ONNX_MODEL = "mlir", "ir", "onnx"
"""The names of the forms of a module: text, OpenVINO IR, and an ONNX model."""

TARGETS = (TEXT, IR, ONNX_MODEL)


class VersionAction(argparse.Action):
    """The action of `--version`. It prints the version, which is looked up only for this option."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"moir-opt, built on xdsl {version('xdsl')}")
        parser.exit()


def frontends() -> list[str]:
    """The values of `--frontend`: text, the names of frameworks, and the suffixes of their files."""
    names = (name for each in readable() for name in (each.dialect, *(suffix.removeprefix(".") for suffix in each.suffixes)))
    return list(dict.fromkeys((TEXT, *names)))


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir-opt`."""
    parser = ArgumentParser(prog="moir-opt", description="Run passes of moir over text or model files.")
    add = parser.add_argument
    add("input_file", nargs="?", help="a text or a model (default, and -: from standard input)")
    add("-f", "--frontend", choices=frontends(), help="the form of the input (default: by its content)")
    add("-o", "--output-file", metavar="FILE", help="where to write (default, and -: the standard output)")
    add(
        "-t",
        "--target",
        choices=TARGETS,
        default=TEXT,
        help=f"the form of the output: text, OpenVINO IR, or an ONNX model (default: {TEXT})",
    )
    add("-v", "--version", action=VersionAction, nargs=0, help="print the version")
    add("--debug", action="store_true", help="print a traceback with an error")
    _add_passes(parser)
    add_dump_argument(parser)
    _add_lists(parser)
    _add_text(parser)
    _add_observation(parser)
    _add_checks(parser)
    add_reading_arguments(parser)
    add_extension_arguments(parser)
    return parser


def _add_passes(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("passes").add_argument
    add(
        *("-p", "--passes"),
        default="",
        metavar="PIPELINE",
        help="passes separated by commas, with options in braces; 'default' stands for those of moir",
    )
    add("--pass-pipeline", metavar="PIPELINE", help="the passes, in the form 'builtin.module(a,b{x=1})'")
    add("--resume-after", metavar="PASS", help="run the default pipeline from after a pass, named as its dump: 007-fold-constants")


def _add_lists(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("lists").add_argument
    add("--list-passes", action="store_true", help="print all passes with what they do, and end")
    add("--show-dialects", action="store_true", help="print all dialects, and end")


def _add_text(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("text").add_argument
    add("--weights-file", metavar="FILE", help="write values over 64 bytes to this file beside the output (default: leave them out)")
    add("--reinfer-types", action="store_true", help="replace the types that a text gives to results by inferred ones")
    add("--split-input-file", action="store_true", help="the input consists of pieces, which lines `// -----` separate")
    add(
        *("--print-op-generic", "--mlir-print-op-generic"),
        action="store_true",
        help="print operations in MLIR's generic form, which other MLIR tools read",
    )
    add(
        *("--print-debuginfo", "--mlir-print-debuginfo"),
        action="store_true",
        help='print the location of each operation: loc("name of the node")',
    )
    add(
        "--print-provenance",
        action="store_true",
        help='print the nodes of the framework from which each operation comes: loc("name"("type")); they are read back. '
        'With --print-debuginfo: loc("name of the node"(fused["name"("type")]))',
    )
    add("--print-no-properties", action="store_true", help="print properties as attributes, as MLIR did before it had properties")
    add("--syntax-highlight", action="store_true", help="print in colours")
    add("--allow-unregistered-dialect", action="store_true", help="accept operations that no dialect defines")
    add("--no-implicit-module", action="store_true", help="the text has a builtin.module")


def _add_observation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("looking inside, on stderr", "PASS is the name of a pass, or number and name: 007-fold-constants.")
    for when in ("before", "after"):
        names = (f"--print-ir-{when}", f"--mlir-print-ir-{when}")
        group.add_argument(
            *names, action="append", default=[], metavar="PASS", help=f"print the module {when} this pass, or passes separated by commas"
        )
        names = (f"--print-ir-{when}-all", f"--mlir-print-ir-{when}-all")
        group.add_argument(*names, action="store_true", help=f"print the module {when} each pass")
    add = group.add_argument
    add(
        *("--print-ir-after-change", "--mlir-print-ir-after-change"),
        action="store_true",
        help="print the module after each pass that changed it, or after those of --print-ir-after that did",
    )
    add("--print-ir-after-failure", "--mlir-print-ir-after-failure", action="store_true", help="print the module after a pass that failed")
    add("--print-between-passes", dest="print_ir_after_all", action="store_true", help="the same as --print-ir-after-all")
    add(
        "--trace-rewrites",
        metavar="PATTERN",
        help="print each rewrite, with operations before and after; =PATTERN: those of passes or patterns named like it",
    )
    add("--timing", "--mlir-timing", "--time-passes", action="store_true", help="print a table of the time each pass took")


def _add_checks(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("checks and failures").add_argument
    add("--disable-verify", action="store_true", help="verify neither operations nor the types that a text gives to results")
    add("--verify-each", action="store_true", help="verify the module after each pass, and what passes share of it")
    add(
        "--verify-diagnostics",
        action="store_true",
        help="compare errors with the comments of the text: each occurs where an `expected-error {{text}}` says so, and no other",
    )
    add("--parsing-diagnostics", action="store_true", help="print an error of the parser as output, with exit status 0")
    add("--shrink", action="store_true", help="exit with status 0 only if a pass raised ShrinkException, for a reducer")
    add(
        *("--crash-reproducer", "--mlir-pass-pipeline-crash-reproducer"),
        metavar="FILE",
        help="if a pass fails, write the module before it and the command that runs it again to a file",
    )
    add("--run-reproducer", action="store_true", help="run the command in the first lines of a file of --crash-reproducer")
