"""Pooling over windows, and over all of a channel.

Source: pooling.cc, nn/pool.h and pooling_v1-inl.h of MXNet 1.9.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import by_axis, channel_first, channel_last, entries, is_channel_last, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("Pooling", "Pooling_v1", "_npx_pooling")
def pooling(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Pooling(x) {pool_type = "max", pooling_convention = "valid"} -> opset14.MaxPool(x), opset14.AvgPool(x)

    The convention `full` rounds the number of windows up. Sums and norms are averages times the size of the window.
    """
    rank, is_last = rank_of_operand(node), is_channel_last(node)
    x = channel_first(op, node.operand(0), rank) if is_last else node.operand(0)
    result = _global(node, op, x, rank) if node.flag("global_pool") else _windows(node, op, x, rank)
    return channel_last(op, result, rank) if is_last else result


def _method(node: LoweringNode) -> str:
    method = node.text("pool_type", "max")
    if method not in ("max", "avg", "sum", "lp"):
        node.fail(f"pool_type {method!r} does not exist")
    return method


def _global(node: LoweringNode, op: OpBuilder, x: SSAValue, rank: int) -> SSAValue:
    axes, method = list(range(2, rank)), _method(node)
    if method == "lp":
        order = float(node.integer("p_value"))
        return op.Power(op.ReduceSum(op.Power(op.Abs(x), order), axes, keep_dims=True), 1 / order)
    return {"max": op.ReduceMax, "avg": op.ReduceMean, "sum": op.ReduceSum}[method](x, axes, keep_dims=True)


def _windows(node: LoweringNode, op: OpBuilder, x: SSAValue, rank: int) -> SSAValue:
    kernel, axes = entries(node, "kernel"), rank - 2
    if len(kernel) != axes or not kernel or min(kernel) < 1:
        node.fail(f"kernel {list(kernel)} is no kernel of {axes} axes")
    strides, pads, method = by_axis(node, "stride", axes, 1), by_axis(node, "pad", axes, 0), _method(node)
    convention = node.text("pooling_convention", "valid")
    if convention == "same":
        if any(pads):
            node.fail("pads with pooling_convention = same are not supported")
        # As many windows as strides fit into the data; what they lack at its end counts as padding.
        sizes = op.Slice(op.ShapeOf(x), [2], [rank], [1])
        windows = op.Divide(op.Add(sizes, [stride - 1 for stride in strides]), list(strides))
        reach = op.Add(op.Multiply(op.Subtract(windows, 1), list(strides)), list(kernel))
        missing = op.Maximum(op.Subtract(reach, sizes), 0)
        behind = op.Concat(op.constant([0, 0]), missing, axis=0)
        lowest = op.ConvertLike(op.constant(float("-inf") if method == "max" else 0.0), x)
        x = op.Pad(x, [0] * rank, behind, lowest, pad_mode="constant")
    elif convention not in ("valid", "full"):
        node.fail(f"pooling_convention {convention!r} does not exist")
    elif convention == "full" and any(stride > size for stride, size in zip(strides, kernel, strict=True)):
        node.fail("a stride above the kernel with pooling_convention = full may pool over a window without elements")
    rounding = "ceil" if convention == "full" else "floor"
    window = {"kernel": kernel, "strides": strides, "rounding_type": rounding, "auto_pad": "explicit"}
    if method == "max":
        return op.MaxPool(x, **window, dilations=[1] * axes, pads_begin=pads, pads_end=pads)
    if method == "avg" and not node.flag("count_include_pad", True):
        return op["opset14.AvgPool"](x, **window, pads_begin=pads, pads_end=pads, exclude_pad=True)
    # The padding counts, but not what lies behind it, so that the data is padded before.
    order = float(node.integer("p_value")) if method == "lp" else 1.0
    x = op.Power(op.Abs(x), order) if method == "lp" else x
    padded = op.Pad(x, [0, 0, *pads], [0, 0, *pads], pad_mode="constant") if any(pads) else x
    none = [0] * axes
    if method == "avg":
        return op["opset14.AvgPool"](padded, **window, pads_begin=none, pads_end=none, exclude_pad=True)
    if rounding == "ceil":
        # Zeros behind the data do not change a sum: then all windows are whole.
        padded = op.Pad(padded, [0] * rank, [0, 0, *(size - 1 for size in strides)], pad_mode="constant")
        window["rounding_type"] = "floor"
    total = op.Multiply(op["opset14.AvgPool"](padded, **window, pads_begin=none, pads_end=none, exclude_pad=False), float(prod(kernel)))
    return op.Power(total, 1 / order) if method == "lp" else total
