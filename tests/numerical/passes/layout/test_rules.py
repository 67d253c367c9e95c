"""Every rule of the layout change: an operation and its permuted form compute the same.

The operation gets a transposed operand, or its results are transposed; then all operations that have a permuted form are made to take it,
whether that is worth it or not. Which operations take it is asserted as well: a rule that never applies fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.passes.layout.application import Application
from moir.passes.layout.orders import inverse
from moir.passes.layout.regions import Layouts
from moir.rewriting.builder import OpBuilder
from moir.tools.optimizer.written_types import check_written_types
from tests.numerical.passes.layout.modules import check_equal, module_of

SHAPE = (2, 3, 4, 6)
ORDERS = ((0, 2, 3, 1), (0, 3, 1, 2), (3, 1, 0, 2), (0, 1, 3, 2))

Case = Callable[[OpBuilder, SSAValue], "SSAValue | Sequence[SSAValue]"]


def numbers(*shape: int) -> np.ndarray:
    """Weights."""
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    """A list of integers."""
    return np.array(values, np.int64)


def scattered(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.ScatterElementsUpdate(x, np.tile(ints(1, 0, 3, 2, 5, 4), (2, 3, 2, 1)), numbers(2, 3, 2, 6), np.int64(3), reduction="sum")


FIXED = numbers(3, 4, 6)
"""Added to an input, it fixes all dimensions but the first."""

INTERPOLATION = {"mode": "linear_onnx", "shape_calculation_mode": "sizes", "coordinate_transformation_mode": "half_pixel"}
NEW_AND_SHRUNK = {"begin_mask": [0] * 5, "end_mask": [0] * 5, "new_axis_mask": [1, 0, 0, 0, 0], "shrink_axis_mask": [0, 1, 0, 0, 0]}
SLICES = {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0]}

CASES: dict[str, Case] = {
    "Relu": lambda op, x: op.Relu(x),
    "Convert": lambda op, x: op.Convert(x, destination_type=si32),
    "ErfInv": lambda op, x: op.ErfInv(op.Tanh(x)),
    "HardSigmoid": lambda op, x: op.HardSigmoid(x, np.float32(0.2), np.float32(0.5)),
    "Add-scalar": lambda op, x: op.Add(x, 2.0),
    "Add-vector": lambda op, x: op.Add(numbers(6), x),
    "Subtract-matrix": lambda op, x: op.Subtract(x, numbers(4, 6)),
    "Multiply-inner": lambda op, x: op.Multiply(x, numbers(3, 1, 1)),
    "Multiply-full": lambda op, x: op.Multiply(x, numbers(2, 1, 4, 1)),
    "Multiply-higher": lambda op, x: op.Multiply(x, numbers(2, 1, 1, 4, 6)),
    "Add-computed": lambda op, x: op.Add(x, op.ReduceSum(x, ints(0, 1), keep_dims=False)),
    "Less": lambda op, x: op.Less(x, numbers(6)),
    "Select": lambda op, x: op.Select(op.Greater(x, 0.0), op.Exp(x), numbers(4, 6)),
    "FakeQuantize": lambda op, x: op.FakeQuantize(x, np.float32(-1), np.float32(2), np.float32([-2]), np.float32(1), levels=256),
    "FakeQuantize-channels": lambda op, x: op.FakeQuantize(x, -numbers(6), numbers(1, 1, 1, 6), np.float32(-1), np.float32(1), levels=256),
    "PRelu-channels": lambda op, x: op.PRelu(x, numbers(3)),
    "PRelu-single": lambda op, x: op.PRelu(x, numbers(1)),
    "Softmax": lambda op, x: op.Softmax(x, axis=-1),
    "LogSoftmax": lambda op, x: op.LogSoftmax(x, axis=1),
    "TopK": lambda op, x: op["opset11.TopK"].results(x, np.int64(2), axis=2, mode="max", sort="value"),
    "Concat": lambda op, x: op.Concat(x, op.Relu(x), numbers(2, 3, 4, 1), axis=-1),
    "Split": lambda op, x: op.Split.results(x, np.int64(-1), num_splits=3),
    "VariadicSplit": lambda op, x: op.VariadicSplit.results(x, np.int64(1), ints(1, -1)),
    "CumSum": lambda op, x: op.CumSum(x, np.int64(2), reverse=True),
    "NormalizeL2": lambda op, x: op.NormalizeL2(x, ints(1), eps=1e-6, eps_mode="add"),
    "MVN": lambda op, x: op.MVN(x, ints(1, 2), eps=1e-6, normalize_variance=True, eps_mode="INSIDE_SQRT"),
    "Roll": lambda op, x: op.Roll(x, ints(1, 2), ints(3, -3)),
    "ReverseSequence": lambda op, x: op.ReverseSequence(x, ints(1, 3, 2), batch_axis=1, seq_axis=-1),
    "ShuffleChannels": lambda op, x: op.ShuffleChannels(x, axis=-1, group=2),
    "GatherElements": lambda op, x: op.GatherElements(x, np.tile(ints(2, 0), (2, 3, 4, 1)), axis=3),
    "ScatterElementsUpdate": scattered,
    "ReduceMean-kept": lambda op, x: op.ReduceMean(x, ints(1, -2), keep_dims=True),
    "ReduceMax": lambda op, x: op.ReduceMax(x, ints(2), keep_dims=False),
    "ReduceSum-scalar": lambda op, x: op.ReduceSum(x, np.int64(0), keep_dims=False),
    "ReduceL2-two": lambda op, x: op.ReduceL2(x, ints(0, -1), keep_dims=False),
    "Pad": lambda op, x: op.Pad(x, ints(0, 1, 2, 0), ints(0, 0, 1, 3), np.float32(1.5), pad_mode="constant"),
    "Pad-reflect": lambda op, x: op.Pad(x, ints(0, 1, 2, 0), ints(0, 0, 1, 3), pad_mode="reflect"),
    "Tile": lambda op, x: op.Tile(x, ints(1, 2, 1, 3)),
    "SpaceToBatch": lambda op, x: op.SpaceToBatch(x, ints(1, 1, 2, 3), ints(0, 0, 1, 0), ints(0, 0, 1, 0)),
    "BatchToSpace": lambda op, x: op.BatchToSpace(x, ints(1, 1, 1, 2), ints(0, 0, 0, 1), ints(0, 0, 0, 0)),
    "Broadcast": lambda op, x: op.Broadcast(op.ReduceSum(x, ints(1), keep_dims=True), ints(2, 5, 4, 6)),
    "Broadcast-vector": lambda op, x: op.Broadcast(op.ReduceSum(x, ints(0, 1), keep_dims=False), ints(5, 2, 4, 6), mode="bidirectional"),
    "Broadcast-computed": lambda op, x: op.Broadcast(op.ReduceSum(x, ints(1), keep_dims=True), op.ShapeOf(x)),
    "Slice": lambda op, x: op.Slice(x, ints(1, -1), ints(3, -4), ints(1, -2), ints(2, -1)),
    "Slice-first": lambda op, x: op.Slice(x, ints(0, 1), ints(2, 3), ints(1, 1)),
    "StridedSlice": lambda op, x: op.StridedSlice(
        x, ints(0, 1, -1), ints(2, 3, -4), ints(1, 1, -1), begin_mask=[1, 0, 0], end_mask=[0, 1, 0]
    ),
    "StridedSlice-ellipsis": lambda op, x: op.StridedSlice(
        x, ints(1, 0, 2), ints(2, 0, 4), ints(1, 1, 1), **SLICES, ellipsis_mask=[0, 1, 0]
    ),
    "StridedSlice-shrink": lambda op, x: op.StridedSlice(
        x,
        ints(0, 0, 2, 3),
        ints(1, 0, 3, 4),
        ints(1, 1, 1, 1),
        begin_mask=[0, 1, 0, 0],
        end_mask=[0, 1, 0, 0],
        shrink_axis_mask=[0, 0, 1, 1],
    ),
    "StridedSlice-new": lambda op, x: op.StridedSlice(x, ints(0, 1, 1, 0, 0), ints(0, 2, 3, 4, 6), **NEW_AND_SHRUNK),
    "Interpolate": lambda op, x: op.Interpolate(x, ints(7, 3), ints(2, 3), **INTERPOLATION, pads_begin=[0, 0, 1, 2]),
    "Interpolate-all": lambda op, x: op.Interpolate(x, ints(2, 3, 8, 9), mode="nearest", shape_calculation_mode="sizes"),
    "Interpolate4": lambda op, x: op["opset4.Interpolate"](
        x, ints(8, 3), numbers(2), ints(2, 3), mode="nearest", shape_calculation_mode="sizes"
    ),
    "Squeeze": lambda op, x: op.Squeeze(op.ReduceMax(x, ints(1, 3), keep_dims=True), ints(3, -3)),
    "Unsqueeze": lambda op, x: op.Unsqueeze(x, ints(1, -1)),
    "OneHot": lambda op, x: op.OneHot(op.Convert(op.Abs(x), destination_type=si32), np.int64(3), np.float32(2), np.float32(-1), axis=2),
    "Gather-scalar": lambda op, x: op.Gather(x, np.int64(1), np.int64(2)),
    "Gather-list": lambda op, x: op.Gather(x, ints(1, 0, 1), ints(-1)),
    "Gather-matrix": lambda op, x: op.Gather(x, ints(1, 0, 1, 2).reshape(2, 2), np.int64(1)),
    "Gather-batch": lambda op, x: op.Gather(x, ints(1, 0, 1, 2).reshape(2, 2), np.int64(2), batch_dims=1),
    "ScatterUpdate": lambda op, x: op.ScatterUpdate(
        x, ints(3, 1), op.Tile(op.ReduceSum(x, ints(2), keep_dims=True), ints(1, 1, 2, 1)), np.int64(2)
    ),
    "ShapeOf": lambda op, x: op.ShapeOf(x),
    "Reshape-merge": lambda op, x: op.Reshape(op.Add(x, FIXED), ints(0, 0, -1), special_zero=True),
    "Reshape-middle": lambda op, x: op.Reshape(op.Add(x, FIXED), ints(0, -1, 6), special_zero=True),
    "Reshape-split": lambda op, x: op.Reshape(op.Add(x, FIXED), ints(0, 0, 0, 2, 3), special_zero=True),
    "Reshape-units": lambda op, x: op.Reshape(op.ReduceSum(x, ints(1, 2), keep_dims=True), ints(0, 6), special_zero=True),
    "Reshape-unit-result": lambda op, x: op.Reshape(op.ReduceSum(x, ints(1), keep_dims=False), ints(0, 0, 1, -1), special_zero=True),
    "MatMul-both": lambda op, x: op.MatMul(x, op.Sin(x), transpose_b=True),
    "MatMul-weights": lambda op, x: op.MatMul(x, numbers(6, 5)),
    "MatMul-left": lambda op, x: op.MatMul(numbers(2, 3, 5, 4), x),
    "Einsum": lambda op, x: op.Einsum(x, numbers(6, 5), equation="nhwc,cd->nwhd"),
}


def transposed_inputs(case: Case) -> Callable[[OpBuilder, list[SSAValue]], list[SSAValue]]:
    """The operation on transposed inputs, its results as they are."""

    def build(op: OpBuilder, inputs: list[SSAValue]) -> list[SSAValue]:
        values: list[SSAValue] = []
        for order, x in zip(ORDERS, inputs, strict=True):
            result = case(op, op.Transpose(x, ints(*order)))
            values.extend([result] if isinstance(result, SSAValue) else result)
        return values

    return build


def transposed_results(case: Case) -> Callable[[OpBuilder, list[SSAValue]], list[SSAValue]]:
    """The operation on inputs as they are, its results transposed in several orders."""

    def build(op: OpBuilder, inputs: list[SSAValue]) -> list[SSAValue]:
        values: list[SSAValue] = []
        for number, x in enumerate(inputs):
            result = case(op, x)
            for value in [result] if isinstance(result, SSAValue) else result:
                rank = rank_of(value) or 0
                orders = ORDERS if rank == len(SHAPE) else list(permutations(range(rank)))[1:]
                values.append(op.Transpose(value, ints(*orders[5 * number % len(orders)])))
        return values

    return build


def permute_everything(module: ModuleOp) -> set[str]:
    """Let every operation that can take its permuted form; returns the kinds of those that did."""
    layouts = Layouts(Analyses(module))
    for node in layouts.node_of.values():
        node.is_permuted = True
    changed = {op.name.partition(".")[2] for op in layouts.node_of if isinstance(op, Operation)}
    Application(layouts).run([op.body.block for op in module.ops])
    module.verify()
    return changed


def kind_of(name: str) -> str:
    """The kind of operation a case is about."""
    kind = name.partition("-")[0]
    return "Interpolate" if kind == "Interpolate4" else kind


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", CASES)
def test_transposed_operand(name: str, dynamic: bool) -> None:
    shapes = [tuple(SHAPE[axis] for axis in inverse(order)) for order in ORDERS]
    build = transposed_inputs(CASES[name])
    before, after = (module_of(build, shapes, dynamic=dynamic) for _ in range(2))
    assert kind_of(name) in permute_everything(after)
    check_written_types(after)
    check_equal(before, after, shapes)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("ShapeOf", "Reshape-units")])
def test_transposed_result(name: str) -> None:
    shapes = [SHAPE] * len(ORDERS)
    build = transposed_results(CASES[name])
    before, after = (module_of(build, shapes) for _ in range(2))
    assert kind_of(name) in permute_everything(after)
    check_written_types(after)
    check_equal(before, after, shapes)
