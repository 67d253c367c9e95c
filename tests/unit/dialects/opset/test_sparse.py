"""Segment sums and maxima, sparse rows, buckets, slices written, decoding of sequences: against the runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, infer_with_moir, infer_with_runtime

IDS = np.array([0, 0, 2, 3])
ROWS = np.array([1, 0, 4, 4])
TABLE = np.arange(10, dtype=np.float32).reshape(5, 2) - 3
FOUR = np.array(4)

# operation, operands, properties, results
TYPES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("opset3.EmbeddingSegmentsSum", [("f32", (5, 2)), ("i64", (-1,)), ("i64", (4,)), FOUR], {}, 1),
    ("opset3.EmbeddingSegmentsSum", [("f32", (-1, 2, 3)), ("i32", None), ("i32", (4,)), ("i32", ())], {}, 1),
    ("opset3.EmbeddingSegmentsSum", [("f32", None), ("i64", (4,)), ("i64", (4,)), FOUR], {}, 1),
    ("opset16.SegmentMax", [("f32", (4, 2)), IDS], {}, 1),
    ("opset16.SegmentMax", [("f32", (-1, 2)), ("i32", (4,))], {}, 1),
    ("opset16.SegmentMax", [("i32", (4, -1)), IDS, np.array(6)], {"fill_mode": "lowest"}, 1),
    ("opset16.SegmentMax", [("f32", None), ("i64", None), ("i64", ())], {}, 1),
    ("opset16.SparseFillEmptyRows", [("f32", (3,)), np.array([4, 5]), ("i64", (3, 2)), np.array(0, np.float32)], {}, 3),
    ("opset16.SparseFillEmptyRows", [("f32", None), ("i64", (2,)), ("i64", None), ("f32", ())], {}, 3),
    ("opset3.Bucketize", [("f32", (2, -1)), ("f32", (4,))], {"output_type": "i32"}, 1),
    ("opset3.Bucketize", [("i64", None), ("f32", None)], {"output_type": "i64"}, 1),
    ("opset15.SliceScatter", [("f32", (2, -1)), ("f32", (2, 1)), np.array([0]), np.array([3]), np.array([1]), np.array([1])], {}, 1),
    ("opset15.SliceScatter", [("f32", None), ("f32", None), ("i32", (1,)), ("i32", (1,)), ("i32", (1,))], {}, 1),
    ("opset6.CTCGreedyDecoderSeqLen", [("f32", (2, -1, 4)), ("i32", (-1,))], {"classes_index_type": "i64"}, 2),
    ("opset6.CTCGreedyDecoderSeqLen", [("f32", (-1, 6, 4)), ("i32", (2,)), np.array(0)], {}, 2),
    ("opset4.CTCLoss", [("f32", (2, 6, 4)), ("i32", (2,)), ("i32", (2, 6)), ("i32", (2,))], {}, 1),
    ("opset4.CTCLoss", [("f32", (-1, 6, 4)), ("i32", (-1,)), ("i32", (2, -1)), ("i32", (-1,))], {}, 1),
    ("opset1.GatherTree", [("f32", (5, -1, 3)), ("f32", (-1, 2, 3)), ("f32", (2,)), ("f32", ())], {}, 1),
    ("opset1.GatherTree", [("i32", None), ("i32", None), ("i32", (2,)), ("i32", ())], {}, 1),
]


@pytest.mark.parametrize("case", TYPES, ids=lambda case: case[0])
def test_types(case: tuple[str, list[Any], dict[str, Any], int]) -> None:
    assert infer_with_moir(*case) == infer_with_runtime(*case)


VALUES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("opset3.EmbeddingSegmentsSum", [TABLE, ROWS, IDS, np.array(5)], {}),
    ("opset16.SegmentMax", [TABLE[:4], IDS, np.array(5)], {"fill_mode": "zero"}),
    ("opset16.SegmentMax", [TABLE[:4].astype(np.int32), IDS], {"fill_mode": "lowest"}),
    ("opset3.Bucketize", [TABLE, np.array([-1, 0, 3], np.float32)], {"output_type": "i32", "with_right_bound": True}),
    ("opset3.Bucketize", [TABLE, np.array([-1, 0, 3], np.float32)], {"output_type": "i64", "with_right_bound": False}),
    ("opset15.SliceScatter", [TABLE, -TABLE[1:4:2], np.array([1]), np.array([4]), np.array([2])], {}),
    ("opset15.SliceScatter", [TABLE, -TABLE[:, :1], np.array([-1]), np.array([9]), np.array([1]), np.array([1])], {}),
]


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case[0])
def test_values(case: tuple[str, list[Any], dict[str, Any]]) -> None:
    for actual, expected in zip(evaluate_with_moir(*case), evaluate_with_runtime(*case), strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


WRONG: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("opset3.EmbeddingSegmentsSum", [("f32", (5, 2)), ("i64", (3,)), ("i64", (4,)), FOUR], {}, 1),
    ("opset16.SegmentMax", [("f32", (4, 2)), ("i64", (5,))], {}, 1),
    ("opset16.SparseFillEmptyRows", [("f32", (3, 1)), ("i64", (2,)), ("i64", (3, 2)), np.array(0, np.float32)], {}, 3),
    ("opset6.CTCGreedyDecoderSeqLen", [("f32", (2, 6, 4)), ("i32", (3,))], {}, 2),
    ("opset4.CTCLoss", [("f32", (2, 6, 4)), ("i32", (2,)), ("i32", (2, 5)), ("i32", (2,))], {}, 1),
    ("opset1.GatherTree", [("f32", (5, 2, 3)), ("f32", (5, 2, 3)), ("f32", (3,)), ("f32", ())], {}, 1),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[0])
def test_contradictions(case: tuple[str, list[Any], dict[str, Any], int]) -> None:
    """Operands that do not belong together are refused, as the runtime refuses them."""
    with pytest.raises(InferenceError):
        infer_with_moir(*case)
    with pytest.raises(RuntimeError):
        infer_with_runtime(*case)
