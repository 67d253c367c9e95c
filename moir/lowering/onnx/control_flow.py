"""Control flow: If, Loop, Scan.

A body of the IR cannot use values from outside, so the values that a graph captures become operands with Parameters of
the body. Captured values that are known become constants of the body instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Block, Region, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si64
from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import Loop, TensorIterator, parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import value_of
from moir.dialects.shapes import is_static, normalize_axis, rank_of, shape_of, tensor
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import captured_values, graph_of, lowered_body, own_operands, repeated_body
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.control_flow.connections import Connections, results_without_iterations
from moir.lowering.onnx.sequences.loops import axes_of_sequences, is_sequence, loop_over_sequences, sequence_makers
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import Ask, agreed, rank_by_use
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_repeating, known_value, slice_type

LONGEST_LOOP = 2**31 - 1
"""A trip count of this or more means no limit."""


def as_captured(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """The rank of an operand that a node's bodies capture, inferred from its uses in the bodies; None if these allow
    any rank.

    The last Parameters of a body are the captured values.
    """
    parameter = index - len(op.operands)
    if index < len(op.operands) - (value_of(op.properties["captured"]) if "captured" in op.properties else 0):
        return None
    return agreed(ask(parameters_of(region.block)[parameter].results[0]) for region in op.regions)


def in_branches(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """The rank of an operand of an If: 0 for the condition; for the other operands see `as_captured`."""
    return as_captured(op, index, ask) if index else 0


@onnx.lowers("If", rank=in_branches)
def if_(node: LoweringNode, op: OpBuilder, cond: SSAValue) -> Replacement:
    """onnx.If(cond, captured…)
    -> opset8.If(cond, captured…) {then_inputs, else_inputs}; the operations of one branch if cond is known
    """
    condition, needed = op.known.constant(cond), [rank_by_use(result, onnx.rank) for result in node.op.results]
    if condition is not None and condition.size == 1:
        return inlined(node, op, graph_of(node, "then_branch" if condition.item() else "else_branch"), captured_values(node), needed)
    branches = [graph_of(node, name) for name in ("then_branch", "else_branch")]
    if any(len(results_of(branch.block)) != node.result_count for branch in branches):
        node.fail("a branch has another number of outputs than the operation")
    return conditional(node, op, cond, branches, captured_values(node), needed)


@onnx.lowers("Loop", rank=as_captured)
def loop(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.Loop(trip_count, cond, v…, captured…) -> opset5.Loop(trip_count, cond, v…, captured…)

    The condition that the body takes is true in every iteration. A loop-carried value that the body does not change
    becomes an invariant. The values of a scan output get a leading dimension in the body and are concatenated along it.
    """
    if any(is_sequence(value) for value in own_operands(node)):
        return loop_over_sequences(node, op, loop)
    region, captured = graph_of(node, "body"), captured_values(node)
    trip_count, condition, *states = _padded(own_operands(node), 2)
    carried = _present(node, states)
    _check_results(node, region, len(carried), 1)
    true = DataAttr.of(np.array(True))
    body = repeated_body(
        node,
        region,
        [value.type for value in carried],
        lambda types, in_place: lowered_body(node, region, [tensor((), si64), true, *types, *captured], in_place=in_place),
        first_result=1,
    )
    if (
        _never_runs(node, trip_count, condition)
        and (unchanged := results_without_iterations(node, op, carried, body.values()[1 + len(carried) :])) is not None
    ):
        return unchanged
    if _never_runs(node, trip_count, condition) and any(
        node.is_used(len(carried) + index) and rank_of(value) is None for index, value in enumerate(body.values()[1 + len(carried) :])
    ):
        node.fail("it has no iterations, and the rank of its stacked outputs is dynamic", hint="give the model's inputs a static rank")
    limit, first = _limit(node, op, trip_count), op.constant(np.array(True)) if condition is None else condition
    operands = [limit, first]
    connections = Connections(node, body, operands, first_parameter=2, first_result=1)
    connections.drop_unused(len(carried))
    if body.is_used(0):
        connections.inputs.append(BodyPort(None))
    else:
        body.drop(0)
    connections.add_states(carried)
    connections.add_invariants(2 + len(carried), captured)
    connections.add_joined(len(carried), [Slicing(0)] * (node.result_count - len(carried)), axes_of_sequences(node), sequence_makers(node))
    results = connections.create(op, Loop)
    return [*carried, *results[len(carried) :]] if _never_runs(node, trip_count, condition) else results


def _padded(values: list[SSAValue | None], count: int) -> list[SSAValue | None]:
    return [*values, *[None] * (count - len(values))]


