"""The movement operations that repeat elements: Broadcast and Tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.movement import MovementOp, integer_list, require_operand_rank, require_rank
from moir.dialects.opset.interfaces.properties import deferred_definition, optional_operands, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_shapes,
    format_shape,
    is_fixed,
    is_static,
    product,
    shape_of,
    unknown_dimensions,
)
from moir.dialects.symbols import Dimension, Symbol, integer_entries, same
from moir.errors import InferenceError


def _is_repeatable(dimension: Dimension, target: Dimension) -> bool:
    """Whether a dimension can be broadcast to a target dimension."""
    return not is_fixed(dimension) or not is_fixed(target) or dimension in (1, target)


def _repeated(dimension: Dimension, target: Dimension) -> Dimension:
    """The dimension after broadcasting to a target.

    That is the target, unless the target is a symbol and the dimension a known size other than 1.
    """
    return dimension if isinstance(target, Symbol) and is_fixed(dimension) and dimension != 1 else target


class BroadcastOp(MovementOp):
    """Base of the versions of Broadcast: `data` broadcast to `target_shape`.

    `numpy`: dimensions are aligned at the end and only `data` is broadcast; `bidirectional`: the target is broadcast,
    too; `explicit`: `axes_mapping` gives the dimension of the target for each dimension of `data`; `pdpd`: `data` is
    aligned at the first dimension from which its sizes equal those of the target.
    """

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    target_shape = operand_def()
    axes_mapping = optional_operands(1)

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
        require_operand_rank(self, 1, 1)
        count = (shapes[2] or (-1,))[0] if len(shapes) > 2 else -1
        if shape is not None and is_fixed(count) and count != len(shape):
            raise InferenceError(f"{count} axes are given for the dimensions of shape {format_shape(shape)}")
        if target is None:
            return None
        if -1 in target and min(known.integers(self.operands[1]) or (0,)) < 0:
            raise InferenceError(f"{format_shape(target)} is not a shape: a dimension is negative")
        match self.text("mode"):
            case "bidirectional":
                return broadcast_shapes(shape, target)
            case "explicit" | "none":
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
        if mode in ("explicit", "none"):
            aligned = [1] * len(target)
            for axis, size in zip(integer_list(operands[2]), data.shape, strict=True):
                aligned[axis] = size
            data = data.reshape(aligned)
        shape = np.broadcast_shapes(data.shape, target) if mode == "bidirectional" else tuple(target)
        return (np.broadcast_to(data, shape),)


@deferred_definition
class Broadcast1(BroadcastOp):
    """Broadcast of the data alone; `none` stands for `explicit`."""

    name = "opset1.Broadcast"
    mode = string_property("numpy", "explicit", "none", "numpy", "pdpd")
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "none"}


@deferred_definition
class Broadcast(BroadcastOp):
    """Broadcast, in both directions with the mode `bidirectional`."""

    name = "opset3.Broadcast"
    mode = string_property("numpy", "bidirectional", "explicit", "numpy", "pdpd")
    result = result_def()


@deferred_definition
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
        repeats = [(entry if entry.dimension else -1) if isinstance(entry, Symbol) else max(entry, 0) for entry in integer_entries(entries)]
        rank = max(len(shape), len(repeats))
        shape = (1,) * (rank - len(shape)) + shape
        repeats = [1] * (rank - len(repeats)) + repeats
        return tuple([0 if 0 in (d, r) else product(d, r) for d, r in zip(shape, repeats, strict=True)])

    def move(self, *operands: Array) -> Sequence[Array] | None:
        return (np.tile(operands[0], [max(count, 0) for count in integer_list(operands[1])]),)
