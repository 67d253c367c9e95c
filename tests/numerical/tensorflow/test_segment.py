"""Segment operations of TensorFlow: sums, means, products and extremes over slices, and over rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import FORMS, check

RANDOM = np.random.default_rng(13)
raw = tf.raw_ops
X = RANDOM.normal(size=(6, 3)).astype(np.float32)
CUBE = RANDOM.normal(size=(6, 2, 2)).astype(np.float32)
ASCENDING = np.array([0, 0, 1, 3, 3, 4], np.int32)
"""Segment 2 has no slice."""
MIXED = np.array([3, -1, 0, 3, 1, 0], np.int32)
ROWS = np.array([5, 1, 0, 1], np.int32)
SEGMENTS = np.array([0, 0, 2, 2], np.int32)
FLEXIBLE = ("static", "dynamic")


@pytest.mark.parametrize("kind", ["SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum"])
def test_segment(kind: str) -> None:
    function = getattr(raw, kind)
    operations = 1 if kind in ("SegmentMax", "SegmentSum") else 2
    check(lambda x: function(data=x, segment_ids=ASCENDING), {"x": X}, operations=operations, forms=FLEXIBLE)
    check(lambda x, ids: function(data=x, segment_ids=ids), {"x": X, "ids": ASCENDING}, forms=FLEXIBLE)
    check(lambda x, ids: function(data=x, segment_ids=ids), {"x": X[:, 0], "ids": ASCENDING.astype(np.int64)}, forms=FLEXIBLE)
    check(lambda x, ids: function(data=x, segment_ids=ids), {"x": CUBE, "ids": ASCENDING}, forms=FLEXIBLE)


@pytest.mark.parametrize("kind", ["SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum"])
def test_segment_of_integers(kind: str) -> None:
    x = RANDOM.integers(-5, 5, (6, 2)).astype(np.int32)
    check(lambda x, ids: getattr(raw, kind)(data=x, segment_ids=ids), {"x": x, "ids": ASCENDING}, forms=("static",))


def test_no_segments() -> None:
    check(lambda x, ids: raw.SegmentSum(data=x, segment_ids=ids), {"x": X[:0], "ids": ASCENDING[:0]}, forms=("dynamic",))


UNSORTED = ["UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"]


@pytest.mark.parametrize("kind", UNSORTED)
def test_unsorted_segment(kind: str) -> None:
    """A negative id drops its slice; a segment without slices has the neutral element."""
    function = getattr(raw, kind)
    check(lambda x, ids: function(data=x, segment_ids=ids, num_segments=5), {"x": X, "ids": MIXED}, forms=FLEXIBLE)
    check(lambda x: function(data=x, segment_ids=np.abs(MIXED), num_segments=5), {"x": CUBE}, operations=1, forms=FLEXIBLE)
    check(lambda x: function(data=x, segment_ids=MIXED, num_segments=5), {"x": CUBE}, operations=2, forms=FLEXIBLE)
    check(
        lambda x, ids, n: function(data=x, segment_ids=ids, num_segments=n),
        {"x": X.reshape(2, 3, 3), "ids": MIXED.reshape(2, 3), "n": np.array(4, np.int64)},
        forms=FLEXIBLE,
        fixed=("n",),
    )


@pytest.mark.parametrize("kind", UNSORTED)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float16])
def test_unsorted_segment_element_types(kind: str, dtype: Any) -> None:
    x = RANDOM.integers(0, 5, (6, 2)).astype(dtype)
    ids = np.abs(MIXED)
    # 64-bit integers are 32 bits wide in the runtime, and so are their extremes.
    count = 5 if dtype is not np.int64 or kind.endswith(("Sum", "Prod")) else 2
    check(lambda x: getattr(raw, kind)(data=x, segment_ids=ids % count, num_segments=count), {"x": x}, forms=("static",))


SPARSE = ["SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"]


@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_segment(kind: str) -> None:
    function, counted = getattr(raw, kind), getattr(raw, f"{kind}WithNumSegments")
    inputs = {"x": X, "rows": ROWS, "ids": SEGMENTS}
    forms = FLEXIBLE if kind != "SparseSegmentSum" else FORMS
    check(
        lambda x: function(data=x, indices=ROWS, segment_ids=SEGMENTS),
        {"x": X},
        operations=1 if kind.endswith("Sum") else 2,
        forms=FLEXIBLE,
    )
    check(lambda x, rows, ids: function(data=x, indices=rows, segment_ids=ids), inputs, forms=FLEXIBLE)
    check(lambda x, rows, ids: counted(data=x, indices=rows, segment_ids=ids, num_segments=5), inputs, forms=forms[:2])
    check(
        lambda x, rows, ids, n: counted(data=x, indices=rows, segment_ids=ids, num_segments=n),
        {"x": X, "rows": ROWS.astype(np.int64), "ids": SEGMENTS, "n": np.array(4, np.int64)},
        forms=FLEXIBLE,
        fixed=("n",),
    )


def test_segments_of_unknown_rank() -> None:
    data, ids = np.arange(24, dtype=np.float32).reshape(4, 3, 2), np.array([0, 0, 1], np.int32)
    check(
        lambda x: tf.raw_ops.SparseSegmentMean(data=x, indices=np.array([0, 2, 3], np.int32), segment_ids=ids), {"x": data}, forms=("rank",)
    )
    numbers = np.array([[0, 1], [1, 0]], np.int32)
    check(
        lambda x, ids: tf.raw_ops.UnsortedSegmentSum(data=x, segment_ids=ids, num_segments=3),
        {"x": data.reshape(2, 2, 6), "ids": numbers},
        forms=("rank",),
    )


@pytest.mark.parametrize("kind", UNSORTED)
def test_segments_of_a_list_of_integers(kind: str) -> None:
    function, x = getattr(raw, kind), RANDOM.integers(1, 5, 6).astype(np.int32)
    check(lambda x: function(data=x, segment_ids=MIXED, num_segments=5), {"x": x}, forms=FLEXIBLE)


def test_sizes_of_joined_dimensions_stay_known() -> None:
    """TensorFlow Lite's converter computes the shapes of the matrices of an Einsum so."""
    ids = np.array([0, 1, 2, 2], np.int32)
    check(
        lambda x: tf.reshape(x, raw.UnsortedSegmentProd(data=tf.shape(x), segment_ids=ids, num_segments=3)),
        {"x": RANDOM.normal(size=(2, 1, 3, 4)).astype(np.float32)},
        operations=1,
        forms=FLEXIBLE,
    )


@pytest.mark.parametrize("kind", ["SegmentMaxV2", "SegmentMinV2", "SegmentProdV2", "SegmentSumV2"])
def test_segment_of_a_number(kind: str) -> None:
    """The number of segments is an operand; slices of segments beyond it are dropped. TensorFlow has kernels in XLA only."""
    function = getattr(raw, kind)
    for ids, count in ((ASCENDING, 6), (np.array([-1, 0, 0, 2, 5, 7], np.int32), 4)):
        compiled = tf.function(lambda x, ids=ids, count=count: function(data=x, segment_ids=ids, num_segments=count), jit_compile=True)
        expected = [compiled(tf.constant(X)).numpy()]
        check(
            lambda x, ids=ids, count=count: function(data=x, segment_ids=ids, num_segments=count),
            {"x": X},
            expected=expected,
            forms=FLEXIBLE,
        )
        check(
            lambda x, ids, n: function(data=x, segment_ids=ids, num_segments=n),
            {"x": X, "ids": ids, "n": np.array(count, np.int32)},
            expected=expected,
            forms=FLEXIBLE,
            fixed=("n",),
        )
