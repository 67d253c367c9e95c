"""Splitting the wire format."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

from moir.errors import ModelFileError
from moir.files.protobuf.wire import Splitter, encode_varint, varint
from moir.frontends.onnx import read_model
from moir.frontends.onnx.wire_schema import ONNX_FORMAT
from tests.unit.frontends.onnx.samples import graph, initializer, model, node, operations, read, rich_model, value


def split(content: bytes):
    """The skeleton of a file with this content."""
    return Splitter(Path("model.onnx"), memoryview(content), ONNX_FORMAT).split()


def test_varints_are_the_ones_of_protobuf():
    source = random.Random(3)
    for value_ in [0, 1, 127, 128, 2**63, *(source.getrandbits(source.randrange(1, 64)) for _ in range(200))]:
        encoded = encode_varint(value_)
        assert varint(memoryview(encoded), 0, len(encoded)) == (value_, len(encoded))
        with pytest.raises(ValueError, match="truncated"):
            varint(memoryview(encoded), 0, len(encoded) - 1)


def test_a_small_model_is_its_own_skeleton():
    content = rich_model(4).SerializeToString()
    skeleton = split(content)
    assert skeleton.data == content
    assert not skeleton.payloads


def test_only_large_payloads_are_taken_out():
    proto = rich_model(1000)
    content = proto.SerializeToString()
    skeleton = split(content)
    assert len(skeleton.data) < 2000 < len(content)
    assert next(content[item.offset : item.offset + item.size] for item in skeleton.payloads) == proto.graph.initializer[0].raw_data
    parsed = ModelProto.FromString(skeleton.data)
    assert parsed.graph.initializer[1].dims == proto.graph.initializer[1].dims
    assert len(parsed.graph.initializer[1].float_data) == 0
    for tensor in (*parsed.graph.initializer, *proto.graph.initializer):
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "external_data"):
            tensor.ClearField(field)
    assert parsed == proto


def test_documentation_is_left_out():
    proto = rich_model(4)
    proto.graph.doc_string = "d" * 5000
    proto.graph.node[1].doc_string = "d" * 5000
    helper.set_model_props(proto, {"kept": "k" * 5000})
    parsed = ModelProto.FromString(split(proto.SerializeToString()).data)
    assert (parsed.graph.doc_string, parsed.graph.node[1].doc_string) == ("", "")
    assert parsed.metadata_props[0].value == "k" * 5000
    assert parsed.graph.node[1].op_type == "Block"


@pytest.mark.parametrize("size", [126, 128, 1023, 1025, 16383, 16400, 2_100_000])
def test_lengths_of_every_width(tmp_path, size):
    content = graph([node("Identity", "w", "y", blob=b"b" * size)], [], [value("y")], [initializer("w", np.arange(size), np.uint8)])
    module = read(model(content), tmp_path)
    array = operations(module, "opset1.Constant")[0].properties["value"].array
    assert array.tobytes() == np.arange(size).astype(np.uint8).tobytes()


def test_unknown_fields_are_skipped(tmp_path):
    extra = (
        encode_varint(900 << 3 | 2)
        + encode_varint(3000)
        + bytes(3000)
        + encode_varint(901 << 3 | 5)
        + bytes(4)
        + encode_varint(902 << 3 | 1)
        + bytes(8)
    )
    assert operations(read(rich_model().SerializeToString() + extra, tmp_path), "onnx.If")


def test_a_file_beyond_two_gigabytes(tmp_path):
    """Protobuf reads no message of more than 2 GiB; only the skeleton is one. The file is sparse, so it takes no space."""
    count = 3 << 28
    small = model(graph([node("Add", "x w", "y")], [value("x", [1])], [value("y")]))
    inner = small.graph.SerializeToString()
    small.ClearField("graph")
    head = initializer("w", [0]).SerializeToString()
    head = head[: head.index(b"\x4a\x04")].replace(b"\x08\x01", b"\x08" + encode_varint(count), 1)
    head += b"\x4a" + encode_varint(4 * count)
    prefix = b"\x2a" + encode_varint(len(head) + 4 * count) + head
    with (tmp_path / "big.onnx").open("wb") as file:
        file.write(small.SerializeToString() + b"\x3a" + encode_varint(len(inner) + len(prefix) + 4 * count) + inner + prefix)
        file.truncate(file.tell() + 4 * count)
    (constant,) = operations(read_model(tmp_path / "big.onnx"), "opset1.Constant")
    assert constant.properties["value"].array.shape == (count,)
    assert constant.properties["value"].array[-1] == 0
    with (tmp_path / "big.onnx").open("r+b") as file:
        file.truncate((tmp_path / "big.onnx").stat().st_size - 1)
    with pytest.raises(ModelFileError, match="truncated"):
        read_model(tmp_path / "big.onnx")