def _present(node: LoweringNode, values: Sequence[SSAValue | None]) -> list[SSAValue]:
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        node.fail("a value its body needs is absent")
    return present


def _check_results(node: LoweringNode, region: Region, states: int, own: int) -> None:
    """Raises ConversionError unless a body has the Results the node requires.

    These are `own` Results without a result of the node, then one for each of the `states`, then the scan outputs.
    """
    count = len(results_of(region.block))
    if not states <= node.result_count == count - own:
        node.fail(f"it has {node.result_count} outputs and its body {count}, for {states} values handed on")


def _never_runs(node: LoweringNode, trip_count: SSAValue | None, condition: SSAValue | None) -> bool:
    limit = node.known.integers(trip_count)
    first = None if condition is None else node.known.constant(condition)
    return (limit is not None and len(limit) == 1 and limit[0] <= 0) or (first is not None and first.size == 1 and not first.any())


def _limit(node: LoweringNode, op: OpBuilder, trip_count: SSAValue | None) -> SSAValue:
    known = node.known.integers(trip_count)
    if trip_count is None or (known is not None and len(known) == 1 and known[0] >= LONGEST_LOOP):
        return op.constant(-1)
    # A negative trip count of opset5.Loop means no limit.
    return op.constant(0) if known is not None and len(known) == 1 and known[0] < 0 else trip_count


class Scanned(NamedTuple):
    """The operands of a Scan (states, scanned values, captured values), and the slicing of each scanned value and scan
    output.
    """

    states: list[SSAValue]
    scanned: list[SSAValue]
    captured: list[SSAValue]
    cuts: list[Slicing]
    joins: list[Slicing]


def _slicings(node: LoweringNode, axes: Sequence[int], directions: Sequence[int], ranks: Sequence[int | None]) -> list[Slicing]:
    """How operands are sliced along axes; a direction is 0 (forward) or 1 (backward).

    Raises ConversionError for lists of different lengths, or for a negative axis of a tensor of dynamic rank.
    """
    if not len(axes) == len(directions) == len(ranks):
        node.fail("its lists of axes and directions do not have an entry for each operand or result")
    slicings: list[Slicing] = []
    for axis, direction, rank in zip(axes, directions, ranks, strict=True):
        if rank is None and axis < 0:
            node.fail(f"axis {axis} of a tensor of dynamic rank", hint="give the model's inputs a static rank")
        position = axis if rank is None else normalize_axis(axis, rank)
        slicings.append(Slicing(position, -1, 0, -1) if direction else Slicing(position))
    return slicings


@onnx.lowers("Scan", since=9, rank=as_captured)
def scan(
    node: LoweringNode,
    op: OpBuilder,
    *,
    num_scan_inputs: int,
    scan_output_axes: tuple[int, ...] = (),
    scan_output_directions: tuple[int, ...] = (),
    scan_input_axes: tuple[int, ...] = (),
    scan_input_directions: tuple[int, ...] = (),
) -> Replacement:
    """onnx.Scan(state…, scanned…, captured…) -> opset1.TensorIterator(state…, scanned…, captured…)

    A slice of a TensorIterator keeps its axis: the body squeezes each slice at its beginning and unsqueezes each
    scan output at its end.
    """
    region = graph_of(node, "body")
    own = _present(node, own_operands(node))
    if not 1 <= num_scan_inputs <= len(own):
        node.fail(f"it has {len(own)} operands, {num_scan_inputs} of them are to be scanned")
    states, scanned = own[:-num_scan_inputs], own[-num_scan_inputs:]
    _check_results(node, region, len(states), 0)
    joined = node.result_count - len(states)
    cuts = _slicings(
        node,
        scan_input_axes or (0,) * num_scan_inputs,
        scan_input_directions or (0,) * num_scan_inputs,
        [rank_of(value) for value in scanned],
    )
    axes = scan_output_axes or (0,) * joined
    directions = scan_output_directions or (0,) * joined
    if len(axes) != joined or len(directions) != joined:
        node.fail("scan_output_axes and scan_output_directions do not have an entry for each joined result")
    joins = [Slicing(axis, -1, 0, -1) if direction else Slicing(axis) for axis, direction in zip(axes, directions, strict=True)]
    return _scan(node, op, region, Scanned(states, scanned, captured_values(node), cuts, joins))


