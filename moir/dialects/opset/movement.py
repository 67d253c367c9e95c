"""Operations that move elements without computing: concatenation, splitting, transposition, reversal.

Slicing and padding are in `slicing`, operations that regroup blocks of elements in `blocks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, var_operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds, union
from moir.dialects.opset.interfaces.movement import (
    MovementOp,
    exact_quotient,
    integer_list,
    keeps_sizes,
    replaced,
    require_operand_rank,
    require_rank,
)
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, integer_property, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    format_shape,
    is_fixed,
    is_static,
    merge_dimensions,
    merge_shapes,
    normalize_axis,
    permuted,
    shape_of,
    unknown_dimensions,
)
from moir.dialects.symbols import Dimension, Symbol, same
from moir.errors import InferenceError


@deferred_definition
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

    def check_invariants(self) -> None:
        super().check_invariants()
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

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return union([of(operand) for operand in range(len(self.operands))])


@deferred_definition
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

    def check_invariants(self) -> None:
        super().check_invariants()
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


@deferred_definition
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
        lengths = known.elements(self.operands[2])
        is_rest = lengths is not None and lengths.size == 1 and same(lengths.item(), -1)
        return len(self.results) == 1 and (is_rest or keeps_sizes(self, known))

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
    """The split lengths in `entries`, the -1 resolved from the dimension; -1 for dynamic lengths.

    Raises InferenceError if they do not sum up to the dimension.
    """
    lengths: list[Dimension] = [entry if isinstance(entry, Symbol) else int(entry) for entry in entries.ravel()]
    numbers = [length for length in lengths if not isinstance(length, Symbol)]
    if any(length < -1 for length in numbers) or numbers.count(-1) > 1:
        shown = [None if isinstance(length, Symbol) else length for length in lengths]
        raise InferenceError(f"{shown} are not split lengths: they are sizes and at most one -1")
    if len(numbers) < len(lengths) or dimension == -1:
        return [-1 if isinstance(length, Symbol) and not length.dimension else length for length in lengths]
    rest = dimension - sum(length for length in numbers if length > 0)
    if not isinstance(rest, Symbol) and (rest < 0 or (rest and -1 not in numbers)):
        raise InferenceError(f"the split lengths {numbers} do not sum up to the dimension {dimension}")
    return [rest if length == -1 else length for length in lengths]


@deferred_definition
class Transpose(MovementOp):
    """`data` with its dimensions permuted by `order`; if that is empty, the dimensions are reversed."""

    name = "opset1.Transpose"
    PERMUTES: ClassVar[bool] = True
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
                raise InferenceError(f"{list(order)} is not an order of the dimensions of shape {format_shape(shape)}")
            return unknown_dimensions(len(order)) if shape is None else permuted(shape, order)
        if order is not None:
            return None if shape is None else shape[::-1]
        count = (shapes[1] or (-1,))[0]
        if shape is not None and is_fixed(count) and count not in (0, len(shape)):
            raise InferenceError(f"{count} entries are not an order of the dimensions of shape {format_shape(shape)}")
        return None if shape is None else unknown_dimensions(len(shape))

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (operands[0].transpose(integer_list(operands[1]) or None),)


@deferred_definition
class Reverse(MovementOp):
    """`data` reversed along some axes.

    `mode`: `reversed_axes` lists the axes (`index`) or has a flag for each dimension (`mask`).
    """

    name = "opset1.Reverse"
    PERMUTES: ClassVar[bool] = True
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
    PERMUTES: ClassVar[bool] = True
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
    PERMUTES: ClassVar[bool] = True
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
