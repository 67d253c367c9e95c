"""Views, permutations, concatenation and splitting: the elements of tensors in another order or shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import as_list, dimension, dimension_list
from moir.frameworks.traits import MAY_COPY, REPEATED_VIEW, RESHAPED_VIEW, VIEW
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts
from moir.lowering.pytorch.arguments import (
    Scalar,
    Size,
    Sizes,
    Tensors,
    axes_from_front,
    axis_from_front,
    present,
    shape_value,
    size_list,
)
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("view.default", "_unsafe_view.default", "_reshape_alias.default", complex=by_parts(), traits=(RESHAPED_VIEW,))
@aten.lowers("reshape.default", complex=by_parts(), traits=(RESHAPED_VIEW, MAY_COPY))
@aten.lowers("view_copy.default", complex=by_parts())
def view(op: OpBuilder, self: SSAValue, *, size: Sizes = (), shape: Sizes = ()) -> SSAValue:
    """aten.view.default(x) {size} -> opset1.Reshape(x, size)"""
    wanted = size or shape
    return op.Reshape(self, shape_value(op, wanted, -1) if wanted else np.array([], np.int64), special_zero=False)


aten.lowers_each(
    {
        "view_as.default reshape_as.default": lambda op, self, other: op.Reshape(self, op.ShapeOf(other), special_zero=False),
        "ravel.default": lambda op, self: op.Reshape(self, [-1], special_zero=False),
    },
    complex=by_parts(),
    traits=(RESHAPED_VIEW, MAY_COPY),
)
aten.lowers_each(
    {"expand_as.default": lambda op, self, other: op.Broadcast(self, op.ShapeOf(other))}, complex=by_parts(), traits=(REPEATED_VIEW,)
)


@aten.lowers("flatten.using_ints", complex=by_parts(), traits=(RESHAPED_VIEW, MAY_COPY))
def flatten(node: LoweringNode, op: OpBuilder, self: SSAValue, *, start_dim: int = 0, end_dim: int = -1) -> SSAValue:
    """aten.flatten.using_ints(x) {start_dim, end_dim} -> opset1.Reshape(x, [0, …, -1, …])"""
    rank = node.known_rank(0)
    if rank == 0:
        return op.Unsqueeze(self, [0])
    first, last = axes_from_front(node, [start_dim, end_dim], rank)
    if first == last:
        return self
    if last == rank - 1:
        return op.Reshape(self, [*[0] * first, -1], special_zero=True)
    parts = [dimension_list(op, self, axis) for axis in range(first)]
    parts += [op.constant([-1]), *(dimension_list(op, self, axis) for axis in range(last + 1, rank))]
    return op.Reshape(self, op.Concat(*parts, axis=0), special_zero=False)


@aten.lowers("unflatten.int", complex=by_parts(), traits=(RESHAPED_VIEW, MAY_COPY))
def unflatten(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int, sizes: Sizes) -> SSAValue:
    """aten.unflatten.int(x) {dim, sizes} -> opset1.Reshape(x, [dimensions before, sizes, dimensions after])"""
    rank = node.known_rank(0)
    axis = axis_from_front(node, dim, rank)
    parts = [dimension_list(op, self, each) for each in range(axis)]
    parts += [shape_value(op, sizes, -1), *(dimension_list(op, self, each) for each in range(axis + 1, rank))]
    return op.Reshape(self, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@aten.lowers("permute.default", complex=by_parts(), traits=(VIEW,))
@aten.lowers("permute_copy.default", complex=by_parts())
def permute(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dims: tuple[int, ...]) -> SSAValue:
    """aten.permute.default(x) {dims} -> opset1.Transpose(x, dims)"""
    return op.transposed(self, axes_from_front(node, dims, len(dims)))


@aten.lowers("transpose.int", "swapaxes.default", "swapdims.default", complex=by_parts(), traits=(VIEW,))
@aten.lowers("transpose_copy.int", complex=by_parts())
def transpose(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    dim0: int | None = None,
    dim1: int | None = None,
    axis0: int = 0,
    axis1: int = 0,
) -> SSAValue:
    """aten.transpose.int(x) {dim0, dim1} -> opset1.Transpose(x, the order with both axes swapped); `swapaxes` and
    `swapdims` likewise
    """
    rank = node.known_rank(0)
    if rank == 0:
        return self
    first, second = axes_from_front(node, [axis0 if dim0 is None else dim0, axis1 if dim1 is None else dim1], rank)
    order = list(range(rank))
    order[first], order[second] = second, first
    return op.transposed(self, order)


@aten.lowers("t.default", "numpy_T.default", "mT.default", complex=by_parts(), traits=(VIEW,))
@aten.lowers("t_copy.default", complex=by_parts())
@aten.lowers("adjoint.default", "mH.default", "matrix_H.default", complex=by_formula("pytorch.complex.functions:adjoint"), traits=(VIEW,))
def t(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.t.default(x) -> opset1.Transpose(x, [1, 0]); `mT` exchanges the last two axes; `adjoint` and `mH`
    likewise
    """
    rank = node.known_rank(0)
    if rank < 2:
        return self
    if node.op.KIND.startswith("numpy_T"):
        return op.transposed(self, list(range(rank))[::-1])
    return op.transposed(self, [*range(rank - 2), rank - 1, rank - 2])


