"""Control flow: _foreach, _while_loop, _cond.

A graph of a node has a Parameter for each operand of the node.

Source: control_flow.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.moir import Slicing
from moir.dialects.opset.control_flow import TensorIterator
from moir.dialects.shapes import rank_of
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.expansions.shape_values import as_scalar, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.mxnet.attributes import operands
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_STEPS = 2**31 - 1


def _region(node: LoweringNode, index: int, count: int) -> Region:
    """A copy of one of the node's `count` graphs."""
    if len(node.op.regions) != count:
        node.fail(f"it has {len(node.op.regions)} graphs, not {count}")
    return node.op.regions[index].clone()


def _truth(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A condition, of one element, as a boolean scalar."""
    return as_scalar(op, op.convert(op.NotEqual(value, 0), boolean))


@mxnet.lowers("_foreach")
def foreach(
    node: LoweringNode, op: OpBuilder, *, num_out_data: int, in_data_locs: tuple[int, ...] = (), in_state_locs: tuple[int, ...] = ()
) -> Replacement:
    """mxnet._foreach(data…, states…, others…) -> opset1.TensorIterator over the first axes of the data

    The results are the joined outputs of all steps, then the states after the last one. A body that contains another
    loop makes it a Loop, since the runtime has no nested TensorIterators.
    """
    values = operands(node)
    data_count, state_count = len(in_data_locs), len(in_state_locs)
    data, states, others = values[:data_count], values[data_count : data_count + state_count], values[data_count + state_count :]
    if not data or node.result_count != num_out_data + state_count:
        node.fail(f"it has {len(data)} operands to go through and {node.result_count} results, {num_out_data} of them outputs")

    def body(inside: OpBuilder, carried: list[SSAValue], cuts: list[SSAValue], fixed: list[SSAValue]) -> Step:
        slices = [inside.Squeeze(cut, [0]) for cut in cuts]
        found = inlined(node, inside, _region(node, 0, 1), [*slices, *carried, *fixed])
        if len(found) != num_out_data + state_count:
            node.fail(f"its graph has {len(found)} outputs, not {num_out_data + state_count}")
        return Step(found[num_out_data:], [inside.Unsqueeze(value, [0]) for value in found[:num_out_data]])

    is_nested = any(each.name in ("mxnet._foreach", "mxnet._while_loop", TensorIterator.name) for each in node.op.regions[0].walk())
    cuts, joins = [Cut(value, Slicing(0)) for value in data], [Slicing(0)] * num_out_data
    most = as_scalar(op, dimension_list(op, data[0], 0)) if is_nested else None
    results = repeated_steps(op, body, states, cuts=cuts, invariants=others, joins=joins, most=most)
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

    The results are the joined outputs, with zeros after those of the last step up to `max_iterations`, then the loop's
    variables after it.
    """
    values = operands(node)
    own = func_input_locs
    places = func_var_locs
    if (
        not 0 < max_iterations <= MAXIMUM_STEPS
        or any(not 0 <= place < len(own) for place in places)
        or node.result_count != num_out_data + len(places)
    ):
        node.fail(
            f"{max_iterations} iterations, {len(places)} variables and {num_out_data} outputs do not fit its {node.result_count} results"
        )
    variables = [own[place] for place in places]
    others = [index for index in range(len(values)) if index not in variables]

    def arranged(carried: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> list[SSAValue]:
        placed = {**dict(zip(variables, carried, strict=True)), **dict(zip(others, fixed, strict=True))}
        return [placed[index] for index in range(len(values))]

    def condition(inside: OpBuilder, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> SSAValue:
        (found,) = inlined(node, inside, _region(node, 0, 2), arranged(carried, fixed))
        return _truth(inside, found)

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], fixed: list[SSAValue]) -> Step:
        found = inlined(node, inside, _region(node, 1, 2), arranged(carried, fixed))
        if len(found) != num_out_data + len(variables):
            node.fail(f"its graph has {len(found)} outputs, not {num_out_data + len(variables)}")
        after = found[num_out_data:]
        return Step(after, [inside.Unsqueeze(value, [0]) for value in found[:num_out_data]], condition(inside, after, fixed))

    states, fixed = [values[index] for index in variables], [values[index] for index in others]
    starts = condition(op, states, fixed)
    results = repeated_steps(op, body, states, invariants=fixed, joins=[Slicing(0)] * num_out_data, most=max_iterations, starts=starts)
    joined = [_filled(op, value, max_iterations) for value in results[len(states) :]]
    return [*joined, *results[: len(states)]]


def _filled(op: OpBuilder, value: SSAValue, count: int) -> SSAValue:
    """The steps of an output with zeros after them, `count` in all."""
    rank = rank_of(value)
    sizes = op.ShapeOf(value)
    lead = op.constant([count])
    full = lead if rank == 1 else op.Concat(lead, op.Slice(sizes, [1], [2**31], [1]), axis=0)
    zeros = op.Broadcast(op.constant_like(0, value), full)
    return op.Reshape(op.Slice(op.Concat(value, zeros, axis=0), [0], [count], [1], [0]), full, special_zero=False)


@mxnet.lowers("_cond")
def cond(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._cond(values…) -> opset8.If(condition, values…), where the first graph computes the condition

    If the condition is known: the operations of one branch.
    """
    values = operands(node)
    (found,) = inlined(node, op, _region(node, 0, 3), values)
    condition = _truth(op, found)
    known = node.known.constant(condition)
    if known is not None:
        return inlined(node, op, _region(node, 1 if np.all(known) else 2, 3), values)
    return conditional(node, op, condition, [node.op.regions[1], node.op.regions[2]], values)
