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


def type_of(words: Scanner) -> Type:
    """Read the type at the current word."""
    if words.word == "tensor":
        return tensor_type(words)
    if words.word == "(":
        inputs = types_in_brackets(words)
        words.expect("->")
        return FunctionType(tuple(inputs), tuple(result_types(words)))
    name = words.advance()
    if name == "tuple":
        return _tuple(words)
    if name in ("memref", "vector", "complex") or name.startswith("!"):
        if words.word == "<":
            words.skip_balanced()
        return OtherType(name)
    if name not in ELEMENTS and name != "none":
        words.fail(f"{name[:40]!r} is not a type")
    return TensorType((), ELEMENTS[name]) if name in ELEMENTS else OtherType(name)


def _tuple(words: Scanner) -> TupleType:
    """Read `<tensor<2xf32>, tuple<tensor<i32>>>`, after the word `tuple`."""
    words.expect("<")
    words.enter()
    elements: list[Type] = []
    while not words.takes(">"):
        elements.append(type_of(words))
        if not words.takes(",") and words.word != ">":
            words.fail("a tuple type is not closed")
    words.leave()
    return TupleType(tuple(elements))


def types_in_brackets(words: Scanner) -> list[Type]:
    """Read a list of types in round brackets."""
    words.expect("(")
    types: list[Type] = []
    while not words.takes(")"):
        types.append(type_of(words))
        words.takes(",")
    return types


def result_types(words: Scanner) -> list[Type]:
    """Read one type, or several types in round brackets."""
    return types_in_brackets(words) if words.word == "(" else [type_of(words)]


def tensor_type(words: Scanner) -> TensorType:
    """Read `tensor<…>`."""
    words.expect("tensor")
    if words.word != "<":
        words.fail("a tensor type has no shape")
    position, shape = words.position, list[int]()
    text = words.text
    if text.startswith("*x", position):
        words.position = position + 2
        words.advance()
        element = element_type(words)
        _end(words)
        return TensorType(None, element)
    while (match := _SIZE.match(text, position)) is not None:
        shape.append(-1 if match[1] == "?" else int(match[1][:18]))
        position = match.end()
    words.position = position
    words.advance()
    element = element_type(words)
    _end(words)
    if reason := impossibility([size for size in shape if size >= 0]):
        words.fail(reason)
    return TensorType(tuple(shape), element)


def _end(words: Scanner) -> None:
    """Read the end of a tensor type, with an encoding if there is one."""
    while words.takes(","):
        words.advance()
        if words.word == "<":
            words.skip_balanced()
    words.expect(">")


def element_type(words: Scanner) -> Attribute | Quantized:
    """Read the element type of a tensor. Raises ModelFileError for one that is not supported."""
    name = words.word
    if name == "complex":
        words.advance()
        words.expect("<")
        inner = element_type(words)
        words.expect(">")
        if isinstance(inner, Quantized):
            words.fail("complex numbers of quantized ones")
        return ComplexType(inner)  # pyright: ignore[reportArgumentType]
    if name.startswith("!quant"):
        return _quantized(words)
    if name not in ELEMENTS:
        words.fail(f"the element type {name[:40]!r} is not supported")
    words.advance()
    return ELEMENTS[name]


def _quantized(words: Scanner) -> Quantized:
    """Read `!quant.uniform<storage<low:high>:expressed:axis, {scale:zero, …}>`."""
    words.advance()
    if words.word != "<":
        words.fail("a quantized type has no parameters")
    begin = words.position
    words.skip_balanced()
    text = words.text[begin : words.start].rstrip().rstrip(">").strip()
    return quantized_type(text, words)


_QUANTIZED = re.compile(
    r"(?P<storage>\w+)(?:<(?P<low>-?\d{1,19}):(?P<high>-?\d{1,19})>)?:(?P<expressed>\w+)(?::(?P<axis>\d{1,9}))?"
    r",\s*(?P<scales>\{.*\}|[^{}]+)$",
    re.DOTALL,
)


def quantized_type(text: str, words: Scanner) -> Quantized:
    """The quantized type from the text between its brackets. Raises ModelFileError if it is invalid or not
    supported.
    """
    match = _QUANTIZED.match(text)
    # The dialect of quantized types writes `u8` for what is `ui8` elsewhere.
    storage_name = "" if match is None else re.sub(r"^u(?=\d)", "ui", match["storage"])
    if match is None or storage_name not in ELEMENTS or match["expressed"] not in ELEMENTS:
        words.fail(f"the quantized type {text[:60]!r} is not supported")
    scales, zeros = list[float](), list[int]()
    for part in match["scales"].strip("{}").split(","):
        scale, _, zero = part.partition(":")
        try:
            scales.append(float(scale))
            zeros.append(int(zero) if zero.strip() else 0)
        except ValueError:
            words.fail(f"{part[:40]!r} is not a scale")
    storage = ELEMENTS[storage_name]
    if not is_integer(storage):
        words.fail(f"the quantized type {text[:60]!r} is not supported")
    low = int(match["low"]) if match["low"] else lowest_of(storage)
    high = int(match["high"]) if match["high"] else largest_of(storage)
    axis = int(match["axis"]) if match["axis"] else None
    quantized = Quantized(storage, ELEMENTS[match["expressed"]], tuple(scales), tuple(zeros), axis, low, high)
    if fault := fault_of_type(quantized):
        words.fail(fault)
    return quantized
