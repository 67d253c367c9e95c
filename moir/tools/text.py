"""Printing modules as text, and parsing them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from moir.dialects import opset
from moir.dialects.data import SideFileWriter
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of

if TYPE_CHECKING:
    from xdsl.context import Context


class TextParser(Parser):
    """A parser that reads printed strings back as strings, and keeps where in the text each operation begins.

    The printer writes characters beyond ASCII as bytes, `"\\C3\\A4"`, which xDSL's parser reads as a bytes attribute.
    Names in a model may be in any language, and no attribute of moir is of bytes.

    xDSL 0.74 keeps the location of an operation only if the text says `loc(…)`.
    """

    def __init__(self, ctx: Context, text: str | bytes, name: str = "<unknown>") -> None:
        super().__init__(ctx, text, name)
        self.positions: dict[Operation, int] = {}
        """The offset in the text at which an operation begins, in characters."""

    def parse_operation(self) -> Operation:
        position = self.pos
        op = super().parse_operation()
        self.positions[op] = position
        return op

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


def location_of(op: Operation) -> LocationAttr:
    """The location of an operation: the name of its node or model, as `loc("conv1")`.

    It has the location that a text gives the operation in it, as `loc("conv1"("a.py":3:1))`. It is that location alone
    if the operation has no name, and `loc(unknown)` if it has neither.
    """
    name = op.sym_name.data if isinstance(op, ModelOp) else name_of(op)
    if not name:
        return op.location
    given = op.location.location if isinstance(op.location, NameLoc) else op.location
    return NameLoc(StringAttr(name), NoneAttr() if isinstance(given, UnknownLoc) else given)


def print_module(
    module: ModuleOp,
    stream: IO[str],
    weights: SideFileWriter | None = None,
    printer: type[Printer] = Printer,
    *,
    locations: bool = False,
    **options: Any,
) -> None:
    """Print a module and a line break.

    Args:
        module: the module.
        stream: where to print.
        weights: a side file for values over 64 bytes; None omits these values.
        printer: class of the printer.
        locations: whether to print the location of each operation.
        options: options of the printer, such as `print_generic_format`.
    """
    # The attribute `#moir.data` looks for this attribute of the printer.
    instance: Any = printer(stream=stream, print_debuginfo=locations, **options)
    instance.weights = weights
    given = {op: op.location for op in module.walk()} if locations else {}
    try:
        for op in given:
            op.location = location_of(op)
        instance.print_op(module)
    finally:
        for op, location in given.items():
            op.location = location
    instance.print_string("\n")
