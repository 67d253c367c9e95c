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


def attribute_of(scanner: Scanner) -> Any:
    """Read the attribute at the current word, as a Python value."""
    word = scanner.word
    scanner.enter()
    try:
        if word.startswith('"'):
            value: Any = scanner.string()
            _suffix(scanner)
            return value
        if word == "[":
            return list_of(scanner)
        if word == "{":
            return dictionary_of(scanner)
        if word == "dense":
            return dense_of(scanner)
        if word == "array":
            return _array(scanner)
        if word == "unit":
            scanner.advance()
            return True
        if word in ("true", "false"):
            scanner.advance()
            return word == "true"
        if word.startswith("@"):
            scanner.advance()
            name = word[2:-1] if word.startswith('@"') else word[1:]
            return Symbol(name)
        if word.startswith("#"):
            return _dialect_attribute(scanner)
        if word == "dense_resource":
            scanner.fail("its constants are in a resource section, which is not supported; print the module with all constants")
        if word[:1].isdigit() or word[:1] in "-+":
            return number_of(scanner)
        if word == "loc":
            return scanner.location_name()
        if word in ("affine_map", "affine_set", "sparse"):
            scanner.advance()
            scanner.skip_balanced()
            return None
        if re.match(r"[A-Za-z_]", word) and word not in ELEMENTS and word not in ("tensor", "none", "index", "tuple", "complex"):
            scanner.advance()
            if scanner.word == "<":
                scanner.skip_balanced()
            return word
        return type_of(scanner)
    finally:
        scanner.leave()


def _suffix(scanner: Scanner) -> str | None:
    """Read the type after a number or a string, `: i64`, and return it as text; None if there is none."""
    if scanner.takes(":"):
        return str(type_of(scanner))
    return None


def number_of(scanner: Scanner) -> int | float:
    """Read a number. A hexadecimal number that a float type follows is the bit pattern of the float."""
    sign = -1 if scanner.takes("-") else 1
    word = scanner.advance()
    try:
        value: int | float = int(word, 0) if re.fullmatch(r"[-+]?\d+|0x[0-9a-fA-F]+", word) else float(word)
    except ValueError:
        scanner.fail(f"{word[:40]!r} is not a number")
    if scanner.word == ":":
        scanner.advance()
        number_type = type_of(scanner)
        if isinstance(number_type, TensorType) and isinstance(number_type.element, Attribute):
            kind = storage_of(number_type.element)
            if kind is not None and kind.kind not in "iub" and word.startswith("0x"):
                if value >= 1 << 8 * kind.itemsize:
                    scanner.fail(f"{word[:40]!r} has more bits than {kind}")
                return float(np.array(value, f"u{kind.itemsize}").view(kind))
    return sign * value


def list_of(scanner: Scanner) -> list[Any]:
    """Read a list of attributes in square brackets."""
    scanner.expect("[")
    values: list[Any] = []
    while not scanner.takes("]"):
        values.append(attribute_of(scanner))
        scanner.takes(",")
        if not scanner.word:
            scanner.fail("a list is not closed")
    return values


def dictionary_of(scanner: Scanner) -> dict[str, Any]:
    """Read attributes in braces as a dictionary by their names; a name without a value has the value True."""
    scanner.expect("{")
    entries: dict[str, Any] = {}
    while not scanner.takes("}"):
        name = scanner.string() if scanner.word.startswith('"') else scanner.advance()
        entries[name] = attribute_of(scanner) if scanner.takes("=") else True
        scanner.takes(",")
        if not scanner.word:
            scanner.fail("a dictionary is not closed")
    return entries


def _array(scanner: Scanner) -> list[Any]:
    """Read `array<i64: 1, 0>` as a list."""
    scanner.advance()
    scanner.expect("<")
    scanner.advance()
    values: list[Any] = []
    if scanner.takes(":"):
        while scanner.word != ">":
            values.append(scanner.advance() == "true" if scanner.word in ("true", "false") else number_of(scanner))
            scanner.takes(",")
            if not scanner.word:
                scanner.fail("an array is not closed")
    scanner.expect(">")
    return values


_HEADS = {"gather", "scatter", "conv", "dot", "result_accuracy", "channel_handle", "output_operand_alias", "bounds", "type_extensions"}


def _dialect_attribute(scanner: Scanner) -> Any:
    """Read `#stablehlo.gather<offset_dims = [1], …>` as a dictionary, `#stablehlo<comparison_direction LT>` as a
    string.
    """
    name = scanner.advance()
    if scanner.word != "<":
        return name
    if name.startswith("#sdy"):
        scanner.skip_balanced()
        return name
    if name == "#stablehlo" or name == "#chlo" or name == "#vhlo":
        scanner.advance()
        kind = scanner.advance()
        value: Any = kind if scanner.at(">") else scanner.word
        if kind in _HEADS or scanner.at("<"):
            scanner.position = scanner.start
            scanner.advance()
            scanner.skip_balanced()
            scanner.expect(">")
            return kind
        scanner.advance()
        scanner.expect(">")
        return value
    if name.endswith(".conv"):
        scanner.advance()
        fields = convolution_dimensions(scanner)
        scanner.expect(">")
        return fields
    scanner.advance()
    fields: dict[str, Any] = {}
    while not scanner.takes(">"):
        key = scanner.advance()
        if not key:
            scanner.fail("an attribute is not closed")
        fields[key] = attribute_of(scanner) if scanner.takes("=") else True
        scanner.takes(",")
    return fields


