"""Operations that move elements and compute nothing: concatenation, splitting, transposition, repetition, reversal.

Those that cut and pad are in `slicing`, those that regroup blocks of elements in `blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import AlongAxes, OpsetOp, Types, integer_property, optional_operands, string_property
from moir.dialects.opset.blocks import BatchToSpace, DepthToSpace, ShuffleChannels, SpaceToBatch, SpaceToDepth
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.movement_base import MovementOp, exact_quotient, integer_list, require_operand_rank, require_rank
from moir.dialects.opset.slicing import Pad, Slice, SliceScatter, StridedSlice
from moir.dialects.shapes import (
    Shape,
    broadcast_shapes,
    element_of,
    format_shape,
    is_static,
    merge_dimensions,
    merge_elements,
    merge_shapes,
    normalize_axis,
    permuted,
    shape_of,
    tensor,
    unknown_dimensions,
)
from moir.dialects.symbols import Symbol, same
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
    """The operands one behind the other along `axis`."""

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

    def infer(self, known: OperandValues) -> Types:
        element = element_of(self.operands[0])
        joined: list[int] | None = None
        axis, total, complete = 0, 0, True
        for operand in self.operands:
            element = merge_elements(element, element_of(operand))
            shape = shape_of(operand)
            if shape is None:
                complete = False
                continue
            if joined is None:
                axis = normalize_axis(self.integer("axis"), len(shape))
                joined = list(shape)
            elif len(joined) != len(shape):
                raise InferenceError(f"operands of ranks {len(joined)} and {len(shape)} cannot be concatenated")
            total = -1 if total < 0 or shape[axis] < 0 else total + shape[axis]
            joined = [
                d if d == e or position == axis else merge_dimensions(d, e)
                for position, (d, e) in enumerate(zip(joined, shape, strict=True))
            ]
        if joined is not None:
            joined[axis] = total if complete else -1
        return (tensor(joined, element),)

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

    def infer(self, known: OperandValues) -> Types:
        shape, axis, parts = self.shape(0), known.integers(self.operands[1]), self.integer("num_splits")
        require_operand_rank(self, 1, 0)
        if parts < 1 or parts != len(self.results):
            raise InferenceError(f"num_splits is {parts}, the number of results {len(self.results)}")
        if shape is not None and axis is not None:
            position = normalize_axis(axis[0], len(shape))
            shape = (*shape[:position], exact_quotient(shape[position], parts, "number of parts"), *shape[position + 1 :])
        elif shape is not None:
            shape = unknown_dimensions(len(shape))
        return (tensor(shape, self.element_type(0)),) * parts

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return np.split(operands[0], self.integer("num_splits"), int(operands[1].ravel()[0]))


@irdl_op_definition
class VariadicSplit(MovementOp):
    """Parts of `data` along `axis` of the sizes `split_lengths`, of which one may be -1 (what is left)."""

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

    def infer(self, known: OperandValues) -> Types:
        shape, axis, entries = self.shape(0), known.integers(self.operands[1]), known.elements(self.operands[2])
        count = len(self.results)
        if entries is not None and entries.size != count:
            raise InferenceError(f"{entries.size} split lengths are given for {count} results")
        if shape is None:
            return (tensor(None, self.element_type(0)),) * count
        if axis is None:
            return (tensor(unknown_dimensions(len(shape)), self.element_type(0)),) * count
        position = normalize_axis(axis[0], len(shape))
        lengths = [-1] * count if entries is None else _split_lengths(shape[position], entries)
        return [tensor((*shape[:position], length, *shape[position + 1 :]), self.element_type(0)) for length in lengths]

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, axis, lengths = operands
        position = normalize_axis(int(axis.ravel()[0]), data.ndim)
        return np.split(data, np.cumsum(_split_lengths(data.shape[position], lengths))[:-1], position)


def _split_lengths(dimension: int, entries: Array) -> list[int]:
    """Split lengths with the -1 resolved; -1 for lengths that are not known."""
    lengths: list[int | None] = [None if isinstance(entry, Symbol) else int(entry) for entry in entries.ravel()]
    if any(length is not None and length < -1 for length in lengths) or lengths.count(-1) > 1:
        raise InferenceError(f"{lengths} are no split lengths: they are sizes and at most one -1")
    total = sum(length for length in lengths if length is not None and length > 0)
    if None not in lengths and dimension >= 0:
        rest = dimension - total
        if rest < 0 or (rest and -1 not in lengths):
            raise InferenceError(f"the split lengths {lengths} do not sum up to the dimension {dimension}")
        return [rest if length == -1 or length is None else length for length in lengths]
    return [-1 if length is None else length for length in lengths]


@irdl_op_definition
class Transpose(MovementOp):
    """`data` with its dimensions in the order `order`; reversed if that is empty."""

    name = "opset1.Transpose"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    order = operand_def()
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        """A Transpose that leaves the dimensions other than 1 in their order."""
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
        """Dimension i of the result is dimension `permutation[i]` of the operand; None if that is not known."""
        order, rank = known.integers(self.operands[1]), self.rank(0)
        if order is None or (not order and rank is None):
            return None
        return order or tuple(reversed(range(rank or 0)))

    def result_shape(self, known: OperandValues) -> Shape:
        shape, order = self.shape(0), known.integers(self.operands[1])
        require_operand_rank(self, 1, 1)
        if order:
            if sorted(order) != list(range(len(order))) or (shape is not None and len(order) != len(shape)):
                raise InferenceError(f"{list(order)} is no order of the dimensions of shape {format_shape(shape)}")
            return unknown_dimensions(len(order)) if shape is None else permuted(shape, order)
        if order is not None:
            return None if shape is None else shape[::-1]
        count = (self.shape(1) or (-1,))[0]
        if shape is not None and count not in (-1, 0, len(shape)):
            raise InferenceError(f"{count} entries are no order of the dimensions of shape {format_shape(shape)}")
        return None if shape is None else unknown_dimensions(len(shape))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (operands[0].transpose(integer_list(operands[1]) or None),)


@irdl_op_definition
class Broadcast(MovementOp):
    """`data` repeated until it has `target_shape`.

    `numpy`: dimensions are aligned at the end and only `data` is repeated; `bidirectional`: the target is repeated as well; `explicit`:
    `axes_mapping` says to which dimension of the target each dimension of `data` belongs; `pdpd`: `data` begins at the first dimension
    from which its sizes are those of the target.
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
        """A Broadcast to a shape that the data has already."""
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

    def result_shape(self, known: OperandValues) -> Shape:
        shape, target = self.shape(0), known.target_shape(self.operands[1])
        if len(self.operands) > 2 and shape is not None and (count := (self.shape(2) or (-1,))[0]) not in (-1, len(shape)):
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
                for d, t in zip(shape, target[lead:], strict=True):
                    if d not in (1, -1, t) and t >= 0:
                        raise InferenceError(f"shape {format_shape(shape)} cannot be broadcast to {format_shape(target)}")
                return target

    @staticmethod
    def _check_mapping(shape: Sequence[int], target: Sequence[int], mapping: Sequence[int]) -> None:
        if len(mapping) != len(shape) or list(mapping) != sorted(mapping) or any(not 0 <= axis < len(target) for axis in mapping):
            raise InferenceError(f"{list(mapping)} maps no dimensions of {format_shape(tuple(shape))} to {format_shape(tuple(target))}")
        for d, axis in zip(shape, mapping, strict=True):
            if d not in (1, -1, target[axis]) and target[axis] >= 0:
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
    """`data` repeated `repeats` times along each dimension; the shorter of the two shapes is extended by ones in front."""

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

    def result_shape(self, known: OperandValues) -> Shape:
        shape, entries = self.shape(0), known.elements(self.operands[1])
        require_operand_rank(self, 1, 1)
        if shape is None or entries is None:
            count = (self.shape(1) or (-1,))[0]
            return None if shape is None or count < 0 else unknown_dimensions(max(len(shape), count))
        # A negative number repeats nothing, as 0 does.
        repeats = [-1 if isinstance(entry, Symbol) else max(int(entry), 0) for entry in entries]
        rank = max(len(shape), len(repeats))
        shape = (1,) * (rank - len(shape)) + shape
        repeats = [1] * (rank - len(repeats)) + repeats
        return tuple(0 if 0 in (d, r) else -1 if d < 0 or r < 0 else d * r for d, r in zip(shape, repeats, strict=True))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (np.tile(operands[0], [max(count, 0) for count in integer_list(operands[1])]),)


