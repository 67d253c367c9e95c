"""Operations that move elements without computing: concatenation, splitting, transposition, repetition, reversal.

Slicing and padding are in `slicing`, operations that regroup blocks of elements in `blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import AlongAxes, OpsetOp, integer_property, optional_operands, string_property
from moir.dialects.opset.blocks import BatchToSpace, DepthToSpace, ShuffleChannels, SpaceToBatch, SpaceToDepth
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.movement_base import MovementOp, exact_quotient, integer_list, replaced, require_operand_rank, require_rank
from moir.dialects.opset.slicing import Pad, Slice, SliceScatter, StridedSlice
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_shapes,
    format_shape,
    is_fixed,
    is_static,
    merge_dimensions,
    merge_shapes,
    normalize_axis,
    permuted,
    product,
    shape_of,
    unknown_dimensions,
)
from moir.dialects.symbols import Dimension, Symbol, same
from moir.errors import InferenceError

__all__ = [
    "BatchToSpace",
    "Broadcast",
    "Concat",
    "DepthToSpace",
    "Pad",
    "Reverse",
    "ReverseSequence",
    "Roll",
    "ShuffleChannels",
    "Slice",
    "SliceScatter",
    "SpaceToBatch",
    "SpaceToDepth",
    "Split",
    "StridedSlice",
    "Tile",
    "Transpose",
    "VariadicSplit",
]


@irdl_op_definition
class Concat(OpsetOp):
    """The operands concatenated along `axis`."""

    name = "opset1.Concat"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    AXES: ClassVar[AlongAxes | None] = AlongAxes(data=None, properties=("axis",))
    inputs = var_operand_def()
    axis = integer_property()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def gives_back_operand(self, known: OperandValues) -> bool:
        return len(self.operands) == 1

    def verify_(self) -> None:
        super().verify_()
        if not self.operands:
            raise VerifyException("a Concat has at least one operand")

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        ranked = [shape for shape in shapes if shape is not None]
        if not ranked:
            return None
        joined = list(ranked[0])
        axis = normalize_axis(self.integer("axis"), len(joined))
        total = joined[axis]
        for shape in ranked[1:]:
            if len(joined) != len(shape):
                raise InferenceError(f"operands of ranks {len(joined)} and {len(shape)} cannot be concatenated")
            total = known.sum(total, shape[axis])
            joined = [
                d if d == e or position == axis else merge_dimensions(d, e)
                for position, (d, e) in enumerate(zip(joined, shape, strict=True))
            ]
        joined[axis] = total if len(ranked) == len(shapes) else -1
        return tuple(joined)

    def result_element(self) -> Attribute:
        return self.common_element()

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return (np.concatenate(operands, self.integer("axis")),)


@irdl_op_definition
class Split(MovementOp):
    """`num_splits` equal parts of `data` along `axis`."""

    name = "opset1.Split"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=1)
    data = operand_def()
    axis = operand_def()
    num_splits = integer_property()
    outputs = var_result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        return len(self.results) == 1

    def result_count(self) -> int:
        return self.integer("num_splits")

    def verify_(self) -> None:
        super().verify_()
        if self.integer("num_splits") < 1 or self.integer("num_splits") != len(self.results):
            raise VerifyException(f"num_splits is {self.integer('num_splits')}, the number of results {len(self.results)}")

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        shape, axis, parts = shapes[0], known.integers(self.operands[1]), self.integer("num_splits")
        require_operand_rank(self, 1, 0)
        if parts < 1 or parts != len(self.results):
            raise InferenceError(f"num_splits is {parts}, the number of results {len(self.results)}")
        if shape is not None and axis is not None:
            position = normalize_axis(axis[0], len(shape))
            shape = replaced(shape, position, exact_quotient(shape[position], parts, "number of parts"))
        elif shape is not None:
            shape = unknown_dimensions(len(shape))
        return (shape,) * parts

    def result_elements(self) -> Sequence[Attribute]:
        return (self.element_type(0),) * len(self.results)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return np.split(operands[0], self.integer("num_splits"), int(operands[1].ravel()[0]))


@irdl_op_definition
class VariadicSplit(MovementOp):
    """Parts of `data` along `axis` with the sizes `split_lengths`; one of them may be -1, the remaining size."""

    name = "opset1.VariadicSplit"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=1)
    data = operand_def()
    axis = operand_def()
    split_lengths = operand_def()
    outputs = var_result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        return len(self.results) == 1

    def result_count(self) -> int:
        lengths = self.shape(2)
        if lengths is None or len(lengths) != 1 or lengths[0] < 0:
            raise InferenceError("the number of split lengths is unknown")
        return lengths[0]

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        shape, axis, entries = shapes[0], known.integers(self.operands[1]), known.elements(self.operands[2])
        count = len(self.results)
        if entries is not None and entries.size != count:
            raise InferenceError(f"{entries.size} split lengths are given for {count} results")
        if shape is None or axis is None:
            return (None if shape is None else unknown_dimensions(len(shape)),) * count
        position = normalize_axis(axis[0], len(shape))
        lengths = [-1] * count if entries is None else _split_lengths(shape[position], entries)
        return [replaced(shape, position, length) for length in lengths]

    def result_elements(self) -> Sequence[Attribute]:
        return (self.element_type(0),) * len(self.results)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, axis, lengths = operands
        position = normalize_axis(int(axis.ravel()[0]), data.ndim)
        sizes = [int(length) for length in _split_lengths(data.shape[position], lengths) if is_fixed(length)]
        return np.split(data, np.cumsum(sizes)[:-1], position)


def _split_lengths(dimension: Dimension, entries: Array) -> list[Dimension]:
    """Split lengths with the -1 resolved; -1 for unknown lengths."""
    lengths: list[Dimension] = [entry if isinstance(entry, Symbol) else int(entry) for entry in entries.ravel()]
    numbers = [length for length in lengths if not isinstance(length, Symbol)]
    if any(length < -1 for length in numbers) or numbers.count(-1) > 1:
        shown = [None if isinstance(length, Symbol) else length for length in lengths]
        raise InferenceError(f"{shown} are no split lengths: they are sizes and at most one -1")
    if len(numbers) < len(lengths) or dimension == -1:
        return [-1 if isinstance(length, Symbol) and not length.dimension else length for length in lengths]
    rest = dimension - sum(length for length in numbers if length > 0)
    if not isinstance(rest, Symbol) and (rest < 0 or (rest and -1 not in numbers)):
        raise InferenceError(f"the split lengths {numbers} do not sum up to the dimension {dimension}")
    return [rest if length == -1 else length for length in lengths]


@irdl_op_definition
class Transpose(MovementOp):
    """`data` with its dimensions permuted by `order`; if that is empty, the dimensions are reversed."""

    name = "opset1.Transpose"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    order = operand_def()
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the permutation is the identity, or only moves dimensions of size 1 and keeps a static shape."""
        shape, order = self.shape(0), known.integers(self.operands[1])
        if order is None or (shape is None and not order):
            return False
        if shape is None or (len(order) > 0 and list(order) == sorted(order)):
            return list(order) == sorted(order)
        order = order or tuple(reversed(range(len(shape))))
        dimensions = [known.dimension(self.operands[0], axis) for axis in range(len(shape))]
        moved = [axis for axis in order if dimensions[axis] != 1]
        return moved == sorted(moved) and shape == shape_of(self.results[0]) and is_static(shape)

    def permutation(self, known: OperandValues) -> tuple[int, ...] | None:
        """The permutation: dimension i of the result is dimension `permutation[i]` of the operand; None if unknown."""
        order, rank = known.integers(self.operands[1]), self.rank(0)
        if order is None or (not order and rank is None):
            return None
        return order or tuple(reversed(range(rank or 0)))

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, order = shapes[0], known.integers(self.operands[1])
        require_operand_rank(self, 1, 1)
        if order:
            if sorted(order) != list(range(len(order))) or (shape is not None and len(order) != len(shape)):
                raise InferenceError(f"{list(order)} is no order of the dimensions of shape {format_shape(shape)}")
            return unknown_dimensions(len(order)) if shape is None else permuted(shape, order)
        if order is not None:
            return None if shape is None else shape[::-1]
        count = (shapes[1] or (-1,))[0]
        if shape is not None and is_fixed(count) and count not in (0, len(shape)):
            raise InferenceError(f"{count} entries are no order of the dimensions of shape {format_shape(shape)}")
        return None if shape is None else unknown_dimensions(len(shape))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (operands[0].transpose(integer_list(operands[1]) or None),)


