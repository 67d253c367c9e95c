"""Writing elements at computed indices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis
from moir.expansions.shape_values import as_integer, dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand
from moir.rewriting.constant_sizes import check_constant_size


@onnx.lowers("Scatter", "ScatterElements")
@moves_strings(0, 2)
def scatter_elements(node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, updates: SSAValue, *, axis: int = 0) -> SSAValue:
    """onnx.ScatterElements(x, indices, updates) {axis = 0, reduction}
    -> opset12.ScatterElementsUpdate(x, indices, updates, axis)
    """
    return op.ScatterElementsUpdate(data, indices, updates, axis, reduction=reduction(node))


@onnx.lowers("ScatterND")
@moves_strings(0, 2)
def scatter_nd(node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, updates: SSAValue) -> SSAValue:
    """onnx.ScatterND(x, indices, updates) {reduction} -> opset15.ScatterNDUpdate(x, indices, updates) {reduction}"""
    return op.ScatterNDUpdate(data, indices, updates, reduction=reduction(node))


@onnx.lowers("TensorScatter")
@moves_strings(0, 1)
def tensor_scatter(
    node: LoweringNode,
    op: OpBuilder,
    past_cache: SSAValue,
    update: SSAValue,
    write_indices: SSAValue | None = None,
    *,
    mode: str = "linear",
    axis: int = -2,
) -> SSAValue:
    """onnx.TensorScatter(past_cache, update, write_indices) {axis = -2, mode}
    -> opset12.ScatterElementsUpdate(past_cache, positions, update, axis)

    The positions of a sequence of the batch are write_index … write_index + length - 1, modulo the size of the cache in
    mode `circular`.
    """
    rank = node.known_rank(0)
    axis = normalize_axis(axis, rank)
    if mode not in ("linear", "circular"):
        node.fail(f"mode {mode!r} is neither linear nor circular")
    length = dimension(op, update, axis)
    if isinstance(length, int):
        check_constant_size(length)
    positions: SSAValue = op.constant(range(length)) if isinstance(length, int) else op.Range(0, length, 1, output_type=si64)
    positions = op.Reshape(positions, [1] * axis + [-1] + [1] * (rank - axis - 1), special_zero=False)
    if write_indices is not None:
        positions = op.Add(positions, op.Reshape(as_integer(op, write_indices), [-1] + [1] * (rank - 1), special_zero=False))
    if mode == "circular":
        size: Operand = dimension(op, past_cache, axis)
        positions = op.FloorMod(positions, size)
    indices = op.Broadcast(positions, op.ShapeOf(update))
    return op.ScatterElementsUpdate(past_cache, indices, update, axis)


REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}
"""For each value of the attribute `reduction`, the name of the reduction in opset12."""


def reduction(node: LoweringNode) -> str:
    """The reduction of a Scatter operation by its name in opset12. Raises ConversionError for an unknown one."""
    name = node.text("reduction", "none")
    if name not in REDUCTIONS:
        node.fail(f"reduction {name!r} is not one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name]
