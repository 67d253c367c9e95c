"""`compute-sizes-1d`: computes sizes as 1-D tensors of one element where scalars are unsqueezed after the arithmetic.

    %n = opset8.Gather(opset3.ShapeOf(%x), 0, 0)
    %1 = opset1.Unsqueeze(opset1.Multiply(%n, 2), 0)
->  %n = opset8.Gather(opset3.ShapeOf(%x), [0], 0)
    %1 = opset1.Multiply(%n, 2)

PyTorch's exporters compute sizes as scalars, and unsqueeze them for the target shapes of Reshapes and the bounds of
slices. A scalar that has other uses stays a scalar. Elements that are concatenated are gathered at once:

    %2 = opset1.Concat(opset8.Gather(%s, [2], 0), opset8.Gather(%s, [3], 0), [64])
->  %2 = opset1.Concat(opset8.Gather(%s, [2, 3], 0), [64])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.opset.arithmetic import Add, Divide, FloorMod, Maximum, Minimum, Mod, Multiply, Subtract
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.shape import ShapeOf, Unsqueeze
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

ARITHMETIC = (Add, Divide, FloorMod, Maximum, Minimum, Mod, Multiply, Subtract)

DEEPEST = 16
"""The longest chain of arithmetic operations that is rewritten."""


class UnsqueezedScalar(Pattern):
    """Computes a scalar that is only unsqueezed as a 1-D tensor, unless that takes more than one new Unsqueeze."""

    roots = (Unsqueeze,)
    companions = (ARITHMETIC,)

    def may_match(self, op: Operation) -> bool:
        number = op.operands[0]
        return isinstance(number.owner, ARITHMETIC) and rank_of(number) == 0 and type(element_of(number)) is IntegerType

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        number = op.operands[0]
        uses = [use.operation for use in live_uses(number)]
        if not all(isinstance(each, Unsqueeze) and rank_of(each.results[0]) == 1 for each in uses):
            return
        arithmetic = number.owner
        assert isinstance(arithmetic, Operation)
        if not computes_with_numpy(arithmetic) or sum(map(added_unsqueezes, arithmetic.operands)) > 1:
            return
        rewriter.replace_with(op, as_1d(rewriter, arithmetic))


class ConcatOfElements(Pattern):
    """Merges Gathers from one shape that are adjacent operands of a Concat, if they have no other uses."""

    roots = (Concat,)
    companions = ((Gather,),)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        parts: list[SSAValue] = []
        for source, run in groupby(op.operands, source_of):
            entries = list(run)
            if source is None or len(entries) < 2 or not all(joins(use.operation, entries) for each in entries for use in live_uses(each)):
                parts += entries
                continue
            indices = [index for each in entries for index in indices_of(each)]
            parts.append(rewriter.op.Gather(source, indices, 0))
        if len(parts) < len(op.operands):
            rewriter.replace_with(op, parts[0] if len(parts) == 1 else rewriter.op.Concat(*parts, axis=0))


def source_of(value: SSAValue) -> SSAValue | None:
    """The ShapeOf from whose result a Gather with constant 1-D indices takes elements; None for other values."""
    op = value.owner
    if not isinstance(op, Gather) or rank_of(value) != 1 or rank_of(op.operands[0]) != 1 or constant_of(op.operands[1]) is None:
        return None
    return op.operands[0] if isinstance(op.operands[0].owner, ShapeOf) else None


def indices_of(value: SSAValue) -> list[int]:
    """The indices of the Gather that computes a value; empty if they are not constant."""
    indices = constant_of(value.owner.operands[1]) if isinstance(value.owner, Gather) else None
    return [] if indices is None else [int(index) for index in indices.ravel()]


def joins(op: Operation, entries: Sequence[SSAValue]) -> bool:
    """Whether an operation is a Concat with `entries` as adjacent operands, in order and once each."""
    if not isinstance(op, Concat) or any(list(op.operands).count(each) != 1 for each in entries):
        return False
    first = list(op.operands).index(entries[0])
    return list(op.operands[first : first + len(entries)]) == list(entries)


def computes_with_numpy(op: Operation) -> bool:
    """Whether an arithmetic operation has NumPy's broadcasting and an operand that is not constant."""
    return (
        isinstance(op, ARITHMETIC) and op.text("auto_broadcast") == "numpy" and any(constant_of(operand) is None for operand in op.operands)
    )


def is_gathered_scalar(value: SSAValue) -> bool:
    """Whether a scalar is gathered from a 1-D tensor at a constant index."""
    op = value.owner
    return isinstance(op, Gather) and rank_of(op.operands[0]) == 1 and scalar_of(op.operands[1]) is not None


def added_unsqueezes(value: SSAValue, depth: int = 0) -> int:
    """The number of Unsqueezes that `as_1d` has to add in order to compute a scalar as a 1-D tensor.

    `depth` is the number of arithmetic operations between the scalar and the first one, which is limited.
    """
    if constant_of(value) is not None:
        return 0
    if not has_one_live_use(value) or depth > DEEPEST:
        return 1
    op = value.owner
    if isinstance(op, ARITHMETIC) and computes_with_numpy(op):
        return sum(added_unsqueezes(operand, depth + 1) for operand in op.operands)
    return 0 if is_gathered_scalar(value) else 1


def as_1d(rewriter: Rewriter, op: Operation, depth: int = 0) -> SSAValue:
    """Build an arithmetic operation of scalars, and those before it, for 1-D tensors of one element; returns the
    result.

    `depth` is the number of arithmetic operations after this one, which is limited.
    """
    assert isinstance(op, ARITHMETIC)
    build, operands = rewriter.op, list[SSAValue]()
    for value in op.operands:
        inner = value.owner
        if constant_of(value) is not None:
            operands.append(value)
        elif isinstance(inner, ARITHMETIC) and computes_with_numpy(inner) and has_one_live_use(value) and depth < DEEPEST:
            operands.append(as_1d(rewriter, inner, depth + 1))
        elif isinstance(inner, Gather) and is_gathered_scalar(value):
            index = constant_of(inner.operands[1])
            assert index is not None
            operands.append(build.Gather(inner.operands[0], build.constant(index.reshape(1)), inner.operands[2]))
        else:
            operands.append(build.Unsqueeze(value, np.array([0], np.int64)))
    return build.create(type(op), operands, dict(op.properties), 1).results[0]


class ComputeSizes1dPass(PatternPass):
    """Computes sizes as 1-D tensors where scalars would be unsqueezed."""

    name = "compute-sizes-1d"

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (UnsqueezedScalar, ConcatOfElements)
