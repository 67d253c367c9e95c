"""ONNX models whose weights stay in their file: a runtime maps them instead of copying them.

    initializer { name: "w", dims: [4096, 4096], raw_data: … }
->  initializer { name: "w", dims: [4096, 4096], external_data: [location: "model.onnx", offset: "731", …] }
"""

from __future__ import annotations

import mmap
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.opset.infrastructure import Constant
from moir.files.protobuf.wire import LENGTH, VARINT, FileFormat, Payload, Splitter, WireSchema, encode_varint, length_field

LARGE_WEIGHTS = 64 << 20
"""The size in bytes from which on weights are mapped instead of copied."""

_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION, _EXTERNAL = 9, 13, 14, 1
"""The numbers of fields of TensorProto (raw_data, external_data, data_location), and the value of data_location for
another file.
"""

_MODEL = WireSchema({7: WireSchema({5: WireSchema(payloads=frozenset((_RAW_DATA,)))})})
"""Where the raw data of the graph's initializers are in the encoding; those of bodies and of constants in nodes are not
included.
"""


def bytes_of_weights(module: ModuleOp) -> int:
    """The total size in bytes of the constants of a model."""
    return sum(op.value.nbytes for op in module.walk() if isinstance(op, Constant))


def with_weights_in_file(path: Path) -> bytes:
    """The bytes of an ONNX model that refers to its own file for weights. Raises ModelFileError for a damaged file."""

    def reference(_key: str, index: int) -> bytes:
        return _reference_to(path.name, splitter.payloads[index])

    format = FileFormat("an ONNX model", "ModelProto", _MODEL, {1: VARINT, 7: LENGTH}, {1: "ir_version", 7: "graph"}, reference)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as buffer:
        splitter = Splitter(path, buffer, format)
        try:
            return splitter.split().data
        finally:
            # The map cannot be closed while parts of it are in use.
            for chunk in splitter.chunks:
                if isinstance(chunk, memoryview):
                    chunk.release()


def _reference_to(location: str, payload: Payload) -> bytes:
    """The encoded fields of a TensorProto whose data is in the file `location`: that, and the offset and length of the
    data.
    """
    entries = {"location": location, "offset": str(payload.offset), "length": str(payload.size)}
    fields = [length_field(_EXTERNAL_DATA, length_field(1, key.encode()) + length_field(2, text.encode())) for key, text in entries.items()]
    return b"".join((*fields, encode_varint(_DATA_LOCATION << 3 | VARINT), encode_varint(_EXTERNAL)))
