"""Types and attributes in a text of MLIR.

tensor<?x12xf32>    tensor<7x!quant.uniform<i8:f32, 0.02:-4>>    dense<[1, 2]> : tensor<2xi64>    array<i64: 1, 0>
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.decimals import decimal_of
from moir.dialects.data import Array
from moir.dialects.shapes import impossibility
from moir.frontends.stablehlo.element_types import ELEMENTS, largest_of, lowest_of, storage_of
from moir.frontends.stablehlo.program import Dense, FunctionType, OtherType, Quantized, Symbol, TensorType, Type
from moir.frontends.stablehlo.text.scanner import Scanner

_SIZE = re.compile(r"(\d+|\?)x")


def type_of(words: Scanner) -> Type:
    """The type that begins with the current word."""
    if words.word == "tensor":
        return tensor_type(words)
    if words.word == "(":
        inputs = types_in_brackets(words)
        words.expect("->")
        return FunctionType(tuple(inputs), tuple(result_types(words)))
    name = words.advance()
    if name in ("tuple", "memref", "vector", "complex") or name.startswith("!"):
        if words.word == "<":
            words.skip_balanced()
        return OtherType(name)
    if name not in ELEMENTS and name != "none":
        words.fail(f"{name[:40]!r} is not a type")
    return TensorType((), ELEMENTS[name]) if name in ELEMENTS else OtherType(name)


def types_in_brackets(words: Scanner) -> list[Type]:
    """The types in round brackets."""
    words.expect("(")
    found: list[Type] = []
    while not words.takes(")"):
        found.append(type_of(words))
        words.takes(",")
    return found


def result_types(words: Scanner) -> list[Type]:
    """One type, or several in brackets."""
    return types_in_brackets(words) if words.word == "(" else [type_of(words)]


def tensor_type(words: Scanner) -> TensorType:
    """`tensor<…>`."""
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
    while (found := _SIZE.match(text, position)) is not None:
        shape.append(-1 if found[1] == "?" else int(found[1][:18]))
        position = found.end()
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
    """The element type of a tensor."""
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
    """`!quant.uniform<storage<low:high>:expressed:axis, {scale:zero, …}>`."""
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
    """The quantized type of the text between its brackets."""
    found = _QUANTIZED.match(text)
    if found is None or found["storage"] not in ELEMENTS or found["expressed"] not in ELEMENTS:
        words.fail(f"the quantized type {text[:60]!r} is not supported")
    scales, zeros = list[float](), list[int]()
    for part in found["scales"].strip("{}").split(","):
        scale, _, zero = part.partition(":")
        try:
            scales.append(float(scale))
            zeros.append(int(zero) if zero.strip() else 0)
        except ValueError:
            words.fail(f"{part[:40]!r} is not a scale")
    storage = ELEMENTS[found["storage"]]
    low = int(found["low"]) if found["low"] else lowest_of(storage)
    high = int(found["high"]) if found["high"] else largest_of(storage)
    axis = int(found["axis"]) if found["axis"] else None
    return Quantized(storage, ELEMENTS[found["expressed"]], tuple(scales), tuple(zeros), axis, low, high)


# Attributes


def attribute_of(words: Scanner) -> Any:
    """The Python value of the attribute that begins with the current word."""
    word = words.word
    words.enter()
    try:
        if word.startswith('"'):
            value: Any = words.string()
            _suffix(words)
            return value
        if word == "[":
            return list_of(words)
        if word == "{":
            return dictionary_of(words)
        if word == "dense":
            return dense_of(words)
        if word == "array":
            return _array(words)
        if word == "unit":
            words.advance()
            return True
        if word in ("true", "false"):
            words.advance()
            return word == "true"
        if word.startswith("@"):
            words.advance()
            name = word[2:-1] if word.startswith('@"') else word[1:]
            return Symbol(name)
        if word.startswith("#"):
            return _dialect_attribute(words)
        if word == "dense_resource":
            words.fail("its constants are in a resource section, which is not supported; print the module with all constants")
        if word[:1].isdigit() or word[:1] in "-+":
            return number_of(words)
        if word == "loc":
            return words.place()
        if word in ("affine_map", "affine_set", "sparse"):
            words.advance()
            words.skip_balanced()
            return None
        if re.match(r"[A-Za-z_]", word) and word not in ELEMENTS and word not in ("tensor", "none", "index", "tuple", "complex"):
            words.advance()
            if words.word == "<":
                words.skip_balanced()
            return word
        return type_of(words)
    finally:
        words.leave()


def _suffix(words: Scanner) -> str | None:
    """The type after a number or a string; None if there is none."""
    if words.takes(":"):
        return str(type_of(words))
    return None


def number_of(words: Scanner) -> int | float:
    """A number; a hexadecimal one before a float type has the bits of the float."""
    sign = -1 if words.takes("-") else 1
    word = words.advance()
    try:
        value: int | float = int(word, 0) if re.fullmatch(r"[-+]?\d+|0x[0-9a-fA-F]+", word) else float(word)
    except ValueError:
        words.fail(f"{word[:40]!r} is not a number")
    if words.word == ":":
        words.advance()
        found = type_of(words)
        if isinstance(found, TensorType) and isinstance(found.element, Attribute):
            kind = storage_of(found.element)
            if kind is not None and kind.kind not in "iub" and word.startswith("0x"):
                return float(np.array(value, f"u{kind.itemsize}").view(kind))
    return sign * value


def list_of(words: Scanner) -> list[Any]:
    """Values in square brackets."""
    words.expect("[")
    found: list[Any] = []
    while not words.takes("]"):
        found.append(attribute_of(words))
        words.takes(",")
        if not words.word:
            words.fail("a list is not closed")
    return found


def dictionary_of(words: Scanner) -> dict[str, Any]:
    """Named values in braces; a name alone is true."""
    words.expect("{")
    found: dict[str, Any] = {}
    while not words.takes("}"):
        name = words.string() if words.word.startswith('"') else words.advance()
        found[name] = attribute_of(words) if words.takes("=") else True
        words.takes(",")
        if not words.word:
            words.fail("a dictionary is not closed")
    return found


def _array(words: Scanner) -> list[Any]:
    """`array<i64: 1, 0>`."""
    words.advance()
    words.expect("<")
    words.advance()
    found: list[Any] = []
    if words.takes(":"):
        while words.word != ">":
            found.append(words.advance() == "true" if words.word in ("true", "false") else number_of(words))
            words.takes(",")
            if not words.word:
                words.fail("an array is not closed")
    words.expect(">")
    return found


_HEADS = {"gather", "scatter", "conv", "dot", "result_accuracy", "channel_handle", "output_operand_alias", "bounds", "type_extensions"}


def _dialect_attribute(words: Scanner) -> Any:
    """`#stablehlo.gather<offset_dims = [1], …>`, `#stablehlo<comparison_direction LT>`: a dictionary, or a word."""
    name = words.advance()
    if words.word != "<":
        return name
    if name == "#stablehlo" or name == "#chlo" or name == "#vhlo":
        words.advance()
        kind = words.advance()
        value: Any = kind if words.at(">") else words.word
        if kind in _HEADS or words.at("<"):
            words.position = words.start
            words.advance()
            words.skip_balanced()
            words.expect(">")
            return kind
        words.advance()
        words.expect(">")
        return value
    if name.endswith(".conv"):
        words.advance()
        found = convolution_dimensions(words)
        words.expect(">")
        return found
    words.advance()
    found: dict[str, Any] = {}
    while not words.takes(">"):
        key = words.advance()
        if not key:
            words.fail("an attribute is not closed")
        found[key] = attribute_of(words) if words.takes("=") else True
        words.takes(",")
    return found


def convolution_dimensions(words: Scanner) -> dict[str, Any]:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: the dimension numbers by their names."""
    found: dict[str, Any] = {}
    for role, first, second in (
        ("input", ("b", "input_batch_dimension"), ("f", "input_feature_dimension")),
        ("kernel", ("i", "kernel_input_feature_dimension"), ("o", "kernel_output_feature_dimension")),
        ("output", ("b", "output_batch_dimension"), ("f", "output_feature_dimension")),
    ):
        begin = words.start
        if words.word != "[":
            words.fail("dimension numbers are missing")
        words.skip_balanced()
        entries = [each.strip() for each in words.text[begin + 1 : words.text.index("]", begin)].split(",")]
        spatial: dict[int, int] = {}
        for place, entry in enumerate(entries):
            if entry == first[0]:
                found[first[1]] = place
            elif entry == second[0]:
                found[second[1]] = place
            elif (number := decimal_of(entry)) is not None:
                spatial[number] = place
            else:
                words.fail(f"{entry[:20]!r} is not a dimension of a convolution")
        found[f"{role}_spatial_dimensions"] = [spatial[key] for key in sorted(spatial)]
        if role == "input":
            _joined(words)
        elif role == "kernel":
            words.expect("->")
    return found


