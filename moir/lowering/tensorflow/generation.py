"""Generation of tensors of numbers: constants of a shape, ranges.

    %y = tf.Fill(%dims, %value)
->  %y = opset3.Broadcast(%value, %dims)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import dynamic, si64, string, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.number_ranges import range_counted_in_type
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_function, by_parts
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_FILLING = {"OnesLike": 1, "ZerosLike": 0}


@tf.lowers("Fill", rank=fixed(1, 0), complex=by_parts(1))
def fill(node: LoweringNode, op: OpBuilder, dims: SSAValue, value: SSAValue) -> SSAValue:
    """tf.Fill(dims, value) -> opset3.Broadcast(value, dims)"""
    if string in (node.op.properties.get("T"), element_of(value)):
        node.fail("the operation sets do not fill tensors with strings", hint="cut the model after this node")
    return op.Broadcast(as_scalar(op, value), dims)


@tf.lowers("Empty", complex=by_parts())
def empty(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute) -> SSAValue:
    """tf.Empty(shape) {dtype} -> opset3.Broadcast(0, shape)"""
    if dtype == string:
        node.fail("the operation sets do not fill tensors with strings", hint="cut the model after this node")
    return op.Broadcast(op.constant(np.zeros((), to_numpy(dtype)), dtype), shape)


@tf.lowers("FakeParam")
def unread(node: LoweringNode, op: OpBuilder, *, dtype: Attribute, shape: tuple[int, ...]) -> SSAValue:
    """tf.FakeParam() {dtype, shape} -> zeros of the shape, whose dynamic dimensions are 0

    It is the result of a branch of a tf.If for a value that only the other branch computes.
    """
    if dtype == string or not node.has("shape"):
        node.fail("the element type is string, or the rank is dynamic", hint="cut the model after the condition")
    return op.filled([max(size, 0) for size in shape], np.zeros((), to_numpy(dtype)), dtype)


@tf.lowers("ZerosLike", complex=by_parts(0))
@tf.lowers("OnesLike", complex=by_function("one"))
def filled_like(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.ZerosLike(x) -> opset3.Broadcast(0, opset3.ShapeOf(x)); likewise ones for OnesLike"""
    if string in (node.op.properties.get("T"), element_of(x)):
        node.fail("the operation sets do not fill tensors with strings", hint="cut the model after this node")
    return op.Broadcast(op.constant_like(_FILLING[node.op.KIND], x), op.ShapeOf(x))


@tf.lowers("Range", rank=fixed(0, 0, 0))
def number_range(node: LoweringNode, op: OpBuilder, start: SSAValue, limit: SSAValue, delta: SSAValue) -> SSAValue:
    """tf.Range(start, limit, delta) {Tidx} -> opset4.Range(start, limit, delta) {output_type}"""
    bounds = (start, limit, delta)
    known = next((element_type for each in bounds if (element_type := element_of(each)) is not dynamic), None)
    element = node.element_attribute("Tidx", known)
    first, last, step = (as_scalar(op, each) for each in bounds)
    return range_counted_in_type(op, first, last, step, element)


@tf.lowers("LinSpace", rank=fixed(0, 0, 0))
def spaced_evenly(node: LoweringNode, op: OpBuilder, _start: SSAValue, _stop: SSAValue, num: SSAValue) -> SSAValue:
    """tf.LinSpace(start, stop, count) -> start + (stop - start) / (count - 1) * opset4.Range(0, count, 1)"""
    start, stop = (as_scalar(op, node.operand(index)) for index in (0, 1))
    element = node.element_attribute("T", node.element(0))
    count = op.convert(as_scalar(op, num), si64)
    # If the count is 1, the result is the start.
    steps = op.convert(op.Maximum(op.Subtract(count, 1), 1), element)
    positions = op.convert(op.Range(op.constant(0, si64), count, op.constant(1, si64), output_type=si64), element)
    return op.Add(op.Multiply(positions, op.Divide(op.Subtract(stop, start), steps)), start)
