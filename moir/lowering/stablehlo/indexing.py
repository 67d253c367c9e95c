"""Gather and scatter in their general form.

    %y = stablehlo.gather(%x, %i) {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], …}
->  %y = opset8.Gather(%x, %i, 0)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import inlined
from moir.lowering.stablehlo.reduction import own_operands
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.indexing import gathered, slice_sizes_of
from moir.lowering.xla.scattering import scattered
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("gather")
def gather(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    _start_indices: SSAValue,
    *,
    slice_sizes: tuple[int, ...] = (),
    start_index_map: tuple[int, ...] = (),
    collapsed_slice_dims: tuple[int, ...] = (),
) -> SSAValue:
    """stablehlo.gather(x, indices) {dimension numbers} -> opset8.Gather or opset8.GatherND"""
    return gathered(node, op, operand, slice_sizes, start_index_map, collapsed_slice_dims)


@stablehlo.lowers("dynamic_gather")
def dynamic_gather(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    _start_indices: SSAValue,
    _slice_sizes: SSAValue,
    *,
    start_index_map: tuple[int, ...] = (),
    collapsed_slice_dims: tuple[int, ...] = (),
) -> SSAValue:
    """stablehlo.dynamic_gather(x, indices, sizes) -> as gather, with computed sizes of slices

    The sizes that the type of the result has need not be computed.
    """
    sizes, computed = slice_sizes_of(node, op, 2)
    gone = {*collapsed_slice_dims, *node.integers("operand_batching_dims", ())}
    kept = [axis for axis in range(len(sizes)) if axis not in gone]
    result = shape_of(node.op.results[0]) or ()
    declared = zip(kept, (result[axis] for axis in node.integers("offset_dims", ()) if axis < len(result)), strict=False)
    known = {**dict.fromkeys(gone, 1), **dict(declared)}
    sizes = [known.get(axis, -1) if size < 0 else size for axis, size in enumerate(sizes)]
    return gathered(node, op, operand, sizes, start_index_map, collapsed_slice_dims, computed)


@stablehlo.lowers("scatter")
def scatter(
    node: LoweringNode,
    op: OpBuilder,
    *,
    update_window_dims: tuple[int, ...] = (),
    scatter_dims_to_operand_dims: tuple[int, ...] = (),
    inserted_window_dims: tuple[int, ...] = (),
) -> Sequence[SSAValue]:
    """stablehlo.scatter(x…, indices, updates…) {dimension numbers} -> opset15.ScatterNDUpdate

    The reduction is the one that the region computes: the update alone, sum, product, minimum or maximum. Any other
    region is applied to the elements that a GatherND reads, if no two updates have the same position. Raises
    ConversionError if they may have, and for dimension numbers that do not fit together.
    """
    body, own = node.op.regions[0], own_operands(node)

    def combine(values: list[SSAValue]) -> list[SSAValue]:
        return inlined(node, op, body, [*values, *node.operands[len(own) :]])

    return scattered(node, op, own, body, update_window_dims, scatter_dims_to_operand_dims, inserted_window_dims, combine)


@stablehlo.lowers("torch_index_select")
def torch_index_select(node: LoweringNode, op: OpBuilder, operand: SSAValue, index: SSAValue, *, dim: int, batch_dims: int = 0) -> SSAValue:
    """stablehlo.torch_index_select(x, indices) {dim, batch_dims} -> opset8.Gather(x, indices, dim) {batch_dims}"""
    if not 0 <= batch_dims <= dim < node.known_rank(0) or batch_dims > node.known_rank(1):
        node.fail(f"its dim is {dim}, its batch_dims {batch_dims}, for a tensor of rank {node.rank(0)}")
    return op.Gather(operand, index, dim, batch_dims=batch_dims)
