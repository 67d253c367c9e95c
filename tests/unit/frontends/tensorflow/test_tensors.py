"""TensorProto -> data, from all fields and of all types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.tensorflow.messages import DATA_TYPE_NAMES, message_class
from moir.frontends.tensorflow.tensors import DATA_TYPES, TensorReader, stored_data
from tests.unit.frontends.tensorflow.samples import constant, data_type, fill_shape, graph, node, read, tensor, the


def proto(name: str, shape: Any, **fields: Any) -> Any:
    """A TensorProto of a data type."""
    message = message_class("TensorProto")(dtype=data_type(name), **fields)
    fill_shape(message.tensor_shape, shape)
    return message


def value(message: Any) -> DataAttr:
    """What the reader makes of a TensorProto."""
    return TensorReader(Path("model.pb")).read(message, "w")


VALUES = [
    ("FLOAT", [0.5, -2.0, 3.0], np.float32, "float_val"),
    ("DOUBLE", [0.5, -2.0, 3.0], np.float64, "double_val"),
    ("INT32", [1, -2, 3], np.int32, "int_val"),
    ("UINT8", [1, 2, 255], np.uint8, "int_val"),
    ("INT16", [1, -2, 3], np.int16, "int_val"),
    ("INT8", [1, -2, 127], np.int8, "int_val"),
    ("INT64", [1, -(2**63), 3], np.int64, "int64_val"),
    ("BOOL", [True, False, True], np.bool_, "bool_val"),
    ("QINT8", [1, -2, 3], np.int8, "int_val"),
    ("QUINT8", [1, 2, 3], np.uint8, "int_val"),
    ("QINT32", [1, -2, 3], np.int32, "int_val"),
    ("QINT16", [1, -2, 3], np.int16, "int_val"),
    ("QUINT16", [1, 2, 65535], np.uint16, "int_val"),
    ("UINT16", [1, 2, 65535], np.uint16, "int_val"),
    ("UINT32", [1, 2, 2**32 - 1], np.uint32, "uint32_val"),
    ("UINT64", [1, 2, 2**64 - 1], np.uint64, "uint64_val"),
    ("HALF", [0.5, -2.0, 3.0], np.float16, "half_val"),
    ("BFLOAT16", [0.5, -2.0, 3.0], ml_dtypes.bfloat16, "half_val"),
]


@pytest.mark.parametrize(("name", "values", "dtype", "field"), VALUES)
def test_values_in_both_forms(name, values, dtype, field):
    expected = np.array(values, dtype)
    typed = expected.view(np.uint16).tolist() if field == "half_val" else values
    for message in (proto(name, [3, 1], tensor_content=expected.tobytes()), proto(name, [3, 1], **{field: typed})):
        actual = value(message)
        assert (actual.shape, actual.array.dtype) == ((3, 1), expected.dtype)
        assert actual.array.ravel().tolist() == expected.tolist()
    assert value(proto(name, [], **{field: typed[:1]})).array.item() == expected[0]


def test_data_types():
    assert {name for name in DATA_TYPE_NAMES[1:] if DATA_TYPES[data_type(name)].element is None} == {
        "RESOURCE",
        "VARIANT",
        "FLOAT8_E4M3FNUZ",
        "FLOAT8_E4M3B11FNUZ",
        "FLOAT8_E5M2FNUZ",
        "INT2",
        "UINT2",
        "FLOAT4_E2M1FN",
    }
    assert DATA_TYPES[101] == DATA_TYPES[1]
    assert [name for name in DATA_TYPE_NAMES if DATA_TYPES.get(data_type(name), DATA_TYPES[1]).is_complex] == ["COMPLEX64", "COMPLEX128"]


@pytest.mark.parametrize(
    ("name", "dtype", "field"), [("COMPLEX64", np.float32, "scomplex_val"), ("COMPLEX128", np.float64, "dcomplex_val")]
)
def test_complex_numbers_are_pairs(name, dtype, field):
    expected = np.array([[1, 2], [3, 4]], dtype)
    for fields in ({"tensor_content": expected.tobytes()}, {field: [1, 2, 3, 4]}):
        actual = value(proto(name, [2], **fields))
        assert actual.shape == (2, 2)
        assert actual.array.dtype == dtype
        assert actual.array.tolist() == expected.tolist()
    assert value(proto(name, [3], **{field: [1, 2]})).array.tolist() == [[1, 2]] * 3
    assert value(proto(name, [3], **{field: [1, 2, 3, 4]})).array.tolist() == [[1, 2], [3, 4], [3, 4]]
    assert value(proto(name, [2])).array.tolist() == [[0, 0]] * 2
    with pytest.raises(ModelFileError, match="half a complex number"):
        value(proto(name, [3], **{field: [1, 2, 3]}))


@pytest.mark.parametrize(("name", "dtype"), [("FLOAT8_E5M2", ml_dtypes.float8_e5m2), ("FLOAT8_E4M3FN", ml_dtypes.float8_e4m3fn)])
def test_eight_bit_floats(name, dtype):
    expected = np.array([0.5, -2.0], dtype)
    for field in ("tensor_content", "float8_val"):
        assert value(proto(name, [2], **{field: expected.tobytes()})).array.tolist() == expected.tolist()


def test_four_bit_integers_share_bytes():
    actual = value(proto("INT4", [3], int_val=[1, -2, 7]))
    assert (actual.element, actual.shape, actual.array.tolist()) == (element_types.si4, (3,), [0xE1, 0x07])
    assert value(proto("UINT4", [2, 2], tensor_content=bytes([1, 15, 3, 4]))).array.tolist() == [0xF1, 0x43]


def test_strings():
    actual = value(proto("STRING", [2, 2], string_val=[b"a", b"b", "é".encode()]))
    assert (actual.element, actual.array.tolist()) == (element_types.string, [["a", "b"], ["é", "é"]])
    assert value(proto("STRING", [2])).array.tolist() == ["", ""]


@pytest.mark.parametrize(
    ("shape", "given", "expected"),
    [([2, 2], [1, 2], [1, 2, 2, 2]), ([3], [5], [5, 5, 5]), ([3], [], [0, 0, 0]), ([0, 4], [], []), ([], [7], [7])],
)
def test_the_last_value_is_repeated(shape, given, expected):
    for name, field in (("INT32", "int_val"), ("FLOAT", "float_val"), ("BOOL", "bool_val")):
        values = list(map(bool, given)) if name == "BOOL" else given
        actual = value(proto(name, shape, **{field: values}))
        assert actual.shape == tuple(shape)
        assert actual.array.ravel().tolist() == (list(map(bool, expected)) if name == "BOOL" else expected)


def test_repeated_values_take_no_memory():
    actual = value(proto("FLOAT", [1000, 1000, 200], float_val=[0.25]))
    assert actual.array.strides == (0, 0, 0)
    assert actual.array[999, 999, 199] == 0.25


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (proto("FLOAT", [1 << 40], float_val=[1]), "4 bytes of data, shape [1099511627776] of FLOAT takes 4398046511104"),
        (proto("FLOAT", [1 << 40, 1 << 40, 1 << 40]), "larger than any memory"),
        (proto("INT32", [1 << 28], int_val=[1, 2]), "takes 1073741824"),
        (proto("STRING", [1 << 30], string_val=[b"a"]), "takes"),
        (proto("FLOAT", [2], float_val=[1, 2, 3]), "3 values, its shape has room for 2"),
        (proto("FLOAT", [2], tensor_content=bytes(7)), "7 bytes of data, shape [2] of FLOAT takes 8"),
        (proto("STRING", [2], tensor_content=bytes(7)), "7 bytes of data, strings are not stored as bytes"),
        (proto("STRING", [1], string_val=[b"\xff"]), "a string is not in UTF-8"),
        (proto("UINT8", [1], int_val=[256]), "a value of UINT8 is out of range"),
        (proto("INT8", [1], int_val=[128]), "a value of INT8 is out of range"),
        (proto("FLOAT", [-1]), "shape [-1] has a negative dimension"),
        (proto("FLOAT", None), "its shape is unknown"),
        (proto("FLOAT", [1] * 64), "rank 64 is too large"),
        (proto("RESOURCE", []), "the operation sets have no element type for TensorFlow's data type RESOURCE"),
        (proto("FLOAT4_E2M1FN", []), "data type FLOAT4_E2M1FN"),
        (message_class("TensorProto")(dtype=77), "data type number 77"),
        (message_class("TensorProto")(), "data type number 0"),
    ],
)
def test_contradictions(message, reason):
    with pytest.raises(ModelFileError) as caught:
        value(message)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("model.pb: tensor 'w': ")


def test_many_repeated_values_cannot_eat_memory():
    reader = TensorReader(Path("model.pb"))
    message = proto("FLOAT", [100_000_000], float_val=[1])
    for _ in range(2):
        assert reader.read(message, "w").shape == (100_000_000,)
    with pytest.raises(ModelFileError, match="takes 400000000"):
        reader.read(message, "w")


def test_stored_bytes():
    stored = np.arange(6, dtype=np.float32).view(np.uint8)
    actual = stored_data(stored, (2, 3), data_type("FLOAT"), "w", "data, offset 3")
    assert actual.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.shares_memory(actual.array, stored)
    with pytest.raises(ModelFileError, match=r"data, offset 3: tensor 'w': 24 bytes of data, shape \[7\] of FLOAT takes 28"):
        stored_data(stored, (7,), data_type("FLOAT"), "w", "data, offset 3")


def large(name: str, values: np.ndarray, field: str) -> Any:
    """A Const whose values are in a typed field."""
    content = constant("w", np.zeros(1))
    content.attr["dtype"].type = data_type(name)
    content.attr["value"].tensor.CopyFrom(proto(name, values.shape, **{field: values.tolist()}))
    return content


def read_constant(content: Any, tmp_path: Path) -> DataAttr:
    """The value of a Const, from a file."""
    data = the(read(graph(content, node("y", "Identity", "w")), tmp_path), "opset1.Constant").properties["value"]
    assert isinstance(data, DataAttr)
    return data


@pytest.mark.parametrize(("name", "values", "dtype", "field"), [row for row in VALUES if row[3] != "half_val"])
def test_large_tensors_stay_in_the_file(tmp_path, name, values, dtype, field):
    many = np.resize(np.array(values, dtype), 2000)
    actual = read_constant(large(name, many, field), tmp_path)
    assert actual.array.dtype == dtype
    assert np.array_equal(actual.array, many)
    # What has a fixed width is a view of the file.
    assert actual.array.flags.writeable == (field not in ("float_val", "double_val"))


def test_large_contents_stay_in_the_file(tmp_path):
    values = np.arange(3000, dtype=np.float32).reshape(30, 100)
    actual = read_constant(constant("w", values), tmp_path)
    assert np.array_equal(actual.array, values)
    assert not actual.array.flags.writeable


def test_large_tensors_of_which_the_end_is_left_out(tmp_path):
    content = large("FLOAT", np.arange(1000, dtype=np.float32), "float_val")
    content.attr["value"].tensor.tensor_shape.dim[0].size = 1500
    actual = read_constant(content, tmp_path).array
    assert actual[998:1002].tolist() == [998, 999, 999, 999]
    assert actual.shape == (1500,)
    content.attr["value"].tensor.tensor_shape.dim[0].size = 999
    with pytest.raises(ModelFileError, match=r"4000 bytes, its shape has room for 3996"):
        read_constant(content, tmp_path)


def test_a_large_field_of_another_type(tmp_path):
    content = large("FLOAT", np.arange(1000, dtype=np.float32), "float_val")
    content.attr["value"].tensor.dtype = data_type("DOUBLE")
    with pytest.raises(ModelFileError, match=r"tf.Const 'w': tensor 'w': values of DOUBLE are in double_val, not in float_val"):
        read_constant(content, tmp_path)


def test_a_mark_in_the_file_means_nothing(tmp_path):
    message = tensor([1.0, 2.0])
    message.payload_mark = "0123456789abcdef:0"
    content = constant("w", [1.0])
    content.attr["value"].tensor.CopyFrom(message)
    assert read_constant(content, tmp_path).array.tolist() == [1.0, 2.0]
