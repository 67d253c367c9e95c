"""Generated tensors: ranges, grids, powers.

%y = keras.ops.Linspace(%a, %b) {num = 5}  ->  %y = %a + (%b - %a) / 4 · [0, 1, 2, 3, 4]
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, element_named, is_tensor, values_within
from moir.lowering.keras.functions.elementwise import as_real, single
from moir.lowering.keras.functions.movement import sizes
from moir.lowering.keras.promotion import operands
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

LARGEST_COUNT = 1 << 20


@keras.lowers("ops.Linspace", "ops.Logspace")
def spaced(
    node: LoweringNode,
    op: OpBuilder,
    *,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    base: float = 10.0,
    dtype: str | None = None,
    axis: int = 0,
) -> SSAValue:
    """keras.ops.Linspace(a, b) {num, endpoint} -> a + (b - a) / (num - 1) · [0, 1, …]

    Logspace is `base` to the power of that.
    """
    if retstep or not 0 < num <= LARGEST_COUNT:
        node.fail(f"{num} numbers with their distance are not supported" if retstep else f"{num} numbers")
    arguments = Arguments(node, "start", "stop")
    first, last = (as_real(op, each) for each in operands(op, arguments.get("start"), arguments.get("stop")))
    rank = max(rank_of(first) or 0, rank_of(last) or 0)
    axis_ = axis % (rank + 1)
    first, last = (op.Unsqueeze(each, [axis_]) if rank_of(each) == rank else each for each in (first, last))
    parts = np.arange(num) / max(num - endpoint, 1)
    parts = parts.reshape([-1, *(1,) * (rank - axis_)])
    spaced_values = op.Add(op.Multiply(first, op.constant_like(1 - parts, first)), op.Multiply(last, op.constant_like(parts, last)))
    if node.op.KIND == "ops.Logspace":
        spaced_values = op.Power(op.constant_like(base, spaced_values), spaced_values)
    return spaced_values if dtype is None else op.convert(spaced_values, element_named(node, dtype))


@keras.lowers("ops.Full")
def full(node: LoweringNode, op: OpBuilder, *, shape: object | None = None, dtype: str | None = None) -> SSAValue:
    """keras.ops.Full(x) {shape} -> opset3.Broadcast(x, shape)"""
    arguments = Arguments(node, "fill_value", "shape")
    filled = op.Broadcast(arguments.tensor("fill_value"), sizes(node, op, arguments.get("shape", shape)))
    return filled if dtype is None else op.convert(filled, element_named(node, dtype))


@keras.lowers("ops.Isreal")
def is_real(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Isreal(x) -> true, as there are no complex tensors"""
    return op.Broadcast(op.constant(True, boolean), op.ShapeOf(single(node)))


@keras.lowers("ops.Meshgrid")
def grids(node: LoweringNode, op: OpBuilder, *, indexing: str = "xy") -> Replacement:
    """keras.ops.Meshgrid(x, y, …) {indexing} -> opset3.Broadcast of each to the shape of all"""
    tensors = values_within(Arguments(node).positional)
    flat = [op.Reshape(each, [-1], special_zero=False) for each in tensors]
    order = list(range(len(flat)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    lengths = [dimension_list(op, flat[order.index(axis)], 0) for axis in range(len(flat))]
    target = op.Concat(*lengths, axis=0)
    shaped = (
        op.Reshape(each, [*(1,) * axis, -1, *(1,) * (len(flat) - 1 - axis)], special_zero=False)
        for each, axis in zip(flat, order, strict=True)
    )
    return [op.Broadcast(each, target) for each in shaped]


@keras.lowers("ops.Vander")
def vandermonde(node: LoweringNode, op: OpBuilder, *, N: int | None = None, increasing: bool = False) -> SSAValue:
    """keras.ops.Vander(x) {N, increasing} -> the powers of each number"""
    x = single(node)
    count = (shape_of(x) or (-1,))[0] if N is None else N
    if rank_of(x) != 1 or not 0 < count <= LARGEST_COUNT:
        node.fail("the number of its powers is dynamic", hint="give N")
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return op.Power(op.Unsqueeze(x, [1]), op.constant_like(powers, x))


@keras.lowers("ops.UnravelIndex")
def unraveled(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...]) -> Replacement:
    """keras.ops.UnravelIndex(i) {shape} -> the index along each axis"""
    indices = Arguments(node, "indices").get("indices")
    if not is_tensor(indices):
        node.fail("its indices are not a tensor")
    coordinates: list[SSAValue] = []
    rest: SSAValue = indices
    for size in reversed(shape):
        if size < 1:
            node.fail(f"the shape {shape}")
        part = op.FloorMod(rest, size)
        coordinates.append(part)
        rest = op.Divide(op.Subtract(rest, part), size, m_pythondiv=False)
    return coordinates[::-1][: node.result_count]
