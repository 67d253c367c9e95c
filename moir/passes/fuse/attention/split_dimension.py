"""Values with one dimension split into two, as a Reshape of a value that is computed from them splits it.

    %0 = opset1.Reshape(%p, [0, 49, 3, 32])
    %1 = opset1.Transpose(%0, [2, 0, 1, 3])                     // [3, ?, 49, 32]
    %2 = opset8.Gather(%1, 0, 0)                                // [?, 49, 32]
    %3 = opset1.Reshape(%2, [-1, 12, 49, 32])
->  %0 = opset1.Reshape(%p, [-1, 12, 49, 3, 32])
    %1 = opset1.Transpose(%0, [3, 0, 1, 2, 4])
    %3 = opset8.Gather(%1, 0, 0)

The operations are planned first, from the value up to Reshapes, then built.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import live_uses
from moir.dialects.element_types import to_numpy
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol, same
from moir.rewriting.builder import OpBuilder

MOST_OPERATIONS = 64
"""The maximum number of operations in a plan."""

LEADING = 2
"""The number of dimensions into which the dimension is split."""


class DimensionSplit:
    """A plan of operations whose results have a split dimension.

    Args:
        known: the dimensions that are equal.
        split: the Reshape that splits the first dimension of a value into the first two of its result.
    """

    def __init__(self, known: Dimensions, split: Reshape) -> None:
        self.known = known
        self.split = split
        self._axes: dict[SSAValue, int] = {}
        self._planned: dict[Operation, int] = {}
        """The planned operations, operands first, with the dimension of their first operand that is split."""

    def add(self, value: SSAValue, axis: int = 0) -> bool:
        """Plan the operations that compute a value with a split dimension; False if that is not possible."""
        if value in self._axes:
            return self._axes[value] == axis
        op = value.owner
        if not isinstance(op, OpsetOp) or len(self._planned) >= MOST_OPERATIONS or rank_of(value) is None:
            return False
        source = self._source_axis(op, axis)
        if source is None:
            return False
        for result in op.results:
            self._axes[result] = axis
        self._planned[op] = source
        return True

    def _source_axis(self, op: OpsetOp, axis: int) -> int | None:
        """The axis of the first operand that has to be split so that axis `axis` of the result of an operation is
        split.

        Returns None if the operation cannot be planned.
        """
        source: int | None = None
        if isinstance(op, Reshape):
            return 0 if axis == 0 and self.tail(op.results[0]) and self.leading() is not None else None
        if isinstance(op, MatMul | Add | Subtract | Multiply | Divide):
            return self._operands_axis(op, axis)
        if isinstance(op, Transpose):
            order = op.permutation(self.known)
            source = None if order is None else order[axis]
        elif op.KIND == "Gather":
            index = scalar_of(op.operands[2])
            if shape_of(op.operands[1]) == () and index is not None and index >= 0 and not op.integer("batch_dims"):
                source = axis + (index <= axis)
        elif op.KIND == "Squeeze":
            axes = constant_axes(op)
            source = None if axes is None else unsqueezed(axis, axes)
        elif op.KIND in ("Split", "VariadicSplit"):
            source = axis if scalar_of(op.operands[1]) not in (None, axis) and (scalar_of(op.operands[1]) or 0) >= 0 else None
        elif op.KIND == "NormalizeL2":
            axes = constant_axes(op)
            source = None if axes is None or axis in axes else axis
        return source if source is not None and self.add(op.operands[0], source) else None

    def _operands_axis(self, op: OpsetOp, axis: int) -> int | None:
        """As `_source_axis`, for a matrix product or an elementwise operation of two operands.

        Returns None if the axis is one of the last two, or an operand cannot be planned.
        """
        rank = rank_of(op.results[0]) or 0
        if axis >= rank - 2 or (not isinstance(op, MatMul) and op.text("auto_broadcast") != "numpy"):
            return None
        own = self.known.tokens(op.results[0])
        is_planned = False
        for operand in op.operands:
            shape, tokens = shape_of(operand), self.known.tokens(operand)
            if shape is None or tokens is None or own is None:
                return None
            own_axis = axis - rank + len(shape)
            if all(size == 1 for size in shape[: max(0, own_axis + 1)]):
                continue
            if own_axis < 0 or not same(tokens[own_axis], own[axis]) or own_axis != axis or not self.add(operand, own_axis):
                return None
            is_planned = True
        return axis if is_planned else None

    def tail(self, value: SSAValue) -> list[int] | None:
        """The dimensions of a value without the first one; None if any depends on an input or is 0."""
        tokens = self.known.tokens(value)
        if not tokens or any(isinstance(size, Symbol) or size < 1 for size in tokens[1:]):
            return None
        return [int(size) for size in tokens[1:] if not isinstance(size, Symbol)]

    def is_closed(self, users: AbstractSet[Operation]) -> bool:
        """Whether only planned operations and `users` use the results of planned operations."""
        results = [result for op in self._planned for result in op.results]
        return all(use.operation in users or use.operation in self._planned for result in results for use in live_uses(result))

    def leading(self) -> list[int] | SSAValue | None:
        """The sizes of the two dimensions, constant or computed; None if they depend on the data that is split."""
        target = self.split.operands[1]
        numbers = constant_of(target)
        if numbers is None:
            return target
        sizes = [int(each) for each in numbers[:LEADING]]
        return None if 0 in sizes else sizes

    def built(self, build: OpBuilder) -> dict[SSAValue, SSAValue]:
        """Build the planned operations with the dimension split; returns old value -> new value."""
        made: dict[SSAValue, SSAValue] = {}
        for op, source in self._planned.items():
            assert isinstance(op, OpsetOp)
            results = self._results(op, source, [made.get(operand, operand) for operand in op.operands], build)
            made.update(zip(op.results, results, strict=True))
        return made

    def _results(self, op: OpsetOp, source: int, operands: list[SSAValue], build: OpBuilder) -> Sequence[SSAValue]:
        properties: dict[str, Any] = {}
        if isinstance(op, Reshape):
            tail = self.tail(op.results[0])
            assert tail is not None
            return [build.Reshape(op.operands[0], self._target(tail, build), special_zero=self.split.flag("special_zero"))]
        if isinstance(op, Transpose):
            order = op.permutation(self.known)
            assert order is not None
            return [build.transposed(operands[0], split_order(order, source))]
        if op.KIND == "Gather":
            index = int(scalar_of(operands[2]) or 0)
            return [build.Gather(*operands[:2], build.constant(np.array(index + (index > source))), batch_dims=0)]
        if op.KIND in ("Split", "VariadicSplit"):
            index = int(scalar_of(operands[1]) or 0)
            if op.KIND == "Split":
                properties["num_splits"] = op.integer("num_splits")
            return build[op.name].results(operands[0], build.constant(np.array(index + (index > source))), *operands[2:], **properties)
        if op.KIND in ("Squeeze", "NormalizeL2"):
            axes = [axis + (axis > source) for axis in constant_axes(op) or ()]
            if op.KIND == "NormalizeL2":
                properties = {"eps": op.number("eps"), "eps_mode": op.text("eps_mode")}
            return [build[op.name](operands[0], build.constant(axes), **properties)]
        if isinstance(op, MatMul):
            properties = {name: op.flag(name) for name in ("transpose_a", "transpose_b")}
        return [build[op.name](*operands, **properties)]

    def _target(self, tail: Sequence[int], build: OpBuilder) -> SSAValue:
        """The target of a Reshape: the two sizes of the split dimension, then `tail`."""
        leading = self.leading()
        if isinstance(leading, list):
            return build.constant([*leading, *tail])
        assert leading is not None
        op = leading.owner
        if isinstance(op, OpsetOp) and op.KIND == "Concat" and all(shape_of(each) == (1,) for each in op.operands[:LEADING]):
            first = list(op.operands[:LEADING])
        else:
            first = [build.Gather(leading, build.constant([*range(LEADING)]), build.constant(np.array(0)), batch_dims=0)]
        return build.Concat(*first, build.constant(np.array(tail, to_numpy(element_of(leading)))), axis=0)


def constant_axes(op: OpsetOp) -> list[int] | None:
    """The constant second operand of an operation as nonnegative axes of the first operand; None if it is not
    constant.
    """
    indices = constant_of(op.operands[1]) if len(op.operands) > 1 else None
    rank = rank_of(op.operands[0])
    return None if indices is None or rank is None else [int(axis) % rank for axis in indices.ravel()]


def unsqueezed(axis: int, axes: Sequence[int]) -> int:
    """The index, before the dimensions `axes` were squeezed, of axis `axis` of the squeezed tensor."""
    for each in sorted(axes):
        axis += each <= axis
    return axis


def split_order(order: Sequence[int], axis: int) -> list[int]:
    """The order of a Transpose of data whose dimension `axis` is split."""
    axes: list[int] = []
    for each in order:
        first = each + (each > axis)
        axes += [first, first + 1] if each == axis else [first]
    return axes
