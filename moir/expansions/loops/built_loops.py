"""Loops that a lowering builds itself: a function builds the body from its Parameters and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Block, Region, SSAValue

from moir.analysis.dimensions import Dimensions
from moir.analysis.iteration_sizes import varying_axes
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import Loop, RepeatingOp, TensorIterator
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import rank_of
from moir.expansions.loops.carried_pieces import carrying
from moir.expansions.loops.pieces import stacked
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_repeating, known_value, slice_type


class Step(NamedTuple):
    """The results of a loop body: the next states, the slices of concatenated outputs, and whether another step
    follows.

    A slice has size 1 along the axis of the concatenation. `goes_on` is the boolean condition; None for true.
    """

    states: Sequence[SSAValue]
    parts: Sequence[SSAValue] = ()
    goes_on: SSAValue | None = None


class Cut(NamedTuple):
    """A value that is sliced along an axis, one slice for each step; a slice keeps the axis, with size 1."""

    value: SSAValue
    slicing: Slicing


Body = Callable[[OpBuilder, list[SSAValue], list[SSAValue], list[SSAValue]], Step]
"""Builds the operations of a step from the states, the slices and the invariant values."""


def repeated_steps(
    op: OpBuilder,
    body: Body,
    states: Sequence[SSAValue],
    *,
    cuts: Sequence[Cut] = (),
    invariants: Sequence[SSAValue] = (),
    joins: Sequence[Slicing] = (),
    most: int | SSAValue | None = None,
    starts: SSAValue | None = None,
) -> list[SSAValue]:
    """Build a loop: a Loop if `most` is given, or else a TensorIterator over the slices of `cuts`.

    Returns the states after the last step, then the concatenated outputs.

    Args:
        op: the builder.
        body: builds the body.
        states: the states before the first step.
        cuts: the values that are cut into slices, one for each step of a TensorIterator.
        invariants: values that do not change; constants are copied into the body.
        joins: how the slices of each concatenated output are ordered.
        most: the maximum number of steps of a Loop, which also ends when `goes_on` is false; None for a TensorIterator.
        starts: the initial condition of a Loop; None for true.
    """
    block = Block()
    inside = OpBuilder(op.known, block)
    operands: list[SSAValue] = []
    if most is not None:
        operands.append(most if isinstance(most, SSAValue) else op.constant(most))
        operands.append(op.constant(np.array(True)) if starts is None else starts)
    lead = len(operands)
    inputs: list[BodyPort] = []

    def parameter(value: SSAValue, type_: Attribute, back_edge: int | None = None, slicing: Slicing | None = None) -> SSAValue:
        created = Parameter.create(result_types=[type_])
        inside.insert(created)
        operands.append(value)
        inputs.append(BodyPort(len(operands) - 1, back_edge, slicing))
        return created.results[0]

    first = 0 if most is None else 1
    carried = [parameter(value, value.type, first + index) for index, value in enumerate(states)]
    slices = [parameter(cut.value, slice_type(cut.value, cut.slicing.axis), slicing=cut.slicing) for cut in cuts]
    fixed = [
        parameter(value, value.type) if (data := known_value(op.known, value)) is None else inside.constant(data.array, data.element)
        for value in invariants
    ]
    step = body(inside, carried, slices, fixed)
    results = [*step.states, *step.parts]
    if most is not None:
        results.insert(0, inside.constant(np.array(True)) if step.goes_on is None else step.goes_on)
    for value in results:
        inside.insert(Result.create(operands=[value]))
    outputs = [BodyPort(first + index) for index in range(len(states))]
    outputs += [BodyPort(first + len(states) + index, slicing=join) for index, join in enumerate(joins)]
    assert len(operands) == lead + len(inputs)
    created = create_repeating(op, TensorIterator if most is None else Loop, operands, inputs, outputs, Region(block))
    return _of_one_size(op, created, step.parts, len(states), joins)


def _of_one_size(op: OpBuilder, created: list[SSAValue], parts: Sequence[SSAValue], first: int, joins: Sequence[Slicing]) -> list[SSAValue]:
    """The results of a loop, where concatenated outputs of slices with dynamic dimensions are replaced by states that
    hold them.

    A loop cannot tell that slices with dynamic dimensions have the same size in every step. Returns `created` if there
    is no such output.

    Args:
        op: the builder.
        created: the results of the loop.
        parts: the slices, values of the body.
        first: the index of the first concatenated output among the results.
        joins: how the slices are ordered.
    """
    loop = created[0].owner if created else None
    if not joins or not isinstance(loop, RepeatingOp) or not (varying := varying_axes(loop, Dimensions(static=True))):
        return created
    inside = OpBuilder(op.known, loop.block, next(each for each in loop.block.ops if isinstance(each, Result)))
    axes: dict[int, int] = {}
    values: dict[int, SSAValue] = {}
    for output, differing in varying.items():
        join = joins[output - first]
        axes[output] = differing[0] - (differing[0] > join.axis)
        values[output] = inside.Squeeze(parts[output - first], [join.axis])
    results, joined = carrying(op, loop, values, axes)
    for output, pieces in joined.items():
        results[output] = stacked(op, pieces, rank_of(values[output]) or 1, joins[output - first].axis)
    return results
