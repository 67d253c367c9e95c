"""Loops over sequences: a Loop that hands on sequences, and SequenceMap.

A Loop of a known number of iterations is unrolled. In any other one a sequence may only grow at its end, by a value
whose shape is that of every iteration: the values become a scan output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.moir import is_none
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.shapes import UNKNOWN
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import captured_values, graph_of, own_operands
from moir.lowering.control_flow.branches import inlined
from moir.lowering.onnx.sequences.operations import HINT, members_of, new_sequence
from moir.lowering.onnx.sequences.stacked import KIND as STACK
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Handler, Replacement
from moir.rewriting.builder import OpBuilder

MOST_ITERATIONS = 256
"""Loops of more iterations are not unrolled."""

SHAPED_BY_OPERANDS = frozenset(
    {
        *("Abs", "Add", "And", "Cast", "CastLike", "Ceil", "Clip", "Concat", "Cos", "Div", "Elu", "Equal", "Erf", "Exp"),
        *("Floor", "Gather", "Gelu", "Gemm", "Greater", "HardSigmoid", "HardSwish", "Identity", "LayerNormalization"),
        *("LeakyRelu", "Less", "Log", "LogSoftmax", "MatMul", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Pow"),
        *("Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Sqrt", "Sub", "Sum", "Tanh"),
        *("Transpose", "Unsqueeze", "Where", "Xor"),
    }
)
"""Operations whose results have the same shape for all values of their operands."""


def is_sequence(value: SSAValue | None) -> bool:
    """Whether a value is a sequence whose members are known, or how many there are."""
    return value is not None and isinstance(value.owner, FrameworkOp) and value.owner.KIND in ("SequenceConstruct", STACK)


def release_all(node: LoweringNode) -> None:
    """Release the sequences among the operands of a node."""
    for producer in dict.fromkeys(value.owner for value in node.values if is_sequence(value)):
        if isinstance(producer, Operation):
            node.run.release(producer)


def loop_over_sequences(node: LoweringNode, op: OpBuilder, lower: Handler) -> Replacement:
    """The results of a Loop that hands on sequences. `lower` lowers a Loop without them."""
    trips, condition, *states = [*own_operands(node), None, None][: max(2, len(own_operands(node)))]
    count = node.known.integers(trips)
    starts = condition is None or ((known := node.known.constant(condition)) is not None and bool(known.all()))
    if count is not None and starts and max(count[0], 0) <= MOST_ITERATIONS:
        return _unrolled(node, op, max(count[0], 0), [node.operand(2 + index) for index in range(len(states))])
    return _growing(node, op, lower)


def _unrolled(node: LoweringNode, op: OpBuilder, count: int, states: list[SSAValue]) -> list[SSAValue | None]:
    region, captured = graph_of(node, "body"), captured_values(node)
    scanned: list[list[SSAValue]] = [[] for _ in range(node.result_count - len(states))]
    for iteration in range(count):
        values = [op.constant(np.array(iteration), si64), op.constant(np.array(True)), *states, *captured]
        goes_on, *results = inlined(node, op, region.clone(), values)
        known = node.known.constant(goes_on)
        if iteration + 1 < count and (known is None or not known.all()):
            node.fail("it hands on a sequence, and how often it runs depends on a condition", HINT)
        states, others = results[: len(states)], results[len(states) :]
        for collected, value in zip(scanned, others, strict=True):
            collected.append(value)
    if not count and any(node.is_used(len(states) + index) for index in range(len(scanned))):
        node.fail("it never runs, and the shapes of what it would collect are not known")
    joined = [op.Concat(*(op.Unsqueeze(value, [0]) for value in values), axis=0) if values else None for values in scanned]
    release_all(node)
    return [*states, *joined]


def _growing(node: LoweringNode, op: OpBuilder, lower: Handler) -> list[SSAValue | None]:
    """A Loop whose sequences become scan outputs, behind those that it has."""
    region, captured = graph_of(node, "body").clone(), captured_values(node)
    states = [node.operand(2 + index) for index in range(len(own_operands(node)) - 2)]
    places = [index for index, value in enumerate(states) if is_sequence(value)]
    parameters, block = parameters_of(region.block), region.block
    results = [each for each in block.ops if isinstance(each, Result)]
    for place in places:
        parameter, result = parameters[2 + place], results[1 + place]
        appended = _appended(node, parameter, result, parameters[2 + len(states) :])
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
        properties=dict(node.op.properties),
        attributes=dict(node.op.attributes),
        result_types=[UNKNOWN] * node.result_count,
        regions=[region],
    )
    op.insert(created)
    inner = LoweringNode(created, node.version, node.run)
    # Only what is used is computed.
    keep = [operation_class("onnx", "Identity").create(operands=[result], result_types=[UNKNOWN]) for result in created.results]
    for each in keep:
        op.insert(each)
    found = lower(inner, op)
    assert found is not None
    assert not isinstance(found, SSAValue)
    values = list(found)
    for each in reversed(keep):
        each.detach()
        each.erase()
    created.detach()
    created.drop_all_references()
    kept, collected = values[: len(values) - len(places)], values[len(values) - len(places) :]
    for place, rest in zip(places, collected, strict=True):
        assert rest is not None
        members = members_of(node, 2 + place)
        stack = operation_class("onnx", STACK).create(operands=[*members, rest], result_types=[UNKNOWN])
        op.insert(stack)
        kept.insert(place, stack.results[0])
    release_all(node)
    return kept


def _appended(node: LoweringNode, parameter: Parameter, result: Result, captured: Sequence[Parameter]) -> SSAValue:
    """The value that an iteration appends to a sequence. Raises ConversionError if it does anything else."""
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
    value = insertion.operands[1]
    if not _has_one_shape(value, {each.results[0] for each in captured}):
        node.fail("how often it runs is not known, and it appends values of shapes that may differ to a sequence", HINT)
    return value


def _has_one_shape(value: SSAValue, captured: set[SSAValue]) -> bool:
    """Whether a value of a body has the same shape in every iteration."""
    producer = value.owner
    if value in captured or isinstance(producer, Constant):
        return True
    if isinstance(producer, Parameter):
        # The number of the iteration and the condition are scalars; other values are handed on.
        block = producer.parent
        return isinstance(block, Block) and producer in parameters_of(block)[:2]
    if isinstance(producer, FrameworkOp) and isinstance(value, OpResult):
        if producer.KIND == "Constant":
            return True
        return producer.KIND in SHAPED_BY_OPERANDS and all(_has_one_shape(each, captured) for each in producer.operands)
    return False


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
    mapped: list[list[SSAValue]] = [[] for _ in range(node.result_count)]
    for index, member in enumerate(members):
        values = [member, *(each[index] for each in others), *captured]
        for collected, value in zip(mapped, inlined(node, op, region.clone(), values), strict=True):
            collected.append(value)
    release_all(node)
    return [new_sequence(op, values) if node.is_used(index) else None for index, values in enumerate(mapped)]
