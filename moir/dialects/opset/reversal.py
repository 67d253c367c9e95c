"""The movement operations that reverse or rotate elements along dimensions: Reverse, ReverseSequence, Roll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.movement import MovementOp, integer_list, replaced, require_operand_rank, require_rank
from moir.dialects.opset.interfaces.operation import AlongAxes
from moir.dialects.opset.interfaces.properties import deferred_definition, integer_property, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    format_shape,
    merge_dimensions,
    merge_shapes,
    normalize_axis,
)
from moir.errors import InferenceError


@deferred_definition
class Reverse(MovementOp):
    """`data` reversed along some axes.

    `mode`: `reversed_axes` lists the axes (`index`) or has a flag for each dimension (`mask`).
    """

    name = "opset1.Reverse"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "index"}
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


@deferred_definition
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


@deferred_definition
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
