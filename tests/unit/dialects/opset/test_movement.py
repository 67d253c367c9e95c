"""Movement of elements: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir
from tests.unit.dialects.opset.tables import Properties, Row, check_refused, check_types, check_values, numbers, reals, row_names


def index_masks(begin: list[int], end: list[int], new: list[int], shrink: list[int], ellipsis: list[int]) -> Properties:
    """The masks of a StridedSlice."""
    return {"begin_mask": begin, "end_mask": end, "new_axis_mask": new, "shrink_axis_mask": shrink, "ellipsis_mask": ellipsis}


PLAIN = index_masks([0, 0], [0, 0], [], [], [])
BLOCKS = [
    (name, {"mode": mode, "block_size": 2})
    for name in ("opset1.DepthToSpace", "opset1.SpaceToDepth")
    for mode in ("blocks_first", "depth_first")
]
SLICES = [(1, 9, 2), (-1, -9, -2), (-9, -9, -1), (7, 0, -1), (3, 2**31 - 1, 1), (-9, 3, 1)]

TYPES: list[Row] = [
    (
        "opset1.Concat",
        [{"axis": 0}, {"axis": 1}, {"axis": -1}, {"axis": 2}],
        ["f[2,3] f[?,3] f[...]", "f[2,4] f[2,3] f[2,?] i[2,3] f[...]"],
        1,
    ),
    ("opset1.Concat", [{"axis": 0}], ["f[2,3]", "f[?,3]", "f[...] x[2,3] f[1,3]"], 1),
    ("opset1.Split", [{"num_splits": 2}], ["f[2,6] f[?,5] f[...] f[]", "=0 =1 =-1 =[1] =5 i[] i[1]"], 2),
    ("opset1.VariadicSplit", [{}], ["f[3,6] f[?,?] f[4,6,8] f[...]", "=1 =[-2] i[]", "=[2,4] =[-1,2] =[3,-1] i[2]"], 2),
    ("opset1.Transpose", [{}], ["f[2,3,4] f[?,3,4]", "=[2,0,1] =[1,0] =[] =[0,0,1] =0 i[3] i[2] i[...]"], 1),
    ("opset1.Transpose", [{}], ["f[...]", "=[2,0,1] i[3] i[...]"], 1),
    (
        "opset3.Broadcast",
        [{"mode": "numpy"}, {"mode": "bidirectional"}],
        ["f[3] f[1,3] f[?,3] f[2,?] f[] f[...]", "=[2,3] =[4,2,3] =[2,1] i[2] i[3] i[?]"],
        1,
    ),
    ("opset3.Broadcast", [{"mode": "explicit"}], ["f[3] f[1,3] f[...]", "=[2,3,4]", "=[1] =[0,1] =[1,0] =[5] i[1]"], 1),
    ("opset3.Broadcast", [{"mode": "explicit"}], ["f[3] f[...]", "i[3] i[?]", "=[1] i[1] i[2]"], 1),
    ("opset1.Tile", [{}], ["f[2,3] f[?,3] f[0,?] f[] f[...]", "=[2,2] =[2] =[1,2,3] =[0,2] =2 i[2] i[3] i[?]"], 1),
    (
        "opset8.Slice",
        [{}],
        [
            "f[5,6] f[0,6] f[...]",
            "=[0] =[-2] =[9] =[-9] i[1]",
            "=[3] =[-1] =[2147483647] =[-2147483648] i[1]",
            "=[1] =[-1] =[2] i[1]",
            "- =[1] i[1]",
        ],
        1,
    ),
    ("opset8.Slice", [{}], ["f[?,6]", "=[0] =[-3]", "=[3] =[0]", "=[1]"], 1),
    ("opset1.StridedSlice", [PLAIN], ["f[5,6,7] f[?,6] f[5,?] f[...]", "=[1,-2] =[-9,0] i[2]", "=[3,-1] i[2]", "- =[1,1] =[-1,2]"], 1),
    (
        "opset1.StridedSlice",
        [
            index_masks([0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]),
            index_masks([0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]),
        ],
        ["f[5,6,7] f[?,6,7] f[...]", "=[1,0,2] i[3]", "=[2,0,5] i[3]"],
        1,
    ),
    (
        "opset1.StridedSlice",
        [index_masks([1, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1], []), index_masks([0, 1, 1], [1, 1, 1], [0, 1, 0], [], [])],
        ["f[5,6,7] f[?,6,7] f[...]", "=[1,0,2]", "=[2,0,5]"],
        1,
    ),
    ("opset12.Pad", [{"pad_mode": "constant"}], ["f[3,4] f[?,4] f[...]", "=[0,1] =[-1,2] i[2]", "=[2,0] i[2]", "- f[] i[] f[1]"], 1),
    (
        "opset1.DepthToSpace opset1.SpaceToDepth",
        [{"mode": "blocks_first", "block_size": size} for size in (1, 2, 3)],
        ["f[1,8,4,6] f[?,8,?,6] f[1,?,4] f[1,7,3,6] f[1,8] f[...]"],
        1,
    ),
    (
        "opset2.BatchToSpace opset2.SpaceToBatch",
        [{}],
        ["f[8,2,4,6] f[?,2,4,?] f[7,2,5,6] f[...]", "=[1,1,2,2] =[1,2,2,2] i[4]", "=[0,0,1,0] i[4]", "=[0,0,1,2] i[4]"],
        1,
    ),
    ("opset1.Reverse", [{"mode": "index"}], ["f[2,3] f[...]", "=[1] =[-1] =[5] =1 i[1] b[1]"], 1),
    ("opset1.Reverse", [{"mode": "mask"}], ["f[2,3] f[...]", "=[true,false] b[2]"], 1),
    ("opset1.Reverse", [{"mode": "mask"}], ["f[2,3]", "=[true]"], 1),
    ("opset1.ReverseSequence", [{"batch_axis": 0, "seq_axis": 1}], ["f[2,3] f[?,3] f[...] f[2]", "i[2] i[3] i[?] i[]"], 1),
    ("opset7.Roll", [{}], ["f[2,3] f[...]", "=[1] =1 i[2]", "=[0] =[0,1] i[2]"], 1),
    ("opset7.Roll", [{}], ["f[2,3]", "=[1] =1", "=[5]"], 1),
    ("opset1.ShuffleChannels", [{"axis": axis, "group": 2} for axis in (1, -1, 3)], ["f[2,3,4] f[?,2,?] f[...]"], 1),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


# What the runtime lets pass when it infers, and fails at or computes nonsense for when it executes; operands that would eat memory.
REFUSED: list[Row] = [
    ("opset1.VariadicSplit", [{}], ["f[2,6]", "=1", "=[7,-1] =[-2,8] =[-1,-1]"], 2),
    ("opset1.Transpose", [{}], ["f[...]", "=[0,0,1] =[-1,0,1]"], 1),
    ("opset3.Broadcast", [{"mode": "numpy"}], ["f[2,3]", "i[1]"], 1),
    ("opset3.Broadcast", [{"mode": "explicit"}], ["f[3]", "i[3]", "=[5]"], 1),
    ("opset12.Pad", [{"pad_mode": "constant"}], ["f[3,4]", "=[0,0]", "=[0,-5]"], 1),
    ("opset2.BatchToSpace opset2.SpaceToBatch", [{}], ["f[8,2,4]", "=[1,1,2]", "=[0,0,-1]", "i[3]"], 1),
    ("opset8.Slice", [{}], ["f[2]", "i[1000000000]", "i[1000000000]", "i[1000000000]"], 1),
    ("opset1.StridedSlice", [PLAIN], ["f[2]", "i[1000000000]", "i[1000000000]"], 1),
]


@pytest.mark.parametrize("row", REFUSED, ids=row_names(REFUSED))
def test_impossible_operands_are_refused(row: Row) -> None:
    check_refused(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset1.Concat", {"axis": 1}, [reals(2, 3), reals(2, 4)]),
    ("opset1.Transpose", {}, [reals(2, 3, 4), numbers([2, 0, 1])]),
    ("opset1.Transpose", {}, [reals(2, 3, 4), numbers([])]),
    ("opset3.Broadcast", {"mode": "numpy"}, [reals(3, 1), numbers([2, 3, 4])]),
    ("opset3.Broadcast", {"mode": "bidirectional"}, [reals(3, 1), numbers([2, 1, 4])]),
    ("opset3.Broadcast", {"mode": "explicit"}, [reals(3), numbers([2, 3, 4]), numbers([1])]),
    ("opset1.Tile", {}, [reals(2, 3), numbers([2, 1, 2])]),
    ("opset1.Tile", {}, [reals(2, 3), numbers([2])]),
    *(("opset8.Slice", {}, [reals(2, 6), *(numbers([n]) for n in bounds), numbers([1])]) for bounds in SLICES),
    *(
        ("opset1.StridedSlice", index_masks([0, 0], [1, 0], [], [], []), [reals(6, 6), *map(numbers, ([1, start], [5, stop], [2, step]))])
        for start, stop, step in SLICES
    ),
    (
        "opset1.StridedSlice",
        index_masks([0] * 3, [0] * 3, [0] * 3, [1, 0, 0], [0, 1, 0]),
        [reals(4, 5, 6), *map(numbers, ([1, 0, 2], [2, 0, 5], [1, 1, 1]))],
    ),
    (
        "opset1.StridedSlice",
        index_masks([0] * 3, [0] * 3, [1, 0, 0], [0] * 3, [0, 1, 0]),
        [reals(4, 5, 6), *map(numbers, ([0, 0, 2], [0, 0, 5], [1, 1, 1]))],
    ),
    ("opset1.StridedSlice", index_masks([1, 0], [1, 0], [], [0, 1], []), [reals(4, 5, 6), numbers([0, -1]), numbers([0, 3])]),
    *(
        ("opset12.Pad", {"pad_mode": mode}, [reals(6, 7), numbers([1, 2]), numbers([2, 1])])
        for mode in ("constant", "edge", "reflect", "symmetric")
    ),
    ("opset12.Pad", {"pad_mode": "constant"}, [reals(4, 5), numbers([-1, 2]), numbers([2, -3]), np.array(3, np.float32)]),
    ("opset12.Pad", {"pad_mode": "reflect"}, [reals(6, 7), numbers([-1, 2]), numbers([2, -1])]),
    *((*block, [data]) for block in BLOCKS for data in (reals(2, 8, 4, 6), reals(2, 16, 2, 4, 2), reals(2, 4, 6))),
    ("opset2.BatchToSpace", {}, [reals(8, 3, 4, 6), *map(numbers, ([1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 0, 3]))]),
    ("opset2.BatchToSpace", {}, [reals(12, 3, 4), *map(numbers, ([1, 2, 3], [0, 1, 1], [0, 1, 2]))]),
    ("opset2.SpaceToBatch", {}, [reals(2, 3, 4, 6), *map(numbers, ([1, 1, 2, 3], [0, 0, 1, 0], [0, 0, 1, 3]))]),
    ("opset2.SpaceToBatch", {}, [reals(2, 3, 5), *map(numbers, ([1, 2, 2], [0, 1, 1], [0, 0, 0]))]),
    ("opset1.Reverse", {"mode": "index"}, [reals(3, 4), numbers([-1])]),
    ("opset1.Reverse", {"mode": "mask"}, [reals(3, 4), np.array([True, False])]),
    ("opset7.Roll", {}, [reals(3, 4), numbers([1, -2]), numbers([0, 1])]),
    ("opset7.Roll", {}, [reals(3, 4), numbers([2, 1]), numbers([0, 0])]),
    ("opset1.ShuffleChannels", {"axis": -1, "group": 3}, [reals(2, 4, 6)]),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)


SEVERAL_RESULTS: list[tuple[str, Properties, list[Any], int]] = [
    ("opset1.Split", {"num_splits": 3}, [reals(2, 6), numbers(1)], 3),
    ("opset1.VariadicSplit", {}, [reals(2, 6), numbers(-1), numbers([2, -1, 1])], 3),
]


@pytest.mark.parametrize(("name", "properties", "arrays", "results"), SEVERAL_RESULTS)
def test_several_results_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any], results: int) -> None:
    check_values(name, properties, arrays, results)


def test_reverse_sequence_reverses_the_first_elements_of_each_entry() -> None:
    data, lengths = reals(3, 4, 2), np.array([1, 3], np.int32)
    (actual,) = evaluate_with_moir("opset1.ReverseSequence", [data, lengths], {"batch_axis": 2, "seq_axis": 0})
    expected = data.copy()
    expected[:, :, 1] = data[::-1, :, 1]
    np.testing.assert_array_equal(actual, expected)