def convolution_dimensions(scanner: Scanner) -> dict[str, Any]:
    """Read `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: the dimension numbers of a convolution by their names."""
    numbers: dict[str, Any] = {}
    for role, first, second in (
        ("input", ("b", "input_batch_dimension"), ("f", "input_feature_dimension")),
        ("kernel", ("i", "kernel_input_feature_dimension"), ("o", "kernel_output_feature_dimension")),
        ("output", ("b", "output_batch_dimension"), ("f", "output_feature_dimension")),
    ):
        begin = scanner.start
        if scanner.word != "[":
            scanner.fail("dimension numbers are missing")
        scanner.skip_balanced()
        entries = [each.strip() for each in scanner.text[begin + 1 : scanner.text.index("]", begin)].split(",")]
        spatial: dict[int, int] = {}
        for index, entry in enumerate(entries):
            if entry == first[0]:
                numbers[first[1]] = index
            elif entry == second[0]:
                numbers[second[1]] = index
            elif (number := decimal_of(entry)) is not None:
                spatial[number] = index
            else:
                scanner.fail(f"{entry[:20]!r} is not a dimension of a convolution")
        numbers[f"{role}_spatial_dimensions"] = [spatial[key] for key in sorted(spatial)]
        if role == "input":
            _joined(scanner)
        elif role == "kernel":
            scanner.expect("->")
    return numbers


def _joined(scanner: Scanner) -> None:
    if not scanner.word.startswith("x"):
        scanner.fail("'x' is missing between dimension numbers")
    scanner.position = scanner.start + 1
    scanner.advance()


def dense_of(scanner: Scanner) -> Dense:
    """Read the constant `dense<…> : tensor<…>`."""
    scanner.expect("dense")
    if scanner.word != "<":
        scanner.fail("a constant has no elements")
    scanner.advance()
    if scanner.word.startswith('"'):
        text = scanner.string()
        scanner.expect(">")
        scanner.expect(":")
        constant_type = type_of(scanner)
        return _of_bytes(scanner, text, constant_type)
    text = "" if scanner.at(">") else scanner.rest_until(">")
    if not text:
        scanner.takes(">")
    scanner.expect(":")
    return _of_text(scanner, text, type_of(scanner))


def _storage(scanner: Scanner, type_: Type) -> tuple[TensorType, np.dtype[Any]]:
    if not isinstance(type_, TensorType) or type_.shape is None or min(type_.shape, default=0) < 0:
        scanner.fail("a constant has no static shape")
    element = type_.element.storage if isinstance(type_.element, Quantized) else type_.element
    kind = storage_of(element)
    if kind is None:
        scanner.fail("constants of this element type are not supported")
    return type_, kind


def _of_bytes(scanner: Scanner, text: str, type_: Type) -> Dense:
    tensor, kind = _storage(scanner, type_)
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        scanner.fail("the bytes of a constant are not a hexadecimal number")
    return Dense(_shaped(scanner, _of_raw(data, kind, tensor), tensor), tensor)


def _of_raw(data: bytes, kind: np.dtype[Any], type_: TensorType) -> Array:
    if kind == np.dtype(bool):
        count = int(np.prod(type_.shape or (), dtype=np.int64))
        values = np.frombuffer(data, np.uint8)
        if values.size not in (1, count):
            values = np.unpackbits(values, bitorder="little")[:count]
        return values.astype(bool)
    return np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)


def _shaped(scanner: Scanner, values: Array, type_: TensorType) -> Array:
    count = 1
    for size in type_.shape or ():
        count *= size
    if values.size not in (1, count) or (count == 0 and values.size > 1):
        scanner.fail(f"a constant of {count} elements has {values.size}")
    return values.reshape(type_.shape or ()) if values.size == count else values.reshape(())


def _of_text(scanner: Scanner, text: str, type_: Type) -> Dense:
    tensor, kind = _storage(scanner, type_)
    if isinstance(tensor.element, ComplexType):
        parts = [each for each in re.split(r"[\[\](),\s]+", text) if each]
        # Hexadecimal digits are the bits of a part in its own type.
        part = np.dtype(f"f{kind.itemsize // 2}")
        numbers = np.array([_element(scanner, each, part) for each in parts], part).reshape(-1, 2)
        values = np.ascontiguousarray(numbers).view(kind).reshape(-1)
        return Dense(_shaped(scanner, values, tensor), tensor)
    parts = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    try:
        with np.errstate(over="ignore"):
            values = np.array(parts, dtype=np.float64).astype(kind) if kind.kind not in "iub" and "0x" not in text else None
        if values is None and kind.kind in "iu" and "0x" not in text:
            values = np.array([int(each) for each in parts], dtype=object).astype(kind)
    except (ValueError, OverflowError):
        values = None
    if values is None:
        values = np.array([_element(scanner, each, kind) for each in parts], kind)
    return Dense(_shaped(scanner, values, tensor), tensor)


def _element(scanner: Scanner, text: str, kind: np.dtype[Any]) -> Any:
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
        scanner.fail(f"{text[:40]!r} is not an element of a constant")
