"""Loops over sequences: a Loop whose loop-carried values are sequences, and SequenceMap.

A Loop of a static number of iterations is unrolled. In any other Loop, also one that a condition may end early, a
sequence may only grow at its end. The appended values become a scan output, or, if their shapes may differ, a
concatenation that is a state of the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.moir import is_none
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import attribute_of
from moir.dialects.shapes import UNKNOWN
from moir.errors import UnsupportedOperationError
from moir.expansions.loops.pieces import Pieces
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import captured_values, graph_of, own_operands
from moir.lowering.control_flow.branches import inlined
from moir.lowering.control_flow.connections import MakeValue
from moir.lowering.onnx.sequences.operations import HINT, members_of, new_sequence
from moir.lowering.onnx.sequences.pieces import KIND as PIECES
from moir.lowering.onnx.sequences.pieces import new_pieces, parts_of
from moir.lowering.onnx.sequences.stacked import KIND as STACK
from moir.lowering.onnx.table import onnx
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase

MOST_ITERATIONS = 256
"""The largest number of iterations for which a Loop is unrolled."""

MOST_COPIES = 50_000
"""Largest number of operations of all unrolled loops of a model, which bounds the size of nested loops."""

SEQUENCES, CONCATENATED, AXES = "sequences", "concatenated", "axes"
"""Attributes of a Loop that replaces a Loop with sequences.