def _joined(words: Scanner) -> None:
    if not words.word.startswith("x"):
        words.fail("'x' is missing between dimension numbers")
    words.position = words.start + 1
    words.advance()


def dense_of(words: Scanner) -> Dense:
    """`dense<…> : tensor<…>`."""
    words.expect("dense")
    if words.word != "<":
        words.fail("a constant has no elements")
    words.advance()
    if words.word.startswith('"'):
        text = words.string()
        words.expect(">")
        words.expect(":")
        found = type_of(words)
        return _of_bytes(words, text, found)
    text = "" if words.at(">") else words.rest_until(">")
    if not text:
        words.takes(">")
    words.expect(":")
    return _of_text(words, text, type_of(words))


def _storage(words: Scanner, type_: Type) -> tuple[TensorType, np.dtype[Any]]:
    if not isinstance(type_, TensorType) or type_.shape is None or min(type_.shape, default=0) < 0:
        words.fail("a constant has no static shape")
    element = type_.element.storage if isinstance(type_.element, Quantized) else type_.element
    kind = storage_of(element)
    if kind is None:
        words.fail("constants of this element type are not supported")
    return type_, kind


def _of_bytes(words: Scanner, text: str, type_: Type) -> Dense:
    found, kind = _storage(words, type_)
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        words.fail("the bytes of a constant are not a hexadecimal number")
    return Dense(_shaped(words, _of_raw(data, kind, found), found), found)


