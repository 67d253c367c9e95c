"""The facts of classes about which elements of the first operand the results have, against what they evaluate to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.dialects import opset
from tests.unit.dialects.opset.cases import Case, integer, integers
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir

DATA = np.arange(1, 17, dtype=np.float32).reshape(1, 4, 2, 2)
BATCHES = DATA.reshape(4, 1, 2, 2)
BLOCK = integers(1, 1, 2, 2)
NONE = integers(0, 0, 0, 0)

CASES: list[Case] = [
    ("opset2.BatchToSpace", [BATCHES, BLOCK, NONE, integers(0, 0, 1, 0)], {}),
    ("opset3.Broadcast", [DATA, integers(3, 4, 2, 2)], {}),
    ("opset1.DepthToSpace", [DATA], {"mode": "depth_first", "block_size": 2}),
    ("opset6.GatherElements", [DATA, np.zeros((1, 4, 2, 1), np.int64)], {"axis": 3}),
    ("opset8.GatherND", [DATA, integers(0, 3)], {"batch_dims": 0}),
    ("opset1.Reshape", [DATA, integers(2, -1)], {"special_zero": False}),
    ("opset1.Reverse", [DATA, integers(1)], {"mode": "index"}),
    ("opset1.ReverseSequence", [DATA, integers(3)], {"batch_axis": 0, "seq_axis": 1}),
    ("opset7.Roll", [DATA, integers(1), integers(1)], {}),
    ("opset1.ShuffleChannels", [DATA], {"axis": 1, "group": 2}),
    ("opset8.Slice", [DATA, integers(1), integers(3), integers(1), integers(1)], {}),
    ("opset1.SpaceToDepth", [DATA], {"mode": "blocks_first", "block_size": 2}),
    ("opset1.Split", [DATA, integer(1)], {"num_splits": 2}),
    ("opset1.Squeeze", [DATA, integers(0)], {}),
    ("opset1.StridedSlice", [DATA, NONE, integers(1, 2, 2, 2), integers(1, 1, 1, 1)], {"begin_mask": [0] * 4, "end_mask": [0] * 4}),
    ("opset1.Tile", [DATA, integers(1, 2, 1, 1)], {}),
    ("opset1.Transpose", [DATA, integers(0, 2, 3, 1)], {}),
    ("opset1.Unsqueeze", [DATA, integers(0)], {}),
    ("opset1.VariadicSplit", [DATA, integer(1), integers(1, 3)], {}),
]


@pytest.mark.parametrize(("name", "operands", "properties"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_results_have_the_elements_that_the_class_says(name: str, operands: list[Any], properties: dict[str, Any]) -> None:
    operation = opset.operation(name)
    data = operands[0].ravel().tolist()
    results = [each.ravel().tolist() for each in evaluate_with_moir(name, operands, properties, 2 if "Split" in name else 1)]
    assert operation.MOVES
    assert all(set(each) <= set(data) for each in results)
    assert (sorted(results[0]) == data) >= operation.PERMUTES
    assert (results[0] == data and len(results) == 1) == operation.RESHAPES


def test_classes_that_move_elements_have_a_case() -> None:
    moving = {each.KIND for each in map(opset.operation, opset.names()) if each.MOVES}
    assert moving == {name.partition(".")[2] for name, _, _ in CASES}


def test_each_fact_includes_the_weaker_one() -> None:
    for each in map(opset.operation, opset.names()):
        assert each.RESHAPES <= each.PERMUTES <= each.MOVES, each.name
