"""Tensors of a subgraph: types, constants, and the numbers that integers stand for.

A tensor is a constant if its buffer has bytes. One buffer may serve tensors of several types and shapes.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import impossibility
from moir.frontends.tflite.flatbuffer import ModelFile, integers, text
from moir.frontends.tflite.sparsity import densified
from moir.support.records import Record

ELEMENTS: dict[int, Attribute] = element_types.of_xml_names(
    {
        0: "f32",
        1: "f16",
        2: "i32",
        3: "u8",
        4: "i64",
        5: "string",
        6: "boolean",
        7: "i16",
        9: "i8",
        10: "f64",
        12: "u64",
        15: "u32",
        16: "u16",
        17: "i4",
        18: "bf16",
        19: "i4",
        20: "u4",
        21: "f8e4m3",
        22: "f8e5m2",
    }
)
"""The element types by their numbers in the schema.

Handles and variants have no element type in the IR. Signed integers of 2 bits have none either; constants of that type
become i4.
"""

INT2 = 19
"""The number of the type of signed integers of 2 bits. A byte holds four of them, the first one in its lowest bits."""

FLOATS_OF_8_BITS = (21, 22)

HANDLES = (13, 14)
"""The numbers in the schema of two types without elements: handles of resources, and variants."""

COMPLEX: dict[int, Attribute] = {8: element_types.f32, 11: element_types.f64}
"""The element types of the real and imaginary parts of complex types, by the numbers of these in the schema.

