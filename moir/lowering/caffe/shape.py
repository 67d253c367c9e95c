"""Operations that change the shape of a tensor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Flatten")
@with_parameters("flatten_param")
def flatten(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = 1, end_axis: int = -1) -> SSAValue:
    """caffe.Flatten(x) {axis = 1, end_axis = -1} -> opset1.Reshape: the axes from `axis` to `end_axis` become one"""
    start, end = axis, end_axis
    if start >= 0 and end == -1:
        return op.Reshape(x, [*[0] * start, -1], special_zero=True)
    rank = node.known_rank(0)
    start, end = normalize_axis(start, rank), normalize_axis(end, rank)
    if end < start:
        node.fail(f"end_axis {end} is before axis {start}")
    sizes = op.ShapeOf(x)
    parts = [*([op.Slice(sizes, [0], [start], [1])] if start else []), op.constant([-1])]
    parts += [op.Slice(sizes, [end + 1], [rank], [1])] if end + 1 < rank else []
    return op.Reshape(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@caffe.lowers("Reshape")
@with_parameters("reshape_param")
def reshape(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = 0, num_axes: int = -1) -> SSAValue:
    """caffe.Reshape(x) {shape, axis = 0, num_axes = -1} -> opset1.Reshape(x, shape)

    `num_axes` dimensions from `axis` on are replaced by `shape`, in which 0 copies the dimension at its index.
    """
    parameter = parameters(node, "reshape_param")
    wanted = parameter.message("shape").integers("dim")
    if axis == 0 and num_axes == -1:
        return op.Reshape(x, wanted or [0], special_zero=True) if wanted else op.Reshape(x, op.constant([]), special_zero=False)
    rank = node.known_rank(0)
    # The axis -1 is the position after the last dimension.
    start = axis if axis >= 0 else rank + axis + 1
    end = rank if num_axes == -1 else start + num_axes
    if not 0 <= start <= end <= rank:
        node.fail(f"axes {start} to {end} of a blob of {rank} dimensions")
    sizes = op.ShapeOf(x)
    middle = [
        op.Slice(sizes, [start + index], [start + index + 1], [1]) if size == 0 else op.constant([size])
        for index, size in enumerate(wanted)
    ]
    before = [op.Slice(sizes, [0], [start], [1])] if start else []
    after = [op.Slice(sizes, [end], [rank], [1])] if end < rank else []
    parts = [*before, *middle, *after]
    return op.Reshape(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)