In order: the number of its last outputs that become sequences, the outputs that are concatenated later, and the
dimension of their values along which they are concatenated.
"""


class _ConditionError(UnsupportedOperationError):
    """A Loop cannot be unrolled, because a computed condition determines its number of iterations."""


def is_sequence(value: SSAValue | None) -> bool:
    """Whether a value is a sequence that an operation of this package builds, so that its members can be read."""
    return value is not None and isinstance(value.owner, FrameworkOp) and value.owner.KIND in ("SequenceConstruct", STACK, PIECES)


def release_all(node: LoweringNode) -> None:
    """Erase the sequences among the operands of a node that have no other uses."""
    for producer in dict.fromkeys(value.owner for value in node.values if is_sequence(value)):
        if isinstance(producer, Operation):
            node.run.release(producer)


def loop_over_sequences(node: LoweringNode, op: OpBuilder, lower: BoundHandler) -> Replacement:
    """Lower a Loop with sequences among its loop-carried values; returns its results.

    `lower` lowers a Loop without sequences.
    """
    trips, condition, *states = [*own_operands(node), None, None][: max(2, len(own_operands(node)))]
    count = node.known.integers(trips)
    starts = condition is None or ((known := node.known.constant(condition)) is not None and bool(known.all()))
    if count is not None and starts and max(count[0], 0) <= MOST_ITERATIONS and _may_copy(node, count[0]):
        before = node.op.prev_op
        try:
            return _unrolled(node, op, max(count[0], 0), [node.operand(2 + index) for index in range(len(states))])
        except _ConditionError as error:
            if not any(map(is_sequence, states)):
                raise error from None
            while (built := node.op.prev_op) is not None and built is not before:
                erase(built)
    return _growing(node, op, lower)


def _may_copy(node: LoweringNode, count: int) -> bool:
    """Whether the body of a node may be copied `count` times; if so, these copies are added to the count for the whole
    model.
    """
    copies = node.run.state(_may_copy, lambda: {"operations": 0})
    copies["operations"] += count * sum(1 for _ in graph_of(node, "body").walk())
    return copies["operations"] <= MOST_COPIES


def _unrolled(node: LoweringNode, op: OpBuilder, count: int, states: list[SSAValue]) -> list[SSAValue | None]:
    region, captured = graph_of(node, "body"), captured_values(node)
    scanned: list[list[SSAValue]] = [[] for _ in range(node.result_count - len(states))]
    for iteration in range(count):
        values = [op.constant(np.array(iteration), si64), op.constant(np.array(True)), *states, *captured]
        goes_on, *results = inlined(node, op, region.clone(), values)
        known = node.known.constant(goes_on)
        if iteration + 1 < count and (known is None or not known.all()):
            reason = "it hands on a sequence, and how often it runs depends on a condition"
            raise _ConditionError(reason, operation=node.op.name, node=node.name, hint=HINT)
        states, others = results[: len(states)], results[len(states) :]
        for collected, value in zip(scanned, others, strict=True):
            collected.append(value)
    if not count and any(node.is_used(len(states) + index) for index in range(len(scanned))):
        node.fail("it has no iterations, and the shapes of its stacked outputs are unknown")
    joined = [op.Concat(*(op.Unsqueeze(value, [0]) for value in values), axis=0) if values else None for values in scanned]
    release_all(node)
    return [*states, *joined]


def _growing(node: LoweringNode, op: OpBuilder, lower: BoundHandler) -> list[SSAValue | None]:
    """Lower a Loop whose sequences only grow: the appended values become scan outputs. Returns its results."""
    region, captured = graph_of(node, "body").clone(), captured_values(node)
    states = [node.operand(2 + index) for index in range(len(own_operands(node)) - 2)]
    sequence_indices = [index for index, value in enumerate(states) if is_sequence(value)]
    parameters, block = parameters_of(region.block), region.block
    results = [each for each in block.ops if isinstance(each, Result)]
    for state in sequence_indices:
        parameter, result = parameters[2 + state], results[1 + state]
        appended = _appended(node, parameter, result)
        insertion = result.operands[0].owner
        result.detach()
        result.operands = [appended]
        block.add_op(result)
        assert isinstance(insertion, FrameworkOp)
        for each in (insertion, parameter):
            each.detach()
            each.erase()
    others = [value for value in states if not is_sequence(value)]
    trips, condition = (node.values[index] for index in (0, 1))
    kind = operation_class("onnx", "Loop")
    created = kind.create(
        operands=[trips, condition, *others, *captured],
        properties=dict(node.op.properties) | _sequences(node, sequence_indices),
        attributes=dict(node.op.attributes),
        result_types=[UNKNOWN] * node.result_count,
        regions=[region],
    )
    op.insert(created)
    inner = LoweringNode(created, node.version, node.run)
    # Values without uses are not computed.
    keep = [operation_class("onnx", "Identity").create(operands=[result], result_types=[UNKNOWN]) for result in created.results]
    for each in keep:
        op.insert(each)
    last_values = lower(inner, op)
    assert last_values is not None
    assert not isinstance(last_values, SSAValue)
    values = list(last_values)
    for each in reversed(keep):
        each.detach()
        each.erase()
    created.detach()
    created.drop_all_references()
    kept, collected = values[: len(values) - len(sequence_indices)], values[len(values) - len(sequence_indices) :]
    for state, rest in zip(sequence_indices, collected, strict=True):
        assert rest is not None
        members = members_of(node, 2 + state)
        if (parts := parts_of(rest)) is not None:
            kept.insert(state, new_pieces(op, members, parts[1]) if members else rest)
            if members and isinstance(rest.owner, Operation):
                erase(rest.owner)
            continue
        stack = operation_class("onnx", STACK).create(operands=[*members, rest], result_types=[UNKNOWN])
        op.insert(stack)
        kept.insert(state, stack.results[0])
    release_all(node)
    return kept


def _sequences(node: LoweringNode, indices: Sequence[int]) -> dict[str, Attribute]:
    """The properties `SEQUENCES`, `CONCATENATED` and `AXES` of the Loop that replaces a Loop with sequences.

    `indices` are the indices of the sequences among the node's results.
    """
    first, axes = node.result_count - len(indices), dict[int, int]()
    for position, index in enumerate(indices):
        for use in node.op.results[index].uses:
            consumer = use.operation
            if isinstance(consumer, FrameworkOp) and consumer.KIND == "ConcatFromSequence" and "axis" in consumer.properties:
                inner = LoweringNode(consumer, node.version, node.run)
                if not inner.flag("new_axis"):
                    axes.setdefault(first + position, inner.integer("axis"))
    return {SEQUENCES: attribute_of(len(indices)), CONCATENATED: attribute_of(list(axes)), AXES: attribute_of(list(axes.values()))}


def axes_of_sequences(node: LoweringNode) -> dict[int, int]:
    """For each output of a Loop that collects a sequence's tensors, the axis along which ConcatFromSequence
    concatenates them later.

    Sequences that are not concatenated are left out.
    """
    return dict(zip(node.integers(CONCATENATED, ()), node.integers(AXES, ()), strict=True))


def sequence_makers(node: LoweringNode) -> dict[int, MakeValue]:
    """For each output of a Loop that collects a sequence's tensors, the function that builds the sequence from them.

    Empty for a Loop without sequences.
    """
    count = node.integer(SEQUENCES, 0)
    return dict.fromkeys(range(node.result_count - count, node.result_count), _sequence_of)


def _sequence_of(op: OpBuilder, pieces: Pieces) -> SSAValue:
    return new_pieces(op, [], pieces)


def _appended(node: LoweringNode, parameter: Parameter, result: Result) -> SSAValue:
    """The value that an iteration appends to a sequence.

    Raises ConversionError if the iteration changes the sequence in another way.
    """
    insertion = result.operands[0].owner
    uses = list(parameter.results[0].uses)
    if (
        not isinstance(insertion, FrameworkOp)
        or insertion.KIND != "SequenceInsert"
        or insertion.operands[0] is not parameter.results[0]
        or len(uses) != 1
        or len(list(insertion.results[0].uses)) != 1
        or any(not is_none(value.owner) for value in insertion.operands[2:])
    ):
        node.fail("how often it runs is not known, and it does more with a sequence than append to it", HINT)
    return insertion.operands[1]


@onnx.lowers("SequenceMap")
def sequence_map(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.SequenceMap(onnx.SequenceConstruct(a, b), c) {body}
    -> onnx.SequenceConstruct of the body of (a, c) and (b, c)
    """
    region, captured = graph_of(node, "body"), captured_values(node)
    own = [node.operand(index) for index in range(len(own_operands(node)))]
    members = members_of(node, 0)
    others = [members_of(node, index) if is_sequence(value) else [value] * len(members) for index, value in enumerate(own) if index]
    if any(len(each) != len(members) for each in others):
        node.fail("its sequences have different lengths")
    if not _may_copy(node, len(members)):
        node.fail(f"copies of its body for each of {len(members)} tensors would be too many operations")
    mapped: list[list[SSAValue]] = [[] for _ in range(node.result_count)]
    for index, member in enumerate(members):
        values = [member, *(each[index] for each in others), *captured]
        for collected, value in zip(mapped, inlined(node, op, region.clone(), values), strict=True):
            collected.append(value)
    release_all(node)
    return [new_sequence(op, values) if node.is_used(index) else None for index, values in enumerate(mapped)]
