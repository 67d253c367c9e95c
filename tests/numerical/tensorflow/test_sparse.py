"""Sparse and ragged tensors, and connectionist temporal classification of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import Build, build, check, expected_results

RANDOM = np.random.default_rng(19)
raw = tf.raw_ops
FLEXIBLE = ("static", "dynamic")
COORDINATES = np.array([[0, 1], [2, 0], [2, 3]])
VALUES = np.array([1.5, 2, -1], np.float32)
SHAPE = np.array([4, 5])


def real(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


DENSE: dict[str, tuple[Build, dict[str, Any]]] = {
    "matrix": (
        lambda i, v: raw.SparseToDense(sparse_indices=i, output_shape=SHAPE, sparse_values=v, default_value=-3.0),
        {"i": COORDINATES, "v": VALUES},
    ),
    "vector": (
        lambda i, v: raw.SparseToDense(sparse_indices=i, output_shape=np.array([5], np.int32), sparse_values=v, default_value=0),
        {"i": np.array([1, 4], np.int32), "v": np.array([7, 8], np.int32)},
    ),
    "one value": (
        lambda i, v: raw.SparseToDense(sparse_indices=i, output_shape=SHAPE, sparse_values=v, default_value=0.0),
        {"i": COORDINATES, "v": VALUES[0]},
    ),
    "scalar": (
        lambda i, v: raw.SparseToDense(sparse_indices=i, output_shape=[5], sparse_values=v, default_value=False),
        {"i": np.array(3, np.int32), "v": np.array(True)},
    ),
}


@pytest.mark.parametrize("name", DENSE)
def test_to_dense(name: str) -> None:
    function, inputs = DENSE[name]
    check(function, inputs, forms=FLEXIBLE)


def test_dense_product() -> None:
    check(
        lambda i, v, b: raw.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=SHAPE, b=b),
        {"i": COORDINATES, "v": VALUES, "b": real(5, 2)},
        forms=FLEXIBLE,
        operations=3,
    )
    check(
        lambda i, v, b, s: raw.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=s, b=b, adjoint_a=True, adjoint_b=True),
        {"i": COORDINATES, "v": VALUES, "b": real(2, 4), "s": SHAPE},
        forms=FLEXIBLE,
        fixed=("s",),
    )


def test_fill_empty_rows() -> None:
    check(
        lambda i, v: raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=SHAPE, default_value=9.0),
        {"i": COORDINATES, "v": VALUES},
        forms=FLEXIBLE,
    )
    check(
        lambda i, v, s: list(raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=s, default_value=np.int64(7)))[:3],
        {"i": COORDINATES, "v": np.array([4, 5, 6]), "s": SHAPE},
        forms=FLEXIBLE,
        fixed=("s",),
        operations=3,
    )


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_safe_embedding_lookup(combiner: str) -> None:
    """Rows without an element are filled for the lookup, and then their sums are replaced by zeros."""
    table = real(5, 3)
    check(
        lambda i, v: tf.nn.safe_embedding_lookup_sparse(table, tf.SparseTensor(i, v, SHAPE), None, combiner=combiner),
        {"i": COORDINATES, "v": np.array([1, 4, 2])},
        forms=("static",),
    )


def test_reorder() -> None:
    check(
        lambda i, v: raw.SparseReorder(input_indices=i, input_values=v, input_shape=SHAPE),
        {"i": COORDINATES[[2, 0, 1]], "v": VALUES},
        forms=FLEXIBLE,
    )
    check(
        lambda i, v, s: raw.SparseReorder(input_indices=i, input_values=v, input_shape=s),
        {"i": np.array([[1, 0, 2], [0, 1, 0], [1, 0, 1]]), "v": VALUES, "s": np.array([2, 3, 4])},
        forms=FLEXIBLE,
        fixed=("i", "s"),
    )


@pytest.mark.parametrize("target", [[2, 10], [-1, 2], [20], [2, -1, 5]])
def test_reshape(target: list[int]) -> None:
    check(
        lambda i: raw.SparseReshape(input_indices=i, input_shape=SHAPE, new_shape=np.array(target)),
        {"i": COORDINATES},
        forms=FLEXIBLE,
    )
    check(
        lambda i, s: raw.SparseReshape(input_indices=i, input_shape=s, new_shape=np.array(target)),
        {"i": COORDINATES, "s": SHAPE},
        forms=("static",),
    )
    check(
        lambda i, s: raw.SparseReshape(input_indices=i, input_shape=SHAPE, new_shape=s),
        {"i": COORDINATES, "s": np.array(target)},
        forms=("static",),
    )


# Ragged tensors

SPLITS = np.array([0, 2, 2, 5, 6])
ROW_NUMBERS = np.array([0, 0, 2, 2, 2, 3])
OUTER = np.array([0, 1, 1, 4])


def to_tensor(shape: Any, values: Any, default: Any, partitions: Any, kinds: list[str]) -> Any:
    return raw.RaggedTensorToTensor(
        shape=shape, values=values, default_value=default, row_partition_tensors=partitions, row_partition_types=kinds
    )


NUMBERED = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]

RAGGED: dict[str, tuple[Build, dict[str, Any]]] = {
    "splits": (lambda v, s: to_tensor([-1, -1], v, -1.0, [s], ["ROW_SPLITS"]), {"v": real(6), "s": SPLITS}),
    "unknown shape": (lambda v, s: to_tensor(-1, v, 0.0, [s], ["ROW_SPLITS"]), {"v": real(6), "s": SPLITS}),
    "wider": (lambda v, s: to_tensor([5, 4], v, -1.0, [s], ["ROW_SPLITS"]), {"v": real(6), "s": SPLITS}),
    "narrower": (lambda v, s: to_tensor(np.array([3, 2]), v, -1.0, [s], ["ROW_SPLITS"]), {"v": real(6), "s": SPLITS}),
    "slices": (lambda v, s: to_tensor([-1, -1, 2], v, -1.0, [s], ["ROW_SPLITS"]), {"v": real(6, 2), "s": SPLITS}),
    "row numbers": (lambda v, n: to_tensor([-1, -1], v, 0, [np.int64(4), n], NUMBERED), {"v": np.arange(6), "n": ROW_NUMBERS}),
    "two levels": (
        lambda v, o, s: to_tensor([-1, -1, -1], v, -1.0, [o, s], ["ROW_SPLITS", "ROW_SPLITS"]),
        {"v": real(6), "o": OUTER, "s": SPLITS},
    ),
    "two levels of row numbers": (
        lambda v, o, n: to_tensor([-1, -1, -1], v, -1.0, [np.int64(3), o, n], [*NUMBERED, "VALUE_ROWIDS"]),
        {"v": real(6), "o": np.array([0, 2, 2, 2]), "n": ROW_NUMBERS},
    ),
    "to sparse": (
        lambda v, s: raw.RaggedTensorToSparse(rt_nested_splits=[s], rt_dense_values=v),
        {"v": real(6), "s": SPLITS},
    ),
    "two levels to sparse": (
        lambda v, o, s: raw.RaggedTensorToSparse(rt_nested_splits=[o, s], rt_dense_values=v),
        {"v": real(6), "o": OUTER, "s": SPLITS},
    ),
    "range": (
        lambda a, b: raw.RaggedRange(starts=a, limits=b, deltas=1),
        {"a": np.array([0, 5, 8], np.int32), "b": np.array([3, 5, 10], np.int32)},
    ),
    "range with steps": (
        lambda a, b, d: raw.RaggedRange(starts=a, limits=b, deltas=d),
        {"a": np.array([0, 9, 8, 1]), "b": np.array([7, 2, 10, 9]), "d": np.array([2, -3, 5, -1])},
    ),
    "range of floats": (
        lambda a, b: raw.RaggedRange(starts=a, limits=b, deltas=np.float32(0.5)),
        {"a": np.array([0, 1], np.float32), "b": np.array([1.2, 2], np.float32)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RAGGED)
def test_ragged(name: str) -> None:
    function, inputs = RAGGED[name]
    check(function, inputs, forms=FLEXIBLE)


# Connectionist temporal classification

LOGITS = real(6, 2, 4) * 3
LENGTHS = np.array([6, 4], np.int32)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("blank", [-1, 0, -2])
def test_greedy_decoder(merge: bool, blank: int) -> None:
    check(
        lambda x, n: raw.CTCGreedyDecoder(inputs=x, sequence_length=n, merge_repeated=merge, blank_index=blank),
        {"x": LOGITS, "n": LENGTHS},
        forms=FLEXIBLE if blank != -2 else ("static",),
    )


LABELS = {"i": np.array([[0, 0], [0, 1], [1, 0]]), "v": np.array([1, 2, 1], np.int32)}


def loss(kind: str) -> Build:
    return lambda x, i, v, n: getattr(raw, kind)(inputs=x, labels_indices=i, labels_values=v, sequence_length=n)[0]


def test_loss() -> None:
    check(loss("CTCLoss"), {"x": LOGITS, **LABELS, "n": LENGTHS}, forms=FLEXIBLE)


def test_loss_with_blank_in_front() -> None:
    """TensorFlow has no kernel for it on the CPU: the first version computes the same with the first class moved to the end."""
    inputs = {"x": LOGITS, **LABELS, "n": LENGTHS}
    moved = {**inputs, "x": np.roll(LOGITS, -1, 2), "v": LABELS["v"] - 1}
    graph, names = build(loss("CTCLoss"), moved)
    check(loss("CTCLossV2"), inputs, expected=expected_results(graph, names, moved), forms=FLEXIBLE)


def test_gradient_of_loss_is_refused() -> None:
    with pytest.raises(ConversionError, match="gradient"):
        check(
            lambda x, i, v, n: raw.CTCLoss(inputs=x, labels_indices=i, labels_values=v, sequence_length=n)[1],
            {"x": LOGITS, **LABELS, "n": LENGTHS},
        )


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_dense_sum(index: Any) -> None:
    coordinates = np.array([[0, 1], [2, 0], [0, 1]], index)
    check(
        lambda i, v, b, s: raw.SparseTensorDenseAdd(a_indices=i, a_values=v, a_shape=s, b=b),
        {"i": coordinates, "v": VALUES, "b": real(4, 5), "s": SHAPE.astype(index)},
    )


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_coordinates_of_positions(index: Any) -> None:
    shape = np.array([3, 4, 2], index)
    for positions in (np.array([2, 7, 23], index), np.array(11, index)):
        check(lambda i: raw.UnravelIndex(indices=i, dims=shape), {"i": positions}, forms=FLEXIBLE)
        check(lambda i, s: raw.UnravelIndex(indices=i, dims=s), {"i": positions, "s": shape}, forms=FLEXIBLE, fixed=["s"])


def test_a_ragged_range_of_numbers_or_lists() -> None:
    function, _ = RAGGED["range with steps"]
    inputs = {"a": np.array([0, 9, 8]), "b": np.array([7, 12, 10]), "d": np.array(2)}
    check(function, inputs, forms=("rank",))
