"""Products of groups of rows, columns or summands, each group with its own matrix, as in a mixture of experts."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.grouped_products import group_of_each, select_groups
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("_grouped_mm.default")
def grouped_mm(
    node: LoweringNode, op: OpBuilder, self: SSAValue, mat2: SSAValue, offs: SSAValue | None = None, bias: SSAValue | None = None
) -> SSAValue:
    """aten._grouped_mm.default(x [M, K], w [G, K, N], ends [G]) -> the rows of each group times its own matrix

    All rows are multiplied by all matrices, and the product of each row with that of its group is selected; rows after
    the last group are 0. If only `mat2` has two dimensions, its columns are grouped; if both operands have two, the
    dimension that is summed over is grouped.
    """
    element = inferred_element(node)
    ranks = node.known_rank(0), node.known_rank(1)
    x, w = as_element(op, element, self, mat2)
    if offs is None:
        product = op.MatMul(x, w)
    elif ranks == (2, 3):
        # [G, M, N] -> [M, N]
        products = op.MatMul(op.Unsqueeze(x, [0]), w)
        product = select_groups(op, products, op.Unsqueeze(group_of_each(op, offs, x, 0), [2]))
    elif ranks == (3, 2):
        products = op.MatMul(x, op.Unsqueeze(w, [0]))
        product = select_groups(op, products, op.Unsqueeze(group_of_each(op, offs, w, 1), [1]))
    else:
        summands = op.Unsqueeze(group_of_each(op, offs, x, 1), [1])
        rows = op.Select(summands, op.Unsqueeze(x, [0]), op.constant_like(0, x))
        columns = op.Select(op.Unsqueeze(group_of_each(op, offs, w, 0), [2]), op.Unsqueeze(w, [0]), op.constant_like(0, w))
        product = op.MatMul(rows, columns)
    return product if bias is None else op.Add(product, as_element(op, element, bias)[0])


@aten.lowers("transformers.grouped_mm_fallback.default")
def grouped_mm_of_transformers(node: LoweringNode, op: OpBuilder, input: SSAValue, weight: SSAValue, offs: SSAValue) -> SSAValue:
    """aten.transformers.grouped_mm_fallback.default(x [M, K], w [G, K, N], ends [G]) -> as aten._grouped_mm.default"""
    return grouped_mm(node, op, input, weight, offs)
