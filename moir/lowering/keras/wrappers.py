"""Layers that wrap another layer, which they apply to each step of a sequence."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("TimeDistributed")
def time_distributed(node: LoweringNode, op: OpBuilder, inputs: SSAValue, original: SSAValue | None = None, *, part: str) -> SSAValue:
    """keras.TimeDistributed(x [N, T, …]) {part = "steps"} -> opset1.Reshape(x, [N · T, …])

    keras.TimeDistributed(y [N · T, …], x) {part = "sequence"} -> opset1.Reshape(y, [N, T, …])
    """
    rank = node.known_rank(0)
    if part == "steps":
        return merged_steps(node, op, inputs, rank)
    if original is None:
        node.fail("the sequence is missing")
    steps = dimension_list(op, original, 1)
    rest = [dimension_list(op, inputs, axis) for axis in range(1, rank)]
    if op.known.integers(steps) is not None:
        return op.Reshape(inputs, op.Concat([-1], steps, *rest, axis=0), special_zero=False)
    return op.Reshape(inputs, op.Concat(dimension_list(op, original, 0), steps, *rest, axis=0), special_zero=False)


def merged_steps(node: LoweringNode, op: OpBuilder, inputs: SSAValue, rank: int) -> SSAValue:
    """[N, T, …] -> [N · T, …], for a tensor of a rank. Raises ConversionError for a rank below 2."""
    if rank < 2:
        node.fail("its input has no steps")
    rest = [dimension_list(op, inputs, axis) for axis in range(2, rank)]
    return op.Reshape(inputs, op.Concat([-1], *rest, axis=0) if rest else [-1], special_zero=False)
