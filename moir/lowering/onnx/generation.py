"""Generation of tensors: constants of a shape, ranges, identity matrices, window functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import REAL_TYPES, bf16, describe, dynamic, f16, f32, f64, si64, string, to_numpy
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.symbols import Symbol
from moir.errors import InferenceError
from moir.expansions.number_ranges import counted_range, is_counted_exactly, length_of_range
from moir.expansions.quotients import exact_ceiling
from moir.expansions.shape_values import as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand

MAXIMUM_CONSTANT = 1024
"""Tensors of up to this many elements become constants; larger ones are computed at run time."""

MAXIMUM_WINDOW = 1 << 20
"""Windows of up to this many elements become constants."""


@onnx.lowers("Range", since=11)
def number_range(node: LoweringNode, op: OpBuilder, start: SSAValue, limit: SSAValue, delta: SSAValue) -> SSAValue:
    """onnx.Range(start, limit, delta) -> opset4.Range(start, limit, delta) {output_type}

    A limit that steps of `delta` do not approach is replaced by the start, so that the range is empty as in ONNX. For
    floats whose quotient is rounded -> start + delta · opset4.Range(0, ⌈(limit - start) / delta⌉, 1): the difference
    is of their type, the quotient is exact.
    """
    bounds = (start, limit, delta)
    element = next((element_type for each in bounds if (element_type := element_of(each)) is not dynamic), dynamic)
    if element is dynamic:
        node.fail("the element type is unknown")
    first, end, step = (as_scalar(op, each) for each in bounds)
    if element in REAL_TYPES and not is_counted_exactly(op, first, end, step):
        return _range_of_floats(op, first, end, step, element)
    return op.Range(first, _reachable(op, first, end, step), step, output_type=element)


def _range_of_floats(op: OpBuilder, start: SSAValue, limit: SSAValue, delta: SSAValue, element: Attribute) -> SSAValue:
    """A range of floats, whose length is (limit - start) / delta computed in f64, as ONNX Runtime does."""
    first, last, step = (op.known.constant(each) for each in (start, limit, delta))
    if first is not None and last is not None and step is not None:
        count = length_of_range(0.0, float(last - first), float(step))
        return counted_range(op, start, delta, count, element)
    span = op.Subtract(limit, start)
    length = op.Ceiling(op.Divide(span, delta)) if element == f64 else exact_ceiling(op, op.convert(span, f32), op.convert(delta, f32))
    return counted_range(op, start, delta, op.convert(op.Maximum(length, op.constant_like(0, length)), si64), element)


def _reachable(op: OpBuilder, start: SSAValue, limit: SSAValue, delta: SSAValue) -> SSAValue:
    """The limit of a range; its start if adding `delta` never reaches the limit, so that the range is empty."""
    step, first, last = op.known.constant(delta), op.known.constant(start), op.known.elements(limit)
    if step is None:
        return op.Select(op.Greater(delta, op.constant_like(0, delta)), op.Maximum(start, limit), op.Minimum(start, limit))
    ascends = bool(step.item() > 0)
    if last is not None and last.dtype.kind == "f" and not np.isfinite(last).all():
        raise InferenceError("the limit of a range is NaN or infinite")
    if first is not None and last is not None:
        end = last.item()
        if isinstance(end, Symbol):
            is_reached = ascends and end.dimension and first.item() <= 0
        else:
            is_reached = first.item() <= end if ascends else first.item() >= end
        if is_reached:
            return limit
    return op.Maximum(start, limit) if ascends else op.Minimum(start, limit)


@onnx.lowers("ConstantOfShape", since=9)
def constant_of_shape(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.ConstantOfShape(shape) {value} -> opset3.Broadcast(value, shape), a constant if it is small"""
    value, attribute = node.tensor("value"), node.op.properties.get("value")
    if value is not None and (value.size != 1 or (isinstance(attribute, DataAttr) and describe(attribute.element).is_packed)):
        node.fail("value is not one number of at least 8 bits")
    entry = np.zeros((), np.float32) if value is None else value.reshape(())
    target = op.known.lasting_integers(input)
    if target is not None and 0 <= math.prod(target) <= MAXIMUM_CONSTANT and min(target, default=0) >= 0:
        return op.filled(target, entry)
    return op.Broadcast(op.constant(entry), of_length(op, input, declared_rank(node)))