@aten.lowers("movedim.int", "movedim.intlist", complex=by_parts(), traits=(VIEW,))
def movedim(node: LoweringNode, op: OpBuilder, self: SSAValue, *, source: tuple[int, ...], destination: tuple[int, ...]) -> SSAValue:
    """aten.movedim.int(x) {source, destination} -> opset1.Transpose(x, order)"""
    rank = node.known_rank(0)
    sources, targets = axes_from_front(node, source, rank), axes_from_front(node, destination, rank)
    if len(sources) != len(targets) or len(set(sources)) != len(set(targets)):
        node.fail(f"axes {list(source)} cannot be moved to {list(destination)}")
    placed = dict(zip(targets, sources, strict=True))
    others = iter([axis for axis in range(rank) if axis not in sources])
    return op.transposed(self, [placed[axis] if axis in placed else next(others) for axis in range(rank)])


@aten.lowers("expand.default", "broadcast_to.default", complex=by_parts(), traits=(REPEATED_VIEW,))
@aten.lowers("expand_copy.default", complex=by_parts())
def expand(node: LoweringNode, op: OpBuilder, self: SSAValue, *, size: Sizes) -> SSAValue:
    """aten.expand.default(x) {size} -> opset3.Broadcast(x, size), in which -1 stands for the dimension of x;
    `broadcast_to` likewise
    """
    rank, lead = node.known_rank(0), len(size) - node.known_rank(0)
    if rank == len(size) and all(isinstance(each, int) and each < 0 for each in size):
        return self
    parts: list[Size] = []
    for axis, each in enumerate(size):
        parts.append(dimension(op, self, axis - lead) if isinstance(each, int) and each < 0 and axis >= lead else each)
    return op.Broadcast(self, shape_value(op, parts, 0) if parts else np.array([], np.int64))


@aten.lowers("broadcast_tensors.default", complex=by_parts())
def broadcast_tensors(node: LoweringNode, op: OpBuilder, *, tensors: Tensors) -> list[SSAValue]:
    """aten.broadcast_tensors.default([x, y]) -> opset3.Broadcast of each to the shape of all"""
    values = present(node, tensors)
    shapes = {shape_of(value) for value in values}
    if len(values) == 1 or (len(shapes) == 1 and -1 not in (shapes.pop() or (-1,))):
        return values
    total = op.Broadcast(op.constant(0), op.ShapeOf(values[0]))
    for value in values[1:]:
        total = op.Broadcast(total, op.ShapeOf(value), mode="bidirectional")
    return [op.Broadcast(value, op.ShapeOf(total)) for value in values]


