"""Operations of TensorFlow that order, search, count or collect elements by their value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import FORMS, Build, check

RANDOM = np.random.default_rng(17)
raw = tf.raw_ops
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
TIES = np.array([[1, 3, 3, 2, 3, 0], [5, 5, 5, 5, 5, 5]], np.float32)
SPECIAL = np.array([[np.nan, 0], [np.inf, -np.nan], [-np.inf, 2]], np.float32)
FLEXIBLE = ("static", "dynamic")


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


# function, inputs, most operations
CASES: dict[str, tuple[Build, dict[str, Any], int]] = {
    "TopKV2": (lambda x: raw.TopKV2(input=x, k=4), {"x": X}, 1),
    "TopKV2 of none": (lambda x: raw.TopKV2(input=x, k=0), {"x": X}, 2),
    "TopKV2 ties": (lambda x: raw.TopKV2(input=x, k=4), {"x": TIES}, 1),
    "TopKV2 values": (lambda x: raw.TopKV2(input=x, k=2)[0], {"x": X[0]}, 1),
    "TopKV2 i64 indices": (lambda x: raw.TopKV2(input=x, k=2, index_type=tf.int64), {"x": X.reshape(1, 3, 7)}, 1),
    "TopKV2 i32": (lambda x: raw.TopKV2(input=x, k=3), {"x": i32([4, -1, 9, 4], [0, 0, 1, -5])}, 1),
    "TopKV2 unsorted": (lambda x: tf.sort(raw.TopKV2(input=x, k=3, sorted=False)[0]), {"x": X}, 4),
    "NthElement": (lambda x: raw.NthElement(input=x, n=2), {"x": X}, 2),
    "NthElement reverse": (lambda x: raw.NthElement(input=x, n=0, reverse=True), {"x": X}, 2),
    "InTopK": (lambda x, t: raw.InTopK(predictions=x, targets=t, k=3), {"x": X, "t": i32(0, 3, 6)}, 16),
    "InTopKV2": (lambda x, t: raw.InTopKV2(predictions=x, targets=t, k=np.int64(2)), {"x": TIES, "t": np.array([3, 2])}, 16),
    "InTopKV2 infinite": (
        lambda x, t: raw.InTopKV2(predictions=x, targets=t, k=1),
        {"x": np.array([[0, 1, np.inf], [0, 1, 2], [np.nan, 1, 0]], np.float32), "t": i32(2, 2, 1)},
        16,
    ),
    "Bucketize": (
        lambda x: raw.Bucketize(input=x, boundaries=[0, 10, 100]),
        {"x": np.array([[-5, 10000], [150, 10], [5, 100]], np.float32)},
        1,
    ),
    "Bucketize i32": (lambda x: raw.Bucketize(input=x, boundaries=[0.5, 2]), {"x": i32(0, 1, 2, 3)}, 2),
    "Bucketize f64": (lambda x: raw.Bucketize(input=x, boundaries=[0.0]), {"x": np.array([-1.0, 0, 1])}, 2),
    "Bucketize NaN": (lambda x: raw.Bucketize(input=x, boundaries=[-1.0, 0, 2]), {"x": SPECIAL}, 1),
    "LowerBound NaN": (lambda x, v: raw.LowerBound(sorted_inputs=x, values=v), {"x": np.sort(X), "v": SPECIAL}, 1),
    "UpperBound NaN": (lambda x, v: raw.UpperBound(sorted_inputs=x, values=v), {"x": np.sort(X), "v": SPECIAL}, 6),
    "LowerBound": (lambda x, v: raw.LowerBound(sorted_inputs=x, values=v), {"x": np.sort(X), "v": X[:, :2]}, 1),
    "LowerBound equal": (lambda x, v: raw.LowerBound(sorted_inputs=x, values=v), {"x": np.sort(TIES), "v": TIES[:, :3]}, 1),
    "UpperBound": (lambda x, v: raw.UpperBound(sorted_inputs=x, values=v, out_type=tf.int64), {"x": np.sort(TIES), "v": TIES[:, :3]}, 6),
    "Unique": (lambda x: raw.Unique(x=x), {"x": np.array([3, 1, 3, 2, 1], np.float32)}, 1),
    "Unique i32": (lambda x: raw.Unique(x=x)[0], {"x": i32(3, 1, 3, 2, 1)}, 1),
    "UniqueV2": (lambda x: raw.UniqueV2(x=x, axis=np.zeros(0, np.int64), out_idx=tf.int64), {"x": np.array([3, 1, 3, 2, 1])}, 1),
    "UniqueWithCounts counts": (lambda x: raw.UniqueWithCounts(x=x)[2], {"x": i32(3, 1, 3, 2, 1, 3)}, 1),
    "UniqueV2 axis values": (lambda x: raw.UniqueV2(x=x, axis=[-1])[0], {"x": np.array([[1, 0, 1], [2, 0, 2]], np.float32)}, 3),
    "UniqueV2 axis": (lambda x: raw.UniqueV2(x=x, axis=[1]), {"x": np.array([[1, 0, 1], [2, 0, 2]], np.float32)}, 3),
    "UniqueWithCounts": (lambda x: raw.UniqueWithCounts(x=x), {"x": i32(3, 1, 3, 2, 1, 3)}, 1),
    "UniqueWithCountsV2": (
        lambda x: raw.UniqueWithCountsV2(x=x, axis=[0], out_idx=tf.int64),
        {"x": np.array([[2, 1], [1, 2], [2, 1]], np.float32)},
        1,
    ),
    "ListDiff": (lambda x, y: raw.ListDiff(x=x, y=y), {"x": i32(1, 2, 3, 4, 5, 2), "y": i32(1, 3, 9)}, 9),
    "ListDiff i64": (lambda x, y: raw.ListDiff(x=x, y=y, out_idx=tf.int64), {"x": np.array([1, 2, 3]), "y": np.array([2])}, 9),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sorting(name: str) -> None:
    function, inputs, operations = CASES[name]
    forms = (
        FORMS
        if name.startswith(("TopK", "Bucketize", "LowerBound", "UpperBound", "NthElement")) and name != "TopKV2 unsorted"
        else FLEXIBLE
    )
    check(function, inputs, operations=operations, forms=forms)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.int8, np.uint8, np.int16])
def test_top_k_element_types(dtype: Any) -> None:
    check(lambda x: raw.TopKV2(input=x, k=2), {"x": np.array([[3, 9, 1, 7], [5, 2, 6, 2]], dtype)}, forms=("static",))


def test_computed_k() -> None:
    check(lambda x, k: raw.TopKV2(input=x, k=k), {"x": X, "k": np.array(3, np.int32)}, fixed=("k",), forms=FLEXIBLE)
    check(lambda x, n: raw.NthElement(input=x, n=n), {"x": X, "n": np.array(3, np.int32)}, fixed=("n",), forms=FLEXIBLE)


@pytest.mark.parametrize("is_max", [True, False])
@pytest.mark.parametrize("axis", [-1, 0])
def test_approximate_top_k(is_max: bool, axis: int) -> None:
    def function(x: tf.Tensor) -> Any:
        return raw.ApproxTopK(input=x, k=3, is_max_k=is_max, reduction_dimension=axis)

    expected = [each.numpy() for each in tf.function(function, jit_compile=True)(tf.constant(X))]
    check(function, {"x": X}, expected=expected, operations=1, forms=("static",))


def test_approximate_top_k_without_aggregation_is_refused() -> None:
    with pytest.raises(ConversionError, match="without aggregation"):
        check(lambda x: raw.ApproxTopK(input=x, k=3, aggregate_to_topk=False)[0], {"x": X}, expected=[], forms=("static",))


def test_the_difference_of_nothing() -> None:
    check(lambda x, y: raw.ListDiff(x=x, y=y), {"x": i32()[:0], "y": i32(0, 2, 2)}, said={"y": None}, forms=("static",))
