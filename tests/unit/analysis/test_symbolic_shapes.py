"""Shapes of results over symbols, a row an operation: letters are symbols, numbers what constants of a model fix, `?` is not known.

That the symbolic shapes agree with those of the runtime is checked wherever `runtime_reference` infers types (`symbolic_shapes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.analysis.dimensions import Dimensions
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import f32
from moir.dialects.extension import extension_operation
from moir.dialects.opset import names, operation
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import SymbolicShape, shape_of, tensor
from moir.dialects.symbols import Symbol
from tests.unit.dialects.opset.runtime_reference import moir_operation

WITH_BODIES = {"opset8.If", "opset5.Loop", "opset1.TensorIterator"}

UNIT = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}
HALF = {**UNIT, "strides": [2, 1]}
POOL = {"kernel": [3, 3], "strides": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}
SPREAD = {**UNIT, "output_padding": [0, 0]}
RESIZE = {"mode": "nearest", "shape_calculation_mode": "sizes"}
OPEN = {"begin_mask": [1, 0], "end_mask": [1, 0], "new_axis_mask": [], "shrink_axis_mask": [0, 1], "ellipsis_mask": []}
END = 2**63 - 1

# Operation, properties, shapes or constant values of the operands, shapes of the results.
ROWS: list[tuple[str, dict[str, Any], list[Any], str]] = [
    ("opset1.Relu", {}, ["a 3 b"], "a 3 b"),
    ("opset10.IsNaN", {}, ["a b"], "a b"),
    ("opset1.Add", {}, ["a 1 b 4", "c b 1"], "a c b 4"),
    ("opset1.Add", {}, ["a b", "b b"], "? b"),
    ("opset1.Add", {}, ["a 5", "3 b"], "3 5"),
    ("opset1.Add", {"auto_broadcast": "none"}, ["a 5", "a b"], "a 5"),
    ("opset1.Add", {"auto_broadcast": "pdpd"}, ["a b 5", "a b"], "a b 5"),
    ("opset1.Select", {}, ["a 1", "1 b", "a b"], "a b"),
    ("opset1.MatMul", {}, ["a b c", "c d"], "a b d"),
    ("opset1.MatMul", {"transpose_a": True}, ["a b c", "b"], "a c"),
    ("opset1.ReduceSum", {"keep_dims": True}, ["a b c", [1]], "a 1 c"),
    ("opset1.ReduceSum", {}, ["a b c", [-1]], "a b"),
    ("opset8.Softmax", {"axis": 1}, ["a b"], "a b"),
    ("opset1.Transpose", {}, ["a 3 b", [2, 0, 1]], "b a 3"),
    ("opset1.Concat", {"axis": 0}, ["a b", "3 c", "d 7"], "? 7"),
    ("opset1.Split", {"num_splits": 2}, ["a b 6", 2], "a b 3, a b 3"),
    ("opset1.VariadicSplit", {}, ["a b", 1, [2, -1]], "a 2, a ?"),
    ("opset1.VariadicSplit", {}, ["a b", 1, [-1]], "a b"),
    ("opset3.Broadcast", {"mode": "numpy"}, ["a 1", [4, 2, 3]], "4 2 3"),
    ("opset1.Tile", {}, ["a b 2", [1, 3, 3]], "a ? 6"),
    ("opset8.Slice", {}, ["a b c", [0, 0], [END, 5], [1, 1], [0, 1]], "a ? c"),
    ("opset1.StridedSlice", OPEN, ["a b c", [0, 0], [0, 1]], "a c"),
    ("opset12.Pad", {"pad_mode": "constant"}, ["a b 3", [0, 1, 1], [0, 0, 2]], "a ? 6"),
    ("opset1.Reshape", {"special_zero": True}, ["a b 6", [0, 2, 3, -1]], "a 2 3 b"),
    ("opset1.Reshape", {"special_zero": False}, ["a b", [2, -1]], "2 ?"),
    ("opset1.Squeeze", {}, ["a 1 b", [1]], "a b"),
    ("opset1.Unsqueeze", {}, ["a b", [0, 3]], "1 a b 1"),
    ("opset3.ShapeOf", {"output_type": "i64"}, ["a b c"], "3"),
    ("opset8.Gather", {}, ["a b c", "d e", 1], "a d e c"),
    ("opset8.Gather", {"batch_dims": 1}, ["a b c", "a d", 1], "a d c"),
    ("opset6.GatherElements", {"axis": 0}, ["a b", "c b"], "c b"),
    ("opset8.GatherND", {}, ["a b c", "d 2"], "d c"),
    ("opset3.ScatterUpdate", {}, ["a b", "c", "c b", 0], "a b"),
    ("opset1.OneHot", {"axis": -1}, ["a b", 9, 1.0, 0.0], "a b 9"),
    ("opset11.TopK", {"axis": 1, "mode": "max", "sort": "value"}, ["a b", 4], "a 4, a 4"),
    ("opset4.Range", {"output_type": "i64"}, [0, 7, 2], "4"),
    ("opset1.Convolution", UNIT, ["n c h w", "8 c 3 3"], "n 8 h w"),
    ("opset1.Convolution", HALF, ["n c h w", "8 c 3 3"], "n 8 ? w"),
    ("opset1.Convolution", {**HALF, "auto_pad": "same_upper"}, ["n c h w", "8 c 3 k"], "n 8 ? w"),
    ("opset1.Convolution", {**UNIT, "auto_pad": "valid"}, ["n c h 9", "k c 1 3"], "n k h 7"),
    ("opset1.GroupConvolution", UNIT, ["n 6 h w", "3 4 2 3 3"], "n 12 h w"),
    ("opset1.ConvolutionBackpropData", SPREAD, ["n c h w", "c 8 3 3"], "n 8 h w"),
    ("opset1.MaxPool", POOL, ["n c h w"], "n c h w"),
    ("opset8.MaxPool", {**POOL, "strides": [1, 2]}, ["n c h w"], "n c h ?, n c h ?"),
    ("opset8.AdaptiveAvgPool", {}, ["n c h w", [3, 4]], "n c 3 4"),
    ("opset1.DepthToSpace", {"mode": "blocks_first", "block_size": 2}, ["n 8 h 3"], "n 2 ? 6"),
    ("opset11.Interpolate", RESIZE, ["n c h w", [6, 8], [2, 3]], "n c 6 8"),
    ("opset5.BatchNormInference", {"epsilon": 1e-5}, ["n c h", "4", "4", "4", "4"], "n 4 h"),
    ("opset1.FakeQuantize", {"levels": 255}, ["n c h", "1", "1", "1", "1"], "n c h"),
    ("opset4.LSTMCell", {"hidden_size": 4}, ["n i", "m 4", "n 4", "16 i", "16 4", "16"], "n 4, n 4"),
    ("opset7.Einsum", {"equation": "abc,cd->abd"}, ["n a b", "b d"], "n a d"),
    ("opset13.ScaledDotProductAttention", {}, ["n h q e", "n h k e", "n h k v", "m 1 q k"], "n h q v"),
]


def operand(entry: Any) -> Any:
    """An operand as `runtime_reference` takes it: a constant, or a value all of whose dimensions are unknown."""
    if isinstance(entry, str):
        return ("f32", (-1,) * len(entry.split()))
    return np.array(entry, np.float32 if isinstance(entry, float) else np.int64)


def result_shapes(op: OpsetOp, entries: list[Any], symbols: dict[str, Symbol]) -> list[SymbolicShape]:
    """Shapes of the results for operands whose shapes are texts."""
    shapes: list[SymbolicShape] = []
    for value, entry in zip(op.operands, entries, strict=True):
        if isinstance(value.owner, Constant):
            shapes.append(shape_of(value))
        else:
            letters = entry.split()
            shapes.append(tuple([int(item) if item.isdigit() else symbols.setdefault(item, Symbol(True)) for item in letters]))
    return list(op.result_shapes(shapes, KnownValues()))


@pytest.mark.parametrize("row", ROWS, ids=[f"{index}-{row[0]}" for index, row in enumerate(ROWS)])
def test_symbols_pass_through_operations(row: tuple[str, dict[str, Any], list[Any], str]) -> None:
    name, properties, entries, expected = row
    symbols: dict[str, Symbol] = {}
    texts = expected.split(", ")
    op = moir_operation(name, [operand(entry) for entry in entries], properties, len(texts))
    actual = result_shapes(op, entries, symbols)
    letters = {symbol: letter for letter, symbol in symbols.items()}
    spelled = [[letters.get(d, "?") if isinstance(d, Symbol) else "?" if d == -1 else str(d) for d in shape or ()] for shape in actual]
    assert [" ".join(shape) for shape in spelled] == texts


@pytest.mark.parametrize("name", sorted(set(names()) - WITH_BODIES))
def test_every_operation_without_a_body_says_the_shapes_of_its_results(name: str) -> None:
    kind = operation(name)
    assert kind.result_shape is not OpsetOp.result_shape or kind.result_shapes is not OpsetOp.result_shapes


def test_results_of_one_operation_are_asked_for_once_and_keep_what_they_took_over() -> None:
    op = moir_operation("opset1.Split", [("f32", (-1, 6)), np.array(1)], {"num_splits": 2}, 2)
    for result, type_ in zip(op.results, op.infer(KnownValues()), strict=True):
        result._type = type_  # pyright: ignore[reportPrivateUsage]
    known = Dimensions()
    known.take_over(op.results[1], op.operands[0])
    first, second = known.tokens(op.results[0]), known.tokens(op.results[1])
    assert first is not None
    assert second is not None
    assert second is known.tokens(op.operands[0])
    assert first[0] is second[0]


def test_an_operation_of_a_user_may_say_types_alone() -> None:
    op = extension_operation("extension.Unheard").create(result_types=[tensor((2, 3), f32)])
    actual = Dimensions().tokens(op.results[0])
    assert actual is not None
    assert all(isinstance(token, Symbol) for token in actual)


def test_contradictions_are_left_to_type_inference() -> None:
    op = moir_operation("opset1.MatMul", [("f32", (2, 3)), ("f32", (4, 5))], {})
    op.results[0]._type = op.operands[0].type  # pyright: ignore[reportPrivateUsage]
    assert Dimensions(static=True).tokens(op.results[0]) == (2, 3)
