"""Result types of the families shape, movement, indexing, sort, signal and of Select: moir against OpenVINO Runtime.

Operands are written `f[2,?]`, a value of type f32 (`i` i64, `j` i32, `b` boolean, `x` of unknown element type), `f[...]` with unknown
rank; `=[1,2]`, a constant; `-`, an absent operand. A row lists alternatives for each operand; all combinations are tried.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import infer_with_moir, infer_with_runtime

LETTERS = {"f": "f32", "i": "i64", "j": "i32", "b": "boolean", "x": "dynamic"}


def operand(text: str) -> Any:
    """The operand a text stands for, as `runtime_reference` takes it."""
    if text == "-":
        return None
    if text[0] == "=":
        values = np.array(json.loads(text[1:]))
        return values if values.dtype == bool else values.astype(np.int64)
    dimensions = text[2:-1]
    if dimensions == "...":
        return (LETTERS[text[0]], None)
    return (LETTERS[text[0]], tuple(-1 if d == "?" else int(d) for d in dimensions.split(",") if d))


def masks(begin: list[int], end: list[int], new: list[int], shrink: list[int], ellipsis: list[int]) -> dict[str, Any]:
    """The masks of a StridedSlice."""
    return {"begin_mask": begin, "end_mask": end, "new_axis_mask": new, "shrink_axis_mask": shrink, "ellipsis_mask": ellipsis}


PLAIN = masks([0, 0], [0, 0], [], [], [])
TOP = {"mode": "max", "sort": "value", "index_element_type": "i64"}
COMPLEX_AXES = "=[1,2] =[-1] =[1,1] =1 i[2]"

# Names, sets of properties, alternatives for each operand, number of results.
Row = tuple[str, list[dict[str, Any]], list[str], int]
TABLE: list[Row] = [
    (
        "opset1.Reshape",
        [{"special_zero": False}, {"special_zero": True}],
        [
            "f[2,3,4] f[?,3,4] f[2,?,4] f[?,?,4] f[0,3,4] f[1,?] f[] f[...]",
            "=[] =[0,-1] =[2,-1] =[-1] =[0,0,-1] =[3,0,-1] =[6,4] =[5,-1] =[-1,-1] =[-2,3] i[2] i[?] i[0] i[...] i[]",
        ],
        1,
    ),
    ("opset1.Squeeze opset15.Squeeze", [{}], ["f[1,3,1] f[1,?,3] f[?,?] f[] f[...]", "- =[0] =1 =[0,-1] =[5] =[]"], 1),
    ("opset15.Squeeze", [{"allow_axis_skip": True}], ["f[1,3,1] f[1,?,3] f[?,?] f[] f[...]", "- =[0] =1 =[0,-1] =[5] =[] i[1]"], 1),
    ("opset1.Squeeze", [{}], ["f[1,3,1] f[1] f[...]", "i[1] i[2] i[] i[?]"], 1),
    ("opset15.Squeeze", [{}], ["f[1,3,1]", "i[1] i[?]"], 1),
    ("opset1.Unsqueeze", [{}], ["f[2,3] f[?] f[] f[...]", "=[0] =[1,0] =[0,0] =[-1] =0 =[-4] =[0,-2] i[1] i[]"], 1),
    ("opset3.ShapeOf", [{"output_type": "i32"}, {"output_type": "i64"}, {"output_type": "f32"}], ["f[2,3] f[?] f[] f[...]"], 1),
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
        [masks([0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]), masks([0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0])],
        ["f[5,6,7] f[?,6,7] f[...]", "=[1,0,2] i[3]", "=[2,0,5] i[3]"],
        1,
    ),
    (
        "opset1.StridedSlice",
        [masks([1, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1], []), masks([0, 1, 1], [1, 1, 1], [0, 1, 0], [], [])],
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
    ("opset8.Gather", [{"batch_dims": 0}, {"batch_dims": 1}], ["f[2,3,4] f[?,3] f[...]", "i[2] i[2,3] i[?,3] i[...]", "=0 =[1] =5 i[]"], 1),
    ("opset6.GatherElements", [{"axis": 0}, {"axis": -1}], ["f[2,3] f[?,3] f[...]", "i[2,3] i[?,3] i[5,3] i[2] i[...]"], 1),
    ("opset8.GatherND", [{"batch_dims": 0}, {"batch_dims": 1}], ["f[2,3,4] f[?,3] f[...]", "i[2,2] i[2,1] i[2,?] i[2,4] i[...]"], 1),
    ("opset3.ScatterUpdate", [{}], ["f[2,3] f[?,3] f[...]", "i[2] i[...]", "f[2,3] f[2,2] f[2] f[...]", "=0 =[1] =4 i[]"], 1),
    (
        "opset12.ScatterElementsUpdate",
        [{"reduction": "sum"}],
        ["f[2,3] f[?,3] f[...]", "i[2,3] i[1,3]", "f[2,3] i[2,3] f[...]", "=0 =4 i[]"],
        1,
    ),
    ("opset15.ScatterNDUpdate", [{}], ["f[2,3] f[?,3] f[...]", "i[2,1] i[2,2] i[2,?] i[...]", "f[...]"], 1),
    ("opset15.ScatterNDUpdate", [{"reduction": "sum"}], ["f[2,3]", "i[4,1]", "f[4,3] f[4,2] f[3,3] i[4,3]"], 1),
    ("opset11.TopK", [TOP | {"axis": axis} for axis in (0, -1, 4)], ["f[3,5] f[?,5] f[...]", "=2 =[2] i[] i[...]"], 2),
    ("opset11.TopK", [TOP | {"axis": 0}], ["f[0,5]", "=0 i[]"], 2),
    ("opset3.NonZero", [{"output_type": "i32"}], ["f[3,5] f[?,5] f[0,?] f[] f[...]"], 1),
    ("opset15.SearchSorted", [{"output_type": "i32"}], ["f[3,5] f[5] f[?,5] f[] f[...]", "f[3,2] f[4] f[2,2] i[3,2] f[...]"], 1),
    ("opset10.Unique", [{"index_element_type": "i32"}], ["f[3,5] f[1,5] f[?,5] f[] f[...]", "- =0 =[1] =7 i[]"], 4),
    (
        "opset1.Select",
        [{"auto_broadcast": "numpy"}, {"auto_broadcast": "none"}],
        ["b[2,3] b[4,1,1] b[...] j[2,3]", "f[2,3] f[?,3] f[] f[...]", "f[2,3] f[3] x[2,3] i[2,3]"],
        1,
    ),
    ("opset7.DFT opset7.IDFT", [{}], ["f[1,8,5,2] f[?,8,?,2] f[2] f[...]", COMPLEX_AXES, "- i[2] =[6,7] =[-1,6]"], 1),
    ("opset9.RDFT", [{}], ["f[1,8,5] f[?,8,?] f[] f[...]", "=[1,2] =[-1,0] =[1,1] i[2]", "- =[6,7] =[-1,6]"], 1),
    ("opset9.IRDFT", [{}], ["f[1,8,5,2] f[?,8,?,2] f[2] f[...]", "=[1,2] =[-1,0] =[1,1] i[2]", "- =[6,7] =[-1,6] =[6,-1]"], 1),
    (
        "opset15.STFT",
        [{"transpose_frames": False}, {"transpose_frames": True}],
        ["f[2,48] f[48] f[?,?] f[...]", "f[16] f[...]", "=16 =[16] i[]", "=7 i[]"],
        1,
    ),
    ("opset15.STFT", [{"transpose_frames": False}], ["f[2,10] f[48]", "f[16] f[20]", "=16", "=7"], 1),
    (
        "opset16.ISTFT",
        [{"center": center, "normalized": False} for center in (False, True)],
        ["f[2,9,5,2] f[9,?,2] f[2,8,5,2] f[...]", "f[16] f[...]", "=16 i[]", "=7 i[]", "- =40 i[]"],
        1,
    ),
]


def cases(row: Row) -> list[tuple[str, list[Any], dict[str, Any], int]]:
    """All combinations of a row."""
    names, properties, alternatives, results = row
    choices = list(itertools.product(*(text.split() for text in alternatives)))
    return [(name, list(map(operand, choice)), some, results) for name in names.split() for some in properties for choice in choices]


@pytest.mark.parametrize("row", TABLE, ids=[f"{index}-{row[0].replace(' ', '+')}" for index, row in enumerate(TABLE)])
def test_types_equal_those_of_the_runtime(row: Row) -> None:
    for case in cases(row):
        try:
            expected: Any = infer_with_runtime(*case)
        except RuntimeError:
            with pytest.raises(InferenceError):
                infer_with_moir(*case)
        else:
            assert infer_with_moir(*case) == expected, case


# What the runtime lets pass when it infers, and fails at or computes nonsense for when it executes; operands that would eat memory.
STRICTER: list[Row] = [
    ("opset1.Reshape", [{"special_zero": True}], ["f[2,3,4]", "=[0,4]"], 1),
    ("opset1.VariadicSplit", [{}], ["f[2,6]", "=1", "=[7,-1] =[-2,8] =[-1,-1]"], 2),
    ("opset1.Transpose", [{}], ["f[...]", "=[0,0,1] =[-1,0,1]"], 1),
    ("opset3.Broadcast", [{"mode": "numpy"}], ["f[2,3]", "i[1]"], 1),
    ("opset3.Broadcast", [{"mode": "explicit"}], ["f[3]", "i[3]", "=[5]"], 1),
    ("opset12.Pad", [{"pad_mode": "constant"}], ["f[3,4]", "=[0,0]", "=[0,-5]"], 1),
    ("opset2.BatchToSpace opset2.SpaceToBatch", [{}], ["f[8,2,4]", "=[1,1,2]", "=[0,0,-1]", "i[3]"], 1),
    ("opset11.TopK", [TOP | {"axis": 0}], ["f[3,5]", "=9"], 2),
    ("opset7.DFT opset7.IDFT", [{}], ["f[1,8,2]", "=[1]", "=[-2]"], 1),
    ("opset9.RDFT opset9.IRDFT", [{}], ["f[8,2]", "=[]"], 1),
    ("opset15.STFT", [{"transpose_frames": False}], ["f[10] f[48]", "f[20]", "=16", "i[]"], 1),
    ("opset8.Slice", [{}], ["f[2]", "i[1000000000]", "i[1000000000]", "i[1000000000]"], 1),
    ("opset1.StridedSlice", [PLAIN], ["f[2]", "i[1000000000]", "i[1000000000]"], 1),
]


@pytest.mark.parametrize("row", STRICTER, ids=[row[0] for row in STRICTER])
def test_impossible_operands_are_refused(row: Row) -> None:
    for case in cases(row):
        with pytest.raises(InferenceError):
            infer_with_moir(*case)
