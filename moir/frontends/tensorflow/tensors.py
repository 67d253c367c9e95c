"""TensorProto -> `#moir.data`.

Data is not copied: it is a view of the model's memory map, or of the parsed message if it is small. A tensor whose
elements are all equal may be stored as a single element; it becomes a view with strides of zero. Complex tensors become
real ones with a last dimension of 2.

Source: tensor.proto and types.proto of TensorFlow 2.21.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.protobuf.varints import decode_varints, narrowed
from moir.files.protobuf.wire import Payload
from moir.frontends.tensorflow.messages import DATA_TYPE_NAMES, REFERENCE_OFFSET
from moir.support.records import Record

MAXIMUM_RANK = 64
"""Largest rank of a numpy array. Complex tensors may have one dimension less, besides the last dimension of 2."""
MAXIMUM_FILLED_BYTES = 1 << 30
"""Largest total size of the tensors of a file that are stored as a few elements, the last of which is repeated."""
MAXIMUM_COPIED_BYTES = 1 << 28
"""Largest total size of the tensors whose last stored element is repeated after others, so that they have to be
copied.
"""


class DataType(Record):
    """A data type of TensorFlow.

    Args:
        name: its name without `DT_`.
        element: the element type; for a complex type that of its parts; None if the operation sets have no such type.
        field: the field of TensorProto with the values, if they are not in `tensor_content`.
        stored: the numpy type of an element in `tensor_content` and in checkpoints.
    """

    name: str
    element: Attribute | None
    field: str
    stored: str

    @property
    def is_complex(self) -> bool:
        """Whether an element is a pair of a real and an imaginary part."""
        return self.name.startswith("COMPLEX")


_ROWS = {
    "FLOAT": (element_types.f32, "float_val", "<f4"),
    "DOUBLE": (element_types.f64, "double_val", "<f8"),
    "INT32": (element_types.si32, "int_val", "<i4"),
    "UINT8": (element_types.ui8, "int_val", "<u1"),
    "INT16": (element_types.si16, "int_val", "<i2"),
    "INT8": (element_types.si8, "int_val", "<i1"),
    "STRING": (element_types.string, "string_val", "O"),
    "COMPLEX64": (element_types.f32, "scomplex_val", "<f4"),
    "INT64": (element_types.si64, "int64_val", "<i8"),
    "BOOL": (element_types.boolean, "bool_val", "<u1"),
    "QINT8": (element_types.si8, "int_val", "<i1"),
    "QUINT8": (element_types.ui8, "int_val", "<u1"),
    "QINT32": (element_types.si32, "int_val", "<i4"),
    "BFLOAT16": (element_types.bf16, "half_val", "<u2"),
    "QINT16": (element_types.si16, "int_val", "<i2"),
    "QUINT16": (element_types.ui16, "int_val", "<u2"),
    "UINT16": (element_types.ui16, "int_val", "<u2"),
    "COMPLEX128": (element_types.f64, "dcomplex_val", "<f8"),
    "HALF": (element_types.f16, "half_val", "<u2"),
    "UINT32": (element_types.ui32, "uint32_val", "<u4"),
    "UINT64": (element_types.ui64, "uint64_val", "<u8"),
    "FLOAT8_E5M2": (element_types.f8e5m2, "float8_val", "<u1"),
    "FLOAT8_E4M3FN": (element_types.f8e4m3, "float8_val", "<u1"),
    "INT4": (element_types.si4, "int_val", "<i1"),
    "UINT4": (element_types.ui4, "int_val", "<u1"),
}

DATA_TYPES = {
    number + offset: DataType(name, *_ROWS.get(name, (None, "", "O")))
    for offset in (0, REFERENCE_OFFSET)
    for number, name in enumerate(DATA_TYPE_NAMES)
    if number
}
"""The rows by the number of the data type. A reference to a variable has the row of the variable's type."""

_FIELD_NUMBERS = {
    4: "tensor_content",
    5: "float_val",
    6: "double_val",
    7: "int_val",
    9: "scomplex_val",
    10: "int64_val",
    11: "bool_val",
    12: "dcomplex_val",
    13: "half_val",
    16: "uint32_val",
    17: "uint64_val",
    18: "float8_val",
}
VALUE_FIELDS = tuple(_FIELD_NUMBERS.values())
"""The fields of a TensorProto with values."""


def element_type(data_type: int) -> Attribute:
    """The element type for the number of a data type; the dynamic type for resources, variants and others."""
    row = DATA_TYPES.get(data_type)
    return element_types.dynamic if row is None or row.element is None else row.element


