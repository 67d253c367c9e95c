"""Operations that change or return the shape of a tensor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.movement import reshaped
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

mxnet.lowers_each(
    {
        "Flatten flatten _npx_batch_flatten": lambda op, x: op.Reshape(x, [0, -1], special_zero=True),
        "shape_array _npx_shape_array": lambda op, x: op.ShapeOf(x, output_type=si64),
        "size_array": lambda op, x: op.ReduceProd(op.ShapeOf(x, output_type=si64), [0], keep_dims=True),
    }
)


@mxnet.lowers("Reshape", "reshape")
def reshape(
    node: LoweringNode,
    op: OpBuilder,
    *,
    reverse: bool = False,
    keep_highest: bool = False,
    shape: tuple[int, ...] = (),
    target_shape: tuple[int, ...] = (),
) -> SSAValue:
    """mxnet.Reshape(x) {shape, reverse = false} -> opset1.Reshape(x, shape)

    0 copies a dimension, -1 is inferred, -2 copies all remaining ones, -3 is the product of two, -4 splits one into the
    two sizes after it. With `reverse` codes and dimensions are matched from the right.
    """
    older = [0 if keep_highest and index == 0 else size or -1 for index, size in enumerate(target_shape)]
    return reshaped(node, op, list(shape) or older, reverse)


@mxnet.lowers("reshape_like", "_npx_reshape_like")
def reshape_like(node: LoweringNode, op: OpBuilder, x: SSAValue, like: SSAValue) -> SSAValue:
    """mxnet.reshape_like(x, like) {lhs_begin, lhs_end, rhs_begin, rhs_end} -> opset1.Reshape(x, shape of like)

    With bounds, the dimensions of x between them are replaced by those of `like` between its bounds.
    """
    if not any(node.has(name) for name in ("lhs_begin", "lhs_end", "rhs_begin", "rhs_end")):
        return op.Reshape(x, op.ShapeOf(like), special_zero=False)
    bounds: list[tuple[int, int]] = []
    for index, side in enumerate(("lhs", "rhs")):
        rank = rank_of_operand(node, index)
        begin = node.integer(f"{side}_begin") if node.has(f"{side}_begin") else 0
        end = node.integer(f"{side}_end") if node.has(f"{side}_end") else rank
        bounds.append((begin + rank if begin < 0 else begin, end + rank if end < 0 else end))
    (first, last), (other_first, other_last) = bounds
    sizes, theirs = op.ShapeOf(x), op.ShapeOf(like)
    parts = [op.Slice(sizes, [0], [first], [1])] if first else []
    parts += [op.Slice(theirs, [other_first], [other_last], [1])] if other_last > other_first else []
    parts += [op.Slice(sizes, [last], [rank_of_operand(node)], [1])] if last < rank_of_operand(node) else []
    return op.Reshape(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@mxnet.lowers("expand_dims", "_npi_expand_dims")
def expand_dims(op: OpBuilder, x: SSAValue, *, axis: int) -> SSAValue:
    """mxnet.expand_dims(x) {axis} -> opset1.Unsqueeze(x, [axis])"""
    return op.Unsqueeze(x, [axis])


@mxnet.lowers("squeeze", "_np_squeeze", "_npi_squeeze")
def squeeze(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.squeeze(x) {axis} -> opset1.Squeeze(x, axis); a single element has the shape [1], or [] in numpy's"""
    shape = shape_of(x)
    if node.op.KIND == "squeeze" and shape is not None and (len(axis) == len(shape) or (set(shape) == {1} and not axis)):
        return op.Reshape(x, [1], special_zero=False)
    return op.Squeeze(x, list(axis)) if axis else op.Squeeze(x)
