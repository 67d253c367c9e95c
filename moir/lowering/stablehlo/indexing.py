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
from moir.lowering.xla.indexing import gathered
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
    """stablehlo.dynamic_gather(x, indices, sizes) -> as gather; computed sizes are assumed to be those of the data"""
    sizes = op.known.integers(node.operand(2)) or computed_sizes(node, op, collapsed_slice_dims)
    if any(sizes[axis] < 0 for axis in start_index_map):
        node.fail("the sizes of its slices are computed when the model runs", hint="export the program with static shapes")
    return gathered(node, op, operand, sizes, start_index_map, collapsed_slice_dims)


def computed_sizes(node: LoweringNode, op: OpBuilder, collapsed: Sequence[int]) -> list[int]:
    """The sizes of computed slices, by the known ones and the shape of the result; -1 for an unknown dimension."""
    rank, result = node.known_rank(0), shape_of(node.op.results[0]) or ()
    entries = op.known.elements(node.operand(2))
    known = (
        [-1] * rank
        if entries is None or entries.size != rank
        else [each if isinstance(each, int) else -1 for each in entries.ravel().tolist()]
    )
    gone = {*collapsed, *node.integers("operand_batching_dims", ())}
    kept = [axis for axis in range(rank) if axis not in gone]
    declared = dict(zip(kept, (result[place] for place in node.integers("offset_dims", ()) if place < len(result)), strict=False))
    own = node.shape(0) or (-1,) * rank
    sizes = [1 if axis in gone else known[axis] if known[axis] >= 0 else declared.get(axis, -1) for axis in range(rank)]
    if any(size < 0 <= whole for size, whole in zip(sizes, own, strict=True)):
        node.fail("the sizes of its slices are computed when the model runs", hint="export the program with static shapes")
    return sizes


@stablehlo.lowers("scatter")
def scatter(
    node: LoweringNode,
    op: OpBuilder,
    *,
    update_window_dims: tuple[int, ...] = (),
    scatter_dims_to_operand_dims: tuple[int, ...] = (),
    inserted_window_dims: tuple[int, ...] = (),
) -> Sequence[SSAValue]:
    """stablehlo.scatter(x…, indices, updates…) {dimension numbers} -> opset15.ScatterNDUpdate"""
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