def readable_type(data_type: int, name: str, location: str) -> DataType:
    """The row of the data type with a number.

    Raises ModelFileError, about the tensor `name`, for a type that the operation sets lack.
    """
    row = DATA_TYPES.get(data_type)
    if row is None or row.element is None:
        kind = f"number {data_type}" if row is None else row.name
        reason = f"tensor {name!r}: the operation sets have no element type for TensorFlow's data type {kind}"
        raise ModelFileError(reason, location=location)
    return row


def stored_data(stored: Array, shape: Sequence[int], data_type: int, name: str, location: str) -> DataAttr:
    """The value of a tensor from its bytes (uint8), as in `tensor_content` and in checkpoints; not for strings.

    Args:
        stored: the bytes.
        shape: the declared shape.
        data_type: number of the data type.
        name: name of the tensor, for messages.
        location: the file, for messages.

    Raises ModelFileError if the bytes do not fit the shape, or the operation sets lack the data type.
    """
    row = readable_type(data_type, name, location)
    size = math.prod(shape) * (2 if row.is_complex else 1) * np.dtype(row.stored).itemsize
    if stored.nbytes != size or row.stored == "O":
        what = "strings are not stored as bytes" if row.stored == "O" else f"shape {list(shape)} of {row.name} takes {size}"
        raise ModelFileError(f"tensor {name!r}: {stored.nbytes} bytes of data, {what}", location=location)
    return _data(stored.view(row.stored), tuple(shape), row, name, location)


def _data(values: Array, shape: tuple[int, ...], row: DataType, name: str, location: str) -> DataAttr:
    """Stored elements, as many as the shape requires, as a value with the element type and the shape of the tensor.

    Raises ModelFileError for an impossible shape.
    """
    assert row.element is not None
    described = element_types.describe(row.element)
    if row.is_complex:
        shape = (*shape, 2)
    if described.is_packed:
        return DataAttr(TensorData(_packed(values.reshape(-1)), row.element, shape))
    if row.element == element_types.boolean and values.size and values.strides != (0,) * values.ndim and values.max() > 1:
        values = values != 0
    if row.stored != "O":
        values = values.view(described.numpy)
    try:
        return DataAttr(TensorData(values.reshape(shape), row.element, shape))
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"tensor {name!r}: impossible shape {list(shape)}", location=location) from error