def _of_raw(data: bytes, kind: np.dtype[Any], type_: TensorType) -> Array:
    if kind == np.dtype(bool):
        count = int(np.prod(type_.shape or (), dtype=np.int64))
        values = np.frombuffer(data, np.uint8)
        if values.size not in (1, count):
            values = np.unpackbits(values, bitorder="little")[:count]
        return values.astype(bool)
    return np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)


def _shaped(words: Scanner, values: Array, type_: TensorType) -> Array:
    count = 1
    for size in type_.shape or ():
        count *= size
    if values.size not in (1, count) or (count == 0 and values.size > 1):
        words.fail(f"a constant of {count} elements has {values.size}")
    return values.reshape(type_.shape or ()) if values.size == count else values.reshape(())


def _of_text(words: Scanner, text: str, type_: Type) -> Dense:
    found, kind = _storage(words, type_)
    if isinstance(found.element, ComplexType):
        parts = [each for each in re.split(r"[\[\](),\s]+", text) if each]
        # Hexadecimal digits are the bits of a part in its own type.
        part = np.dtype(f"f{kind.itemsize // 2}")
        numbers = np.array([_element(words, each, part) for each in parts], part).reshape(-1, 2)
        values = np.ascontiguousarray(numbers).view(kind).reshape(-1)
        return Dense(_shaped(words, values, found), found)
    parts = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    try:
        values = np.array(parts, dtype=np.float64).astype(kind) if kind.kind not in "iub" and "0x" not in text else None
        if values is None and kind.kind in "iu" and "0x" not in text:
            values = np.array([int(each) for each in parts], dtype=object).astype(kind)
    except (ValueError, OverflowError):
        values = None
    if values is None:
        values = np.array([_element(words, each, kind) for each in parts], kind)
    return Dense(_shaped(words, values, found), found)


def _element(words: Scanner, text: str, kind: np.dtype[Any]) -> Any:
    """One element: a number, a truth value, or bits."""
    try:
        if text in ("true", "false"):
            return text == "true"
        if text.startswith("0x"):
            bits = int(text, 16)
            return bits if kind.kind in "iub" else np.array(bits, f"u{kind.itemsize}").view(kind)[()]
        return int(text) if kind.kind in "iub" else float(text)
    except (ValueError, OverflowError):
        words.fail(f"{text[:40]!r} is not an element of a constant")
