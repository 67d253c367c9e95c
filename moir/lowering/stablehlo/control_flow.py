"""Loops and branches, whose regions have further Parameters for the values that they capture.

%y… = stablehlo.while(%x…) ({condition}, {body})  ->  %y… = opset5.Loop(-1, condition of %x…, %x…)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, Region, SSAValue

from moir.dialects.element_types import ui32
from moir.dialects.framework import operation_class
from moir.dialects.moir import Slicing
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import attribute_of, string_attribute
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("while")
def while_(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """stablehlo.while(x…) -> opset5.Loop(-1, condition, x…); states that the body returns unchanged are invariants

    The condition is computed before the Loop for the first iteration, and in the body for the following ones.
    """
    values = node.operands
    count = node.result_count
    condition, body = node.op.regions
    states, captured = values[:count], values[count:]
    results = results_of(body.block)
    if len(results) != count:
        node.fail(f"its body returns {len(results)} values instead of {count}")
    parameters = [each.results[0] for each in parameters_of(body.block)]
    fixed = [index for index in range(count) if results[index] is parameters[index]]
    moving = [index for index in range(count) if index not in fixed]
    if not moving:
        return states
    starts = inlined(node, op, condition.clone(), values)[0]
    known = op.known.constant(starts)
    if known is not None and not known.any():
        return states
    if (unrolled := _unrolled(node, op, values)) is not None:
        return unrolled
    invariants = [*(states[index] for index in fixed), *captured]

    def step(inside: OpBuilder, current: list[SSAValue], _: list[SSAValue], unchanged: list[SSAValue]) -> Step:
        def arranged(own: Sequence[SSAValue]) -> list[SSAValue]:
            final_states: list[SSAValue] = [*states]
            for index, value in zip(moving, own, strict=True):
                final_states[index] = value
            for index, value in zip(fixed, unchanged, strict=False):
                final_states[index] = value
            return [*final_states, *unchanged[len(fixed) :]]

        after = inlined(node, inside, body.clone(), arranged(current))
        following = [after[index] for index in moving]
        goes_on = inlined(node, inside, condition.clone(), arranged(following))[0]
        return Step(following, (), goes_on)

    final_states = repeated_steps(op, step, [states[index] for index in moving], invariants=invariants, most=-1, starts=starts)
    every = list(states)
    for index, value in zip(moving, final_states, strict=False):
        every[index] = value
    return every


MOST_ROUNDS = 8
"""The maximum number of iterations of an unrolled loop over random bits."""


def _unrolled(node: LoweringNode, op: OpBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue] | None:
    """The results of a loop over random bits (uint32), such as the rounds of Threefry, unrolled; None for any other
    loop.

    Random numbers of a constant seed then become constants.
    """
    states, captured = list(values[: node.result_count]), list(values[node.result_count :])
    if not any(element_of(each) == ui32 for each in states):
        return None
    condition, body = node.op.regions
    for _ in range(MOST_ROUNDS + 1):
        known = op.known.constant(inlined(node, op, condition.clone(), [*states, *captured])[0])
        if known is None:
            return None
        if not known.any():
            return states
        states = inlined(node, op, body.clone(), [*states, *captured])
    return None


@stablehlo.lowers("chlo.scan")
def scan(
    node: LoweringNode, op: OpBuilder, *, dimension: int, is_reverse: bool = False, operandSegmentSizes: tuple[int, ...] = (), **_: Any
) -> Sequence[SSAValue]:
    """stablehlo.chlo.scan(x…, s…) {dimension} -> opset1.TensorIterator(slices of x…, s…): the stacked outputs, then the
    last states

    The body takes a slice of each x without the dimension, and the states; it returns a slice of each output, and the
    next states. `is_associative` changes no result.
    """
    (body,) = node.op.regions
    count = node.result_count
    inputs = operandSegmentSizes[0] if len(operandSegmentSizes) == 2 else 0
    states = operandSegmentSizes[1] if len(operandSegmentSizes) == 2 else 0
    captured = node.operands[inputs + states :]
    outputs = count - states
    if not inputs or outputs < 0 or len(node.operands) < inputs + states or len(results_of(body.block)) != count:
        node.fail(f"its body returns {len(results_of(body.block))} values for {states} states and {outputs} outputs")
    if any(not 0 <= dimension < node.known_rank(index) for index in range(inputs)):
        node.fail(f"an input has no dimension {dimension}")
    axes = [rank_of(value) for value in results_of(body.block)[:outputs]]
    if any(rank is None or rank < dimension for rank in axes):
        node.fail(f"a slice of an output has no place for dimension {dimension}")
    sliced = Slicing(dimension, -1, 0, -1) if is_reverse else Slicing(dimension)

    def step(inside: OpBuilder, current: list[SSAValue], slices: list[SSAValue], unchanged: list[SSAValue]) -> Step:
        elements = [inside.Squeeze(each, [dimension]) for each in slices]
        results = inlined(node, inside, body.clone(), [*elements, *current, *unchanged])
        return Step(results[outputs:], [inside.Unsqueeze(each, [dimension]) for each in results[:outputs]])

    cuts = [Cut(value, sliced) for value in node.operands[:inputs]]
    starts = node.operands[inputs : inputs + states]
    results = repeated_steps(op, step, starts, cuts=cuts, invariants=captured, joins=[sliced] * outputs)
    return [*results[states:], *results[:states]]


@stablehlo.lowers("if")
def if_(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """stablehlo.if(c) -> opset8.If(c, captured values…)"""
    condition, *captured = node.operands
    branches = list(node.op.regions)
    known = op.known.constant(condition)
    if known is not None and known.size == 1:
        return inlined(node, op, branches[0 if known.item() else 1], captured)
    return conditional(node, op, condition, branches, captured)


@stablehlo.lowers("case")
def case(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """stablehlo.case(i) -> opset8.If(i = 0, first branch, else opset8.If(i = 1, second branch, else …))

    An index without a branch selects the last one.
    """
    index, *captured = node.operands
    branches = list(node.op.regions)
    if not branches:
        node.fail("it has no branches")
    known = op.known.integers(index)
    if known is not None and len(known) == 1:
        return inlined(node, op, branches[known[0] if 0 <= known[0] < len(branches) else -1], captured)
    if len(branches) == 1:
        return inlined(node, op, branches[0], captured)
    first, *others = [node.op.detach_region(branch) for branch in branches]
    is_first = op.Equal(index, op.constant_like(0, index))
    parameter = Parameter.create(result_types=[index.type])
    assert first.block.first_op is not None
    first.block.insert_op_before(parameter, first.block.first_op)
    return conditional(node, op, is_first, [first, _rest(node, index, captured, others)], [index, *captured])


def _rest(node: LoweringNode, index: SSAValue, captured: Sequence[SSAValue], branches: Sequence[Region]) -> Region:
    """A region that contains a stablehlo.case of the remaining branches, with `index` - 1 as its index.

    A negative index selects the last branch, too.
    """
    parameters = [Parameter.create(result_types=[each.type]) for each in (index, *captured)]
    block = Block()
    inside = OpBuilder(node.known, block)
    block.add_ops(parameters)
    less = inside.Subtract(parameters[0].results[0], 1)
    rest = operation_class("stablehlo", "case").create(
        operands=[less, *(each.results[0] for each in parameters[1:])],
        properties={"captured": attribute_of(len(captured))},
        attributes={"name": string_attribute(node.name)},
        result_types=[each.type for each in node.op.results],
        regions=branches,
    )
    block.add_op(rest)
    block.add_ops([Result.create(operands=[each]) for each in rest.results])
    return Region(block)
