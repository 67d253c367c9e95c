"""TensorProto and SparseTensorProto -> `#moir.data`.

Data is not copied: it is a view of the memory map of the model or of an external file, or of the parsed message if it
is small. Only integers in variable-length encoding (`int32_data`, `int64_data`, …), strings and sparse tensors are
decoded into memory.

Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

import math
import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.frameworks.onnx import DATA_TYPES, DataType
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.protobuf.varints import decode_varints, narrowed
from moir.files.protobuf.wire import Payload
from moir.frontends.onnx.external import ExternalFiles
from moir.frontends.onnx.messages import is_text

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

MAXIMUM_RANK = 64
"""Largest rank of a numpy array."""
MAXIMUM_DENSE_BYTES = 1 << 30
"""Largest size of a sparse tensor that is made dense.

It is also the largest total size for the sparse tensors of a model if they are mostly zeros.
"""
_MOSTLY_ZEROS_RATIO = 16
_CHEAP_DENSE_BYTES = 64 << 20
_MAXIMUM_DENSE_RATIO = 1000

_TYPED_FIELDS = {4: "float_data", 5: "int32_data", 7: "int64_data", 10: "double_data", 11: "uint64_data"}
_VALUE_FIELDS = (*_TYPED_FIELDS.values(), "string_data")
_RAW_DATA = 9
_EXTERNAL = 1


class TensorReader:
    """Reads the tensors of one model.

    Args:
        path: the model file.
        mapped: memory map of the file; None if the messages contain all data.
        payloads: where in the map the data is that was cut out of the messages.
        key: key of the entries of `external_data` that refer to payloads by their index.
    """

    def __init__(self, path: Path, mapped: mmap.mmap | None = None, payloads: list[Payload] | None = None, key: str = "") -> None:
        self.path = path
        self.mapped = mapped
        self.payloads = payloads or []
        self.key = key
        self.external = ExternalFiles(path)
        self.dense_bytes = 0

    def error(self, name: str, reason: str, offset: int | None = None) -> ModelFileError:
        """An error that names a tensor and the file."""
        location = str(self.path) if offset is None else f"{self.path}, offset {offset}"
        return ModelFileError(f"tensor {name!r}: {reason}", location=location)

    def read(self, tensor: onnx_ml_pb2.TensorProto, name: str) -> DataAttr:
        """The value of a tensor.

        Args:
            tensor: the message.
            name: its name, for messages.

        Raises ModelFileError if the data does not fit the shape, or the operation sets lack the data type.
        """
        shape = self.shape(tensor.dims, name)
        data_type = DATA_TYPES.get(tensor.data_type)
        if data_type is None or data_type.element is None:
            kind = f"number {tensor.data_type}" if data_type is None else data_type.name
            raise self.error(name, f"the operation sets have no element type for the ONNX data type {kind}")
        if tensor.HasField("segment"):
            raise self.error(name, "tensors in segments are not supported")
        element = data_type.element
        entries = {entry.key: entry.value for entry in tensor.external_data} if len(tensor.external_data) else {}
        if not all(map(is_text, (*entries, *entries.values()))):
            raise self.error(name, "an entry of its external data is not in UTF-8")
        payload = self.payload(entries)
        fields = [field for field in _VALUE_FIELDS if len(getattr(tensor, field))]
        if tensor.HasField("raw_data"):
            fields.append("raw_data")
        if tensor.data_location == _EXTERNAL:
            fields.append("external_data")
        if payload is not None:
            fields.append("raw_data" if payload.field == _RAW_DATA else _TYPED_FIELDS[payload.field])
        # Exporters write an empty raw_data beside typed data now and then.
        if len(fields) > 1 and "raw_data" in fields and payload is None and not tensor.raw_data:
            fields.remove("raw_data")
        if len(fields) > 1:
            raise self.error(name, f"it has both {fields[0]} and {fields[1]}")
        source = fields[0] if fields else data_type.field
        if source == "external_data" and data_type.element != element_types.string:
            stored = self.external.read(name, entries, self.size(shape, element))
        elif source == "raw_data" and data_type.element != element_types.string:
            stored = self.raw(tensor, payload)
        elif source != data_type.field:
            raise self.error(name, f"values of {data_type.name} are in {data_type.field}, not in {source}")
        else:
            stored = self.typed(tensor, payload, data_type, self.stored_count(shape, element), name)
        return self.data(stored, shape, element, name, None if payload is None else payload.offset)

    def shape(self, dims: Any, name: str) -> tuple[int, ...]:
        """The declared shape of a tensor. Raises ModelFileError for a negative dimension, or a rank or size that is too
        large.
        """
        shape = tuple(dims[:]) if len(dims) <= MAXIMUM_RANK else ()
        if len(dims) > MAXIMUM_RANK:
            raise self.error(name, f"rank {len(dims)} is more than {MAXIMUM_RANK}")
        if any(dimension < 0 for dimension in shape):
            raise self.error(name, f"shape {list(shape)} has a negative dimension")
        if reason := impossibility(shape):
            raise self.error(name, reason)
        return shape

    def payload(self, entries: dict[str, str]) -> Payload | None:
        """Where in the memory map the data of a tensor is, by the entries of its `external_data`; None if it is not in
        the map.
        """
        index = entries.get(self.key) if self.key else None
        return None if index is None else self.payloads[int(index)]

    def size(self, shape: tuple[int, ...], element: Attribute) -> int:
        """The size of a tensor in bytes."""
        return (math.prod(shape) * element_types.describe(element).bits + 7) // 8

    def stored_count(self, shape: tuple[int, ...], element: Attribute) -> int:
        """The number of elements in the typed field of a tensor: its bytes for packed types, else its elements."""
        return self.size(shape, element) if element_types.describe(element).is_packed else math.prod(shape)

    def raw(self, tensor: onnx_ml_pb2.TensorProto, payload: Payload | None) -> Array:
        """The bytes of `raw_data`: of the memory map if they have a payload there, else of the message."""
        if payload is None or self.mapped is None:
            return np.frombuffer(tensor.raw_data, np.uint8)
        return np.frombuffer(self.mapped, np.uint8, payload.size, payload.offset)

    def typed(self, tensor: onnx_ml_pb2.TensorProto, payload: Payload | None, data_type: DataType, expected: int, name: str) -> Array:
        """The elements of the typed field of a tensor (`float_data`, …), in their stored type.

        Raises ModelFileError unless there are `expected` elements.
        """
        stored = np.dtype(data_type.stored)
        if payload is None or self.mapped is None:
            values = getattr(tensor, data_type.field)
            if len(values) != expected:
                raise self.error(name, f"{len(values)} values instead of {expected}")
            if data_type.field == "string_data":
                texts = np.empty(expected, dtype=object)
                texts[:] = [self.text(value, name) for value in values]
                return texts
            if stored.kind == "f":
                return np.array(values, stored)
            wide = np.array(values, np.uint64 if data_type.field == "uint64_data" else np.int64).view(np.uint64)
            return self.narrowed(wide, data_type, name)
        encoded = np.frombuffer(self.mapped, np.uint8, payload.size, payload.offset)
        if data_type.field in ("float_data", "double_data"):
            if encoded.size != expected * stored.itemsize:
                raise self.error(name, f"{encoded.size} bytes instead of {expected * stored.itemsize}", payload.offset)
            return encoded.view(stored)
        try:
            wide = decode_varints(encoded, expected)
        except ValueError as error:
            raise self.error(name, str(error), payload.offset) from error
        if wide.size != expected:
            raise self.error(name, f"{wide.size} values instead of {expected}", payload.offset)
        return self.narrowed(wide, data_type, name)

    def narrowed(self, wide: Array, data_type: DataType, name: str) -> Array:
        """Convert 64-bit integers to the stored type. Raises ModelFileError for one that does not fit."""
        try:
            return narrowed(wide, np.dtype(data_type.stored))
        except OverflowError:
            raise self.error(name, f"a value of {data_type.name} is out of range") from None

    def text(self, value: bytes, name: str) -> str:
        """An element of a string tensor, as text. Raises ModelFileError if it is not in UTF-8."""
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise self.error(name, "a string is not in UTF-8") from error

    def data(self, stored: Array, shape: tuple[int, ...], element: Attribute, name: str, offset: int | None) -> DataAttr:
        """Stored values with the element type and the shape of the tensor. Raises ModelFileError if their size does not
        fit.
        """
        row = element_types.describe(element)
        if row.bits == 0:
            return DataAttr(TensorData(stored.reshape(shape), element, shape))
        size = self.size(shape, element)
        if stored.nbytes != size:
            raise self.error(name, f"{stored.nbytes} bytes of data, shape {list(shape)} of {row.xml} takes {size}", offset)
        flat = stored.reshape(-1).view(np.uint8)
        if element == element_types.boolean and flat.size and flat.max() > 1:
            flat = (flat != 0).view(np.uint8)
        if row.is_packed:
            return DataAttr(TensorData(flat, element, shape))
        return DataAttr(TensorData(flat.view(row.numpy).reshape(shape), element, shape))

    def read_sparse(self, sparse: onnx_ml_pb2.SparseTensorProto, name: str) -> DataAttr:
        """A sparse tensor, made dense. Raises ModelFileError if the dense tensor is far larger than the file."""
        shape = self.shape(sparse.dims, name)
        values, indices = self.read(sparse.values, name), self.read(sparse.indices, f"{name} (indices)")
        row = element_types.describe(values.element)
        if row.is_packed or row.bits == 0:
            raise self.error(name, f"sparse tensors of {row.xml} are not supported")
        size = self.size(shape, values.element)
        stored_bytes = values.nbytes + indices.nbytes
        if size > _MOSTLY_ZEROS_RATIO * stored_bytes:
            self.dense_bytes += size
        if max(size, self.dense_bytes) > MAXIMUM_DENSE_BYTES or (size > _CHEAP_DENSE_BYTES and size > _MAXIMUM_DENSE_RATIO * stored_bytes):
            raise self.error(name, f"a sparse tensor of {stored_bytes} bytes would take {size} bytes when dense")
        count = math.prod(values.shape)
        if len(values.shape) != 1 or indices.element != element_types.si64 or indices.shape not in ((count,), (count, len(shape))):
            raise self.error(name, f"indices of shape {list(indices.shape)} do not fit {count} values of a tensor of rank {len(shape)}")
        offsets = indices.array
        if count and not size:
            raise self.error(name, f"{count} values in an empty tensor")
        if (offsets.ndim == 2 and np.any(offsets >= np.array(shape))) or np.any(offsets < 0):
            raise self.error(name, "a sparse index is out of range")
        if size and offsets.ndim == 2:
            strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
            offsets = offsets @ strides
        if np.any(offsets >= math.prod(shape)):
            raise self.error(name, "a sparse index is out of range")
        dense = np.zeros(math.prod(shape), row.numpy)
        if count:
            dense[offsets] = values.array
        return self.data(dense, shape, values.element, name, None)
