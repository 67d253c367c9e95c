"""The text form of the operations of moir.

    %r = opset1.Softmax(%x) {axis = 1, name = "probabilities"} : tensor<?x10xf32>
    %a, %b = opset1.Split(%x, %axis) {num_splits = 2} : tensor<2xf32>, tensor<2xf32>
    %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1]} ({ … }, { … }) : tensor<?xf32>

One dictionary holds properties and discardable attributes: names in `DISCARDABLE` are discardable attributes, all
others are properties. A property with a name in `DISCARDABLE` is in a dictionary of its own, `<{name = …}>`. Properties
that have their default value are omitted. Integers, floats and lists are printed without types; a float always has a
point or an exponent, or is inf or nan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue

from moir.dialects.data import decimal
from moir.dialects.discardable import DISCARDABLE
from moir.dialects.properties import FALSE, TRUE, attribute_of, float_attribute, is_float, is_floats, is_integer, is_integers, value_of

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

AnyOperation = TypeVar("AnyOperation", bound=Operation)


def format_float(value: float) -> str:
    """The shortest text that is parsed as the same double and not as an integer."""
    return decimal(repr(value)) if math.isfinite(value) else str(value)


def print_value(printer: Printer, attribute: Attribute) -> None:
    """Print an attribute in the short form of this module, or in its own form if it has none here."""
    if attribute in (TRUE, FALSE):
        printer.print_string("true" if attribute == TRUE else "false")
    elif is_integer(attribute):
        printer.print_string(str(value_of(attribute)))
    elif is_float(attribute):
        printer.print_string(format_float(value_of(attribute)))
    elif is_integers(attribute) or is_floats(attribute):
        texts = [format_float(n) if isinstance(n, float) else str(n) for n in value_of(attribute)]
        printer.print_string(f"[{', '.join(texts)}]")
    elif isinstance(attribute, ArrayAttr):
        with printer.in_square_brackets():
            printer.print_list(cast("ArrayAttr[Attribute]", attribute).data, lambda item: print_value(printer, item))
    else:
        printer.print_attribute(attribute)


def parse_value(parser: Parser) -> Attribute:
    """Parse an attribute in the form that `print_value` prints."""
    items = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_value(parser))
    if items is not None:
        plain = [value_of(item) for item in items]
        if all(isinstance(item, int | float) and not isinstance(item, bool) for item in plain):
            return attribute_of(plain)
        return ArrayAttr(items)
    if parser.parse_optional_keyword("true"):
        return TRUE
    if parser.parse_optional_keyword("false"):
        return FALSE
    for keyword in ("inf", "nan"):
        if parser.parse_optional_keyword(keyword):
            return float_attribute(float(keyword))
    if parser.parse_optional_punctuation("-"):
        if parser.parse_optional_keyword("inf"):
            return float_attribute(-math.inf)
        return attribute_of(-parser.parse_number(allow_boolean=False))
    number = parser.parse_optional_number(allow_boolean=False)
    if number is not None:
        if parser.parse_optional_punctuation(":"):
            type_ = parser.parse_type()
            return IntegerAttr(int(number), cast(Any, type_)) if isinstance(number, int) else FloatAttr(number, cast(Any, type_))
        return attribute_of(number)
    return parser.parse_attribute()


def _print_entries(printer: Printer, entries: Mapping[str, Attribute]) -> None:
    def print_entry(entry: tuple[str, Attribute]) -> None:
        printer.print_identifier_or_string_literal(entry[0])
        printer.print_string(" = ")
        print_value(printer, entry[1])

    with printer.in_braces():
        printer.print_list(entries.items(), print_entry)


def _parse_entries(parser: Parser) -> dict[str, Attribute] | None:
    def parse_entry() -> tuple[str, Attribute]:
        key = parser.parse_identifier_or_str_literal()
        parser.parse_punctuation("=")
        return key, parse_value(parser)

    entries = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, parse_entry)
    return None if entries is None else dict(entries)


def print_assembly(printer: Printer, op: Operation, defaults: Mapping[str, Attribute]) -> None:
    """Print operands, properties, attributes, regions and result types: all that follows the name of an operation."""
    with printer.in_parens():
        printer.print_list(op.operands, printer.print_ssa_value)
    shadowing = {key: value for key, value in op.properties.items() if key in DISCARDABLE}
    if shadowing:
        printer.print_string(" <")
        _print_entries(printer, shadowing)
        printer.print_string(">")
    entries = {key: value for key, value in op.properties.items() if key not in DISCARDABLE and defaults.get(key) != value}
    entries |= op.attributes
    if entries:
        printer.print_string(" ")
        _print_entries(printer, entries)
    if op.regions:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(op.regions, printer.print_region)
    if op.results:
        printer.print_string(" : ")
        printer.print_list(op.results, lambda result: printer.print_attribute(result.type))


class Assembly:
    """The parts of an operation, as parsed by `parse_assembly`."""

    def __init__(self) -> None:
        self.operands: list[SSAValue] = []
        self.properties: dict[str, Attribute] = {}
        self.attributes: dict[str, Attribute] = {}
        self.regions: list[Region] = []
        self.result_types: list[Attribute] = []


def parse_operand(parser: Parser) -> SSAValue:
    """Parse an operand, which must already be defined; its type is that of its definition."""
    position = parser.pos
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        parser.raise_error(f"%{operand.operand_name} is used before its definition", position)
    return values[operand.index]


def parse_assembly(parser: Parser) -> Assembly:
    """Parse what `print_assembly` prints. An operand must be defined before it is used."""
    assembly = Assembly()
    assembly.operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_operand(parser))
    if parser.parse_optional_punctuation("<"):
        assembly.properties |= _parse_entries(parser) or {}
        parser.parse_punctuation(">")
    for key, value in (_parse_entries(parser) or {}).items():
        (assembly.attributes if key in DISCARDABLE else assembly.properties)[key] = value
    assembly.regions = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_region) or []
    if parser.parse_optional_punctuation(":"):
        assembly.result_types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return assembly


def parse_free_form(parser: Parser, operation: type[AnyOperation]) -> AnyOperation:
    """Parse an operation of an open dialect, whose properties may have any form and are not checked."""
    assembly = parse_assembly(parser)
    return operation.create(
        operands=assembly.operands,
        result_types=assembly.result_types,
        properties=assembly.properties,
        attributes=assembly.attributes,
        regions=assembly.regions,
    )
