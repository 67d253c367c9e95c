"""`moir passes`: the pipeline in order, with descriptions of the passes and with the transformations of extensions."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moir.frameworks import FRAMEWORKS, converted
from moir.frameworks.records import ONNX
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_conversion_arguments, add_extension_arguments, conversion_options
from moir.tools.failures import report_failures

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Row:
    """A line of the list.

    Args:
        number: position in the pipeline, as in the names of dumps.
        mark: `|` for an anchor, `+` for a transformation of an extension that runs, `-` for one that does not.
        name: the name of the pass.
        description: summary of the pass, or the origin of a transformation.
        proofs: what is known of its rules (docs/proofs.md); empty for other passes than rewrites.
    """

    number: int
    mark: str
    name: str
    description: str
    proofs: str = ""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir passes`."""
    parser = ArgumentParser(prog="moir passes", description="Print the passes of a conversion in order, and what they do.")
    parser.add_argument(
        "--framework", choices=[each.dialect for each in converted()], default=ONNX.dialect, help="of the model (default: %(default)s)"
    )
    add_conversion_arguments(parser)
    add_extension_arguments(parser)
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir passes`; returns the exit status."""
    return report_failures("moir passes", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _print(options: argparse.Namespace) -> int:
    from moir.conversion import open_extensions
    from moir.pipeline import default_pipeline

    with ExitStack() as stack:
        given = conversion_options(options)
        extensions = open_extensions(FRAMEWORKS[options.framework], given)
        if extensions is not None:
            stack.callback(extensions.close)
        rows = list(rows_of(default_pipeline(options.framework, given, extensions)))
    print(table_of(rows), end="")
    return 0


def rows_of(passes: Iterable[ModulePass]) -> Iterator[Row]:
    """The rows of the list, one for each pass."""
    from moir.extensions.transformation_pass import TransformationPass
    from moir.pipeline import AnchorPass, loaded

    for number, each in enumerate(passes, 1):
        if isinstance(each, TransformationPass):
            transformation = each.transformation
            runs = each.choice is None or transformation.is_enabled(each.choice)
            yield Row(
                number,
                "+" if runs else "-",
                each.name,
                f"{transformation.summary.rstrip('.')}: {transformation.reason}" + ("" if runs else ", not enabled"),
            )
        else:
            description = summary_of(type(loaded(each)))
            yield Row(number, "|" if isinstance(each, AnchorPass) else "", each.name, description, proofs_of(each.name))


def proofs_of(name: str) -> str:
    """The number of rules of a pass by status, from the committed table: `8 proved, 1 bounded`; empty for a pass
    without rules.
    """
    from moir.proofs.table import RESULTS

    counts = RESULTS.get(name, {})
    return next(iter(counts)) if sum(counts.values()) == 1 else ", ".join(f"{count} {status}" for status, count in counts.items())


def summary_of(each: type[ModulePass]) -> str:
    """The first paragraph of the docstring of a pass, in one line."""
    return " ".join((inspect.getdoc(each) or "").partition("\n\n")[0].split())


def table_of(rows: Sequence[Row]) -> str:
    """The list as text, with a blank line before each phase."""
    width = max((len(row.name) for row in rows), default=0)
    lines: list[str] = []
    for index, row in enumerate(rows):
        if index and row.mark == "|" and row.name.endswith("-start"):
            lines.append("")
        lines.append(
            f"{row.number:03} {row.mark or ' '} {row.name:<{width}}  {row.description}{f' ({row.proofs})' if row.proofs else ''}".rstrip()
        )
    legend = {"|": "| anchor", "+": "+ of an extension", "-": "- of an extension, not enabled"}
    lines.extend(("", "; ".join(text for mark, text in legend.items() if any(row.mark == mark for row in rows))))
    return "\n".join(lines) + "\n"
