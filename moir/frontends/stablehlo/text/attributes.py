"""Attributes in a text of MLIR.

dense<[1, 2]> : tensor<2xi64>    array<i64: 1, 0>    #stablehlo.gather<offset_dims = [1]>    [b, 0]x[i, o]->[b, 0]
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects.data import Array
from moir.frontends.stablehlo.element_types import ELEMENTS, storage_of
from moir.frontends.stablehlo.program import Dense, Quantized, Symbol, TensorType, Type
from moir.frontends.stablehlo.text.scanner import Scanner
from moir.frontends.stablehlo.text.types import type_of
from moir.support.decimals import decimal_of


def attribute_of(words: Scanner) -> Any:
    """Read the attribute at the current word, as a Python value."""
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
            return words.location_name()
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
    """Read the type after a number or a string, `: i64`, and return it as text; None if there is none."""
    if words.takes(":"):
        return str(type_of(words))
    return None


def number_of(words: Scanner) -> int | float:
    """Read a number. A hexadecimal number that a float type follows is the bit pattern of the float."""
    sign = -1 if words.takes("-") else 1
    word = words.advance()
    try:
        value: int | float = int(word, 0) if re.fullmatch(r"[-+]?\d+|0x[0-9a-fA-F]+", word) else float(word)
    except ValueError:
        words.fail(f"{word[:40]!r} is not a number")
    if words.word == ":":
        words.advance()
        number_type = type_of(words)
        if isinstance(number_type, TensorType) and isinstance(number_type.element, Attribute):
            kind = storage_of(number_type.element)
            if kind is not None and kind.kind not in "iub" and word.startswith("0x"):
                if value >= 1 << 8 * kind.itemsize:
                    words.fail(f"{word[:40]!r} has more bits than {kind}")
                return float(np.array(value, f"u{kind.itemsize}").view(kind))
    return sign * value


def list_of(words: Scanner) -> list[Any]:
    """Read a list of attributes in square brackets."""
    words.expect("[")
    values: list[Any] = []
    while not words.takes("]"):
        values.append(attribute_of(words))
        words.takes(",")
        if not words.word:
            words.fail("a list is not closed")
    return values


def dictionary_of(words: Scanner) -> dict[str, Any]:
    """Read attributes in braces as a dictionary by their names; a name without a value has the value True."""
    words.expect("{")
    entries: dict[str, Any] = {}
    while not words.takes("}"):
        name = words.string() if words.word.startswith('"') else words.advance()
        entries[name] = attribute_of(words) if words.takes("=") else True
        words.takes(",")
        if not words.word:
            words.fail("a dictionary is not closed")
    return entries


def _array(words: Scanner) -> list[Any]:
    """Read `array<i64: 1, 0>` as a list."""
    words.advance()
    words.expect("<")
    words.advance()
    values: list[Any] = []
    if words.takes(":"):
        while words.word != ">":
            values.append(words.advance() == "true" if words.word in ("true", "false") else number_of(words))
            words.takes(",")
            if not words.word:
                words.fail("an array is not closed")
    words.expect(">")
    return values


_HEADS = {"gather", "scatter", "conv", "dot", "result_accuracy", "channel_handle", "output_operand_alias", "bounds", "type_extensions"}


def _dialect_attribute(words: Scanner) -> Any:
    """Read `#stablehlo.gather<offset_dims = [1], …>` as a dictionary, `#stablehlo<comparison_direction LT>` as a
    string.
    """
    name = words.advance()
    if words.word != "<":
        return name
    if name.startswith("#sdy"):
        words.skip_balanced()
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
        fields = convolution_dimensions(words)
        words.expect(">")
        return fields
    words.advance()
    fields: dict[str, Any] = {}
    while not words.takes(">"):
        key = words.advance()
        if not key:
            words.fail("an attribute is not closed")
        fields[key] = attribute_of(words) if words.takes("=") else True
        words.takes(",")
    return fields


def convolution_dimensions(words: Scanner) -> dict[str, Any]:
    """Read `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: the dimension numbers of a convolution by their names."""
    numbers: dict[str, Any] = {}
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
        for index, entry in enumerate(entries):
            if entry == first[0]:
                numbers[first[1]] = index
            elif entry == second[0]:
                numbers[second[1]] = index
            elif (number := decimal_of(entry)) is not None:
                spatial[number] = index
            else:
                words.fail(f"{entry[:20]!r} is not a dimension of a convolution")
        numbers[f"{role}_spatial_dimensions"] = [spatial[key] for key in sorted(spatial)]
        if role == "input":
            _joined(words)
        elif role == "kernel":
            words.expect("->")
    return numbers


def _joined(words: Scanner) -> None:
    if not words.word.startswith("x"):
        words.fail("'x' is missing between dimension numbers")
    words.position = words.start + 1
    words.advance()


def dense_of(words: Scanner) -> Dense:
    """Read the constant `dense<…> : tensor<…>`."""
    words.expect("dense")
    if words.word != "<":
        words.fail("a constant has no elements")
    words.advance()
    if words.word.startswith('"'):
        text = words.string()
        words.expect(">")
        words.expect(":")
        constant_type = type_of(words)
        return _of_bytes(words, text, constant_type)
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
    tensor, kind = _storage(words, type_)
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        words.fail("the bytes of a constant are not a hexadecimal number")
    return Dense(_shaped(words, _of_raw(data, kind, tensor), tensor), tensor)


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
    tensor, kind = _storage(words, type_)
    if isinstance(tensor.element, ComplexType):
        parts = [each for each in re.split(r"[\[\](),\s]+", text) if each]
        # Hexadecimal digits are the bits of a part in its own type.
        part = np.dtype(f"f{kind.itemsize // 2}")
        numbers = np.array([_element(words, each, part) for each in parts], part).reshape(-1, 2)
        values = np.ascontiguousarray(numbers).view(kind).reshape(-1)
        return Dense(_shaped(words, values, tensor), tensor)
    parts = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    try:
        with np.errstate(over="ignore"):
            values = np.array(parts, dtype=np.float64).astype(kind) if kind.kind not in "iub" and "0x" not in text else None
        if values is None and kind.kind in "iu" and "0x" not in text:
            values = np.array([int(each) for each in parts], dtype=object).astype(kind)
    except (ValueError, OverflowError):
        values = None
    if values is None:
        values = np.array([_element(words, each, kind) for each in parts], kind)
    return Dense(_shaped(words, values, tensor), tensor)


def _element(words: Scanner, text: str, kind: np.dtype[Any]) -> Any:
    """An element of a constant from its text: a number, a boolean, or a hexadecimal bit pattern of the numpy type
    `kind`.

    Raises ModelFileError for another text.
    """
    try:
        if text in ("true", "false"):
            return text == "true"
        if text.startswith("0x"):
            bits = int(text, 16)
            return bits if kind.kind in "iub" else np.array(bits, f"u{kind.itemsize}").view(kind)[()]
        return int(text) if kind.kind in "iub" else float(text)
    except (ValueError, OverflowError):
        words.fail(f"{text[:40]!r} is not an element of a constant")
