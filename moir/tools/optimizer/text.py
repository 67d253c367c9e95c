"""Printing modules as text, and parsing them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from typing import IO, TYPE_CHECKING, Any, NoReturn

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    RankedStructure,
    StringAttr,
)
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input

from moir.dialects import opset
from moir.dialects.data import SideFileWriter
from moir.dialects.locations import merged, separate
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of
from moir.tools.optimizer.text_limits import MOST_DENSE_ELEMENTS, AliasSizes, check_text

if TYPE_CHECKING:
    from xdsl.context import Context

_UNREPRESENTABLE = (ArithmeticError, AssertionError, ValueError, struct.error)
"""The exceptions of xDSL's parser for a number that its attribute cannot hold: 1e400 of f16, 2^64 of i32, a division by
0.
"""


class TextParser(Parser):
    """A parser that reads printed strings back as strings, and keeps where in the text each operation begins.

    The constructor and `parse_module` raise ParseError for a text beyond the limits of
    `moir.tools.optimizer.text_limits`.

    The printer writes characters beyond ASCII as bytes, `"\\C3\\A4"`, which xDSL's parser reads as a bytes attribute.
    Names in a model may be in any language, and no attribute of moir is of bytes.

    xDSL 0.74 keeps the location of an operation only if the text says `loc(…)`.
    """

    def __init__(self, ctx: Context, text: str | bytes, name: str = "<unknown>") -> None:
        text = text.decode() if isinstance(text, bytes) else text
        self._alias_sizes = AliasSizes(check_text(Input(text, name)))
        self._dense_elements = 0
        super().__init__(ctx, text, name)
        self.positions: dict[Operation, int] = {}
        """The offset in the text at which an operation begins, in characters."""

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            return super().parse_module(allow_implicit_module)
        except _UNREPRESENTABLE as error:
            self._unrepresentable(error)

    def _unrepresentable(self, error: Exception) -> NoReturn:
        try:
            self.raise_error(f"the text before this has a value that is not valid: {error}")
        except ParseError as failure:
            raise failure from error

    def parse_operation(self) -> Operation:
        position = self.pos
        op = super().parse_operation()
        self.positions[op] = position
        if isinstance(op.location, NameLoc) and isinstance(sources := op.location.location, FusedLoc):
            # As `named_sources` prints them: the name is that of the operation itself.
            op.location = merged(separate(sources))
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

    def _parse_alias_def(self) -> None:
        position = self.pos
        super()._parse_alias_def()
        name = next(reversed(self.attribute_aliases))
        reason = self._alias_sizes.excess(name, self.attribute_aliases[name])
        if reason is not None:
            self.raise_error(reason, position)

    def _parse_dense_literal_type(self) -> RankedStructure[Any]:
        position = self.pos
        constant_type = super()._parse_dense_literal_type()
        self._dense_elements += prod(constant_type.get_shape())
        if self._dense_elements > MOST_DENSE_ELEMENTS:
            self.raise_error(f"the text has more than {MOST_DENSE_ELEMENTS:,} elements in 'dense' constants", position)
        return constant_type

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:
            hint = opset.similar_operations(name)
            if hint is None:
                raise
            self.raise_error(f"{error.msg}; {hint}", error.span.start, error.span.end)


def named_locations(module: ModuleOp) -> dict[Operation, LocationAttr]:
    """The locations of `--print-debuginfo`: the name of the node or model, as `loc("conv1")`.

    If the text gives an operation a location, that is inside the name, as in `loc("conv1"("a.py":3:1))`, or alone
    without a name. Without both it is `loc(unknown)`.
    """
    return {op: _named_location(op) for op in module.walk()}


def _named_location(op: Operation) -> LocationAttr:
    name = op.sym_name.data if isinstance(op, ModelOp) else name_of(op)
    given = op.location.location if isinstance(op.location, NameLoc) else op.location
    position = given if isinstance(given, FileLineColLoc | CallSiteLoc) else None
    if not name:
        return position or UNKNOWN_LOC
    return NameLoc(StringAttr(name), position or NoneAttr())


def named_sources(named: Mapping[Operation, LocationAttr], traced: Mapping[Operation, LocationAttr]) -> dict[Operation, LocationAttr]:
    """The locations of `--print-debuginfo` (`named`) and `--print-provenance` (`traced`) together:
    `loc("conv1"(fused["a"("onnx.Conv")]))`.

    The name of an operation is before the nodes from which it comes; it is alone if there are none.
    """
    return {op: _named_source(location, traced.get(op, UNKNOWN_LOC)) for op, location in named.items()}


def _named_source(named: LocationAttr, traced: LocationAttr) -> LocationAttr:
    sources = separate(traced)
    if not sources or not isinstance(named, NameLoc):
        return traced if sources else named
    return NameLoc(named.desc, FusedLoc(ArrayAttr(sources), NoneAttr()))


def print_module(
    module: ModuleOp,
    stream: IO[str],
    weights: SideFileWriter | None = None,
    printer: type[Printer] = Printer,
    *,
    locations: Mapping[Operation, LocationAttr] | None = None,
    **options: Any,
) -> None:
    """Print a module and a line break.

    Args:
        module: the module.
        stream: where to print.
        weights: a side file for values over 64 bytes; None omits these values.
        printer: class of the printer.
        locations: the locations to print after operations, `loc(unknown)` for those that are not in it; None prints
            none.
        options: options of the printer, such as `print_generic_format`.
    """
    # The attribute `#moir.data` looks for this attribute of the printer.
    instance: Any = printer(stream=stream, print_debuginfo=locations is not None, **options)
    instance.weights = weights
    own = {} if locations is None else {op: op.location for op in module.walk()}
    try:
        for op in own:
            op.location = (locations or {}).get(op, UNKNOWN_LOC)
        instance.print_op(module)
    finally:
        for op, location in own.items():
            op.location = location
    instance.print_string("\n")