def _scan(node: LoweringNode, op: OpBuilder, region: Region, inputs: Scanned) -> list[SSAValue | None]:
    """Lower the body of a Scan to a TensorIterator; returns its results, None for those without uses."""
    states, scanned, cuts = inputs.states, inputs.scanned, inputs.cuts

    def squeeze(parameters: list[Parameter]) -> None:
        for parameter, cut in zip(parameters[len(states) :], cuts, strict=False):
            value = parameter.results[0]
            uses = list(value.uses)
            assert parameter.parent is not None
            element = OpBuilder(node.known, parameter.parent, parameter.next_op).Squeeze(value, [cut.axis])
            for use in uses:
                use.operation.operands[use.index] = element

    pieces = [slice_type(value, cut.axis) for value, cut in zip(scanned, cuts, strict=True)]
    body = repeated_body(
        node,
        region,
        [value.type for value in states],
        lambda types, in_place: lowered_body(node, region, [*types, *pieces, *inputs.captured], squeeze, in_place=in_place),
        first_result=0,
    )
    pieces_joined = body.values()[len(states) :]
    ranks = [None if (rank := rank_of(value)) is None else rank + 1 for value in pieces_joined]
    axes = [slicings.axis for slicings in _slicings(node, [join.axis for join in inputs.joins], [0] * len(ranks), ranks)]
    joins = [join.with_fields(axis=axis) for join, axis in zip(inputs.joins, axes, strict=True)]
    connections = Connections(node, body, [], first_parameter=0, first_result=len(body.results) - node.result_count)
    connections.drop_unused(len(states))
    connections.add_states(states)
    connections.add_slices(scanned, cuts)
    connections.add_invariants(len(states) + len(scanned), inputs.captured)
    connections.add_joined(len(states), joins)
    return connections.create(op, TensorIterator)


@onnx.lowers("Scan")
def scan_of_batch(node: LoweringNode, op: OpBuilder, *, num_scan_inputs: int, directions: tuple[int, ...] = ()) -> Replacement:
    """onnx.Scan(lengths, state…, scanned…) -> opset1.TensorIterator over the sequence (axis 1), within a
    TensorIterator over the batch (axis 0)
    """
    region, captured = graph_of(node, "body"), captured_values(node)
    lengths, *others = _padded(own_operands(node), 1)
    own = _present(node, others)
    if not 1 <= num_scan_inputs <= len(own):
        node.fail(f"it has {len(own)} operands, {num_scan_inputs} of them are to be scanned")
    _check_lengths(node, lengths, own[-1])
    states = len(own) - num_scan_inputs
    _check_results(node, region, states, 0)
    block = Block()
    inside = OpBuilder(node.known, block)
    elements: list[SSAValue] = []
    inputs: list[BodyPort] = []
    for index, value in enumerate(own):
        parameter = Parameter.create(result_types=[slice_type(value)])
        inside.insert(parameter)
        elements.append(inside.Squeeze(parameter.results[0], [0]))
        inputs.append(BodyPort(index, slicing=Slicing(0)))
    operands = list(own)
    inner_captured: list[SSAValue] = []
    for value in captured:
        if (data := known_value(node.known, value)) is not None:
            inner_captured.append(inside.constant(data.array, data.element))
            continue
        parameter = Parameter.create(result_types=[value.type])
        inside.insert(parameter)
        inner_captured.append(parameter.results[0])
        inputs.append(BodyPort(len(operands)))
        operands.append(value)
    directions = directions or (0,) * num_scan_inputs
    cuts = _slicings(node, (0,) * num_scan_inputs, directions, [None] * num_scan_inputs)
    joins = [Slicing(0)] * (node.result_count - states)
    scanned = _scan(node, inside, region, Scanned(elements[:states], elements[states:], inner_captured, cuts, joins))
    used = [index for index, value in enumerate(scanned) if value is not None]
    for index in used:
        value = scanned[index]
        assert value is not None
        inside.insert(Result.create(operands=[inside.Unsqueeze(value, 0)]))
    outputs = [BodyPort(result_index, slicing=Slicing(0)) for result_index in range(len(used))]
    values = create_repeating(op, TensorIterator, operands, inputs, outputs, Region(block))
    results: list[SSAValue | None] = [None] * node.result_count
    for index, value in zip(used, values, strict=True):
        results[index] = value
    return results


def _check_lengths(node: LoweringNode, lengths: SSAValue | None, scanned: SSAValue) -> None:
    """Raises ConversionError if the sequences of a batch may have different lengths."""
    shape, known = shape_of(scanned), node.known.integers(lengths)
    full = shape[1] if shape is not None and len(shape) > 1 and is_static(shape) else None
    if lengths is not None and (known is None or set(known) != {full}):
        node.fail("the sequences of a batch have lengths of their own", hint="leave the input sequence_lens out")