def _packed(values: Array) -> Array:
    """Four-bit integers packed in pairs, the first one in the lower half of the byte."""
    halves = np.zeros((values.size + 1) // 2 * 2, np.uint8)
    halves[: values.size] = values.view(np.uint8) & 0x0F
    return halves[0::2] | halves[1::2] << 4


class TensorReader:
    """Reads the tensors of one file.

    Args:
        path: the file.
        mapped: memory map of the file; None if the messages contain all data.
        payloads: the payloads that are not in the messages.
        key: key of the marks that refer to payloads.
    """

    def __init__(self, path: Path, mapped: mmap.mmap | None = None, payloads: list[Payload] | None = None, key: str = "") -> None:
        self.path = path
        self.mapped = mapped
        self.payloads = payloads or []
        self.key = key
        self.filled_bytes = 0
        self.copied_bytes = 0

    def error(self, name: str, reason: str) -> ModelFileError:
        """An error that names a tensor and the file."""
        return ModelFileError(f"tensor {name!r}: {reason}", location=str(self.path))

    def read(self, tensor: Any, name: str) -> DataAttr:
        """The value of a TensorProto.

        Args:
            tensor: the message.
            name: its name, for messages.

        Raises ModelFileError if the data does not fit the shape, or the operation sets lack the data type.
        """
        row = readable_type(tensor.dtype, name, str(self.path))
        shape = self.shape(tensor.tensor_shape, name)
        payload = self.payload(tensor)
        if payload is not None and _FIELD_NUMBERS[payload.field] == "tensor_content":
            assert self.mapped is not None
            content = np.frombuffer(self.mapped, np.uint8, payload.size, payload.offset)
            return stored_data(content, shape, tensor.dtype, name, f"{self.path}, offset {payload.offset}")
        if len(tensor.tensor_content):
            return stored_data(np.frombuffer(tensor.tensor_content, np.uint8), shape, tensor.dtype, name, str(self.path))
        if payload is not None and _FIELD_NUMBERS[payload.field] != row.field:
            raise self.error(name, f"values of {row.name} are in {row.field}, not in {_FIELD_NUMBERS[payload.field]}")
        count = math.prod(shape) * (2 if row.is_complex else 1)
        values = self.elements(tensor, payload, row, count, name)
        return _data(self.filled(values, count, shape, row, name), shape, row, name, str(self.path))

    def shape(self, message: Any, name: str) -> tuple[int, ...]:
        """The declared shape of a tensor. Raises ModelFileError if it is unknown, negative or too large."""
        if message.unknown_rank or len(message.dim) >= MAXIMUM_RANK:
            raise self.error(name, "its shape is unknown" if message.unknown_rank else f"rank {len(message.dim)} is too large")
        shape = tuple(dimension.size for dimension in message.dim)
        if min(shape, default=0) < 0:
            raise self.error(name, f"shape {list(shape)} has a negative dimension")
        if reason := impossibility(shape):
            raise self.error(name, reason)
        return shape

    def payload(self, tensor: Any) -> Payload | None:
        """The payload of a tensor in the memory map, None if it has none there."""
        key, _, index = tensor.payload_mark.partition(":")
        return self.payloads[int(index)] if self.key and key == self.key else None

    def elements(self, tensor: Any, payload: Payload | None, row: DataType, most: int, name: str) -> Array:
        """The elements in the typed field of a tensor, in their stored type.

        Args:
            tensor: the TensorProto.
            payload: where the field is in the memory map; None if the message has it.
            row: the data type.
            most: how many elements the shape has room for.
            name: name of the tensor, for messages.

        Raises ModelFileError if there are more than `most`.
        """
        dtype = np.dtype(row.stored)
        if payload is None or self.mapped is None:
            values = getattr(tensor, row.field)
            if len(values) > most:
                raise self.error(name, f"{len(values)} values, its shape has room for {most}")
            if row.field == "string_val":
                texts = np.empty(len(values), object)
                texts[:] = [self.text(value, name) for value in values]
                return texts
            if row.field == "float8_val":
                return np.frombuffer(values, dtype)
            if dtype.kind == "f":
                return np.array(values, dtype)
            wide = np.array(values, np.uint64 if dtype.kind == "u" and dtype.itemsize == 8 else np.int64).view(np.uint64)
            return self.narrowed(wide, row, name)
        encoded = np.frombuffer(self.mapped, np.uint8, payload.size, payload.offset)
        if dtype.kind == "f" or row.field == "float8_val":
            if encoded.size % dtype.itemsize or encoded.size > most * dtype.itemsize:
                raise self.error(name, f"{encoded.size} bytes, its shape has room for {most * dtype.itemsize}")
            return encoded.view(dtype)
        try:
            return self.narrowed(decode_varints(encoded, most), row, name)
        except ValueError as error:
            raise self.error(name, str(error)) from error

    def narrowed(self, wide: Array, row: DataType, name: str) -> Array:
        """64-bit integers in the stored type of the tensor `name`. Raises ModelFileError for one that does not fit."""
        try:
            return narrowed(wide, np.dtype(row.stored))
        except OverflowError:
            raise self.error(name, f"a value of {row.name} is out of range") from None

    def text(self, value: bytes, name: str) -> str:
        """An element of a string tensor, as text. Raises ModelFileError if it is not in UTF-8."""
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise self.error(name, "a string is not in UTF-8") from None

    def filled(self, values: Array, count: int, shape: tuple[int, ...], row: DataType, name: str) -> Array:
        """The `count` elements of a tensor, from its first ones: the last one is repeated; without any all are zeros.

        Raises ModelFileError for half a complex number, or if repeated elements take too much memory.
        """
        unit = 2 if row.is_complex else 1
        if values.size == count:
            return values
        if values.size % unit:
            raise self.error(name, "half a complex number")
        if not values.size:
            values = np.array([""] * unit, object) if row.stored == "O" else np.zeros(unit, row.stored)
        size = count * values.itemsize
        self.filled_bytes += size
        self.copied_bytes += 0 if values.size == unit else size
        if self.filled_bytes > MAXIMUM_FILLED_BYTES or self.copied_bytes > MAXIMUM_COPIED_BYTES:
            raise self.error(name, f"{values.nbytes} bytes of data, shape {list(shape)} of {row.name} takes {size}")
        last = np.broadcast_to(values[-unit:], (count // unit - values.size // unit + 1, unit))
        if values.size == unit:
            return np.broadcast_to(values if unit > 1 else values[0], (*shape, *([2] if unit > 1 else [])))
        return np.concatenate([values[:-unit], last.reshape(-1)])