@irdl_op_definition
class Reverse(MovementOp):
    """`data` in reverse order along some axes: `mode` says whether `reversed_axes` lists them (`index`) or has a flag for each (`mask`)."""

    name = "opset1.Reverse"
    data = operand_def()
    reversed_axes = operand_def()
    mode = string_property(None, "index", "mask")
    result = result_def()

    def result_shape(self, known: OperandValues) -> Shape:
        shape, axes = self.shape(0), known.integers(self.operands[1])
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
    """For each entry of the batch axis the first `seq_lengths[entry]` elements along `seq_axis` in reverse order."""

    name = "opset1.ReverseSequence"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("batch_axis", "seq_axis"))
    data = operand_def()
    seq_lengths = operand_def()
    batch_axis = integer_property(0)
    seq_axis = integer_property(1)
    result = result_def()

    def result_shape(self, known: OperandValues) -> Shape:
        shape, lengths = self.shape(0), self.shape(1)
        require_rank(shape, 2)
        if lengths is not None and len(lengths) != 1:
            raise InferenceError(f"seq_lengths is a tensor of rank 1, not of shape {format_shape(lengths)}")
        if shape is None:
            return None
        batch = normalize_axis(self.integer("batch_axis"), len(shape))
        normalize_axis(self.integer("seq_axis"), len(shape))
        size = merge_dimensions(shape[batch], -1 if lengths is None else lengths[0])
        return (*shape[:batch], size, *shape[batch + 1 :])

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

    def result_shape(self, known: OperandValues) -> Shape:
        shape, shift, count = self.shape(0), self.shape(1), self.shape(2)
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
