"""Pooling over windows, and over whole channels.

Source: pooling.cc, nn/pool.h and pooling_v1-inl.h of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.formulas import cube_root
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import by_axis, channel_first, channel_last, entries, is_channel_last, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

_Function: TypeAlias = Callable[[SSAValue], SSAValue]


@mxnet.lowers("Pooling", "Pooling_v1", "_npx_pooling")
def pooling(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Pooling(x) {pool_type = "max", pooling_convention = "valid"} -> opset14.MaxPool(x), opset14.AvgPool(x)

    The convention `full` rounds the number of windows up. Sums and norms are averages times the size of the window.
    """
    return pooled(node, op)


def pooled(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Operand 0 pooled over windows, or with `global_pool` over whole channels, in the layout of the node."""
    rank, is_last = rank_of_operand(node), is_channel_last(node)
    x = channel_first(op, node.operand(0), rank) if is_last else node.operand(0)
    result = _global(node, op, x, rank) if node.flag("global_pool") else _windows(node, op, x, rank)
    return channel_last(op, result, rank) if is_last else result


def _method(node: LoweringNode) -> str:
    method = node.text("pool_type", "max")
    if method not in ("max", "avg", "sum", "lp"):
        node.fail(f"pool_type {method!r} does not exist")
    return method


def _norm(node: LoweringNode, op: OpBuilder) -> tuple[_Function, _Function]:
    """The functions of `lp` pooling: applied to each element (a power), and to their sum (the root of the same order).

    Raises ConversionError for an order other than 1, 2 or 3.
    """
    order = node.integer("p_value", 2)
    if order not in (1, 2, 3):
        node.fail(f"p_value {order} is not 1, 2 or 3")

    def power(x: SSAValue) -> SSAValue:
        return x if order == 1 else op.Multiply(x, x) if order == 2 else op.Multiply(op.Multiply(x, x), x)

    def root(x: SSAValue) -> SSAValue:
        return x if order == 1 else op.Sqrt(x) if order == 2 else cube_root(op, x)

    return power, root


def _global(node: LoweringNode, op: OpBuilder, x: SSAValue, rank: int) -> SSAValue:
    axes, method = list(range(2, rank)), _method(node)
    if method == "lp":
        power, root = _norm(node, op)
        return root(op.ReduceSum(power(x), axes, keep_dims=True))
    return {"max": op.ReduceMax, "avg": op.ReduceMean, "sum": op.ReduceSum}[method](x, axes, keep_dims=True)


def _may_be_empty(x: SSAValue, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int]) -> bool:
    """Whether the last window may begin after the data if the number of windows is rounded up.

    True for dynamic sizes.
    """
    shape = shape_of(x) or (-1,) * (len(kernel) + 2)
    sizes = zip(shape[2:], kernel, strides, pads, strict=True)
    return any(s > k and (size < 0 or -(-(size + 2 * p - k) // s) * s - p >= size) for size, k, s, p in sizes)


def _windows(node: LoweringNode, op: OpBuilder, x: SSAValue, rank: int) -> SSAValue:
    kernel, axes = entries(node, "kernel"), rank - 2
    if len(kernel) != axes or not kernel or min(kernel) < 1:
        node.fail(f"kernel {list(kernel)} is not a kernel of {axes} axes")
    strides, pads, method = by_axis(node, "stride", axes, 1), by_axis(node, "pad", axes, 0), _method(node)
    convention = node.text("pooling_convention", "valid")
    if convention == "same":
        if any(pads):
            node.fail("pads with pooling_convention = same are not supported")
        # The number of strides that fit into the data, rounded up, gives the number of windows; the end of the last is
        # padding.
        sizes = op.Slice(op.ShapeOf(x), [2], [rank], [1])
        windows = op.Divide(op.Add(sizes, [stride - 1 for stride in strides]), list(strides))
        reach = op.Add(op.Multiply(op.Subtract(windows, 1), list(strides)), list(kernel))
        missing = op.Maximum(op.Subtract(reach, sizes), 0)
        after = op.Concat(op.constant([0, 0]), missing, axis=0)
        lowest = op.ConvertLike(op.constant(float("-inf") if method == "max" else 0.0), x)
        x = op.Pad(x, [0] * rank, after, lowest, pad_mode="constant")
    elif convention not in ("valid", "full"):
        node.fail(f"pooling_convention {convention!r} does not exist")
    elif convention == "full" and _may_be_empty(x, kernel, strides, pads):
        node.fail("a stride above the kernel with pooling_convention = full may pool over a window without elements")
    rounding = "ceil" if convention == "full" else "floor"
    window = {"kernel": kernel, "strides": strides, "rounding_type": rounding, "auto_pad": "explicit"}
    if method == "max":
        if node.op.KIND == "Pooling_v1" and any(pads):
            # Pooling_v1 takes the maximum over the zeros of the padding, too.
            x, pads = op.Pad(x, [0, 0, *pads], [0, 0, *pads], pad_mode="constant"), (0,) * axes
        return op.MaxPool(x, **window, dilations=[1] * axes, pads_begin=pads, pads_end=pads)
    if method == "avg" and not node.flag("count_include_pad", True):
        return op["opset14.AvgPool"](x, **window, pads_begin=pads, pads_end=pads, exclude_pad=True)
    # Elements of the padding count, elements after the padding do not, so the data is padded first.
    power, root = _norm(node, op) if method == "lp" else (None, None)
    x = power(x) if power else x
    padded = op.Pad(x, [0, 0, *pads], [0, 0, *pads], pad_mode="constant") if any(pads) else x
    none = [0] * axes
    if method == "avg":
        return op["opset14.AvgPool"](padded, **window, pads_begin=none, pads_end=none, exclude_pad=True)
    if rounding == "ceil":
        # Zeros after the data, which do not change a sum, make all windows complete.
        padded = op.Pad(padded, [0] * rank, [0, 0, *(size - 1 for size in strides)], pad_mode="constant")
        window["rounding_type"] = "floor"
    total = op.Multiply(op["opset14.AvgPool"](padded, **window, pads_begin=none, pads_end=none, exclude_pad=False), float(prod(kernel)))
    return root(total) if root else total
