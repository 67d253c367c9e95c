"""Types in a text of MLIR.

tensor<?x12xf32>    tensor<7x!quant.uniform<i8:f32, 0.02:-4>>    tuple<tensor<2xf32>, tensor<i32>>
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects.shapes import impossibility
from moir.frontends.stablehlo.element_types import ELEMENTS, is_integer, largest_of, lowest_of
from moir.frontends.stablehlo.program import FunctionType, OtherType, Quantized, TensorType, TupleType, Type
from moir.frontends.stablehlo.quantized_types import fault_of_type
from moir.frontends.stablehlo.text.scanner import Scanner

_SIZE = re.compile(r"(\d+|\?)x")


def type_of(scanner: Scanner) -> Type:
    """Read the type at the current word."""
    if scanner.word == "tensor":
        return tensor_type(scanner)
    if scanner.word == "(":
        inputs = types_in_brackets(scanner)
        scanner.expect("->")
        return FunctionType(tuple(inputs), tuple(result_types(scanner)))
    name = scanner.advance()
    if name == "tuple":
        return _tuple(scanner)
    if name in ("memref", "vector", "complex") or name.startswith("!"):
        if scanner.word == "<":
            scanner.skip_balanced()
        return OtherType(name)
    if name not in ELEMENTS and name != "none":
        scanner.fail(f"{name[:40]!r} is not a type")
    return TensorType((), ELEMENTS[name]) if name in ELEMENTS else OtherType(name)


def _tuple(scanner: Scanner) -> TupleType:
    """Read `<tensor<2xf32>, tuple<tensor<i32>>>`, after the word `tuple`."""
    scanner.expect("<")
    scanner.enter()
    elements: list[Type] = []
    while not scanner.takes(">"):
        elements.append(type_of(scanner))
        if not scanner.takes(",") and scanner.word != ">":
            scanner.fail("a tuple type is not closed")
    scanner.leave()
    return TupleType(tuple(elements))


def types_in_brackets(scanner: Scanner) -> list[Type]:
    """Read a list of types in round brackets."""
    scanner.expect("(")
    types: list[Type] = []
    while not scanner.takes(")"):
        types.append(type_of(scanner))
        scanner.takes(",")
    return types


def result_types(scanner: Scanner) -> list[Type]:
    """Read one type, or several types in round brackets."""
    return types_in_brackets(scanner) if scanner.word == "(" else [type_of(scanner)]


def tensor_type(scanner: Scanner) -> TensorType:
    """Read `tensor<…>`."""
    scanner.expect("tensor")
    if scanner.word != "<":
        scanner.fail("a tensor type has no shape")
    position, shape = scanner.position, list[int]()
    text = scanner.text
    if text.startswith("*x", position):
        scanner.position = position + 2
        scanner.advance()
        element = element_type(scanner)
        _end(scanner)
        return TensorType(None, element)
    while (match := _SIZE.match(text, position)) is not None:
        shape.append(-1 if match[1] == "?" else int(match[1][:18]))
        position = match.end()
    scanner.position = position
    scanner.advance()
    element = element_type(scanner)
    _end(scanner)
    if reason := impossibility([size for size in shape if size >= 0]):
        scanner.fail(reason)
    return TensorType(tuple(shape), element)


def _end(scanner: Scanner) -> None:
    """Read the end of a tensor type, with an encoding if there is one."""
    while scanner.takes(","):
        scanner.advance()
        if scanner.word == "<":
            scanner.skip_balanced()
    scanner.expect(">")


def element_type(scanner: Scanner) -> Attribute | Quantized:
    """Read the element type of a tensor. Raises ModelFileError for one that is not supported."""
    name = scanner.word
    if name == "complex":
        scanner.advance()
        scanner.expect("<")
        inner = element_type(scanner)
        scanner.expect(">")
        if isinstance(inner, Quantized):
            scanner.fail("complex numbers of quantized ones")
        return ComplexType(inner)  # pyright: ignore[reportArgumentType]
    if name.startswith("!quant"):
        return _quantized(scanner)
    if name not in ELEMENTS:
        scanner.fail(f"the element type {name[:40]!r} is not supported")
    scanner.advance()
    return ELEMENTS[name]


def _quantized(scanner: Scanner) -> Quantized:
    """Read `!quant.uniform<storage<low:high>:expressed:axis, {scale:zero, …}>`."""
    scanner.advance()
    if scanner.word != "<":
        scanner.fail("a quantized type has no parameters")
    begin = scanner.position
    scanner.skip_balanced()
    text = scanner.text[begin : scanner.start].rstrip().rstrip(">").strip()
    return quantized_type(text, scanner)


_QUANTIZED = re.compile(
    r"(?P<storage>\w+)(?:<(?P<low>-?\d{1,19}):(?P<high>-?\d{1,19})>)?:(?P<expressed>\w+)(?::(?P<axis>\d{1,9}))?"
    r",\s*(?P<scales>\{.*\}|[^{}]+)$",
    re.DOTALL,
)


def quantized_type(text: str, scanner: Scanner) -> Quantized:
    """The quantized type from the text between its brackets. Raises ModelFileError if it is invalid or not
    supported.
    """
    match = _QUANTIZED.match(text)
    # The dialect of quantized types writes `u8` for what is `ui8` elsewhere.
    storage_name = "" if match is None else re.sub(r"^u(?=\d)", "ui", match["storage"])
    if match is None or storage_name not in ELEMENTS or match["expressed"] not in ELEMENTS:
        scanner.fail(f"the quantized type {text[:60]!r} is not supported")
    scales, zeros = list[float](), list[int]()
    for part in match["scales"].strip("{}").split(","):
        scale, _, zero = part.partition(":")
        try:
            scales.append(float(scale))
            zeros.append(int(zero) if zero.strip() else 0)
        except ValueError:
            scanner.fail(f"{part[:40]!r} is not a scale")
    storage = ELEMENTS[storage_name]
    if not is_integer(storage):
        scanner.fail(f"the quantized type {text[:60]!r} is not supported")
    low = int(match["low"]) if match["low"] else lowest_of(storage)
    high = int(match["high"]) if match["high"] else largest_of(storage)
    axis = int(match["axis"]) if match["axis"] else None
    quantized = Quantized(storage, ELEMENTS[match["expressed"]], tuple(scales), tuple(zeros), axis, low, high)
    if fault := fault_of_type(quantized):
        scanner.fail(fault)
    return quantized
