"""Single operators in files that no converter writes, against the interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.files import Operator, Tensor, file_of
from tests.numerical.tflite.models import results_of

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(12)


class Case(NamedTuple):
    """An operator.

    Args:
        kind: its kind.
        inputs: the operands; those of which `fixed` has the number are constants.
        outputs: values of the types and shapes of the results.
        options: the table of its options, and its fields.
    """

    kind: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    options: str = ""
    fields: dict[str, Any] = {}
    fixed: tuple[int, ...] = ()


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def zeros(*shape: int, dtype: str = "float32") -> Array:
    return np.zeros(shape, dtype)


def integers(*values: int) -> Array:
    return np.array(values, np.int32)


SPARSE = (integers(1, 3, 0), np.array([[0, 0], [2, 0], [2, 1]], np.int32), integers(3, 2), np.abs(normal(3)), normal(5, 4))
"""The operands of a sparse lookup: the first line has one row of the table, the second none, the third two."""

STRIDES, DILATIONS = {"StrideW": 1, "StrideH": 1, "Padding": 1}, {"DilationWFactor": 1, "DilationHFactor": 1}
POOL = {"Padding": 1, "StrideW": 2, "StrideH": 1, "FilterWidth": 2, "FilterHeight": 3}

CASES = {
    "embedding": Case("EMBEDDING_LOOKUP", (integers(2, 0, 2), normal(4, 3)), (zeros(3, 3),), fixed=(1,)),
    "hash table": Case(
        "HASHTABLE_LOOKUP", (integers(5, 7, -1), integers(-1, 3, 5), normal(3, 2)), (zeros(3, 2), zeros(3, dtype="uint8")), fixed=(1, 2)
    ),
    "norms of windows": Case("L2_POOL_2D", (normal(1, 5, 6, 2),), (zeros(1, 3, 3, 2),), "Pool2DOptions", POOL),
    "fake quantization": Case("FAKE_QUANT", (normal(20),), (zeros(20),), "FakeQuantOptions", {"Min": -0.5, "Max": 1.0, "NumBits": 8}),
    "from zero to one": Case("RELU_0_TO_1", (normal(20),), (zeros(20),)),
    "squeeze": Case("SQUEEZE", (normal(2, 1, 3),), (zeros(2, 3),), "SqueezeOptions", {"SqueezeDims": integers(1)}),
    "shape as an option": Case("RESHAPE", (normal(2, 6),), (zeros(3, 4),), "ReshapeOptions", {"NewShape": integers(3, -1)}),
    "shape as a matrix and as an option": Case(
        "RESHAPE", (normal(2, 6), integers(3, 4).reshape(1, 2)), (zeros(3, 4),), "ReshapeOptions", {"NewShape": integers(3, 4)}, fixed=(1,)
    ),
    "shape as another vector and as an option": Case(
        "RESHAPE", (normal(2, 6), integers(4, 3)), (zeros(4, 3),), "ReshapeOptions", {"NewShape": integers(3, 4)}, fixed=(1,)
    ),
    "product of lines": Case("FULLY_CONNECTED", (normal(2, 3, 4), normal(5, 4)), (zeros(6, 5),), "FullyConnectedOptions", fixed=(1,)),
    "rows by truth": Case("SELECT", (np.array([True, False]), normal(2, 3), normal(2, 3)), (zeros(2, 3),)),
    "softmax with a factor": Case("SOFTMAX", (normal(2, 5),), (zeros(2, 5),), "SoftmaxOptions", {"Beta": 0.5}),
    "products of bytes": Case(
        "BATCH_MATMUL",
        (np.full((2, 40), 100, np.int8), np.full((40, 3), 90, np.int8)),
        (zeros(2, 3, dtype="int32"),),
        "BatchMatMulOptions",
    ),
    "rank": Case("RANK", (normal(2, 3, 1),), (zeros(dtype="int32"),)),
    "bits as other integers": Case("BITCAST", (integers(3, -1, 7),), (zeros(3, dtype="uint32"),)),
    "sums of rows": Case("EMBEDDING_LOOKUP_SPARSE", SPARSE, (zeros(3, 4),), "EmbeddingLookupSparseOptions", {"Combiner": 0}, (1, 2)),
    "means of rows": Case("EMBEDDING_LOOKUP_SPARSE", SPARSE, (zeros(3, 4),), "EmbeddingLookupSparseOptions", {"Combiner": 1}, (1, 2)),
    "sums by roots": Case("EMBEDDING_LOOKUP_SPARSE", SPARSE, (zeros(3, 4),), "EmbeddingLookupSparseOptions", {"Combiner": 2}, (2,)),
    "sum with an activation": Case("ADD", (normal(9), normal(9)), (zeros(9),), "AddOptions", {"FusedActivationFunction": 2}),
}


@pytest.mark.parametrize("name", CASES)
def test_single_operators(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    inputs = {f"i{number}": value for number, value in enumerate(case.inputs)}
    outputs = {f"o{number}": value for number, value in enumerate(case.outputs)}
    given = [key for number, key in enumerate(inputs) if number not in case.fixed]
    tensors = [
        *(Tensor(key, value, is_constant=key not in given) for key, value in inputs.items()),
        *(Tensor(key, value) for key, value in outputs.items()),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(case.kind, list(inputs), list(outputs), case.options, case.fields)], given, list(outputs)))
    wanted = results_of(path, [inputs[key] for key in given])
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([inputs[key] for key in given])
    for number, expected in enumerate(wanted):
        assert actual[number].dtype == expected.dtype
        np.testing.assert_allclose(actual[number], expected, rtol=1e-4, atol=1e-5)


RANDOM_KINDS = {
    "MULTINOMIAL": (np.log(np.array([[0.75, 0.25]], np.float32)), np.array(4000, np.int32), np.zeros((1, 4000), np.int64), 0.25, 0.433),
    "RANDOM_STANDARD_NORMAL": (np.array([40, 100], np.int32), None, np.zeros((40, 100), np.float32), 0.0, 1.0),
    "RANDOM_UNIFORM": (np.array([40, 100], np.int32), None, np.zeros((40, 100), np.float32), 0.5, 0.289),
}
"""Kind -> the operands, a value of the type and shape of the result, the mean and the deviation of its elements."""


@pytest.mark.parametrize("kind", RANDOM_KINDS)
def test_random_numbers_have_their_distribution(tmp_path: Path, kind: str) -> None:
    first, second, result, mean, deviation = RANDOM_KINDS[kind]
    line = np.zeros((1,), result.dtype)
    tensors = [Tensor("a", first, is_constant=second is None), Tensor("y", result), Tensor("s", line), Tensor("z", result)]
    operands = ["a"]
    if second is not None:
        tensors.append(Tensor("b", second, is_constant=True))
        operands.append("b")
    # A model has an input.
    operators = [
        Operator(kind, operands, ["y"], "RandomOptions", {"Seed": 3, "Seed2": 4}),
        Operator("ADD", ["y", "s"], ["z"], "AddOptions"),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, operators, ["a", "s"] if second is not None else ["s"], ["z"]))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    given = [first] if second is not None else []
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([*given, np.zeros(1, result.dtype)])[0]
    assert actual.shape == result.shape
    assert actual.dtype == result.dtype
    assert abs(actual.mean() - mean) < 0.05
    assert abs(actual.std() - deviation) < 0.05


NIBBLES = {
    "CONV_2D": ("Conv2DOptions", STRIDES | DILATIONS, (5, 2, 3, 3), 0),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", STRIDES | DILATIONS | {"DepthMultiplier": 3}, (1, 2, 3, 9), 3),
    "FULLY_CONNECTED": ("FullyConnectedOptions", {"KeepNumDims": True}, (5, 3), 0),
}
"""Kind -> the table of options, its fields, the shape of the weights and their dimension of channels."""


@pytest.mark.parametrize(
    ("kind", "data", "bits"),
    [
        # The interpreter has no kernel for floats and weights of 4 bits of a DEPTHWISE_CONV_2D.
        *[(kind, data, 4) for kind in NIBBLES for data in ("floats", "integers") if (kind, data) != ("DEPTHWISE_CONV_2D", "floats")],
        ("FULLY_CONNECTED", "integers", 2),
    ],
)
def test_weights_of_few_bits(tmp_path: Path, kind: str, data: str, bits: int) -> None:
    options, fields, shape, axis = NIBBLES[kind]
    most = 2 ** (bits - 1)
    weights = RANDOM.integers(1 - most, most, size=shape).astype(getattr(ml_dtypes, f"int{bits}"))
    count = shape[axis]
    scales = (0.05 + 0.02 * RANDOM.random(count)).astype(np.float32).tolist()
    x = RANDOM.normal(size=(1, 4, 6, 3)).astype(np.float32)
    channels = 9 if kind.startswith("DEPTH") else 5
    y = np.zeros((1, 4, 6, 5) if kind == "FULLY_CONNECTED" else (1, 3, 4, channels), np.float32)
    is_quantized = data == "integers"
    bias = RANDOM.normal(size=count).astype(np.float32)
    if is_quantized:
        x, y = np.round(x / 0.03).clip(-128, 127).astype(np.int8), y.astype(np.int8)
        bias = np.round(bias / 0.03 / np.array(scales)).astype(np.int32)
    tensors = [
        Tensor("x", x, scale=[0.03] if is_quantized else (), zero=[2] if is_quantized else ()),
        Tensor("w", weights, is_constant=True, scale=scales, axis=axis),
        Tensor("b", bias, is_constant=True, scale=[0.03 * each for each in scales] if is_quantized else ()),
        Tensor("y", y, scale=[0.05] if is_quantized else (), zero=[-3] if is_quantized else ()),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(kind, ["x", "w", "b"], ["y"], options, fields)], ["x"], ["y"]))
    expected = results_of(path, [x])[0]
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    elements = {each.get_friendly_name(): each.get_element_type().to_string() for each in core().read_model(tmp_path / "m.xml").get_ops()}
    assert elements["w"] == "i4"
    actual = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request().infer([x])[0]
    assert actual.dtype == expected.dtype
    # Kernels round the data of floats to 8 bits, for each line.
    limit = 1 if is_quantized else 0.02 * np.abs(expected).max()
    assert np.abs(actual.astype(np.float64) - expected).max() <= limit


@pytest.mark.parametrize("name", ["ADD", "fake_quantize"])
def test_custom_operators_have_names_of_their_own(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.tflite"
    tensors = [Tensor("x", zeros(2)), Tensor("y", zeros(2))]
    path.write_bytes(file_of(tensors, [Operator(name, ["x", "x"], ["y"], custom=b"\0")], ["x"], ["y"]))
    with pytest.raises(ModelFileError, match="a custom operator has the name"):
        moir.convert_model(path)
