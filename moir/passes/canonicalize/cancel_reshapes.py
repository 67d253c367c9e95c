"""`cancel-reshapes`: merges or cancels chains of Reshape, Squeeze, Unsqueeze and Gathers of single entries.

    %1 = opset1.Unsqueeze(%0, [1])
    %2 = opset1.Unsqueeze(%1, [2])
->  %2 = opset1.Unsqueeze(%0, [1, 2])

    %1 = opset1.Reshape(%0, [0, 8, -1])
    %2 = opset1.Reshape(%1, [0, -1])
    %3 = opset1.Unsqueeze(%2, [2])
->  %3 = opset1.Reshape(%0, [0, -1, 1])

    %1 = opset1.Unsqueeze(%0, [2])
    %2 = opset8.Gather(%1, -1, 2)                 // or opset1.Squeeze(%1, [2])
    opset1.Result(%2)
->  opset1.Result(%0)

    %1 = opset1.Unsqueeze(opset3.Broadcast(0.0, opset1.Concat(%n, [32])), [1])
->  %1 = opset3.Broadcast(0.0, opset1.Concat(%n, [1, 32]))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.shape import Reshape, Squeeze, Squeeze1, Unsqueeze
from moir.dialects.shapes import element_count, element_of, rank_of, refines, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

RESIZING = (Reshape, Squeeze, Squeeze1, Unsqueeze)
"""Operations whose result has the elements of their data in the same order."""


def inserted_axes(op: Operation, known: KnownValues) -> set[int] | None:
    """Positions of the dimensions in the result that an Unsqueeze inserts.

    None if the axes or the rank are dynamic, or for any other operation.
    """
    if not isinstance(op, Unsqueeze):
        return None
    axes, rank = known.integers(op.operands[1]), rank_of(op.results[0])
    return None if axes is None or rank is None else {axis % rank for axis in axes}


def removed_axes(op: Operation, known: KnownValues) -> set[int] | None:
    """The dimensions of the data that a Squeeze removes, all of which are listed in its axes and have size 1.

    None if a listed dimension is not certainly 1, if axes or shape are unknown, or for any other operation.
    """
    if not isinstance(op, Squeeze | Squeeze1):
        return None
    axes, shape = known.integers(op.optional_operand(1)), shape_of(op.operands[0])
    if not axes or not shape:
        return None
    removed = {axis % len(shape) for axis in axes}
    return removed if all(shape[axis] == 1 for axis in removed) else None


def constant_pattern(op: Operation) -> list[int] | None:
    """The constant target shape of a Reshape, in which 0 copies a dimension of the data.

    None if the target is computed or contains a literal 0, and for any other operation.
    """
    if not isinstance(op, Reshape) or not isinstance(op.operands[1].owner, Constant):
        return None
    entries = op.operands[1].owner.value.array.ravel().tolist()
    return entries if op.flag("special_zero") or 0 not in entries else None


def replace_if_as_good(op: Operation, value: SSAValue, rewriter: Rewriter) -> None:
    """Replace a result by a value if the value's shape is at least as precise; otherwise erase the operations built for
    it.

    A built Reshape to the shape of its data is replaced by the data, so that the operations on both sides of it can
    cancel.
    """
    reshape = value.owner
    is_identity = isinstance(reshape, Reshape) and reshape.gives_back_operand(rewriter.known)
    is_good = refines(shape_of(value), shape_of(op.results[0]))
    if is_good and not is_identity:
        rewriter.replace_with(op, value)
        return
    if is_good and isinstance(reshape, Reshape):
        rewriter.replace_with(op, reshape.operands[0])
    for built in reversed(rewriter.op.inserted or []):
        built.detach()
        built.erase()
    rewriter.op.inserted = []


class ReshapeOfReshape(Pattern):
    """Merges a Reshape with the Reshape, Squeeze or Unsqueeze that produces its data."""

    roots = (Reshape,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, RESIZING)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Reshape)
        inner = op.operands[0].owner
        assert isinstance(inner, RESIZING)
        data = inner.operands[0]
        if not op.flag("special_zero"):
            replace_if_as_good(op, rewriter.op.Reshape(data, op.operands[1], special_zero=False), rewriter)
            return
        pattern = constant_pattern(op)
        if pattern is None:
            return
        kept = kept_dimensions(inner, rewriter.known)
        inner_pattern = constant_pattern(inner) or []
        for position, entry in enumerate(pattern):
            if entry or position in kept:
                continue
            # The entry copies a dimension of the inner result, whose size is known if the inner target is constant.
            if position >= len(inner_pattern) or inner_pattern[position] <= 0:
                return
            pattern[position] = inner_pattern[position]
        replace_if_as_good(op, rewriter.op.Reshape(data, np.array(pattern, np.int64), special_zero=True), rewriter)


def kept_dimensions(op: Operation, known: KnownValues) -> set[int]:
    """The indices of dimensions of which the result of a Reshape, Squeeze or Unsqueeze certainly equals its data."""
    pattern = constant_pattern(op)
    if pattern is not None:
        return {position for position, entry in enumerate(pattern) if entry == 0}
    axes = inserted_axes(op, known) or removed_axes(op, known)
    return set() if not axes else set(range(min(axes)))


class ResizedReshape(Pattern):
    """Merges an Unsqueeze or Squeeze of a Reshape into the target shape of the Reshape."""

    roots = (Unsqueeze, Squeeze, Squeeze1)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Reshape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        inner = op.operands[0].owner
        assert isinstance(inner, Reshape)
        if not has_one_live_use(inner.results[0]):
            return
        pattern = constant_pattern(inner)
        if pattern is None:
            return
        copied = max((position for position, entry in enumerate(pattern) if entry == 0), default=-1)
        if (axes := inserted_axes(op, rewriter.known)) is not None:
            rest = iter(pattern)
            changed = [1 if axis in axes else next(rest) for axis in range(len(pattern) + len(axes))]
        elif (axes := removed_axes(op, rewriter.known)) is not None and all(pattern[axis] == 1 for axis in axes):
            changed = [entry for axis, entry in enumerate(pattern) if axis not in axes]
        else:
            return
        # A copied dimension must keep its position, and a -1 needs another entry: [-1] alone is not the shape of a
        # scalar.
        if min(axes) > copied and changed:
            reshaped = rewriter.op.Reshape(inner.operands[0], np.array(changed, np.int64), special_zero=True)
            replace_if_as_good(op, reshaped, rewriter)


class InsertedAndRemoved(Pattern):
    """Merges Unsqueeze with Unsqueeze, Squeeze with Squeeze, and cancels one with the other."""

    roots = (Unsqueeze, Squeeze, Squeeze1)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, (Unsqueeze, Squeeze, Squeeze1))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        inner = op.operands[0].owner
        assert isinstance(inner, Operation)
        known, data = rewriter.known, inner.operands[0]
        added, first_added = inserted_axes(op, known), inserted_axes(inner, known)
        removed, first_removed = removed_axes(op, known), removed_axes(inner, known)
        if (added is not None and added == first_removed) or (removed is not None and removed == first_added):
            replace_if_as_good(op, data, rewriter)
        elif added is not None and first_added is not None:
            axes = merged_axes(added, first_added)
            replace_if_as_good(op, rewriter.op.Unsqueeze(data, np.array(axes, np.int64)), rewriter)
        elif removed is not None and first_removed is not None:
            axes = merged_axes(first_removed, removed)
            replace_if_as_good(op, rewriter.op[op.name](data, np.array(axes, np.int64)), rewriter)


class GatherOfInsertedDimension(Pattern):
    """Replaces a Gather of the only element along an inserted dimension by an Unsqueeze without that dimension."""

    roots = ("opset8.Gather",)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Unsqueeze)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        inner = op.operands[0].owner
        assert isinstance(inner, Unsqueeze)
        axis, index = (rewriter.known.integers(op.operands[number]) for number in (2, 1))
        inserted = inserted_axes(inner, rewriter.known)
        if inserted is None or not axis or index not in ((0,), (-1,)) or rank_of(op.operands[1]) != 0:
            return
        inserted_axis = axis[0] % (rank_of(op.operands[0]) or 1)
        if inserted_axis not in inserted:
            return
        others = [other - (other > inserted_axis) for other in sorted(inserted - {inserted_axis})]
        data = inner.operands[0]
        replace_if_as_good(op, rewriter.op.Unsqueeze(data, np.array(others, np.int64)) if others else data, rewriter)


BROADCAST = "opset3.Broadcast"
"""The operation by its name, so that its class is imported only for models that have one."""


class UnsqueezedBroadcast(Pattern):
    """Merges an Unsqueeze of a broadcast scalar into the Broadcast, whose target is a Concat of sizes."""

    roots = (Unsqueeze,)
    companions = ((BROADCAST,), (Concat,))

    def may_match(self, op: Operation) -> bool:
        inner = op.operands[0].owner
        return isinstance(inner, OpsetOp) and inner.name == BROADCAST and isinstance(inner.operands[1].owner, Concat)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        inner = op.operands[0].owner
        assert isinstance(inner, OpsetOp)
        target, axes = inner.operands[1], inserted_axes(op, rewriter.known)
        if not all(isinstance(use.operation, Unsqueeze) for use in live_uses(inner.results[0])) or not has_one_live_use(target):
            return
        if inner.text("mode") not in ("numpy", "bidirectional"):
            return
        if axes is None or element_count(shape_of(inner.operands[0])) != 1 or shape_of(target) != (rank_of(inner.results[0]),):
            return
        element, entries = element_of(target), list[SSAValue | int]()
        for part in target.owner.operands if isinstance(target.owner, Concat) else ():
            array = constant_of(part)
            if array is None and shape_of(part) != (1,):
                return
            entries += [part] if array is None else array.tolist()
        for axis in sorted(axes):
            entries.insert(axis, 1)
        parts: list[SSAValue] = []
        for _, group in groupby(entries, lambda entry: isinstance(entry, int)):
            run = list(group)
            numbers = [entry for entry in run if isinstance(entry, int)]
            parts += [rewriter.op.constant(numbers, element)] if numbers else [entry for entry in run if isinstance(entry, SSAValue)]
        merged = rewriter.op.Broadcast(inner.operands[0], rewriter.op.Concat(*parts, axis=0), mode=inner.text("mode"))
        replace_if_as_good(op, merged, rewriter)


def merged_axes(outer: set[int], inner: set[int]) -> Sequence[int]:
    """The axes of one operation that replaces two, counted in the shape of the higher rank.

    `outer` counts in that shape, `inner` in the shape without the `outer` dimensions.
    """
    rest = (axis for axis in range(len(outer) + len(inner) + max(outer | inner) + 1) if axis not in outer)
    return sorted(outer | {axis for position, axis in enumerate(rest) if position in inner})


class CancelReshapesPass(PatternPass):
    """Merges Reshape, Squeeze and Unsqueeze."""

    name = "cancel-reshapes"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (InsertedAndRemoved, ReshapeOfReshape, ResizedReshape, GatherOfInsertedDimension, UnsqueezedBroadcast)