@onnx.lowers("EyeLike")
def eye_like(node: LoweringNode, op: OpBuilder, input: SSAValue, *, k: int = 0, dtype: Attribute | None = None) -> SSAValue:
    """onnx.EyeLike(x) {k = 0, dtype} -> opset9.Eye(rows, columns, k) {output_type}"""
    element = dtype or element_of(input)
    if element is dynamic:
        node.fail("the element type is unknown")
    if element == string:
        node.fail("a matrix of strings has no ones")
    shape = shape_of(input)
    if shape is not None and len(shape) != 2:
        node.fail(f"operand 0 has {len(shape)} dimensions, not 2")
    rows, columns = (dimension_value(op, input, axis) for axis in (0, 1))
    return op.Eye(rows, columns, k, output_type=element)


# Random numbers


def seeds(node: LoweringNode, stream: int) -> dict[str, int]:
    """The properties for the seeds of one of the random streams of a node: `global_seed` and `op_seed`.

    Both are 0 if the node has no attribute `seed`, so that each inference differs.
    """
    if not node.has("seed"):
        return {"global_seed": 0, "op_seed": 0}
    bits = int(np.array(node.number("seed"), np.float32).view(np.uint32))
    return {"global_seed": bits, "op_seed": stream}


def uniform(node: LoweringNode, op: OpBuilder, shape: Operand, element: Attribute, low: float, high: float, stream: int = 1) -> SSAValue:
    """Build uniform random numbers in [low, high); nodes with several random results use a different `stream` for
    each.
    """
    drawn = element if element in (f16, bf16, f32, f64) else f32
    bounds = [op.constant(np.asarray(bound).astype(to_numpy(drawn)), drawn) for bound in (low, high)]
    return op.convert(op.RandomUniform(shape, *bounds, output_type=drawn, **seeds(node, stream)), element)


# Windows

WINDOWS: dict[str, tuple[float, ...]] = {
    "HannWindow": (0.5, 0.5),
    "HammingWindow": (25 / 46, 21 / 46),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}
"""Coefficients a of each window function, which is the sum over i of (-1)^i a_i cos(2 π i n / N)."""


@onnx.lowers(*WINDOWS)
def window(node: LoweringNode, op: OpBuilder, size_: SSAValue, *, periodic: bool = True, output_datatype: Attribute = f32) -> SSAValue:
    """onnx.HannWindow(size) {periodic = 1, output_datatype}; likewise HammingWindow and BlackmanWindow
    -> a constant, or a0 - a1 Cos(2 π n / N) + …, n = opset4.Range(0, size)
    """
    coefficients = WINDOWS[node.op.KIND]
    size = op.known.integers(size_)
    if size is not None and len(size) != 1:
        node.fail("the size is not a number")
    if size is not None and 0 <= size[0] <= MAXIMUM_WINDOW:
        period = size[0] if periodic else size[0] - 1
        angle = 2 * math.pi * np.arange(size[0], dtype=np.float32) / max(period, 1)
        terms = [(-1) ** i * a * np.cos(i * angle) for i, a in enumerate(coefficients)]
        return op.constant(np.sum(terms, axis=0).astype(to_numpy(output_datatype)), output_datatype)
    count = op.convert(as_scalar(op, size_), f32)
    step = op.Divide(2 * math.pi, count if periodic else op.Maximum(op.Subtract(count, 1.0), 1.0))
    angle_value = op.Multiply(op.Range(0.0, count, 1.0, output_type=f32), step)
    return op.convert(cosine_sum(op, angle_value, coefficients), output_datatype)


def cosine_sum(op: OpBuilder, angle: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """The sum over i of (-1)^i a_i cos(i angle), where a are the coefficients."""
    total: Operand = coefficients[0]
    for i, coefficient in enumerate(coefficients[1:], 1):
        cosine = op.Cos(angle if i == 1 else op.Multiply(angle, float(i)))
        total = op.Add(op.Multiply(cosine, (-1) ** i * coefficient), total)
    assert isinstance(total, SSAValue)
    return total
