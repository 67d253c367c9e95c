"""Tensors: every data type in every place of a file, external data, sparse tensors, and what is refused."""

from __future__ import annotations

import mmap
import os
import random

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper, save_model

from moir.dialects import element_types
from moir.dialects.memory_map import _memory_map_of
from moir.errors import ModelFileError
from moir.files.protobuf.wire import encode_varint
from moir.frontends.onnx import read_model
from moir.frontends.onnx.tensors import decode_varints
from tests.unit.frontends.onnx.samples import graph, initializer, model, node, operations, read, value

T = TensorProto


def with_tensor(tensor: TensorProto, sparse: bool = False) -> ModelProto:
    """A model whose output is a tensor named `w`."""
    kind = {"sparse_initializer": [tensor]} if sparse else {"initializers": [tensor]}
    return model(graph([node("Identity", "w", "y")], [], [value("y")], **kind))


def read_tensor(tensor: TensorProto, folder, sparse: bool = False):
    """The data of that tensor as moir reads it."""
    return operations(read(with_tensor(tensor, sparse), folder), "opset1.Constant")[0].properties["value"]


TYPES = [
    (T.FLOAT, element_types.f32, np.float32),
    (T.UINT8, element_types.ui8, np.uint8),
    (T.INT8, element_types.si8, np.int8),
    (T.UINT16, element_types.ui16, np.uint16),
    (T.INT16, element_types.si16, np.int16),
    (T.INT32, element_types.si32, np.int32),
    (T.INT64, element_types.si64, np.int64),
    (T.BOOL, element_types.boolean, np.bool_),
    (T.FLOAT16, element_types.f16, np.float16),
    (T.DOUBLE, element_types.f64, np.float64),
    (T.UINT32, element_types.ui32, np.uint32),
    (T.UINT64, element_types.ui64, np.uint64),
    (T.BFLOAT16, element_types.bf16, ml_dtypes.bfloat16),
    (T.FLOAT8E4M3FN, element_types.f8e4m3, ml_dtypes.float8_e4m3fn),
    (T.FLOAT8E5M2, element_types.f8e5m2, ml_dtypes.float8_e5m2),
    (T.FLOAT8E8M0, element_types.f8e8m0, ml_dtypes.float8_e8m0fnu),
]


