"""Control flow: _foreach, _while_loop, _cond.

A body of a node has a Parameter for each operand of the node.

Source: control_flow.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.moir import Slicing
from moir.dialects.shapes import rank_of
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.mxnet.attributes import operands
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_STEPS = 2**31 - 1


def _region(node: LoweringNode, index: int, count: int) -> Region:
    """A copy of body `index` of a node. Raises ConversionError unless the node has `count` bodies."""
    if len(node.op.regions) != count:
        node.fail(f"it has {len(node.op.regions)} graphs, not {count}")
    return node.op.regions[index].clone()


def _truth(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A condition of one element, of any type, as a boolean scalar."""
    return as_scalar(op, op.convert(op.NotEqual(value, 0), boolean))


@mxnet.lowers("_foreach")
def foreach(
    node: LoweringNode, op: OpBuilder, *, num_out_data: int, in_data_locs: tuple[int, ...] = (), in_state_locs: tuple[int, ...] = ()
) -> Replacement:
    """mxnet._foreach(data…, states…, others…) -> opset1.TensorIterator over the first axes of the data

    The results are the outputs of all steps, concatenated, then the states after the last step.
    """
    values = operands(node)
    data_count, state_count = len(in_data_locs), len(in_state_locs)
    data, states, others = values[:data_count], values[data_count : data_count + state_count], values[data_count + state_count :]
    if not data or node.result_count != num_out_data + state_count:
        node.fail(f"it has {len(data)} operands to go through and {node.result_count} results, {num_out_data} of them outputs")

    def body(inside: OpBuilder, carried: list[SSAValue], cuts: list[SSAValue], fixed: list[SSAValue]) -> Step:
        slices = [inside.Squeeze(cut, [0]) for cut in cuts]
        results = inlined(node, inside, _region(node, 0, 1), [*slices, *carried, *fixed])
        if len(results) != num_out_data + state_count:
            node.fail(f"its graph has {len(results)} outputs, not {num_out_data + state_count}")
        return Step(results[num_out_data:], [inside.Unsqueeze(value, [0]) for value in results[:num_out_data]])

    cuts, joins = [Cut(value, Slicing(0)) for value in data], [Slicing(0)] * num_out_data
    results = repeated_steps(op, body, states, cuts=cuts, invariants=others, joins=joins)
    return [*results[state_count:], *results[:state_count]]


@mxnet.lowers("_while_loop")
def while_loop(
    node: LoweringNode,
    op: OpBuilder,
    *,
    num_out_data: int,
    max_iterations: int,
    func_input_locs: tuple[int, ...] = (),
    func_var_locs: tuple[int, ...] = (),
) -> Replacement:
    """mxnet._while_loop(values…) {max_iterations} -> opset5.Loop(max_iterations, condition, values…)

    The results are the concatenated outputs, padded with zeros to `max_iterations` steps, then the loop's variables
    after the last step.
    """
    values = operands(node)
    own = func_input_locs
    positions = func_var_locs
    if (
        not 0 < max_iterations <= MAXIMUM_STEPS
        or any(not 0 <= position < len(own) for position in positions)
        or node.result_count != num_out_data + len(positions)
    ):
        node.fail(
            f"{max_iterations} iterations, {len(positions)} variables and {num_out_data} outputs do not fit its {node.result_count} results"
        )
    variables = [own[position] for position in positions]
    others = [index for index in range(len(values)) if index not in variables]

    def arranged(carried: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> list[SSAValue]:
        placed = {**dict(zip(variables, carried, strict=True)), **dict(zip(others, fixed, strict=True))}
        return [placed[index] for index in range(len(values))]

    def condition(inside: OpBuilder, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> SSAValue:
        (result,) = inlined(node, inside, _region(node, 0, 2), arranged(carried, fixed))
        return _truth(inside, result)

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], fixed: list[SSAValue]) -> Step:
        results = inlined(node, inside, _region(node, 1, 2), arranged(carried, fixed))
        if len(results) != num_out_data + len(variables):
            node.fail(f"its graph has {len(results)} outputs, not {num_out_data + len(variables)}")
        after = results[num_out_data:]
        return Step(after, [inside.Unsqueeze(value, [0]) for value in results[:num_out_data]], condition(inside, after, fixed))

    states, fixed = [values[index] for index in variables], [values[index] for index in others]
    starts = condition(op, states, fixed)
    results = repeated_steps(op, body, states, invariants=fixed, joins=[Slicing(0)] * num_out_data, most=max_iterations, starts=starts)
    outputs = [_filled(op, value, max_iterations) for value in results[len(states) :]]
    return [*outputs, *results[: len(states)]]


def _filled(op: OpBuilder, value: SSAValue, count: int) -> SSAValue:
    """The concatenated steps of an output, padded with zeros to `count` steps."""
    rank = rank_of(value)
    sizes = op.ShapeOf(value)
    lead = op.constant([count])
    full = lead if rank == 1 else op.Concat(lead, op.Slice(sizes, [1], [2**31], [1]), axis=0)
    zeros = op.Broadcast(op.constant_like(0, value), full)
    return op.Reshape(op.Slice(op.Concat(value, zeros, axis=0), [0], [count], [1], [0]), full, special_zero=False)


@mxnet.lowers("_cond")
def cond(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._cond(values…) -> opset8.If(condition, values…), where the first body computes the condition

    If the condition is constant: the operations of one branch.
    """
    values = operands(node)
    (result,) = inlined(node, op, _region(node, 0, 3), values)
    condition = _truth(op, result)
    known = node.known.constant(condition)
    if known is not None:
        return inlined(node, op, _region(node, 1 if np.all(known) else 2, 3), values)
    return conditional(node, op, condition, [node.op.regions[1], node.op.regions[2]], values)
