"""Printing modules as text, and parsing them."""

from __future__ import annotations

from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from moir.dialects import opset
from moir.dialects.data import SideFileWriter


class TextParser(Parser):
    """A parser that reads printed strings back as strings.

    The printer writes characters beyond ASCII as bytes, `"\\C3\\A4"`, which xDSL's parser reads as a bytes attribute.
    Names in a model may be in any language, and no attribute of moir is of bytes.
    """

    def parse_optional_str_literal(self) -> str | None:
        text = super().parse_optional_str_literal()
        if text is not None:
            return text
        position = self.pos
        raw = self.parse_optional_bytes_literal()
        if raw is None:
            return None
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raise_error("a string is in UTF-8", position)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:
            hint = opset.similar_operations(name)
            if hint is None:
                raise
            self.raise_error(f"{error.msg}; {hint}", error.span.start, error.span.end)


def print_module(
    module: ModuleOp, stream: IO[str], weights: SideFileWriter | None = None, printer: type[Printer] = Printer, **options: Any
) -> None:
    """Print a module and a line break.

    Args:
        module: the module.
        stream: where to print.
        weights: a side file for values over 64 bytes; None omits these values.
        printer: class of the printer.
        options: options of the printer, such as `print_generic_format`.
    """
    # The attribute `#moir.data` looks for this attribute of the printer.
    instance: Any = printer(stream=stream, **options)
    instance.weights = weights
    instance.print_op(module)
    instance.print_string("\n")
