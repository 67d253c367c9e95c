"""Functions of sparse tensors of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import Build, check

RANDOM = np.random.default_rng(59)
raw = tf.raw_ops

A = {"i": np.array([[0, 1], [2, 0], [2, 3]]), "v": np.array([1.5, 2, -1], np.float32)}
B = {"j": np.array([[0, 0], [0, 1], [2, 3], [3, 4]]), "w": np.array([4, -2, 1, 3], np.float32)}
BOTH = {**A, **B}
SHAPE = np.array([4, 5])
BYTES = np.arange(3, 3 + 2 * len(A["i"]), 2, dtype=np.uint8)
DENSE = RANDOM.normal(size=(4, 5)).astype(np.float32)


def added(threshold: float) -> Build:
    return lambda i, v, j, w: raw.SparseAdd(
        a_indices=i, a_values=v, a_shape=SHAPE, b_indices=j, b_values=w, b_shape=SHAPE, thresh=np.float32(threshold)
    )


def pairwise(kind: str) -> Build:
    return lambda i, v, j, w: getattr(raw, kind)(a_indices=i, a_values=v, a_shape=SHAPE, b_indices=j, b_values=w, b_shape=SHAPE)


def cellwise(kind: str, dense: Any) -> Build:
    return lambda i, v: getattr(raw, f"SparseDenseCwise{kind}")(sp_indices=i, sp_values=v, sp_shape=SHAPE, dense=dense)


def reduced(kind: str, axes: list[int], keep: bool) -> Build:
    return lambda j, w: getattr(raw, f"SparseReduce{kind}")(
        input_indices=j, input_values=w, input_shape=SHAPE, reduction_axes=np.array(axes, np.int32), keep_dims=keep
    )


CASES: dict[str, tuple[Build, dict[str, Array]]] = {
    "sum": (added(0), BOTH),
    "sum with a threshold": (added(1.0), BOTH),
    "larger": (pairwise("SparseSparseMaximum"), BOTH),
    "smaller": (pairwise("SparseSparseMinimum"), BOTH),
    "plus": (cellwise("Add", DENSE), A),
    "times": (cellwise("Mul", DENSE[:1]), A),
    "over": (cellwise("Div", DENSE[0]), A),
    "bytes over bytes": (cellwise("Div", np.full(SHAPE, 2, np.uint8)), {"i": A["i"], "v": BYTES}),
    "bytes times bytes": (cellwise("Mul", np.full(SHAPE, 100, np.uint8)), {"i": A["i"], "v": BYTES}),
    "softmax": (lambda j, w: raw.SparseSoftmax(sp_indices=j, sp_values=w, sp_shape=SHAPE), B),
    "concatenation of rows": (
        lambda i, v, j, w: raw.SparseConcat(indices=[i, j], values=[v, w], shapes=[SHAPE, SHAPE], concat_dim=0), BOTH,
    ),
    "concatenation of columns": (
        lambda i, v, j, w: raw.SparseConcat(indices=[i, j], values=[v, w], shapes=[SHAPE, np.array([4, 7])], concat_dim=-1), BOTH,
    ),
    "part": (lambda j, w: raw.SparseSlice(indices=j, values=w, shape=SHAPE, start=np.array([0, 1]), size=np.array([3, 9])), B),
    "product": (lambda v, w: raw.SparseMatMul(a=v[:, None], b=w[None, :]), {"v": A["v"], "w": B["w"]}),
    "transposed product": (
        lambda v, w: raw.SparseMatMul(a=v[None, :], b=w[:, None], transpose_a=True, transpose_b=True), {"v": A["v"], "w": B["w"]},
    ),
    **{
        f"{kind} along {axes} {keep}": (reduced(kind, axes, keep), B)
        for kind in ("Sum", "Max")
        for axes in ([0], [-1], [0, 1], [])
        for keep in (True, False)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sparse_function(name: str) -> None:
    function, inputs = CASES[name]
    check(function, inputs, forms=("static", "dynamic"))
