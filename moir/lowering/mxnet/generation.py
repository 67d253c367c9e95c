"""Tensors that are computed from attributes: filled tensors, ranges, identity matrices, random numbers.

A size of 0 of a filled tensor stands for one that MXNet infers from the other operands of its users: it becomes 1,
which broadcasts.

Source: init_op.cc and sample_op.cc of MXNet 1.9.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64, to_numpy
from moir.dialects.shapes import element_of, normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


@mxnet.lowers("_zeros", "_ones", "_full", "_zeros_without_dtype", "_npi_zeros", "_npi_ones", "_npi_full")
def filled(node: LoweringNode, op: OpBuilder, *, value: float = 0.0, shape: tuple[int, ...] = (), dtype: Attribute = f32) -> SSAValue:
    """mxnet._full() {shape, value} -> a constant; likewise zeros and ones"""
    kind = node.op.KIND
    value = 1.0 if "ones" in kind else value if "full" in kind else 0.0
    shape = tuple(max(size, 1) for size in shape)
    return op.Broadcast(op.constant(np.array(value, to_numpy(dtype)), dtype), op.constant(list(shape), si64))


@mxnet.lowers("zeros_like", "ones_like", "_npi_full_like")
def filled_like(node: LoweringNode, op: OpBuilder, x: SSAValue, *, fill_value: float = 0.0) -> SSAValue:
    """mxnet.ones_like(x) -> opset3.Broadcast(1, shape of x); likewise zeros_like and full_like"""
    kind = node.op.KIND
    value = 1.0 if kind == "ones_like" else fill_value if kind == "_npi_full_like" else 0.0
    return op.Broadcast(op.ConvertLike(op.constant(value), x), op.ShapeOf(x))


@mxnet.lowers("_arange", "_npi_arange")
def arange(
    node: LoweringNode, op: OpBuilder, *, start: float = 0.0, step: float = 1.0, repeat: int = 1, dtype: Attribute = f32
) -> SSAValue:
    """mxnet._arange() {start = 0, stop, step = 1, repeat = 1} -> a constant"""
    stop = node.number("stop") if node.has("stop") else None
    start, stop = (0.0, start) if stop is None else (start, stop)
    length = (stop - start) / step if step else 0.0
    if not np.isfinite([start, step, length]).all():
        node.fail(f"a range from {start} to {stop} by {step} has no end")
    count = max(int(np.ceil(length)), 0)
    check_constant_size(count, repeat)
    return op.constant(np.repeat((start + step * np.arange(count)).astype(to_numpy(dtype)), repeat), dtype)


@mxnet.lowers("_contrib_arange_like", "_npx_arange_like")
def arange_like(node: LoweringNode, op: OpBuilder, x: SSAValue, *, repeat: int = 1, start: float = 0.0, step: float = 1.0) -> SSAValue:
    """mxnet._contrib_arange_like(x) {start = 0, step = 1, axis} -> start + step · opset4.Range(0, size, 1)

    Along an axis the result has one dimension, without axis the shape of x.
    """
    if node.has("axis"):
        size = op.Gather(op.ShapeOf(x), normalize_axis(node.integer("axis"), rank_of_operand(node)), 0)
    else:
        size = op.ReduceProd(op.ShapeOf(x), [0], keep_dims=False)
    positions = op.Range(0, size, 1, output_type=si64)
    numbers = op.convert(op.Divide(positions, repeat, m_pythondiv=False) if repeat > 1 else positions, element_of(x))
    result = op.Add(op.Multiply(numbers, step), start)
    return result if node.has("axis") else op.Reshape(result, op.ShapeOf(x), special_zero=False)


@mxnet.lowers("_linspace", "_npi_linspace", "_npi_logspace")
def linspace(
    node: LoweringNode, op: OpBuilder, *, start: float, stop: float, endpoint: bool = True, base: float = 10.0, dtype: Attribute = f32
) -> SSAValue:
    """mxnet._linspace() {start, stop, num, endpoint = true} -> a constant; logspace: powers of `base`"""
    count = node.integer("num" if node.has("num") else "N", 50)
    if count < 0:
        node.fail(f"a range of {count} numbers")
    check_constant_size(count)
    numbers = np.linspace(start, stop, count, endpoint=endpoint)
    if node.op.KIND == "_npi_logspace":
        numbers = np.power(base, numbers)
    return op.constant(numbers.astype(to_numpy(dtype)), dtype)


@mxnet.lowers("_npi_identity")
def identity_matrix(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...] = (), dtype: Attribute = f32) -> SSAValue:
    """mxnet._npi_identity() {shape} -> a constant"""
    if not shape:
        node.fail("an identity without a shape")
    check_constant_size(shape[0], shape[-1])
    return op.constant(np.eye(shape[0], shape[-1], dtype=to_numpy(dtype)), dtype)


@mxnet.lowers("_eye", "_npi_eye")
def eye(op: OpBuilder, *, N: int, M: int = 0, k: int = 0, dtype: Attribute = f32) -> SSAValue:
    """mxnet._eye() {N, M, k = 0} -> a constant"""
    columns = M or N
    check_constant_size(N, columns)
    return op.constant(np.eye(N, columns, k, dtype=to_numpy(dtype)), dtype)
