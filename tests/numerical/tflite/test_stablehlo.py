"""Operators of StableHLO in files, and the builtin ones that compute the same: numpy says what they compute.

The interpreter has kernels for some of them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.errors import ConversionError
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Function, Operator, Tensor, file_of

RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def longs(*values: int) -> Array:
    return np.array(values, np.int64)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


def scalar(value: float, dtype: str = "float32") -> Array:
    return np.array(value, dtype)


class Case(NamedTuple):
    """An operator.

    Args:
        kind: its kind.
        inputs: the operands; those of which `fixed` has the number are constants.
        expected: the results.
        options: the table of its options, and its fields.
        function: the operator of the function of two elements that is subgraph 1.
    """

    kind: str
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]
    options: str = ""
    fields: dict[str, Any] = {}
    fixed: tuple[int, ...] = ()
    function: Operator | None = None


def pairs(kind: str, options: str = "", **fields: Any) -> Operator:
    """The operator of a function of two elements."""
    return Operator(kind, ["a", "b"], ["r"], options, fields)


X, Y = normal(3, 4), normal(3, 4)
POSITIVE = np.abs(X) + np.float32(0.5)
N, M = RANDOM.integers(-9, 9, size=(3, 4)).astype(np.int32), RANDOM.integers(1, 5, size=(3, 4)).astype(np.int32)
B, C = X > 0, Y > 0
IMAGE, FILTERS = normal(1, 5, 6, 2), normal(3, 2, 2, 4)


def convolved(x: Array, w: Array, stride: int) -> Array:
    """A convolution of [N, h, w, C] by [kh, kw, C, O] without padding."""
    rows, columns = ((size - kernel) // stride + 1 for size, kernel in zip(x.shape[1:3], w.shape[:2], strict=True))
    result = np.zeros((x.shape[0], rows, columns, w.shape[3]), np.float32)
    for row, column in np.ndindex(rows, columns):
        part = x[:, row * stride : row * stride + w.shape[0], column * stride : column * stride + w.shape[1]]
        result[:, row, column] = np.einsum("nhwc,hwco->no", part, w)
    return result


CONVOLUTION = {
    "WindowStrides": longs(2, 2),
    "Padding": longs(0, 0, 0, 0),
    "LhsDilation": longs(1, 1),
    "RhsDilation": longs(1, 1),
    "WindowReversal": np.array([False, False]),
    "InputBatchDimension": 0,
    "InputFeatureDimension": 3,
    "InputSpatialDimensions": longs(1, 2),
    "KernelInputFeatureDimension": 2,
    "KernelOutputFeatureDimension": 3,
    "KernelSpatialDimensions": longs(0, 1),
    "OutputBatchDimension": 0,
    "OutputFeatureDimension": 3,
    "OutputSpatialDimensions": longs(1, 2),
    "FeatureGroupCount": 1,
    "BatchGroupCount": 1,
}

WINDOWS = {
    "WindowDimensions": longs(1, 2),
    "WindowStrides": longs(1, 2),
    "BaseDilations": longs(1, 1),
    "WindowDilations": longs(1, 1),
    "Padding": longs(0, 0, 0, 0),
}

GATHER = {
    "OffsetDims": longs(1),
    "CollapsedSliceDims": longs(0),
    "StartIndexMap": longs(0),
    "IndexVectorDim": 1,
    "SliceSizes": longs(1, 4),
}

SCATTER = {
    "UpdateWindowDims": longs(1),
    "InsertedWindowDims": longs(0),
    "ScatterDimsToOperandDims": longs(0),
    "IndexVectorDim": 1,
    "UpdateComputationSubgraphIndex": 1,
}


def scattered(x: Array, rows: Array, updates: Array) -> Array:
    result = x.copy()
    np.add.at(result, rows.reshape(-1), updates)
    return result


def padded(x: Array) -> Array:
    result = np.full((5, 8), 9, np.float32)
    result[1:4, 0:7:2] = x
    return result


UNARY: dict[str, Callable[[Array], Array]] = {
    "ABS": np.abs,
    "CBRT": np.cbrt,
    "COSINE": np.cos,
    "EXPONENTIAL": np.exp,
    "FLOOR": np.floor,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "NEGATE": np.negative,
    "TANH": np.tanh,
}

BINARY: dict[str, tuple[Array, Array, Array]] = {
    "ADD": (X, Y, X + Y),
    "AND": (B, C, B & C),
    "DIVIDE": (X, POSITIVE, X / POSITIVE),
    "MAXIMUM": (X, Y, np.maximum(X, Y)),
    "MINIMUM": (X, Y, np.minimum(X, Y)),
    "MULTIPLY": (X, Y, X * Y),
    "OR": (N, M, N | M),
    "POWER": (POSITIVE, X, POSITIVE**X),
    "REMAINDER": (N, M, np.fmod(N, M)),
    "SHIFT_LEFT": (N, M, N << M),
    "SUBTRACT": (X, Y, X - Y),
}

CASES: dict[str, Case] = {
    **{kind: Case(f"STABLEHLO_{kind}", (X,), (compute(X),)) for kind, compute in UNARY.items()},
    **{kind: Case(f"STABLEHLO_{kind}", (a, b), (expected,)) for kind, (a, b, expected) in BINARY.items()},
    "LOG": Case("STABLEHLO_LOG", (POSITIVE,), (np.log(POSITIVE),)),
    "RSQRT": Case("STABLEHLO_RSQRT", (POSITIVE,), (1 / np.sqrt(POSITIVE),)),
    "DIVIDE of integers": Case("STABLEHLO_DIVIDE", (N, M), (np.trunc(N / M).astype(np.int32),)),
    "ADD of truth values": Case("STABLEHLO_ADD", (B, C), (B | C,)),
    "SELECT": Case("STABLEHLO_SELECT", (B, X, Y), (np.where(B, X, Y),)),
    "CLAMP": Case("STABLEHLO_CLAMP", (scalar(-0.5), X, scalar(0.5)), (np.clip(X, -0.5, 0.5),), fixed=(0, 2)),
    "CONVERT": Case("STABLEHLO_CONVERT", (X * 5,), ((X * 5).astype(np.int32),)),
    "COMPARE": Case("STABLEHLO_COMPARE", (X, Y), (X <= Y,), "StablehloCompareOptions", {"ComparisonDirection": 4, "CompareType": 1}),
    "BROADCAST_IN_DIM": Case(
        "STABLEHLO_BROADCAST_IN_DIM",
        (X, longs(1, 2)),
        (np.broadcast_to(X, (2, 3, 4)),),
        "StablehloBroadcastInDimOptions",
        {"BroadcastDimensions": longs(1, 2)},
    ),
    "CONCATENATE": Case("STABLEHLO_CONCATENATE", (X, Y), (np.concatenate([X, Y], 1),), "StablehloConcatenateOptions", {"Dimension": 1}),
    "CONVOLUTION": Case(
        "STABLEHLO_CONVOLUTION", (IMAGE, FILTERS), (convolved(IMAGE, FILTERS, 2),), "StablehloConvolutionOptions", CONVOLUTION, (1,)
    ),
    "DOT_GENERAL": Case(
        "STABLEHLO_DOT_GENERAL",
        (X, Y),
        (np.einsum("ij,kj->ik", X, Y),),
        "StablehloDotGeneralOptions",
        {"LhsContractingDimensions": longs(1), "RhsContractingDimensions": longs(1)},
    ),
    "DYNAMIC_SLICE": Case(
        "STABLEHLO_DYNAMIC_SLICE",
        (X, scalar(1, "int32"), scalar(7, "int32")),
        (X[1:3, 2:4],),
        "StablehloDynamicSliceOptions",
        {"SliceSizes": longs(2, 2)},
    ),
    "DYNAMIC_UPDATE_SLICE": Case(
        "STABLEHLO_DYNAMIC_UPDATE_SLICE",
        (X, Y[:1, :2], scalar(1, "int32"), scalar(1, "int32")),
        (np.concatenate([X[:1], np.concatenate([X[1:2, :1], Y[:1, :2], X[1:2, 3:]], 1), X[2:]]),),
    ),
    "GATHER": Case("STABLEHLO_GATHER", (X, ints(2, 0).reshape(2, 1)), (X[[2, 0]],), "StablehloGatherOptions", GATHER),
    "IOTA": Case(
        "STABLEHLO_IOTA", (), (np.broadcast_to(np.arange(4, dtype=np.int32), (3, 4)),), "StablehloIotaOptions", {"IotaDimension": 1}
    ),
    "PAD": Case(
        "STABLEHLO_PAD",
        (X, scalar(9)),
        (padded(X),),
        "StablehloPadOptions",
        {"EdgePaddingLow": longs(1, 0), "EdgePaddingHigh": longs(1, 1), "InteriorPadding": longs(0, 1)},
    ),
    "REDUCE": Case(
        "STABLEHLO_REDUCE",
        (X, scalar(0)),
        (X.sum(1),),
        "StablehloReduceOptions",
        {"Dimensions": longs(1), "BodySubgraphIndex": 1},
        function=pairs("STABLEHLO_ADD"),
    ),
    "REDUCE by a builtin operator": Case(
        "STABLEHLO_REDUCE",
        (X, scalar(-np.inf)),
        (X.max(0),),
        "StablehloReduceOptions",
        {"Dimensions": longs(0), "BodySubgraphIndex": 1},
        function=pairs("MAXIMUM"),
    ),
    "REDUCE_WINDOW": Case(
        "STABLEHLO_REDUCE_WINDOW",
        (X, scalar(1)),
        (X[:, ::2] * X[:, 1::2],),
        "StablehloReduceWindowOptions",
        {**WINDOWS, "BodySubgraphIndex": 1},
        function=pairs("STABLEHLO_MULTIPLY"),
    ),
    "RESHAPE": Case("STABLEHLO_RESHAPE", (X,), (X.reshape(2, 6),)),
    "SCATTER": Case(
        "STABLEHLO_SCATTER",
        (X, ints(2, 2).reshape(2, 1), Y[:2]),
        (scattered(X, ints(2, 2), Y[:2]),),
        "StablehloScatterOptions",
        SCATTER,
        function=pairs("ADD", "AddOptions"),
    ),
    "SLICE": Case(
        "STABLEHLO_SLICE",
        (X,),
        (X[1:3, 0:4:3],),
        "StablehloSliceOptions",
        {"StartIndices": longs(1, 0), "LimitIndices": longs(3, 4), "Strides": longs(1, 3)},
    ),
    "SORT": Case(
        "STABLEHLO_SORT",
        (X,),
        (-np.sort(-X, 1),),
        "StablehloSortOptions",
        {"Dimension": 1, "IsStable": True, "ComparatorSubgraphIndex": 1},
        function=pairs("STABLEHLO_COMPARE", "StablehloCompareOptions", ComparisonDirection=3),
    ),
    "SORT by a builtin operator": Case(
        "STABLEHLO_SORT",
        (X,),
        (np.sort(X, 0),),
        "StablehloSortOptions",
        {"Dimension": 0, "ComparatorSubgraphIndex": 1},
        function=pairs("LESS"),
    ),
    "TRANSPOSE": Case("STABLEHLO_TRANSPOSE", (X,), (X.T,), "StablehloTransposeOptions", {"Permutation": longs(1, 0)}),
    "DILATE": Case("DILATE", (X, ints(1, 2), scalar(9)), (padded(X)[1:4, :7],), fixed=(1, 2)),
    "sums of windows": Case(
        "REDUCE_WINDOW",
        (X, scalar(2), longs(1, 2), longs(1, 2), longs(1, 1)),
        (X[:, ::2] + X[:, 1::2] + 2,),
        "ReduceWindowOptions",
        {"ReduceFunction": 1},
        (1, 2, 3, 4),
    ),
    "any of windows": Case(
        "REDUCE_WINDOW",
        (B, scalar(0, "bool"), longs(2, 1), longs(1, 1), longs(1, 1)),
        (B[:2] | B[1:],),
        "ReduceWindowOptions",
        {"ReduceFunction": 6},
        (1, 2, 3, 4),
    ),
}


def written(case: Case, path: Path) -> list[Array]:
    """Write the file of a case; returns the values of its inputs."""
    inputs = {f"i{number}": np.ascontiguousarray(value) for number, value in enumerate(case.inputs)}
    outputs = {f"o{number}": value for number, value in enumerate(case.expected)}
    given = [key for number, key in enumerate(inputs) if number not in case.fixed]
    tensors = [
        *(Tensor(key, value, is_constant=key not in given) for key, value in inputs.items()),
        *(Tensor(key, value) for key, value in outputs.items()),
    ]
    functions: list[Function] = []
    if case.function is not None:
        element = np.zeros((), case.inputs[0].dtype)
        result = np.zeros((), bool) if case.kind == "STABLEHLO_SORT" else element
        functions = [Function([Tensor("a", element), Tensor("b", element), Tensor("r", result)], [case.function], ["a", "b"], ["r"])]
    operator = Operator(case.kind, list(inputs), list(outputs), case.options, case.fields)
    path.write_bytes(file_of(tensors, [operator], given, list(outputs), functions))
    return [inputs[key] for key in given]


@pytest.mark.parametrize("name", CASES)
def test_operators_of_stablehlo(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    given = written(case, tmp_path / "m.tflite")
    moir.save_model(moir.convert_model(tmp_path / "m.tflite"), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request()
    actual = request.infer(given)
    for number, expected in enumerate(case.expected):
        assert actual[number].dtype == expected.dtype
        assert actual[number].shape == expected.shape
        np.testing.assert_allclose(actual[number], expected, rtol=1e-4, atol=1e-5)


def test_random_bits_are_refused(tmp_path: Path) -> None:
    case = Case(
        "STABLEHLO_RNG_BIT_GENERATOR",
        (np.zeros(2, np.uint64),),
        (np.zeros(2, np.uint64), np.zeros(4, np.uint32)),
        "StablehloRngBitGeneratorOptions",
        {"Algorithm": 2},
    )
    written(case, tmp_path / "m.tflite")
    with pytest.raises(ConversionError, match="its state has integers of 64 bits"):
        moir.convert_model(tmp_path / "m.tflite")


def test_custom_calls_are_refused_by_their_names(tmp_path: Path) -> None:
    case = Case("STABLEHLO_CUSTOM_CALL", (X,), (X,), "StablehloCustomCallOptions", {"CallTargetName": "users.function"})
    written(case, tmp_path / "m.tflite")
    with pytest.raises(ConversionError, match=r"STABLEHLO_CUSTOM_CALL.*users\.function"):
        moir.convert_model(tmp_path / "m.tflite")


def converted(folder: Path, content: bytes, *given: Array) -> Array:
    """The first result of a file."""
    (folder / "m.tflite").write_bytes(content)
    moir.save_model(moir.convert_model(folder / "m.tflite"), folder / "m.xml")
    return core().compile_model(folder / "m.xml", "CPU").create_infer_request().infer(list(given))[0]


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [("STABLEHLO_COMPOSITE", "StableHLOCompositeOptions", "DecompositionSubgraphIndex"), ("CALL", "CallOptions", "Subgraph")],
)
def test_calls_of_subgraphs(tmp_path: Path, kind: str, options: str, field: str) -> None:
    tensors = [Tensor("x", X), Tensor("y", Y), Tensor("z", X)]
    function = Function([Tensor("a", X), Tensor("b", X), Tensor("r", X)], [pairs("STABLEHLO_SUBTRACT")], ["a", "b"], ["r"])
    operator = Operator(kind, ["y", "x"], ["z"], options, {field: 1})
    actual = converted(tmp_path, file_of(tensors, [operator], ["x", "y"], ["z"], [function]), X, Y)
    np.testing.assert_allclose(actual, Y - X, rtol=1e-5)


def test_loops(tmp_path: Path) -> None:
    count, one, limit = scalar(0, "int32"), scalar(1, "int32"), scalar(3, "int32")
    less = {"ComparisonDirection": 5}
    condition = Function(
        [Tensor("n", count), Tensor("v", X), Tensor("limit", limit, is_constant=True), Tensor("r", scalar(0, "bool"))],
        [Operator("STABLEHLO_COMPARE", ["n", "limit"], ["r"], "StablehloCompareOptions", less)],
        ["n", "v"],
        ["r"],
    )
    body = Function(
        [Tensor("n", count), Tensor("v", X), Tensor("one", one, is_constant=True), Tensor("m", count), Tensor("w", X)],
        [Operator("STABLEHLO_ADD", ["n", "one"], ["m"]), Operator("STABLEHLO_ADD", ["v", "v"], ["w"])],
        ["n", "v"],
        ["m", "w"],
    )
    tensors = [Tensor("n", count, is_constant=True), Tensor("x", X), Tensor("m", count), Tensor("y", X)]
    fields = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
    operator = Operator("STABLEHLO_WHILE", ["n", "x"], ["m", "y"], "StablehloWhileOptions", fields)
    actual = converted(tmp_path, file_of(tensors, [operator], ["x"], ["y"], [condition, body]), X)
    np.testing.assert_allclose(actual, 8 * X, rtol=1e-5)
