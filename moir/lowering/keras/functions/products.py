"""Products of matrices and tensors.

%y = keras.ops.Einsum(%a, %b) {subscripts = "bij,bkj->bik"}  ->  %y = opset7.Einsum(%a, %b) {equation = …}
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import rank_of
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attention import attended, causal_mask
from moir.lowering.keras.attributes import Arguments, axis_list, is_tensor, values_within
from moir.lowering.keras.promotion import operands, promoted
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def _pair(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    arguments = Arguments(node, "x1", "x2")
    return operands(op, arguments.get("x1"), arguments.get("x2"))


@keras.lowers("ops.Matmul")
def matmul(node: LoweringNode, op: OpBuilder, *, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """keras.ops.Matmul(a, b) -> opset1.MatMul(a, b); TensorFlow's function may transpose matrices"""
    return op.MatMul(*_pair(node, op), transpose_a=transpose_a, transpose_b=transpose_b)


@keras.lowers("ops.Einsum")
def einsum(node: LoweringNode, op: OpBuilder, *, subscripts: str) -> SSAValue:
    """keras.ops.Einsum(a, b) {subscripts} -> opset7.Einsum(a, b) {equation}"""
    return einstein_sum(op, subscripts, *promoted(op, values_within(Arguments(node).positional)))


@keras.lowers("ops.Dot", "ops.Inner", "ops.Vdot", "ops.Outer", "ops.Tensordot")
def tensordot(node: LoweringNode, op: OpBuilder, *, axes: object = 2) -> SSAValue:
    """keras.ops.Tensordot(a, b) {axes} -> opset1.MatMul of the tensors as matrices; likewise Dot, Inner, Vdot and
    Outer
    """
    first, second = _pair(node, op)
    ranks = rank_of(first), rank_of(second)
    if ranks[0] is None or ranks[1] is None:
        node.fail("the rank of an operand is dynamic")
    flat = [op.Reshape(each, [-1], special_zero=False) for each in (first, second)]
    match node.op.KIND:
        case "ops.Vdot":
            return op.ReduceSum(op.Multiply(*flat), [0], keep_dims=False)
        case "ops.Outer":
            return op.Multiply(op.Unsqueeze(flat[0], [1]), op.Unsqueeze(flat[1], [0]))
        case "ops.Dot" | "ops.Inner":
            if 0 in ranks:
                return op.Multiply(first, second)
            last = ranks[1] - 1 if node.op.KIND == "ops.Inner" or ranks[1] == 1 else ranks[1] - 2
            contracted = ([ranks[0] - 1], [last])
        case _:
            contracted = _contracted(node, axes, ranks[0], ranks[1])
    letters = [chr(ord("a") + index) for index in range(ranks[0] + ranks[1])]
    one, two = letters[: ranks[0]], letters[ranks[0] :]
    for a, b in zip(*contracted, strict=True):
        two[b] = one[a]
    shared = {one[a] for a in contracted[0]}
    result = "".join(each for each in [*one, *two] if each not in shared)
    return op.Einsum(first, second, equation=f"{''.join(one)},{''.join(two)}->{result}")


def _contracted(node: LoweringNode, axes: object, first: int, second: int) -> tuple[list[int], list[int]]:
    """The axes of two tensors, of the ranks `first` and `second`, over which Tensordot sums by its argument `axes`.

    Raises ConversionError for an argument that is neither a number nor a pair.
    """
    if isinstance(axes, int):
        return list(range(first - axes, first)), list(range(axes))
    pair = cast("tuple[object, ...]", axes) if isinstance(axes, tuple) else ()
    if len(pair) != 2:
        node.fail(f"axes is {axes!r}")
    return axis_list(node, pair[0], first), axis_list(node, pair[1], second)


@keras.lowers("ops.DotProductAttention")
def dot_product_attention(node: LoweringNode, op: OpBuilder, *, is_causal: bool = False) -> SSAValue:
    """keras.ops.DotProductAttention(q, k, v [B, T, N, H], bias, mask, scale) -> softmax(q · kᵀ · scale + bias) · v"""
    arguments = Arguments(node, "query", "key", "value", "bias", "mask", "scale")
    heads = [op.transposed(arguments.tensor(name), [0, 2, 1, 3]) for name in ("query", "key", "value")]
    size = (node.shape(0) or (-1,))[-1]
    scale = arguments.get("scale")
    if arguments.optional("bias") is not None or is_tensor(scale) or (scale is None and size < 1):
        node.fail("a bias or a computed scale is not supported")
    mask = arguments.optional("mask")
    masks = [] if mask is None else [op.convert(mask, boolean)]
    if is_causal:
        masks.append(causal_mask(op, arguments.tensor("query"), arguments.tensor("key")))
    both = masks[0] if masks else None
    for each in masks[1:]:
        both = op.LogicalAnd(both, each)
    attended_values, _ = attended(op, heads[0], heads[1], heads[2], float(scale) if scale is not None else size**-0.5, both)
    return op.transposed(attended_values, [0, 2, 1, 3])