@aten.lowers("unsqueeze.default", complex=by_parts(), traits=(RESHAPED_VIEW,))
@aten.lowers("unsqueeze_copy.default", complex=by_parts())
def unsqueeze(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.unsqueeze.default(x) {dim} -> opset1.Unsqueeze(x, [dim])"""
    return op.Unsqueeze(self, [axis_from_front(node, dim, node.known_rank(0) + 1)])


@aten.lowers("squeeze.dim", "squeeze.dims", "squeeze.default", complex=by_parts(), traits=(RESHAPED_VIEW,))
@aten.lowers("squeeze_copy.dim", "squeeze_copy.dims", "squeeze_copy.default", complex=by_parts())
def squeeze(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = ()) -> SSAValue:
    """aten.squeeze.dim(x) {dim} -> opset1.Squeeze(x, [dim]); a dimension that is not 1 stays"""
    rank, shape = node.known_rank(0), shape_of(self) or ()
    axes = axes_from_front(node, dim, rank) if node.has("dim") else list(range(rank))
    if any(shape[axis] < 0 for axis in axes if axis < rank):
        inferred = [axis for axis in axes if axis < rank and shape[axis] < 0]
        if not node.has("dim"):
            # torch.export has decided with the sizes of the example which dimensions are removed.
            node.fail(f"whether the dynamic dimensions {inferred} are 1", hint="give the model's inputs static shapes")
        axes = [axis for axis in axes if axis not in inferred]
    removed = [axis for axis in axes if axis < rank and shape[axis] == 1]
    return op.Squeeze(self, removed) if removed else self


@aten.lowers("repeat.default", "tile.default", complex=by_parts())
def repeat(op: OpBuilder, self: SSAValue, *, repeats: Sizes = (), dims: Sizes = ()) -> SSAValue:
    """aten.repeat.default(x) {repeats} -> opset1.Tile(x, repeats)"""
    counts = repeats or dims
    return op.Tile(self, shape_value(op, counts, 0)) if counts else self


@aten.lowers("repeat_interleave.self_int", complex=by_parts())
def repeat_interleave(node: LoweringNode, op: OpBuilder, self: SSAValue, *, repeats: Size, dim: int | None = None) -> SSAValue:
    """aten.repeat_interleave.self_int(x) {repeats, dim} -> each element of an axis `repeats` times"""
    rank = node.known_rank(0)
    if dim is None:
        self, rank, dim = op.Reshape(self, [-1], special_zero=False), 1, 0
    axis = axis_from_front(node, dim, rank)
    tiles = [op.constant([1]) if each != axis + 1 else size_list(op, repeats) for each in range(rank + 1)]
    wide = op.Tile(op.Unsqueeze(self, [axis + 1]), op.Concat(*tiles, axis=0))
    parts = [op.constant([-1]) if each == axis else dimension_list(op, self, each) for each in range(rank)]
    return op.Reshape(wide, op.Concat(*parts, axis=0) if rank > 1 else parts[0], special_zero=False)


@aten.lowers("cat.default", "concat.default", "concatenate.default", complex=JOINED)
def cat(node: LoweringNode, op: OpBuilder, *, tensors: Tensors, dim: int = 0) -> SSAValue:
    """aten.cat.default([x, y]) {dim} -> opset1.Concat(x, y) {axis}; an empty 1-D tensor is left out"""
    values = as_element(op, inferred_element(node), *present(node, tensors))
    kept = [value for value in values if shape_of(value) != (0,)] or values[:1]
    return kept[0] if len(kept) == 1 else op.Concat(*kept, axis=dim)


@aten.lowers("stack.default", complex=JOINED)
def stack(node: LoweringNode, op: OpBuilder, *, tensors: Tensors, dim: int = 0) -> SSAValue:
    """aten.stack.default([x, y]) {dim} -> opset1.Concat of both with a new dimension"""
    values = as_element(op, inferred_element(node), *present(node, tensors))
    if dim < 0:
        rank = node.known_rank(0)
        dim += rank + 1
    parts = [op.Unsqueeze(value, [dim]) for value in values]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=dim)


@aten.lowers("split.Tensor", "chunk.default", "tensor_split.sections", complex=by_parts(), traits=(VIEW,))
@aten.lowers("unsafe_split.Tensor", "unsafe_chunk.default", complex=by_parts())
def split(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    split_size: Size | None = None,
    chunks: int | None = None,
    sections: int | None = None,
    dim: int = 0,
) -> list[SSAValue]:
    """aten.split.Tensor(x) {split_size, dim} -> opset1.VariadicSplit(x, dim, lengths); the last part may be shorter;
    `chunk` and `tensor_split` -> into a number of parts
    """
    axis, count = axis_from_front(node, dim, node.known_rank(0)), node.result_count
    if count == 1:
        return [self]
    size = dimension(op, self, axis)
    if isinstance(size, int):
        if sections is not None:
            lengths = [size // sections + (index < size % sections) for index in range(sections)]
        else:
            step = split_size if isinstance(split_size, int) else -(-size // chunks) if chunks else -(-size // count)
            lengths = [min(step, max(size - index * step, 0)) for index in range(count)]
        if len(lengths) != count or sum(lengths) != size:
            node.fail(f"a dimension of {size} has not {count} parts", hint="export the program with this dimension dynamic")
        return list(op.VariadicSplit.parts(count, self, op.constant(axis), op.constant(lengths)))
    if isinstance(split_size, int):
        return list(op.VariadicSplit.parts(count, self, op.constant(axis), op.constant([*[split_size] * (count - 1), -1])))
    if sections is not None:
        # Of 5 elements in 3 parts, (7, 6, 5) // 3.
        lengths = op.Divide(op.Add(as_list(op, size), list(range(count - 1, -1, -1))), count)
        return list(op.VariadicSplit.parts(count, self, op.constant(axis), lengths))
    parts = chunks or count
    step_value = op.Divide(op.Add(size, parts - 1), parts) if split_size is None else split_size
    steps = [size_list(op, step_value)] * (count - 1)
    return list(op.VariadicSplit.parts(count, self, op.constant(axis), op.Concat(*steps, op.constant([-1]), axis=0)))


@aten.lowers("split_with_sizes.default", "split.sizes", complex=by_parts(), traits=(VIEW,))
@aten.lowers("split_with_sizes_copy.default", "unsafe_split_with_sizes.default", complex=by_parts())
def split_with_sizes(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, split_sizes: Sizes = (), split_size: Sizes = (), dim: int = 0
) -> list[SSAValue]:
    """aten.split_with_sizes.default(x) {split_sizes, dim} -> opset1.VariadicSplit(x, dim, split_sizes)"""
    sizes = split_sizes or split_size
    axis = axis_from_front(node, dim, node.known_rank(0))
    return list(op.VariadicSplit.parts(node.result_count, self, op.constant(axis), shape_value(op, sizes, 0)))


@aten.lowers("unbind.int", complex=by_parts(), traits=(VIEW,))
@aten.lowers("unbind_copy.int", complex=by_parts())
def unbind(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int = 0) -> list[SSAValue]:
    """aten.unbind.int(x) {dim} -> opset8.Gather(x, index, dim) for each index"""
    return [op.Gather(self, op.constant(index), dim) for index in range(node.result_count)]


@aten.lowers("flip.default", complex=by_parts())
def flip(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dims: tuple[int, ...]) -> SSAValue:
    """aten.flip.default(x) {dims} -> opset8.Slice(x, -1, …, -1, dims)"""
    axes = axes_from_front(node, dims, node.known_rank(0))
    if not axes:
        return self
    count = len(axes)
    return op.Slice(self, [-1] * count, [-(2**31)] * count, [-1] * count, axes)


@aten.lowers("roll.default", complex=by_parts())
def roll(op: OpBuilder, self: SSAValue, *, shifts: Sizes, dims: tuple[int, ...] = ()) -> SSAValue:
    """aten.roll.default(x) {shifts, dims} -> opset7.Roll(x, shifts, dims)"""
    if dims:
        return op.Roll(self, shape_value(op, shifts), list(dims))
    flat = op.Reshape(self, [-1], special_zero=False)
    return op.Reshape(op.Roll(flat, shape_value(op, shifts), [0]), op.ShapeOf(self), special_zero=False)


@aten.lowers("pixel_shuffle.default", "pixel_unshuffle.default", complex=by_parts())
def pixel_shuffle(op: OpBuilder, self: SSAValue, *, upscale_factor: int | None = None, downscale_factor: int | None = None) -> SSAValue:
    """aten.pixel_shuffle.default(x) {upscale_factor} -> opset1.DepthToSpace(x) {block_size, mode = "depth_first"};
    `pixel_unshuffle` -> opset1.SpaceToDepth
    """
    if upscale_factor is not None:
        return op.DepthToSpace(self, block_size=upscale_factor, mode="depth_first")
    return op.SpaceToDepth(self, block_size=downscale_factor or 1, mode="depth_first")


@aten.lowers(
    "constant_pad_nd.default",
    "pad.default",
    *(f"{kind}_pad{axes}d.default" for kind in ("reflection", "replication") for axes in (1, 2, 3)),
    complex=JOINED,
)
def pad(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    pad: Sizes = (),
    padding: Sizes = (),
    mode: str = "constant",
    value: Scalar | None = None,
) -> SSAValue:
    """aten.pad.default(x) {pad = [left, right, top, bottom]}
    -> opset12.Pad(x, [0, 0, top, left], [0, 0, bottom, right]); likewise `reflection_pad2d` and others by their mode
    """
    pads, rank = list(pad or padding), node.known_rank(0)
    if len(pads) % 2 or len(pads) > 2 * rank:
        node.fail(f"{len(pads)} pads of {rank} dimensions")
    kind = node.op.KIND
    mode = "reflect" if kind.startswith("reflection") else "replicate" if kind.startswith("replication") else mode
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    if mode not in modes:
        node.fail(f"pads of mode {mode!r} are not supported")
    begins: list[Size] = [0] * rank
    ends: list[Size] = [0] * rank
    for index in range(len(pads) // 2):
        begins[rank - 1 - index], ends[rank - 1 - index] = pads[2 * index], pads[2 * index + 1]
    operands = [self, shape_value(op, begins), shape_value(op, ends)]
    if mode == "constant":
        operands += as_element(op, inferred_element(node), value or 0)
    return op.Pad(*operands, pad_mode=modes[mode])


@aten.lowers("meshgrid.default", "meshgrid.indexing", complex=by_parts())
def meshgrid(node: LoweringNode, op: OpBuilder, *, tensors: Tensors, indexing: str = "ij") -> list[SSAValue]:
    """aten.meshgrid.indexing([x, y]) {indexing} -> each vector broadcast along an axis of its own"""
    values = present(node, tensors)
    axes = list(range(len(values)))
    if indexing == "xy" and len(values) > 1:
        axes[:2] = [1, 0]
    order: Sequence[SSAValue] = [values[axes.index(axis)] for axis in range(len(values))]
    sizes = [op.Reshape(op.ShapeOf(each), [1], special_zero=False) if node_rank(each) else op.constant([1]) for each in order]
    shape = op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0]
    results: list[SSAValue] = []
    for value, own_axis in zip(values, axes, strict=True):
        column = op.Reshape(value, [-1 if axis == own_axis else 1 for axis in range(len(values))], special_zero=False)
        results.append(op.Broadcast(column, shape))
    return results


def node_rank(value: SSAValue) -> int:
    """The rank of a value; 1 if it is dynamic."""
    shape = shape_of(value)
    return 1 if shape is None else len(shape)


@aten.lowers("unfold.default", complex=by_parts(), traits=(REPEATED_VIEW,))
@aten.lowers("unfold_copy.default", complex=by_parts())
def unfold(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dimension: int, size: int, step: int) -> SSAValue:
    """aten.unfold.default(x) {dimension, size, step} -> windows along an axis, their elements in a new last axis"""
    rank = node.known_rank(0)
    if rank == 0:
        # A window of one element, or of none.
        return op.Slice(op.Unsqueeze(self, [0]), [0], [size], [1], [0])
    axis = axis_from_front(node, dimension, rank)
    length = op.Gather(op.ShapeOf(self), op.constant(axis), 0)
    count = op.Add(op.Divide(op.Subtract(length, size), step), 1)
    starts = op.Multiply(op.Range(op.constant(0), count, op.constant(1), output_type=si64), step)
    positions = op.Add(op.Unsqueeze(starts, [1]), np.arange(size))
    windows = op.Gather(self, positions, axis)
    order = [each for each in range(rank + 1) if each != axis + 1]
    return op.transposed(windows, [*order, axis + 1])
