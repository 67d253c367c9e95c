"""Branches and loops.

A body of ONNX uses values from outside; in the `onnx` dialect these are the last operands of the operation and the last
Parameters of each body. A loop of ONNX has a counter, a condition, loop-carried values, and scan outputs, which stack
slices along a new first axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from moir.dialects import opset as operation_sets
from moir.dialects.element_types import boolean, dynamic, si64, to_numpy
from moir.dialects.framework import operation_class
from moir.dialects.inference import set_type
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import Loop, RepeatingOp, parameters_of, results_of
from moir.dialects.properties import integer_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN, element_of, rank_of, shape_of, tensor
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset
from moir.rewriting.dead_code import erase

_LAST = (1 << 63) - 1


def _new_parameter(block: Block, type_: Any, before: Operation | None) -> SSAValue:
    """Add a Parameter to a body, before an operation or at the end of the block; returns its value."""
    parameter = operation_sets.operation("opset1.Parameter").create(result_types=[type_])
    if before is None:
        block.add_op(parameter)
    else:
        block.insert_op_before(parameter, before)
    return parameter.results[0]


def _set_results(block: Block, values: Sequence[SSAValue]) -> None:
    """Replace the Results of a body by Results of `values`."""
    for op in [each for each in block.ops if each.name == "opset1.Result"]:
        erase(op)
    for value in values:
        block.add_op(operation_sets.operation("opset1.Result").create(operands=[value]))


def _build(
    node: LoweringNode,
    op: OnnxBuilder,
    kind: str,
    operands: Sequence[SSAValue],
    captured: Sequence[SSAValue],
    graphs: Sequence[str],
    count: int,
) -> Sequence[SSAValue]:
    """Build the operation `kind` with `count` results and the bodies of the node, which move to it.

    Args:
        node: the node.
        op: the builder.
        kind: the kind, `If` or `Loop`.
        operands: its operands before the captured ones.
        captured: the captured values.
        graphs: the attribute names of the bodies.
        count: the number of its results.
    """
    properties: dict[str, Any] = {"graph_attributes": strings_attribute(list(graphs))}
    if captured:
        properties["captured"] = integer_attribute(len(captured))
    regions = [node.op.detach_region(region) for region in list(node.op.regions)]
    built = operation_class("onnx", kind).create(
        operands=[*operands, *captured], properties=properties, result_types=[UNKNOWN] * count, regions=regions
    )
    op.insert(built)
    return built.results


@opset.lowers("If")
def if_(node: LoweringNode, op: OnnxBuilder) -> Sequence[SSAValue]:
    """opset8.If(condition, …) -> onnx.If(condition), with Parameters for all captured values in both bodies"""
    captured = node.operands[1:]
    for region, name in zip(node.op.regions, ("then_inputs", "else_inputs"), strict=True):
        block = region.block
        old = parameters_of(block)
        first = block.first_op
        values = [_new_parameter(block, value.type, first) for value in captured]
        for parameter, index in zip(old, node.integers(name, ()), strict=True):
            set_type(values[index - 1], parameter.results[0].type)
            parameter.results[0].replace_all_uses_with(values[index - 1])
        for parameter in old:
            erase(parameter)
        node.run.block(block)
    return _build(node, op, "If", [node.operand(0)], captured, ("then_branch", "else_branch"), len(node.op.results))


class LoopBody:
    """Converts the body of a loop to ONNX's form.

    Args:
        node: the loop.
    """

    def __init__(self, node: LoweringNode) -> None:
        loop = cast(RepeatingOp, cast(object, node.op))
        self.node = node
        self.block = loop.block
        self.inputs, self.outputs = loop.ports("inputs"), loop.ports("outputs")
        self.old = parameters_of(self.block)
        self.results = results_of(self.block)
        self.initial: list[SSAValue] = []
        """The first values of the carried ones."""
        self.following: list[SSAValue] = []
        """Their values after an iteration."""
        self.captured: list[SSAValue] = []
        self._carried: dict[int, int] = {}
        self._values: list[SSAValue] = []
        first = self.block.first_op
        self.counter = _new_parameter(self.block, tensor((), si64), first)
        self.condition = _new_parameter(self.block, tensor((), boolean), first)
        for port, parameter in zip(self.inputs, self.old, strict=True):
            if port.back_edge is not None:
                self._carry(port.back_edge, node.operand(port.index or 0), parameter.results[0])

    def _carry(self, result: int, initial: SSAValue, parameter: SSAValue | None) -> int:
        """Add a loop-carried value; returns its index.

        Args:
            result: the index of the Result that is its next value.
            initial: its value before the first iteration.
            parameter: the Parameter that takes it; None for a new one.
        """
        value = _new_parameter(self.block, self.results[result].type if parameter is None else parameter.type, self.block.first_op)
        last = self.condition if not self.initial else self._values[-1]
        cast("Operation", value.owner).detach()
        self.block.insert_op_after(cast("Operation", value.owner), cast("Operation", last.owner))
        self._values.append(value)
        if parameter is not None:
            parameter.replace_all_uses_with(value)
        self.initial.append(initial)
        self.following.append(self.results[result])
        self._carried.setdefault(result, len(self.initial) - 1)
        return self._carried[result]

    def carried(self, op: OnnxBuilder, result: int) -> int:
        """The index of the loop-carried value whose last value is the result of Result `result`.

        A value without a Parameter starts as zeros, which are returned if there is no iteration.
        """
        if result in self._carried:
            return self._carried[result]
        value = self.results[result]
        shape = [max(size, 0) for size in shape_of(value) or ()]
        element = element_of(value)
        if element is dynamic:
            self.node.fail("the element type of a result is unknown")
        zeros = op.Expand(op.constant(to_numpy(element).type(0), element), shape)
        return self._carry(result, zeros, None)

    def connect(self, op: OnnxBuilder) -> None:
        """Connect the Parameters that take the counter, slices, or invariant values."""
        by_operand: dict[int, SSAValue] = {}
        for port, parameter in zip(self.inputs, self.old, strict=True):
            value = parameter.results[0]
            if port.index is None:
                value.replace_all_uses_with(self._counter_as(op, value))
            elif port.back_edge is None:
                if port.index not in by_operand:
                    operand = self.node.operand(port.index)
                    by_operand[port.index] = _new_parameter(self.block, operand.type, self.old[0])
                    self.captured.append(operand)
                outer = by_operand[port.index]
                value.replace_all_uses_with(outer if port.slicing is None else self._slice(op, outer, port.slicing, value))
        for parameter in self.old:
            erase(parameter)

    def _counter_as(self, op: OnnxBuilder, value: SSAValue) -> SSAValue:
        """The loop counter as the Parameter `value` needs it: in its element type, and reshaped to [1] if it is 1-D."""
        counter = op.cast(self.counter, element_of(value))
        return op.Reshape(counter, [1]) if rank_of(value) == 1 else counter

    def _slice(self, op: OnnxBuilder, outer: SSAValue, slicing: Slicing, value: SSAValue) -> SSAValue:
        """The slice of the operand `outer` for an iteration, gathered by the counter.

        Negative indices count from the end.
        """
        steps = op.Mul(self.counter, slicing.stride)
        first = slicing.start if slicing.stride > 0 else slicing.start + 1 - slicing.part_size
        if slicing.stride > 0 and slicing.start < 0:
            self.node.fail("its slices begin at an index from the end")
        if slicing.stride < 0 and slicing.start >= 0:
            size = shape_of(outer)
            if size is None or size[slicing.axis] < 0:
                self.node.fail("its slices run backwards from an index from the front")
        indices = op.Add(steps, list(range(first, first + slicing.part_size)))
        result = op.Gather(outer, indices, axis=slicing.axis)
        set_type(result, value.type)
        return result


def _stacked(node: LoweringNode, op: OnnxBuilder, stack: SSAValue, slicing: Slicing, rank: int | None) -> SSAValue:
    """Concatenate the slices of a stack [iterations, slice…] along an axis, backwards for a negative stride.

    `rank` is the rank of the result. Raises ConversionError if it is dynamic, or slices overlap or leave gaps.
    """
    if rank is None:
        node.fail("the rank of a result whose slices are concatenated is dynamic")
    if (slicing.start, slicing.end) not in ((0, -1), (-1, 0)):
        node.fail("slices of a result are at a part of its indices only")
    if abs(slicing.stride) != slicing.part_size:
        node.fail("slices of a result overlap, or have gaps between them")
    if slicing.stride < 0:
        stack = op.Slice(stack, [-1], [-_LAST], [0], [-1])
    axis = slicing.axis % rank
    moved = op.Transpose(stack, perm=(*range(1, axis + 1), 0, *range(axis + 1, rank + 1))) if axis else stack
    sizes = op.Shape(moved)
    merged = op.ReduceProd(op.Slice(sizes, [axis], [axis + 2], [0]), keepdims=1)
    return op.Reshape(moved, op.joined(op.Slice(sizes, [0], [axis], [0]), merged, op.Slice(sizes, [axis + 2], [_LAST], [0])))


def _scalar(op: OnnxBuilder, value: SSAValue) -> SSAValue:
    return value if rank_of(value) == 0 else op.Reshape(value, [])


def _iterations(node: LoweringNode, op: OnnxBuilder, inputs: Sequence[BodyPort]) -> SSAValue:
    """The number of iterations of a TensorIterator, computed from the number of slices of a sliced input."""
    count = cast(RepeatingOp, cast(object, node.op)).iterations(node.known)
    if count >= 0:
        return op.constant(count)
    port = next((each for each in inputs if each.slicing is not None), None)
    if port is None or port.slicing is None or (port.slicing.start, port.slicing.end) not in ((0, -1), (-1, 0)):
        node.fail("its number of iterations is dynamic", hint="give the inputs static shapes")
    axis = port.slicing.axis
    operand = node.operand(port.index or 0)
    axis = axis % node.known_rank(port.index or 0)
    return op.Div(op.squeezed(op.sizes(operand, axis, axis + 1), 0), abs(port.slicing.stride))


@opset.lowers("Loop", "TensorIterator")
def loop(node: LoweringNode, op: OnnxBuilder) -> Sequence[SSAValue]:
    """opset5.Loop or opset1.TensorIterator -> onnx.Loop(iterations, condition, carried values…)"""
    body = LoopBody(node)
    is_loop = isinstance(node.op, Loop)
    anchor = next((each for each in body.block.ops if each.name != "opset1.Parameter"), None)
    inner = OnnxBuilder(body.block, anchor, op.version)
    last = {port.index or 0: body.carried(op, port.index or 0) for port in body.outputs if port.slicing is None}
    body.connect(inner)
    node.run.block(body.block)
    # The lowering of the body has replaced its results.
    results = results_of(body.block)
    scanned = [port.index or 0 for port in body.outputs if port.slicing is not None]
    order = {id(each): index for index, each in enumerate(body.results)}
    following = [results[order[id(each)]] for each in body.following]
    if is_loop:
        end = OnnxBuilder(body.block, next(each for each in body.block.ops if each.name == "opset1.Result"), op.version)
        condition = _scalar(end, results[node.integer("condition")])
    else:
        condition = body.condition
    _set_results(body.block, [condition, *following, *(results[index] for index in scanned)])
    if is_loop:
        limit = node.constant_integers(0)
        if limit is not None:
            trip_count: SSAValue | None = None if limit[0] < 0 else op.constant(limit[0])
        else:
            count = _scalar(op, op.integers(node.operand(0)))
            trip_count = op.Where(op.Less(count, 0), _LAST, count)
        first: SSAValue | None = _scalar(op, node.operand(1))
    else:
        trip_count, first = _iterations(node, op, body.inputs), op.constant(np.array(True))
    empty = [each if each is not None else _absent(op) for each in (trip_count, first)]
    built = _build(node, op, "Loop", [*empty, *body.initial], body.captured, ("body",), len(following) + len(scanned))
    stacks = list(built[len(following) :])
    replaced: list[SSAValue] = []
    for port in body.outputs:
        if port.slicing is None:
            replaced.append(built[last[port.index or 0]])
        else:
            stack = stacks.pop(0)
            set_type(stack, tensor(None, element_of(results[port.index or 0])))
            replaced.append(_stacked(node, op, stack, port.slicing, rank_of(results[port.index or 0])))
    return replaced


def _absent(op: OnnxBuilder) -> SSAValue:
    from moir.dialects.moir import NoneOp

    none = NoneOp.of()
    op.insert(none)
    return none.result