@pytest.mark.parametrize("count", [4, 3000])
@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(("number", "element", "dtype"), TYPES)
def test_data_types(tmp_path, number, element, dtype, raw, count):
    wide = np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 100, (2, count // 2))
    if np.dtype(dtype).kind in "fi" and np.dtype(dtype).itemsize >= 2:
        wide = wide - 50
    if dtype is ml_dtypes.float8_e8m0fnu:
        wide = np.ones_like(wide) * 4
    expected = wide.astype(dtype)
    if raw:
        tensor = helper.make_tensor("w", number, expected.shape, expected.tobytes(), raw=True)
    else:
        tensor = helper.make_tensor("w", number, expected.shape, expected.ravel())
    actual = read_tensor(tensor, tmp_path)
    assert actual.element == element
    assert actual.array.dtype == np.dtype(dtype)
    assert actual.array.shape == expected.shape
    assert actual.array.tobytes() == expected.tobytes()
    assert actual.array.tobytes() == numpy_helper.to_array(tensor).astype(dtype).tobytes()


@pytest.mark.parametrize("count", [5, 4001])
@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(
    ("number", "element", "per_byte"),
    [(T.UINT4, element_types.ui4, 2), (T.INT4, element_types.si4, 2), (T.FLOAT4E2M1, element_types.f4e2m1, 2)],
)
def test_packed_types_keep_their_bytes(tmp_path, number, element, per_byte, raw, count):
    data = np.random.default_rng(1).integers(0, 256, -(-count // per_byte), np.uint8)
    tensor = T(name="w", data_type=number, dims=[count])
    if raw:
        tensor.raw_data = data.tobytes()
    else:
        tensor.int32_data.extend(data.tolist())
    actual = read_tensor(tensor, tmp_path)
    assert actual.element == element
    assert actual.shape == (count,)
    assert bytes(actual.contiguous_bytes()) == data.tobytes()


def test_strings(tmp_path):
    actual = read_tensor(helper.make_tensor("w", T.STRING, [2, 1], [b"a", "ü".encode()]), tmp_path)
    assert actual.element == element_types.string
    assert actual.array.tolist() == [["a"], ["ü"]]
    assert read_tensor(helper.make_tensor("w", T.STRING, [0], []), tmp_path).array.shape == (0,)


def test_scalars_and_empty_tensors(tmp_path):
    assert read_tensor(initializer("w", 3.5), tmp_path).array.shape == ()
    assert read_tensor(T(name="w", data_type=T.FLOAT, dims=[3, 0]), tmp_path).array.shape == (3, 0)


def test_large_payloads_are_views_of_the_memory_map(tmp_path):
    for tensor in (initializer("w", np.arange(5000)), helper.make_tensor("w", T.DOUBLE, [500], np.arange(500) / 7)):
        actual = read_tensor(tensor, tmp_path)
        assert isinstance(_memory_map_of(actual.array), mmap.mmap)
        assert not actual.array.flags.writeable


def test_a_payload_in_pieces_is_left_to_the_parser(tmp_path):
    pieces = [helper.make_tensor("w", T.FLOAT, [1000], np.arange(1000) + start) for start in (0, 1000)]
    pieces[0].dims[0] = 2000
    del pieces[1].dims[:]
    joined = b"".join(piece.SerializeToString() for piece in pieces)
    rest = with_tensor(initializer("w", 0))
    del rest.graph.initializer[:]
    added = encode_varint(5 << 3 | 2) + encode_varint(len(joined)) + joined
    # A second graph field is merged into the first one.
    module = read(rest.SerializeToString() + encode_varint(7 << 3 | 2) + encode_varint(len(added)) + added, tmp_path)
    assert operations(module, "opset1.Constant")[0].properties["value"].array.tolist() == list(range(2000))


def test_booleans_are_zero_or_one(tmp_path):
    actual = read_tensor(T(name="w", data_type=T.BOOL, dims=[3], raw_data=b"\x00\x07\x01"), tmp_path)
    assert actual.array.view(np.uint8).tolist() == [0, 1, 1]


def test_varints():
    source = random.Random(5)
    values = [source.getrandbits(source.choice((3, 7, 8, 14, 31, 63, 64))) for _ in range(2000)]
    encoded = np.frombuffer(b"".join(map(encode_varint, values)), np.uint8)
    assert decode_varints(encoded, len(values)).tolist() == values
    with pytest.raises(ValueError, match="1999"):
        decode_varints(encoded, 1999)
    assert decode_varints(encoded, 2001).size == 2000
    with pytest.raises(ValueError, match="damaged"):
        decode_varints(np.full(100, 0x80, np.uint8), 3)


def test_varints_across_windows(monkeypatch):
    monkeypatch.setattr("moir.files.protobuf.varints._DECODING_BYTES", 16)
    values = [(1 << 7 * (index % 10)) - 1 for index in range(200)]
    encoded = np.frombuffer(b"".join(map(encode_varint, values)), np.uint8)
    assert decode_varints(encoded, len(values)).tolist() == values


# Sparse tensors


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_initializers_become_dense(tmp_path, indices):
    sparse = helper.make_sparse_tensor(initializer("w", [5, 6]), initializer("", indices, np.int64), [2, 3])
    assert read_tensor(sparse, tmp_path, sparse=True).array.tolist() == [[0, 5, 0], [0, 0, 6]]


@pytest.mark.parametrize(
    ("indices", "dims", "reason"),
    [
        ([0, 6], [2, 3], "out of range"),
        ([0, -1], [2, 3], "out of range"),
        ([[0, 3], [0, 0]], [2, 3], "out of range"),
        ([0], [2, 3], "do not fit"),
        ([0, 1], [10**6, 10**6], "when dense"),
        ([0, 1], [40_000_000], "when dense"),
        ([0, 0], [0, 3], "empty tensor"),
    ],
)
def test_bad_sparse_tensors(tmp_path, indices, dims, reason):
    sparse = helper.make_sparse_tensor(initializer("w", [5, 6]), initializer("", indices, np.int64), dims)
    with pytest.raises(ModelFileError, match=reason):
        read_tensor(sparse, tmp_path, sparse=True)


def test_many_sparse_tensors_are_bounded_together(tmp_path):
    count = 40
    sparse = [helper.make_sparse_tensor(initializer(f"w{i}", [5]), initializer("", [i], np.int64), [10_000_000]) for i in range(count)]
    nodes = [node("Sum", " ".join(f"w{i}" for i in range(count)), "y")]
    with pytest.raises(ModelFileError, match="when dense"):
        read(model(graph(nodes, [], [value("y")], sparse_initializer=sparse)), tmp_path)


# Refused


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"data_type": T.FLOAT, "dims": [3], "raw_data": b"12345678"}, "8 bytes of data, shape .3. of f32 takes 12"),
        ({"data_type": T.FLOAT, "dims": [3], "float_data": [1.0]}, "1 values instead of 3"),
        ({"data_type": T.FLOAT, "dims": [10**6, 10**6], "float_data": [1.0]}, "instead of 1000000000000"),
        ({"data_type": T.FLOAT, "dims": [10**6, 10**6], "raw_data": b"1234"}, "takes 4000000000000"),
        ({"data_type": T.FLOAT, "dims": [2**62, 2**62, 16], "raw_data": b"1234"}, "larger than any memory"),
        ({"data_type": T.FLOAT, "dims": [-1], "raw_data": b"1234"}, "negative dimension"),
        ({"data_type": T.FLOAT, "dims": [-1, -1], "raw_data": b"1234"}, "negative dimension"),
        ({"data_type": T.FLOAT, "dims": [1] * 65, "raw_data": b"1234"}, "rank 65"),
        ({"data_type": T.FLOAT, "dims": [2**62, 2**62, 0]}, "larger than any memory"),
        ({"data_type": T.FLOAT, "dims": [1]}, "0 values instead of 1"),
        ({"data_type": T.FLOAT, "dims": [1], "int32_data": [1]}, "float_data, not in int32_data"),
        ({"data_type": T.FLOAT, "dims": [1], "raw_data": b"1234", "float_data": [1.0]}, "both"),
        ({"data_type": T.UINT8, "dims": [1], "int32_data": [256]}, "out of range"),
        ({"data_type": T.INT16, "dims": [1], "int32_data": [-32769]}, "out of range"),
        ({"data_type": T.STRING, "dims": [1], "raw_data": b"a"}, "string_data, not in raw_data"),
        ({"data_type": T.STRING, "dims": [1], "string_data": [b"\xff"]}, "UTF-8"),
        ({"data_type": T.COMPLEX64, "dims": [1], "raw_data": b"12345678"}, "COMPLEX64"),
        ({"data_type": T.UNDEFINED, "dims": [1], "raw_data": b"12345678"}, "number 0"),
        ({"data_type": 77, "dims": [1], "raw_data": b"12345678"}, "number 77"),
        ({"data_type": T.FLOAT, "dims": [1], "raw_data": b"1234", "segment": T.Segment(begin=0, end=1)}, "segments"),
    ],
)
def test_bad_tensors(tmp_path, fields, reason):
    with pytest.raises(ModelFileError, match=reason) as error:
        read_tensor(T(name="w", **fields), tmp_path)
    assert "'w'" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("number", [T.INT64, T.FLOAT])
