"""The weights of a `.caffemodel`, by layer, and mean images: views of the memory map of the file.

Source: caffe.proto of BVLC Caffe 1.0, and `Blob::FromProto` for the shapes of old blobs.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.element_types import f32
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.protobuf.damage import report_damage
from moir.files.protobuf.text_format import Scalar, TextMessage
from moir.files.protobuf.wire import FileFormat, Payload, Splitter
from moir.files.reading import check_beginning, map_content
from moir.frontends.caffe.messages import BLOB_FORMAT, MESSAGES, NETWORK_FORMAT
from moir.frontends.caffe.proto_file import message_classes

MAXIMUM_RANK = 32
"""Largest rank of a blob in Caffe."""

_RAW_TYPES = {0: "<f8", 1: "<f4", 2: "<f2", 3: "<i4", 4: "<u4"}
"""The numpy types of NVCaffe's `raw_data`, by `raw_data_type`."""
_STORED_TYPES = {5: "<f4", 8: "<f8"}
"""The numpy types of the fields `data` and `double_data`."""


class Weights:
    """The blobs of the layers of a file.

    Args:
        path: the `.caffemodel`.
        model: the file that it was found beside, see `map_content`.

    Raises ModelFileError for a file that is damaged, or is not a Caffe model.
    """

    def __init__(self, path: Path, model: Path | None = None) -> None:
        self._file = _BlobFile(path, NETWORK_FORMAT, model)
        network = self._file.message
        if any(layer.HasField("layer") for layer in network.layers):
            raise v0_error(str(path))
        self._blobs = {_text(layer.name): layer.blobs for layer in (*network.layers, *network.layer) if len(layer.blobs)}
        if not network.layers and not network.layer:
            raise ModelFileError("not a Caffe model: it has no layers", location=str(path))

    @property
    def layers(self) -> list[str]:
        """The names of the layers that have blobs."""
        return list(self._blobs)

    def described(self, description: Path) -> TextMessage:
        """The fields of the file without weights, named as in the `.proto` file `description`.

        Raises ModelFileError if they do not fit.
        """
        return self._file.described(description)

    def of(self, layer: str) -> list[DataAttr]:
        """The blobs of a layer in f32; an empty list for a layer that the file does not have."""
        return [self._file.blob(each, f"blob {index} of layer {layer!r}") for index, each in enumerate(self._blobs.get(layer, ()))]


def read_mean(path: Path) -> DataAttr:
    """The mean image of a `.binaryproto`. Raises ModelFileError for a file that is damaged or of another kind."""
    file = _BlobFile(path, BLOB_FORMAT)
    return file.blob(file.message, "the mean image")


def v0_error(location: str) -> ModelFileError:
    """The error for a network in the oldest of Caffe's formats."""
    hint = "upgrade it with Caffe's own tools, upgrade_net_proto_text and upgrade_net_proto_binary"
    return ModelFileError("the network is in Caffe's format V0, of 2013", location=location, hint=hint)


def _text(name: bytes) -> str:
    """A layer's name decoded to a text in the same way as names in the `.prototxt`."""
    return name.decode(errors="replace")


def _tree(message: Any) -> TextMessage:
    """A message as a tree of fields, as parsing its text would give, without blobs and maps."""
    tree = TextMessage(0)
    for field, value in message.ListFields():
        if field.name == "blobs" or (field.message_type is not None and field.message_type.GetOptions().map_entry):
            continue
        values: list[Any] = list(value) if hasattr(value, "extend") else [value]
        tree.fields[field.name] = [_value(field, each) for each in values]
    return tree


def _value(field: Any, value: Any) -> Scalar | TextMessage:
    """The value of a field in the form of a prototxt: a value of an enumeration is its name."""
    if field.message_type is not None:
        return _tree(value)
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return value if named is None else named.name
    # A number in single precision has as many digits as that needs.
    return float(str(np.float32(value))) if field.cpp_type == field.CPPTYPE_FLOAT else _text(value) if isinstance(value, bytes) else value


class _BlobFile:
    """A file of blobs: its outermost message, and the memory map with their data."""

    def __init__(self, path: Path, format: FileFormat, model: Path | None = None) -> None:
        self._path = path
        self._mapped = map_content(path, model)
        if format is NETWORK_FORMAT:
            check_beginning(path, self._mapped, "caffe")
        splitter = Splitter(path, memoryview(self._mapped), format)
        skeleton = splitter.split()
        self._payloads, self._key, self._skeleton = skeleton.payloads, skeleton.key, skeleton.data
        kind = MESSAGES.reader(format.message)
        try:
            self.message: Any = kind.FromString(skeleton.data)
        except ValueError as error:
            report_damage(splitter, kind)
            reason = f"damaged or not {format.name}: its protobuf encoding is invalid"
            raise ModelFileError(reason, location=str(path)) from error

    def described(self, description: Path) -> TextMessage:
        """See `Weights.described`."""
        from google.protobuf.message import DecodeError

        message = message_classes(description)("NetParameter")()
        try:
            message.ParseFromString(self._skeleton)
        except DecodeError as error:
            raise ModelFileError(f"the file does not fit {description.name}", location=str(self._path)) from error
        return _tree(message)

    def blob(self, blob: Any, what: str) -> DataAttr:
        """A blob as f32 with its shape; before Caffe 1.0 every blob had four dimensions."""
        shape = tuple(blob.shape.dim) if blob.HasField("shape") else (blob.num, blob.channels, blob.height, blob.width)
        values = self._values(blob, what)
        if len(shape) > MAXIMUM_RANK or min(shape, default=0) < 0 or math.prod(shape) != values.size:
            raise ModelFileError(f"{what} has {values.size} values, which do not fit its shape {list(shape)}", location=str(self._path))
        if reason := impossibility(shape):
            raise ModelFileError(f"{what}: {reason}", location=str(self._path))
        values = values.reshape(shape)
        return DataAttr(TensorData(values if values.dtype == np.float32 else values.astype(np.float32), f32, shape))

    def _values(self, blob: Any, what: str) -> Array:
        """The values of a blob in the type they are stored in."""
        payload = self._payload(blob)
        if payload is not None:
            stored = _STORED_TYPES.get(payload.field) or self._raw_type(blob, what)
            size = np.dtype(stored).itemsize
            if payload.size % size:
                raise ModelFileError(f"{what}: {payload.size} bytes are not a multiple of {size}", location=str(self._path))
            return np.frombuffer(self._mapped, stored, payload.size // size, payload.offset)
        if len(blob.raw_data):
            stored = self._raw_type(blob, what)
            if len(blob.raw_data) % np.dtype(stored).itemsize:
                raise ModelFileError(f"{what}: half a value in its raw data", location=str(self._path))
            return np.frombuffer(blob.raw_data, stored)
        return np.array(blob.double_data, np.float64) if len(blob.double_data) else np.array(blob.data, np.float32)

    def _raw_type(self, blob: Any, what: str) -> str:
        if blob.raw_data_type not in _RAW_TYPES:
            raise ModelFileError(f"{what}: its raw data is of the unknown type {blob.raw_data_type}", location=str(self._path))
        return _RAW_TYPES[blob.raw_data_type]

    def _payload(self, blob: Any) -> Payload | None:
        """The payload of a blob in the memory map, None if it has none there."""
        key, _, index = blob.payload_mark.partition(":")
        return self._payloads[int(index)] if key == self._key else None