def _is_repeatable(dimension: Dimension, target: Dimension) -> bool:
    """Whether a dimension can be broadcast to a target dimension."""
    return not is_fixed(dimension) or not is_fixed(target) or dimension in (1, target)


def _repeated(dimension: Dimension, target: Dimension) -> Dimension:
    """The dimension after broadcasting to a target.

    That is the target, unless the target is a symbol and the dimension a known size other than 1.
    """
    return dimension if isinstance(target, Symbol) and is_fixed(dimension) and dimension != 1 else target


@irdl_op_definition
class Broadcast(MovementOp):
    """`data` broadcast to `target_shape`.

    `numpy`: dimensions are aligned at the end and only `data` is broadcast; `bidirectional`: the target is broadcast,
    too; `explicit`: `axes_mapping` gives the dimension of the target for each dimension of `data`; `pdpd`: `data` is
    aligned at the first dimension from which its sizes equal those of the target.
    """

    name = "opset3.Broadcast"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    target_shape = operand_def()
    axes_mapping = optional_operands(1)
    mode = string_property("numpy", "bidirectional", "explicit", "numpy", "pdpd")
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the data already have the target shape."""
        shape, result, entries = self.shape(0), shape_of(self.results[0]), known.elements(self.operands[1])
        if shape is None or result is None or len(shape) != len(result):
            return False
        if is_static(shape) and shape == result and isinstance(self.operands[1].owner, Constant):
            return True
        if entries is None or self.text("mode") not in ("numpy", "bidirectional"):
            return False
        lead = len(shape) - entries.size
        for position, entry in enumerate(entries.ravel().tolist()):
            dimension = known.dimension(self.operands[0], position + lead)
            if not same(entry, dimension) and not same(entry, 1):
                return False
        return True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, target = shapes[0], known.sizes(self.operands[1])
        count = (shapes[2] or (-1,))[0] if len(shapes) > 2 else -1
        if shape is not None and is_fixed(count) and count != len(shape):
            raise InferenceError(f"{count} axes are given for the dimensions of shape {format_shape(shape)}")
        if target is None:
            return None
        match self.text("mode"):
            case "bidirectional":
                return broadcast_shapes(shape, target)
            case "explicit":
                mapping = known.integers(self.optional_operand(2))
                if shape is not None and mapping is not None:
                    self._check_mapping(shape, target, mapping)
                return target
            case _:
                if shape is None:
                    return target if self.text("mode") == "numpy" else unknown_dimensions(len(target))
                require_rank(target, len(shape))
                lead = len(target) - len(shape)
                if not all(map(_is_repeatable, shape, target[lead:])):
                    raise InferenceError(f"shape {format_shape(shape)} cannot be broadcast to {format_shape(target)}")
                return (*target[:lead], *map(_repeated, shape, target[lead:]))

    @staticmethod
    def _check_mapping(shape: Sequence[Dimension], target: Sequence[Dimension], mapping: Sequence[int]) -> None:
        if len(mapping) != len(shape) or list(mapping) != sorted(mapping) or any(not 0 <= axis < len(target) for axis in mapping):
            raise InferenceError(f"{list(mapping)} maps no dimensions of {format_shape(tuple(shape))} to {format_shape(tuple(target))}")
        for d, axis in zip(shape, mapping, strict=True):
            if not _is_repeatable(d, target[axis]):
                raise InferenceError(f"dimension {d} cannot be broadcast to dimension {axis} of {format_shape(tuple(target))}")

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, target = operands[0], integer_list(operands[1])
        mode = self.text("mode")
        if mode == "pdpd":
            return None
        if mode == "explicit":
            aligned = [1] * len(target)
            for axis, size in zip(integer_list(operands[2]), data.shape, strict=True):
                aligned[axis] = size
            data = data.reshape(aligned)
        shape = np.broadcast_shapes(data.shape, target) if mode == "bidirectional" else tuple(target)
        return (np.broadcast_to(data, shape),)


@irdl_op_definition
class Tile(MovementOp):
    """`data` repeated `repeats` times along each dimension; the shorter of shape and `repeats` is prefixed by ones."""

    name = "opset1.Tile"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    EXTENTS: ClassVar[tuple[int, ...]] = (1,)
    data = operand_def()
    repeats = operand_def()
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        repeats, shape = known.integers(self.operands[1]), self.shape(0)
        return repeats is not None and shape is not None and len(repeats) <= len(shape) and set(repeats) <= {1}

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, entries = shapes[0], known.elements(self.operands[1])
        require_operand_rank(self, 1, 1)
        if shape is None or entries is None:
            count = (shapes[1] or (-1,))[0]
            return None if shape is None or not is_fixed(count) else unknown_dimensions(max(len(shape), count))
        # A negative number of repetitions gives an empty dimension, as 0 does.
        repeats = [(entry if entry.dimension else -1) if isinstance(entry, Symbol) else max(int(entry), 0) for entry in entries]
        rank = max(len(shape), len(repeats))
        shape = (1,) * (rank - len(shape)) + shape
        repeats = [1] * (rank - len(repeats)) + repeats
        return tuple([0 if 0 in (d, r) else product(d, r) for d, r in zip(shape, repeats, strict=True)])

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (np.tile(operands[0], [max(count, 0) for count in integer_list(operands[1])]),)


@irdl_op_definition
class Reverse(MovementOp):
    """`data` reversed along some axes.

    `mode`: `reversed_axes` lists the axes (`index`) or has a flag for each dimension (`mask`).
    """

    name = "opset1.Reverse"
    data = operand_def()
    reversed_axes = operand_def()
    mode = string_property(None, "index", "mask")
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, axes = shapes[0], known.integers(self.operands[1])
        require_operand_rank(self, 1, 1)
        if self.text("mode") == "index" and self.element_type(1) is element_types.boolean:
            raise InferenceError("axes are integers, not booleans")
        if shape is not None and axes is not None:
            self._axes(axes, len(shape))
        return shape

    def _axes(self, entries: Sequence[int], rank: int) -> tuple[int, ...]:
        if self.text("mode") == "index":
            return tuple(normalize_axis(axis, rank) for axis in entries)
        if len(entries) != rank:
            raise InferenceError(f"{len(entries)} flags are given for {rank} dimensions")
        return tuple(axis for axis, entry in enumerate(entries) if entry)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (np.flip(operands[0], self._axes(integer_list(operands[1]), operands[0].ndim)),)


@irdl_op_definition
class ReverseSequence(MovementOp):
    """`data` with the first `seq_lengths[entry]` elements along `seq_axis` reversed, for each entry of the batch."""

    name = "opset1.ReverseSequence"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("batch_axis", "seq_axis"))
    data = operand_def()
    seq_lengths = operand_def()
    batch_axis = integer_property(0)
    seq_axis = integer_property(1)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, lengths = shapes[0], shapes[1]
        require_rank(shape, 2)
        if lengths is not None and len(lengths) != 1:
            raise InferenceError(f"seq_lengths is a tensor of rank 1, not of shape {format_shape(lengths)}")
        if shape is None:
            return None
        batch = normalize_axis(self.integer("batch_axis"), len(shape))
        normalize_axis(self.integer("seq_axis"), len(shape))
        size = merge_dimensions(shape[batch], -1 if lengths is None else lengths[0])
        return replaced(shape, batch, size)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        batch, axis = (normalize_axis(self.integer(name), data.ndim) for name in ("batch_axis", "seq_axis"))
        result = data.copy()
        ordered_result, ordered_data = (np.moveaxis(array, (batch, axis), (0, 1)) for array in (result, data))
        for entry, length in enumerate(integer_list(operands[1])):
            ordered_result[entry, :length] = ordered_data[entry, :length][::-1]
        return (result,)


@irdl_op_definition
class Roll(MovementOp):
    """`data` shifted cyclically by `shift` along `axes`."""

    name = "opset7.Roll"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=2)
    data = operand_def()
    shift = operand_def()
    axes = operand_def()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, shift, count = shapes
        if (shift is not None and len(shift) > 1) or (count is not None and len(count) > 1):
            raise InferenceError("shift and axes are scalars or tensors of rank 1")
        if shift and count is not None:
            merge_shapes(shift, count)
        axes = known.integers(self.operands[2])
        if shape is not None and axes is not None:
            for axis in axes:
                normalize_axis(axis, max(len(shape), 1))
        return shape

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, shift, axes = operands[0], integer_list(operands[1]), integer_list(operands[2])
        if data.ndim == 0:
            return (data,)
        return (np.roll(data, shift * len(axes) if len(shift) == 1 else shift, axes),)
