"""Complex numbers, which are pairs in a last dimension of 2, also those of inputs and outputs of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.dialects.moir import ModuleLevel
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from moir.interface import convert_model
from tests.numerical.forms import Form
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow.conversion import LOWERING_ALONE, Build, build, convert_graph, expected_results, ordered_results

raw = tf.raw_ops
RANDOM = np.random.default_rng(31)


def numbers(*shape: int) -> Array:
    parts = RANDOM.normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


def pairs(array: Array) -> Array:
    """A complex array in its real layout."""
    return np.stack([array.real, array.imag], axis=-1) if np.iscomplexobj(array) else array


def check(function: Build, inputs: dict[str, Array], form: Form, tmp_path: Path, tolerance: float = 1e-4) -> None:
    graph, names = build(function, inputs)
    expected = expected_results(graph, names, inputs)
    graph, names = build(function, inputs, form=form)
    converted = convert_graph(graph, tmp_path, None if form == "static" else LOWERING_ALONE)
    results = ordered_results(converted, names, {name: pairs(array) for name, array in inputs.items()})
    compare(results, [pairs(array) for array in expected], tolerance, tolerance)


UNARY = [
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "Exp",
    "Expm1",
    "Inv",
    "Log",
    "Log1p",
    "Neg",
    "OnesLike",
    "Reciprocal",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "Tan",
    "Tanh",
    "ZerosLike",
]
BINARY = [
    "Add",
    "AddV2",
    "Div",
    "Equal",
    "Mul",
    "MulNoNan",
    "NotEqual",
    "Pow",
    "RealDiv",
    "SquaredDifference",
    "Sub",
    "Xdivy",
    "Xlog1py",
    "Xlogy",
    "DivNoNan",
]


@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_functions(kind: str, form: Form, tmp_path: Path) -> None:
    x = np.concatenate([numbers(7), np.array([0.5, -0.5, 2j, -3j, 4 + 1e-3j, -4 - 1e-3j, 1e-3], np.complex64)])
    check(lambda x: getattr(raw, kind)(x=x), {"x": x}, form, tmp_path, 1e-3)


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_functions_of_two(kind: str, form: Form, tmp_path: Path) -> None:
    x, y = numbers(3, 4), numbers(4)
    y[1] = x[0, 1]
    if kind.endswith("NoNan"):
        y[2] = 0
    check(lambda x, y: getattr(raw, kind)(x=x, y=y), {"x": x, "y": y}, form, tmp_path, 1e-3)


IDS = np.array([0, 0, 2], np.int32)
MOVES: dict[str, Build] = {
    "concatenation": lambda x, y: [raw.ConcatV2(values=[x, y], axis=1), raw.Pack(values=[x, y], axis=-1)],
    "parts": lambda x, y: [raw.Split(value=x, axis=1, num_split=2), raw.SplitV(value=y, size_splits=[1, 3], axis=-1, num_split=2)],
    "unpacked": lambda x, _: raw.Unpack(value=x, num=3),
    "shapes": lambda x, y: [raw.Reshape(tensor=x, shape=[2, 6]), raw.ExpandDims(input=x, axis=-1), raw.Size(input=x), raw.Shape(input=y)],
    "transposition": lambda x, y: [raw.Transpose(x=x, perm=[1, 0]), raw.ConjugateTranspose(x=y, perm=[1, 0])],
    "pads": lambda x, _: [
        raw.Pad(input=x, paddings=[[1, 0], [0, 2]]),
        raw.MirrorPad(input=x, paddings=[[1, 0], [0, 2]], mode="REFLECT"),
        raw.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=np.complex64(1 + 2j)),
    ],
    "copies": lambda x, y: [
        raw.Tile(input=x, multiples=[2, 1]),
        raw.BroadcastTo(input=y, shape=[2, 3, 4]),
        raw.Fill(dims=[2], value=x[0, 0]),
    ],
    "order": lambda x, _: [raw.ReverseV2(tensor=x, axis=[-1]), raw.Roll(input=x, shift=1, axis=1)],
    "gathers": lambda x, _: [
        raw.GatherV2(params=x, indices=[2, 0], axis=1),
        raw.GatherNd(params=x, indices=[[0, 1], [2, 3]]),
        raw.Gather(params=x, indices=[1, 1]),
    ],
    "slices": lambda x, _: [x[1:, ::2], x[..., 1], raw.Slice(input=x, begin=[0, 1], size=[2, -1])],
    "scatters": lambda x, y: [
        raw.ScatterNd(indices=[[2], [0], [2]], updates=x, shape=[4, 4]),
        raw.TensorScatterUpdate(tensor=x, indices=[[1]], updates=y[:1]),
        raw.TensorScatterAdd(tensor=x, indices=[[1], [1]], updates=y[:2]),
    ],
    "choices": lambda x, y: [
        raw.SelectV2(condition=[True, False, True, True], t=x, e=y),
        raw.Select(condition=[True, False, True], x=x, y=y),
    ],
    "partitions": lambda x, _: raw.DynamicPartition(data=x, partitions=IDS, num_partitions=3)[::2],
    "stitches": lambda x, y: raw.DynamicStitch(indices=[np.array([0, 2, 4], np.int32), np.array([1, 3, 5], np.int32)], data=[x, y]),
    "diagonals": lambda x, _: [
        raw.MatrixDiag(diagonal=x),
        raw.MatrixDiagPart(input=x),
        raw.MatrixBandPart(input=x, num_lower=0, num_upper=-1),
    ],
    "sums": lambda x, y: [
        raw.Sum(input=x, axis=1),
        raw.Mean(input=x, axis=[0, 1], keep_dims=True),
        raw.Cumsum(x=x, axis=1),
        raw.AddN(inputs=[x, y]),
    ],
    "segments": lambda x, _: [
        raw.SegmentSum(data=x, segment_ids=IDS),
        raw.SegmentMean(data=x, segment_ids=IDS),
        raw.UnsortedSegmentSum(data=x, segment_ids=IDS, num_segments=4),
    ],
    "biases": lambda x, y: raw.BiasAdd(value=x, bias=y[0]),
    "encoding": lambda x, y: raw.OneHot(indices=[1, 0], depth=3, on_value=x[0, 0], off_value=y[0, 0]),
    "products": lambda x, y: [
        raw.MatMul(a=x, b=y, transpose_b=True),
        raw.BatchMatMulV2(x=x, y=y, adj_x=True),
        raw.Einsum(inputs=[x, y], equation="ij,kj->ik"),
    ],
    "transforms": lambda x, y: [raw.FFT(input=x), raw.IFFT2D(input=y), raw.IRFFT(input=x, fft_length=[6])],
    "casts": lambda x, y: [raw.Cast(x=x, DstT=tf.float32), raw.Cast(x=raw.Real(input=y), DstT=tf.complex64)],
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_movement_and_sums(name: str, form: Form, tmp_path: Path) -> None:
    function: Any = MOVES[name]
    check(lambda x, y: function(x, y), {"x": numbers(3, 4), "y": numbers(3, 4)}, form, tmp_path)


@pytest.mark.parametrize("adjoint", [True, False])
def test_matrices(adjoint: bool, tmp_path: Path) -> None:
    inputs = {"a": numbers(2, 3, 3) + 3 * np.eye(3, dtype=np.complex64), "b": numbers(2, 3, 2)}
    check(
        lambda a, b: [raw.MatrixInverse(input=a, adjoint=adjoint), raw.MatrixSolve(matrix=a, rhs=b, adjoint=adjoint)],
        inputs,
        "static",
        tmp_path,
    )


def test_products_of_elements(tmp_path: Path) -> None:
    check(lambda x: [raw.Prod(input=x, axis=1), raw.Prod(input=x, axis=[0, 1], keep_dims=True)], {"x": numbers(3, 5)}, "static", tmp_path)


def test_inputs_and_outputs_are_noted(tmp_path: Path) -> None:
    graph, _ = build(lambda x: [raw.Mul(x=x, y=x), raw.ComplexAbs(x=x)], {"x": numbers(2)})
    path = tmp_path / "model.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    (model,) = convert_model(path).body.block.ops
    notes: list[str] = value_of(model.attributes[ModuleLevel.NOTES])
    assert [note.partition(":")[0] for note in notes] == ["the input x is complex", "the output out_0 is complex"]


DETERMINED = {"several": numbers(2, 4, 4), "one": numbers(1, 1), "empty": numbers(2, 0, 0), "singular": np.ones((3, 3), np.complex64)}


@pytest.mark.parametrize("name", DETERMINED)
def test_determinants(name: str, tmp_path: Path) -> None:
    check(lambda x: raw.MatrixDeterminant(input=x), {"x": DETERMINED[name]}, "static", tmp_path)
    if name != "singular":
        check(lambda x: raw.LogMatrixDeterminant(input=x), {"x": DETERMINED[name]}, "static", tmp_path)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_running_products(axis: int, reverse: bool, exclusive: bool, tmp_path: Path) -> None:
    properties = {"axis": axis, "reverse": reverse, "exclusive": exclusive}
    check(lambda x: raw.Cumprod(x=x, **properties), {"x": numbers(3, 4)}, "static", tmp_path)
    check(lambda x: raw.Cumprod(x=x, **properties), {"x": numbers(1, 1)}, "static", tmp_path)


def test_running_products_of_unknown_number_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="complex numbers are not computed"):
        check(lambda x: raw.Cumprod(x=x, axis=0), {"x": numbers(3, 4)}, "dynamic", tmp_path)


OF_ANY_SIZE: dict[str, tuple[Build, Array]] = {
    "norms": (lambda x: [raw.EuclideanNorm(input=x, axis=[1]), raw.EuclideanNorm(input=x, axis=[0, 1], keep_dims=True)], numbers(3, 4)),
    "coordinates": (lambda x: raw.Where(condition=x), np.array([[0, 1j], [2, 0]], np.complex64)),
    "zeros": (lambda x: x + raw.Empty(shape=[3, 2], dtype=tf.complex64, init=True), numbers(2)),
    "shuffled": (lambda x: tf.reduce_sum(raw.RandomShuffle(value=x), 0), numbers(5, 2)),
    "ragged": (
        lambda x: raw.RaggedTensorToTensor(
            shape=[-1, -1],
            values=x,
            default_value=np.complex64(1j),
            row_partition_tensors=[np.array([0, 2, 2, 5])],
            row_partition_types=["ROW_SPLITS"],
        ),
        numbers(5),
    ),
}


@pytest.mark.parametrize("form", ["static", "dynamic"])
@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_numbers_of_any_size(name: str, form: Form, tmp_path: Path) -> None:
    function, x = OF_ANY_SIZE[name]
    check(function, {"x": x}, form, tmp_path)
