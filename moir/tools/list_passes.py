"""`moir passes`: the pipeline in order, what each pass does, and where the transformations of extensions land."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moir.frameworks import FRONTENDS
from moir.tools.extension_arguments import add_extension_arguments, extension_options, open_extensions
from moir.tools.failures import report_failures

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from moir.extensions.loading import Extensions


@dataclass(frozen=True)
class Row:
    """A line of the list.

    Args:
        number: place in the pipeline, as in the names of dumps.
        mark: `|` for an anchor, `+` for a transformation of an extension that runs, `-` for one that does not.
        name: the name of the pass.
        description: what it does, or where it is from.
    """

    number: int
    mark: str
    name: str
    description: str


def main(arguments: Sequence[str]) -> int:
    """Run `moir passes`; returns the exit status."""
    parser = argparse.ArgumentParser(prog="moir passes", description="Print the passes of a conversion in order, and what they do.")
    parser.add_argument("--framework", choices=[each.framework for each in FRONTENDS], default="onnx", help="of the model (default: onnx)")
    parser.add_argument("--compress-to-fp16", action="store_true", help="with the pass of that name")
    parser.add_argument("--layout-change", choices=("auto", "none"), default="auto", help="none: without the passes of the layout change")
    add_extension_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="print a traceback with an error")
    options = parser.parse_args(arguments)
    return report_failures("moir passes", lambda: _print(options), debug=options.debug)


def _print(options: argparse.Namespace) -> int:
    from moir.pipeline_text import DefaultOptions, default_passes

    with ExitStack() as stack:
        extensions = open_extensions(options.framework, extension_options(options))
        if extensions is not None:
            stack.enter_context(extensions)
        default = DefaultOptions(options.framework, options.compress_to_fp16, options.layout_change == "auto")
        rows = list(rows_of(default_passes(default, extensions), extensions))
    print(table_of(rows), end="")
    return 0


def rows_of(passes: Iterable[ModulePass], extensions: Extensions | None = None) -> Iterator[Row]:
    """What the list says about passes."""
    from moir.anchors import AnchorPass

    for number, each in enumerate(passes, 1):
        if extensions is not None and (transformation := extensions.transformation_of(each)) is not None:
            runs = transformation.is_enabled(extensions.choice)
            yield Row(number, "+" if runs else "-", each.name, transformation.summary + ("" if runs else ", not enabled"))
        else:
            yield Row(number, "|" if isinstance(each, AnchorPass) else "", each.name, _first_line(each))


def _first_line(each: ModulePass) -> str:
    return (inspect.getdoc(type(each)) or "").partition("\n")[0]


def table_of(rows: Sequence[Row]) -> str:
    """The list as text. The phases are set apart by blank lines."""
    width = max((len(row.name) for row in rows), default=0)
    lines: list[str] = []
    for index, row in enumerate(rows):
        if index and row.mark == "|" and row.name.endswith("-start"):
            lines.append("")
        lines.append(f"{row.number:02} {row.mark or ' '} {row.name:<{width}}  {row.description}".rstrip())
    legend = {"|": "| anchor", "+": "+ of an extension", "-": "- of an extension, not enabled"}
    lines.extend(("", "; ".join(text for mark, text in legend.items() if any(row.mark == mark for row in rows))))
    return "\n".join(lines) + "\n"
