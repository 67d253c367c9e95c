"""`eliminate-identities`: operations that give back their operand are removed.

    %1 = opset1.Transpose(%0, [0, 1, 2])
    %2 = opset1.Reshape(%1, [0, 0, 0])                // special_zero
    %3 = opset1.Multiply(%2, 1.0)
    opset1.Result(%3)
->  opset1.Result(%0)

An operation goes only if that is certain whatever the sizes of the dimensions will be. Floats count as unchanged by `+ 0`, although
-0 + 0 is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from moir.analysis.dimension_rules import UNBOUNDED
from moir.analysis.dimensions import Dimensions, same
from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.element_types import dynamic
from moir.dialects.moir import ModelOp, all_blocks
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.shapes import Shape, element_of, is_static, shape_of
from moir.dialects.symbols import Symbol
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.rewriting.rules import constant_of

Check: TypeAlias = Callable[[OpsetOp, KnownValues], bool]
"""Whether an operation gives back its first operand (types aside)."""


def _is_no_copy(op: OpsetOp, _known: KnownValues) -> bool:
    """An Identity from a Parameter to a Result of a body stays: it keeps the runtime from overwriting one state by another in place."""
    block = op.parent_block()
    in_body = block is not None and not isinstance(block.parent_op(), ModelOp)
    return not (
        in_body and isinstance(op.operands[0].owner, Parameter) and any(isinstance(use.operation, Result) for use in op.results[0].uses)
    )


def _same_element(op: OpsetOp, _known: KnownValues) -> bool:
    return element_of(op.operands[0]) is not dynamic


def _one_operand(op: OpsetOp, _known: KnownValues) -> bool:
    return len(op.operands) == 1


def _one_part(op: OpsetOp, _known: KnownValues) -> bool:
    return len(op.results) == 1


def _keeps_order(op: OpsetOp, known: KnownValues) -> bool:
    """A Transpose that leaves the dimensions other than 1 in their order."""
    shape, order = shape_of(op.operands[0]), known.integers(op.operands[1])
    if order is None or (shape is None and not order):
        return False
    if shape is None or (len(order) > 0 and list(order) == sorted(order)):
        return list(order) == sorted(order)
    order = order or tuple(reversed(range(len(shape))))
    dimensions = [known.dimension(op.operands[0], axis) for axis in range(len(shape))]
    moved = [axis for axis in order if dimensions[axis] != 1]
    return moved == sorted(moved) and shape == shape_of(op.results[0]) and is_static(shape)


def _keeps_shape(op: OpsetOp, known: KnownValues) -> bool:
    """A Reshape to the shape the data has; the element count decides about one dimension."""
    shape, target, entries = shape_of(op.operands[0]), shape_of(op.results[0]), known.elements(op.operands[1])
    if shape is None or target is None or len(shape) != len(target):
        return False
    computed = not isinstance(op.operands[1].owner, Constant)
    unproved = 0
    for axis, (d, t) in enumerate(zip(shape, target, strict=True)):
        if d == t >= 0 and not computed:
            continue
        entry = None if entries is None else entries.ravel()[axis]
        copied = entry is not None and not isinstance(entry, Symbol) and entry == 0 and op.flag("special_zero")
        unproved += not copied and (entry is None or not same(entry, known.dimension(op.operands[0], axis)))
    return unproved == 0 or (unproved == 1 and 0 not in shape)


def _same_rank(op: OpsetOp, _known: KnownValues) -> bool:
    """A Squeeze that removes nothing."""
    shape, result = shape_of(op.operands[0]), shape_of(op.results[0])
    return shape is not None and result is not None and len(shape) == len(result)


def _no_repetition(op: OpsetOp, known: KnownValues) -> bool:
    """A Broadcast to a shape that the data has already."""
    shape, result, entries = shape_of(op.operands[0]), shape_of(op.results[0]), known.elements(op.operands[1])
    if shape is None or result is None or len(shape) != len(result):
        return False
    if is_static(shape) and shape == result and isinstance(op.operands[1].owner, Constant):
        return True
    if entries is None or op.text("mode") not in ("numpy", "bidirectional"):
        return False
    lead = len(shape) - entries.size
    for position, entry in enumerate(entries.ravel().tolist()):
        dimension = known.dimension(op.operands[0], position + lead)
        if not same(entry, dimension) and not same(entry, 1):
            return False
    return True


def _repeats_once(op: OpsetOp, known: KnownValues) -> bool:
    repeats, shape = known.integers(op.operands[1]), shape_of(op.operands[0])
    return repeats is not None and shape is not None and len(repeats) <= len(shape) and set(repeats) <= {1}


def _no_border(op: OpsetOp, known: KnownValues) -> bool:
    widths = [known.integers(operand) for operand in op.operands[1:3]]
    return all(width is not None and not any(width) for width in widths)


def _keeps_all(op: OpsetOp, known: KnownValues) -> bool:
    """A Slice that goes forward and has every element: by its size, or by bounds that are 0 and beyond any size."""
    shape, result = shape_of(op.operands[0]), shape_of(op.results[0])
    starts, stops, steps = (known.integers(operand) for operand in op.operands[1:4])
    if steps is None or any(step <= 0 for step in steps):
        return False
    if shape is not None and is_static(shape) and shape == result:
        return True
    return starts is not None and not any(starts) and set(steps) <= {1} and stops is not None and all(stop >= UNBOUNDED for stop in stops)


def _keeps_all_strided(op: OpsetOp, known: KnownValues) -> bool:
    """A StridedSlice that neither adds nor drops dimensions and has every element."""
    if any(op.integers("new_axis_mask")) or any(op.integers("shrink_axis_mask")):
        return False
    shape, result = shape_of(op.operands[0]), shape_of(op.results[0])
    begin, end = known.integers(op.operands[1]), known.integers(op.operands[2])
    strides = None if op.optional_operand(3) is None else known.integers(op.operands[3])
    if op.optional_operand(3) is not None and (strides is None or any(step <= 0 for step in strides)):
        return False
    if shape is not None and is_static(shape) and shape == result:
        return True
    if begin is None or end is None or any(op.integers("ellipsis_mask")) or not set(strides or (1,)) <= {1}:
        return False
    open_begin, open_end = op.integers("begin_mask"), op.integers("end_mask")
    if len(open_begin) < len(begin) or len(open_end) < len(end):
        return False
    begins = all(mask or start == 0 for mask, start in zip(open_begin, begin, strict=False))
    return begins and all(mask or stop >= UNBOUNDED for mask, stop in zip(open_end, end, strict=False))


def _neutral(number: float) -> Check:
    """A check that the second operand is a constant of that number everywhere, with no more dimensions than the first."""

    def check(op: OpsetOp, _known: KnownValues) -> bool:
        return _is_neutral(op.operands[1], op.operands[0], number) and op.text("auto_broadcast") == "numpy"

    return check


def _is_neutral(constant: SSAValue, other: SSAValue, number: float) -> bool:
    array, shape = constant_of(constant), shape_of(other)
    if array is None or shape is None or array.ndim > len(shape) or array.dtype.kind not in "fiubV" or array.size == 0:
        return False
    aligned = shape[len(shape) - array.ndim :]
    if any(size not in (1, d) for size, d in zip(array.shape, aligned, strict=True)):
        return False
    # One look decides most cases; a large weight is not compared as a whole.
    return array.reshape(-1)[0] == number and bool(np.all(array == np.asarray(number).astype(array.dtype)))


FIRST_OPERAND: dict[str, Check] = {
    "Add": _neutral(0),
    "Broadcast": _no_repetition,
    "Concat": _one_operand,
    "Convert": _same_element,
    "ConvertLike": _same_element,
    "Divide": _neutral(1),
    "Identity": _is_no_copy,
    "LogicalAnd": _neutral(1),
    "LogicalOr": _neutral(0),
    "Multiply": _neutral(1),
    "Pad": _no_border,
    "Power": _neutral(1),
    "Reshape": _keeps_shape,
    "Slice": _keeps_all,
    "Split": _one_part,
    "Squeeze": _same_rank,
    "StridedSlice": _keeps_all_strided,
    "Subtract": _neutral(0),
    "Tile": _repeats_once,
    "Transpose": _keeps_order,
    "VariadicSplit": _one_part,
}
"""When an operation gives back its first operand."""

SECOND_OPERAND: dict[str, float] = {"Add": 0, "LogicalAnd": 1, "LogicalOr": 0, "Multiply": 1}
"""The first operand with which an operation gives back its second one."""


ARITHMETIC = frozenset(("Add", "Divide", "LogicalAnd", "LogicalOr", "Multiply", "Power", "Subtract"))
"""The operations that are looked at without knowing dimensions."""

NOTHING_KNOWN = KnownValues()


def moves_data(op: Operation) -> bool:
    """Whether an operation may be an identity because of what is known of dimensions."""
    kind = op.name.rpartition(".")[2]
    return kind in FIRST_OPERAND and kind not in ARITHMETIC


def identity(op: OpsetOp, known: KnownValues) -> SSAValue | None:
    """The operand an operation gives back; None if it does not."""
    kind = op.name.rpartition(".")[2]
    if kind in FIRST_OPERAND and _fits(op.operands[0], op.results[0]) and FIRST_OPERAND[kind](op, known):
        return op.operands[0]
    if kind in SECOND_OPERAND and _fits(op.operands[1], op.results[0]) and op.text("auto_broadcast") == "numpy":
        return op.operands[1] if _is_neutral(op.operands[0], op.operands[1], SECOND_OPERAND[kind]) else None
    return None


def _fits(value: SSAValue, result: SSAValue) -> bool:
    """Whether a value has the element type of a result and a shape that says as much or more."""
    return value.type is result.type or (element_of(value) == element_of(result) and says_as_much(shape_of(value), shape_of(result)))


def says_as_much(a: Shape, b: Shape) -> bool:
    """Whether a shape is known where another one is, and the same there."""
    return b is None or (a is not None and len(a) == len(b) and all(y < 0 or x == y for x, y in zip(a, b, strict=True)))


class Identity(Pattern):
    """Replaces an operation by the operand it gives back."""

    roots = tuple(name for kind in FIRST_OPERAND for name in opset.versions(kind))

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, OpsetOp)
        return moves_data(op) or identity(op, NOTHING_KNOWN) is not None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        assert isinstance(op, OpsetOp)
        value = identity(op, rewriter.known)
        if value is not None:
            rewriter.replace_with(op, value)


@dataclass(frozen=True)
class EliminateIdentitiesPass(ModulePass):
    """Removes operations that do nothing."""

    name = "eliminate-identities"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Dimensions are compared only if there is something to compare them for: that takes a walk of its own.
        known = Dimensions().scan(op) if any(moves_data(each) for block in all_blocks(op) for each in block.ops) else None
        rewrite(op, [Identity()], fixpoint=True, known=known)