A complex number is a pair in a last dimension of 2.
"""

LARGEST_RANK = 64


class Tensor(Record):
    """A tensor of a subgraph.

    Args:
        name: its name.
        shape: its dimensions, -1 for dynamic ones; empty if the rank is dynamic, too.
        is_ranked: whether the rank is known.
        number: its type, a number of the schema.
        buffer: the index of its buffer.
        is_variable: whether it keeps its value from one inference to the next.
        quantization: the scales and zero points by which its integers stand for real numbers; None if it is not
            quantized.
        table: the table in the file.
    """

    name: str
    shape: tuple[int, ...]
    is_ranked: bool
    number: int
    buffer: int
    is_variable: bool
    quantization: Quantization[Array] | None
    table: Any

    @property
    def element(self) -> Attribute:
        """The element type of the tensor; dynamic if the IR does not have it."""
        return ELEMENTS.get(self.number, element_types.dynamic)

    @property
    def part(self) -> Attribute | None:
        """The element type of the parts of complex numbers; None if the tensor is not complex."""
        return COMPLEX.get(self.number)

    def requantized(self, how: Quantization[Array] | None) -> Tensor:
        """The same tensor with the quantization `how`; None for no quantization."""
        return Tensor(self.name, self.shape, self.is_ranked, self.number, self.buffer, self.is_variable, how, self.table)


def tensor_of(file: ModelFile, table: Any) -> Tensor:
    """The tensor of a table. Raises ModelFileError for a table with invalid values."""
    name = text(table.Name())
    signature = integers(table.ShapeSignatureAsNumpy())
    shape = tuple(signature or integers(table.ShapeAsNumpy()))
    if len(shape) > LARGEST_RANK or min(shape, default=0) < -1 or impossibility(shape):
        raise file.error(f"the tensor {name!r} has a shape of {len(shape)} dimensions that no tensor has", "the file is damaged")
    number = table.Type()
    if number not in ELEMENTS and number not in COMPLEX and number not in HANDLES:
        hint = "it may be one of a newer version of TensorFlow; convert the model with another quantization"
        raise file.error(f"the tensor {name!r} has the element type {number}, which is not supported", hint)
    if number == INT2 and file.buffer(table.Buffer()) is None:
        raise file.error(f"the tensor {name!r} of 2-bit integers is no constant", "quantize activations to 8 bits, and weights alone to 2")
    if number in FLOATS_OF_8_BITS and table.Quantization() is not None and table.Quantization().ScaleLength():
        raise file.error(f"the tensor {name!r} of 8-bit floats has a scale, which is not supported", "quantize the model to integers")
    quantization = _quantization(file, table.Quantization(), shape, ELEMENTS.get(number), name)
    is_ranked = bool(shape) or bool(table.HasRank()) or not file.says_ranks
    return Tensor(name, shape, is_ranked, number, table.Buffer(), bool(table.IsVariable()), quantization, table)


def _quantization(
    file: ModelFile, parameters: Any, shape: tuple[int, ...], element: Attribute | None, name: str
) -> Quantization[Array] | None:
    """The quantization of a tensor of integers; None if there is no scale.

    Raises ModelFileError if scales and zero points do not fit the shape, or are not numbers.
    """
    if parameters is None or element is None or element in element_types.REAL_TYPES or describe(element).xml[0] not in "iu":
        return None
    if not parameters.ScaleLength():
        return None
    scale: Array = parameters.ScaleAsNumpy()
    zero = parameters.ZeroPointAsNumpy() if parameters.ZeroPointLength() else np.zeros(scale.size, np.int64)
    axis: int | None = None
    if scale.size > 1:
        # Old converters wrote a wrong dimension for biases, where there is no choice.
        axis = 0 if shape == (scale.size,) else int(parameters.QuantizedDimension())
        if not 0 <= axis < len(shape) or shape[axis] != scale.size:
            raise file.error(f"the tensor {name!r} has {scale.size} scales along dimension {axis} of {list(shape)}", "the file is damaged")
    if zero.size not in (1, scale.size) or not np.all(np.isfinite(scale)):
        raise file.error(f"the tensor {name!r} has {zero.size} zero points and {scale.size} scales, or they are not numbers")
    if np.any(scale <= 0):
        # Files have a scale of 0 where a tensor was never observed.
        return None
    return Quantization(scale, np.broadcast_to(zero, scale.shape), IntegerRange.of(element), axis)


def constant_of(file: ModelFile, tensor: Tensor) -> DataAttr | None:
    """The value of a constant; None for a tensor whose buffer is empty.

    Raises ModelFileError for a buffer whose size is not that of the tensor.
    """
    raw = file.buffer(tensor.buffer)
    if raw is None:
        is_empty = 0 in tensor.shape and tensor.number in ELEMENTS and tensor.number != 5
        return DataAttr.of(np.zeros(tensor.shape, describe(tensor.element).numpy), tensor.element) if is_empty else None
    if tensor.part is not None and min(tensor.shape, default=0) >= 0:
        row = describe(tensor.part)
        if raw.size == row.storage(2 * prod(tensor.shape)):
            return DataAttr.of(raw.view(row.numpy).reshape(*tensor.shape, 2), tensor.part)
    if tensor.number not in ELEMENTS:
        raise file.error(f"the constant {tensor.name!r} has the element type {tensor.number}, which the IR does not have")
    if min(tensor.shape, default=0) < 0:
        raise file.error(f"the constant {tensor.name!r} has a dynamic dimension", "the file is damaged")
    if tensor.element == element_types.string:
        return DataAttr.of(_strings(file, raw, tensor), tensor.element)
    row = describe(tensor.element)
    if (sparsity := tensor.table.Sparsity()) is not None:
        if tensor.number == INT2:
            raise file.error(f"the constant {tensor.name!r} of 2-bit integers is sparse, which is not supported", "store it densely")
        return DataAttr.of(densified(file, raw, tensor.shape, row, sparsity, tensor.name), tensor.element, tensor.shape)
    count = prod(tensor.shape)
    size = row.storage(count) if tensor.number != INT2 else -(-count // 4)
    if raw.size < size:
        reason = f"the constant {tensor.name!r} of shape {list(tensor.shape)} takes {size} bytes, and its buffer has {raw.size}"
        raise file.error(reason, "the file is damaged")
    raw = raw[:size] if tensor.number != INT2 else _widened(raw[:size])[: row.storage(count)]
    if row.is_packed:
        return DataAttr.of(raw, tensor.element, tensor.shape)
    return DataAttr.of(raw.view(row.numpy).reshape(tensor.shape), tensor.element)


def _widened(quarters: Array) -> Array:
    """Bytes with two signed 4-bit integers each, from bytes with four signed 2-bit integers each."""
    codes = np.arange(256)[:, None] >> np.arange(0, 8, 2) & 3
    nibbles = (codes ^ 2) - 2 & 15
    pairs = (nibbles[:, ::2] | nibbles[:, 1::2] << 4).astype(np.uint8)
    return pairs[quarters].reshape(-1)


def _strings(file: ModelFile, raw: Array, tensor: Tensor) -> Array:
    """The strings of a buffer: their number and n + 1 offsets as i32, then their bytes.

    Raises ModelFileError if their number is not that of the shape, or offsets are outside of the buffer.
    """
    data, count = raw.tobytes(), prod(tensor.shape)
    (number,) = struct.unpack_from("<i", data)
    if number != count or 4 * (count + 2) > len(data):
        raise file.error(f"the constant {tensor.name!r} of shape {list(tensor.shape)} has {number} strings", "the file is damaged")
    offsets: list[int] = np.frombuffer(data, "<i4", count + 1, 4).tolist()
    if any(not 0 <= a <= b <= len(data) for a, b in pairwise(offsets)):
        raise file.error(f"the strings of the constant {tensor.name!r} lie outside of its buffer", "the file is damaged")
    texts = [data[a:b].decode(errors="replace") for a, b in pairwise(offsets)]
    return np.array([*texts, None], object)[:-1].reshape(tensor.shape)
