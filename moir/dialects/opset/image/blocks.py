"""Movement operations that regroup blocks of elements: between depth, space and batch, and between channel groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.movement import MovementOp, exact_quotient, integer_list, require_rank
from moir.dialects.opset.interfaces.operation import AlongAxes
from moir.dialects.opset.interfaces.properties import deferred_definition, integer_property, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, normalize_axis, product, shifted, unknown_dimensions
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


class DepthOp(MovementOp):
    """Base of DepthToSpace and SpaceToDepth."""

    PERMUTES: ClassVar[bool] = True
    data = operand_def()
    block_size = integer_property(1)
    mode = string_property(None, "blocks_first", "depth_first")

    def checked_block_size(self, shape: SymbolicShape) -> int:
        """The block size.

        Raises InferenceError if it is not positive, if a block has more elements than 63 bits count, or if the data has
        no spatial dimension.
        """
        require_rank(shape, 3)
        size = self.integer("block_size")
        if size < 1:
            raise InferenceError(f"block_size is {size}, it should be positive")
        if size ** (1 if shape is None else len(shape) - 2) >= 1 << 63:
            raise InferenceError(f"block_size is {size}, no data has so large blocks")
        return size


@deferred_definition
class DepthToSpace(DepthOp):
    """Moves channels (dimension 1) into blocks of `block_size` elements in every spatial dimension.

    `mode`: the position in the block is the outer (`blocks_first`) or the inner part of the channel index.
    """

    name = "opset1.DepthToSpace"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "blocks_first"}
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, size = shapes[0], self.checked_block_size(shapes[0])
        if shape is None:
            return None
        depth = exact_quotient(shape[1], size ** (len(shape) - 2), "volume of a block")
        return (shape[0], depth, *[product(d, size) for d in shape[2:]])

    def move(self, *operands: Array) -> Sequence[Array] | None:
        (data,) = operands
        size, spatial = self.integer("block_size"), data.shape[2:]
        count = len(spatial)
        depth = data.shape[1] // size**count
        block_axes, depth_axis = (range(1, count + 1), count + 1) if self.text("mode") == "blocks_first" else (range(2, count + 2), 1)
        block = (size,) * count
        parts = (*block, depth) if depth_axis > 1 else (depth, *block)
        pairs = [axis for pair in zip(range(count + 2, 2 * count + 2), block_axes, strict=True) for axis in pair]
        moved = data.reshape(data.shape[0], *parts, *spatial).transpose(0, depth_axis, *pairs)
        return (moved.reshape(data.shape[0], depth, *(d * size for d in spatial)),)


@deferred_definition
class SpaceToDepth(DepthOp):
    """Moves blocks of `block_size` elements in every spatial dimension into the channels; inverse of DepthToSpace."""

    name = "opset1.SpaceToDepth"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "blocks_first"}
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, size = shapes[0], self.checked_block_size(shapes[0])
        if shape is None:
            return None
        depth = product(shape[1], size ** (len(shape) - 2))
        return (shape[0], depth, *(exact_quotient(d, size, "block size") for d in shape[2:]))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        (data,) = operands
        size, spatial = self.integer("block_size"), data.shape[2:]
        cut = data.reshape(*data.shape[:2], *(part for d in spatial for part in (d // size, size)))
        outer, inner = range(2, cut.ndim, 2), range(3, cut.ndim, 2)
        order = (0, *inner, 1, *outer) if self.text("mode") == "blocks_first" else (0, 1, *inner, *outer)
        return (cut.transpose(order).reshape(data.shape[0], data.shape[1] * size ** len(spatial), *(d // size for d in spatial)),)


class BatchOp(MovementOp):
    """Base of BatchToSpace and SpaceToBatch.

    Block sizes, border widths at the start and at the end are 1-D, with an element for each dimension of `data`.
    """

    def lists(self, known: OperandValues, shape: tuple[Dimension, ...]) -> list[tuple[int, ...] | None]:
        """Block sizes and border widths; None for operands that are not constant. Raises InferenceError for negative
        ones.
        """
        vectors = [known.integers(operand) for operand in self.operands[1:]]
        for values in vectors:
            if values is not None and len(values) != len(shape):
                raise InferenceError(f"{len(values)} entries are given for the dimensions of shape {format_shape(shape)}")
        if vectors[0] is not None and min(vectors[0], default=1) < 1:
            raise InferenceError(f"{list(vectors[0])} are not block sizes")
        if any(values is not None and min(values, default=0) < 0 for values in vectors[1:]):
            raise InferenceError("a border has a negative width")
        return vectors

    def borders(self, known: OperandValues, shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        """The total width of both borders of each dimension of `data`; -1 where a width is unknown."""
        begin, end = ((known.sizes(operand) or (-1,) * len(shape)) for operand in self.operands[2:])
        return tuple(b + e if is_fixed(b) and is_fixed(e) else -1 for b, e in zip(begin, end, strict=True))

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        if shape is None:
            return None
        require_rank(shape, 2)
        block, *_ = self.lists(known, shape)
        if block is None:
            return unknown_dimensions(len(shape))
        return self.blocks_moved(shape, block, self.borders(known, shape))

    def blocks_moved(self, shape: tuple[Dimension, ...], block: Sequence[int], borders: Sequence[Dimension]) -> SymbolicShape:
        """The shape of the result for known block sizes, and borders of which some may be unknown."""
        raise NotImplementedError


@deferred_definition
class BatchToSpace(BatchOp):
    """Moves the batch (dimension 0) into blocks of `block_shape` elements, then crops the borders.

    The borders are `crops_begin` and `crops_end` elements wide.
    """

    name = "opset2.BatchToSpace"
    data = operand_def()
    block_shape = operand_def()
    crops_begin = operand_def()
    crops_end = operand_def()
    result = result_def()

    def blocks_moved(self, shape: tuple[Dimension, ...], block: Sequence[int], borders: Sequence[Dimension]) -> SymbolicShape:
        batch = exact_quotient(shape[0], prod(block), "volume of a block")
        whole = [product(d, s) for d, s in zip(shape[1:], block[1:], strict=True)]
        sizes = [shifted(d, -width) if is_fixed(width) else -1 for d, width in zip(whole, borders[1:], strict=True)]
        if any(is_fixed(d) and is_fixed(width) and not is_fixed(size) for size, d, width in zip(sizes, whole, borders[1:], strict=True)):
            raise InferenceError(f"the crops cut more off shape {format_shape(shape)} than is there")
        return (batch, *sizes)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, block, begin, end = operands[0], *map(integer_list, operands[1:])
        rank, spatial = data.ndim, data.shape[1:]
        batch = data.shape[0] // prod(block)
        # The batch index consists of the position in the block and the batch index of the result, in this order.
        cut = data.reshape(*block[1:], batch, *spatial)
        pairs = [axis for i in range(rank - 1) for axis in (rank + i, i)]
        joined = cut.transpose(rank - 1, *pairs).reshape(batch, *(d * s for d, s in zip(spatial, block[1:], strict=True)))
        return (joined[tuple(slice(b, d - e) for d, b, e in zip(joined.shape, begin, end, strict=True))],)


@deferred_definition
class SpaceToBatch(BatchOp):
    """Pads `data` with zeros, then moves blocks of `block_shape` elements into the batch.

    The borders are `pads_begin` and `pads_end` elements wide.
    """

    name = "opset2.SpaceToBatch"
    MOVES: ClassVar[bool] = False
    data = operand_def()
    block_shape = operand_def()
    pads_begin = operand_def()
    pads_end = operand_def()
    result = result_def()

    def blocks_moved(self, shape: tuple[Dimension, ...], block: Sequence[int], borders: Sequence[Dimension]) -> SymbolicShape:
        batch = product(shape[0], prod(block))
        padded = [shifted(d, width) if is_fixed(width) else -1 for d, width in zip(shape[1:], borders[1:], strict=True)]
        return (batch, *(exact_quotient(d, s, "block size") for d, s in zip(padded, block[1:], strict=True)))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, block, begin, end = operands[0], *map(integer_list, operands[1:])
        padded = np.pad(data, list(zip(begin, end, strict=True)))
        rank, sizes = data.ndim, [d // s for d, s in zip(padded.shape, block, strict=True)]
        cut = padded.reshape(padded.shape[0], *(part for d, s in zip(sizes[1:], block[1:], strict=True) for part in (d, s)))
        order = (*range(2, 2 * rank, 2), 0, *range(1, 2 * rank - 1, 2))
        return (cut.transpose(order).reshape(padded.shape[0] * prod(block), *sizes[1:]),)


@deferred_definition
class ShuffleChannels(MovementOp):
    """The dimension `axis`, reshaped to `group` rows, transposed and flattened."""

    name = "opset1.ShuffleChannels"
    PERMUTES: ClassVar[bool] = True
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("axis",))
    data = operand_def()
    axis = integer_property(1)
    group = integer_property(1)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, group = shapes[0], self.integer("group")
        if group < 1:
            raise InferenceError(f"group is {group}, it should be positive")
        if shape is not None:
            exact_quotient(shape[normalize_axis(self.integer("axis"), len(shape))], group, "number of groups")
        return shape

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, group = operands[0], self.integer("group")
        axis = normalize_axis(self.integer("axis"), data.ndim)
        rows = data.reshape(*data.shape[:axis], group, data.shape[axis] // group, *data.shape[axis + 1 :])
        return (rows.swapaxes(axis, axis + 1).reshape(data.shape),)