def test_a_large_payload_of_another_size_names_its_offset(tmp_path, number):
    tensor = helper.make_tensor("w", number, [2000], np.arange(2000))
    tensor.dims[0] = 1999
    with pytest.raises(ModelFileError, match=r"offset \d+"):
        read_tensor(tensor, tmp_path)


# External data


def external(location: str, **more: str) -> TensorProto:
    tensor = T(name="w", data_type=T.FLOAT, dims=[4], data_location=T.EXTERNAL)
    for key, text in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def test_external_data_written_by_onnx(tmp_path):
    proto = model(
        graph(
            [node("Sum", "a b", "y")],
            [],
            [value("y")],
            [initializer("a", np.arange(1000)), initializer("b", np.arange(1000) * 2, np.float32)],
        )
    )
    save_model(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    first, second = (op.properties["value"].array for op in operations(read_model(tmp_path / "m.onnx"), "opset1.Constant"))
    assert first.tolist() == list(range(1000))
    assert second.tolist() == list(range(0, 2000, 2))
    assert _memory_map_of(first) is _memory_map_of(second)


def test_external_data_with_offset_and_without_length(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(b"1234567" + np.arange(4, dtype=np.float32).tobytes() + b"rest")
    assert read_tensor(external("sub/w.bin", offset="7"), tmp_path).array.tolist() == [0, 1, 2, 3]


def test_external_data_beyond_two_gigabytes(tmp_path):
    offset = 3 << 30
    with (tmp_path / "w.bin").open("wb") as file:
        file.seek(offset)
        file.write(np.arange(4, dtype=np.float32).tobytes())
    assert read_tensor(external("w.bin", offset=str(offset), length="16"), tmp_path).array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("location", "more", "reason"),
    [
        ("../w.bin", {}, "outside the folder"),
        ("sub/../../w.bin", {}, "outside the folder"),
        ("..\\w.bin", {}, "outside the folder"),
        ("/etc/passwd", {}, "outside the folder"),
        ("C:\\w.bin", {}, "outside the folder"),
        ("escape.bin", {}, "a link out of the folder"),
        ("", {}, "not a location"),
        ("a\0b", {}, "not a location"),
        ("missing.bin", {}, "cannot be read"),
        ("w.bin", {"offset": "1"}, "beyond the end"),
        ("w.bin", {"offset": "99999999999999999999"}, "not a number of bytes"),
        ("w.bin", {"offset": "-1"}, "not a number of bytes"),
        ("w.bin", {"length": "12"}, "takes 16 bytes, its entry says 12"),
        ("empty.bin", {}, "beyond the end"),
        ("pipe", {}, "not a regular file"),
        (".", {}, "not a regular file"),
    ],
)
def test_bad_external_data(tmp_path, location, more, reason):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (folder / "w.bin").write_bytes(bytes(16))
    (folder / "empty.bin").write_bytes(b"")
    (folder / "escape.bin").symlink_to(tmp_path / "w.bin")
    os.mkfifo(folder / "pipe")
    with pytest.raises(ModelFileError, match=reason):
        read_tensor(external(location, **more), folder)


def test_external_data_among_links_of_a_cache(tmp_path):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "1"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    (blobs / "aa").write_bytes(with_tensor(external("w.bin")).SerializeToString())
    (blobs / "bb").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    (snapshot / "model.onnx").symlink_to(blobs / "aa")
    (snapshot / "w.bin").symlink_to(blobs / "bb")
    (constant,) = operations(read_model(snapshot / "model.onnx"), "opset1.Constant")
    assert constant.properties["value"].array.tolist() == [0, 1, 2, 3]


def test_external_strings_and_double_storage_are_refused(tmp_path):
    tensor = external("w.bin")
    tensor.data_type = T.STRING
    with pytest.raises(ModelFileError, match="string_data"):
        read_tensor(tensor, tmp_path)
    tensor = external("w.bin")
    tensor.raw_data = bytes(16)
    with pytest.raises(ModelFileError, match="both"):
        read_tensor(tensor, tmp_path)
