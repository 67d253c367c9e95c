"""Generated values: constants, ranges, matrices of ones and zeros.

Source: fill_constant_op.cc, assign_value_op.cc, range_op.cc, linspace_op.cc and eye_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import as_type
from moir.expansions.number_ranges import range_counted_in_type
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import (
    attribute_values,
    is_integer,
    known_integer,
    known_number,
    optional_element,
    vector_of,
)
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


def _number(node: LoweringNode) -> float | int:
    """The value of a constant, read from the attribute with its text, since the f32 attribute is exact for integers up
    to 24 bits only.
    """
    text = node.attribute("str_value", "")
    if text:
        try:
            return int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            node.fail(f"str_value {text!r} is not a number")
    return node.attribute("value", None) or 0.0


def _of_type(node: LoweringNode, number: float, element: Attribute) -> Any:
    """A number converted to an element type; it is truncated for integer types.

    Raises ConversionError if the type cannot represent it.
    """
    dtype = to_numpy(element)
    if dtype.kind in "iu":
        if not math.isfinite(number) or not np.iinfo(dtype).min <= int(number) <= np.iinfo(dtype).max:
            node.fail(f"the value {number} does not fit its element type")
        return dtype.type(int(number))
    return dtype.type(bool(number)) if dtype.kind == "b" else np.asarray(number, np.float64).astype(dtype)[()]


def _filled(op: OpBuilder, shape: SSAValue, value: SSAValue) -> SSAValue:
    return op.Broadcast(value, vector_of(op, shape))


@paddle.lowers("fill_constant")
def fill_constant(
    node: LoweringNode, op: OpBuilder, shape: SSAValue | None = None, value: SSAValue | None = None, *, dtype: Attribute = f32
) -> SSAValue:
    """paddle.fill_constant(shape, value) {dtype} -> opset1.Constant, or opset3.Broadcast(value, shape)"""
    sizes = () if shape is None else node.constant_integers(0)
    if value is None:
        number = _of_type(node, _number(node), dtype)
        if sizes is not None:
            return op.filled(list(sizes), number, dtype)
        value = op.constant(np.asarray(number), dtype)
    else:
        value = op.Reshape(op.convert(value, dtype), [], special_zero=False)
    assert shape is not None or sizes is not None
    return _filled(op, shape if shape is not None else op.constant([], si64), value)


@paddle.lowers("fill_any_like")
def fill_like(node: LoweringNode, op: OpBuilder, x: SSAValue, _value: SSAValue | None = None) -> SSAValue:
    """paddle.fill_any_like(x, value) {dtype} -> opset3.Broadcast(value, opset3.ShapeOf(x))"""
    element = optional_element(node, "dtype") or element_of(x)
    number = _of_type(node, known_number(node, 1, "value", 0.0), element)
    return op.Broadcast(op.constant(np.asarray(number), element), op.ShapeOf(x))


@paddle.lowers("fill_zeros_like", "zeros_like", "ones_like")
def constant_like(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.zeros_like(x) -> opset3.Broadcast(0, opset3.ShapeOf(x)); `ones_like` -> ones"""
    element = optional_element(node, "dtype") or element_of(x)
    number = _of_type(node, float(node.op.KIND == "ones_like"), element)
    return op.Broadcast(op.constant(np.asarray(number), element), op.ShapeOf(x))


@paddle.lowers("fill_constant_batch_size_like")
def fill_batch(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    shape: tuple[int, ...],
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    dtype: Attribute = f32,
) -> SSAValue:
    """paddle.fill_constant_batch_size_like(x) {shape, value} -> opset3.Broadcast, with one size taken from x"""
    if not 0 <= output_dim_idx < len(shape):
        node.fail(f"output_dim_idx {output_dim_idx} is not an axis of {list(shape)}")
    size = op.Gather(op.ShapeOf(x), [input_dim_idx], 0)
    parts = [op.constant(list(part)) for part in (shape[:output_dim_idx], shape[output_dim_idx + 1 :]) if part]
    parts.insert(1 if output_dim_idx else 0, size)
    target = op.Concat(*parts, axis=0) if len(parts) > 1 else size
    return op.Broadcast(op.constant(np.asarray(_of_type(node, _number(node), dtype)), dtype), target)


@paddle.lowers("empty")
def empty(op: OpBuilder, shape: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """paddle.empty(shape) -> zeros, since the elements are undefined"""
    return op.Broadcast(op.constant(0, dtype), vector_of(op, shape))


@paddle.lowers("assign_value")
def assign_value(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...] = (), dtype: Attribute = f32) -> SSAValue:
    """paddle.assign_value() {values, shape, dtype} -> opset1.Constant"""
    array = attribute_values(node)
    if array.size != math.prod(shape):
        node.fail(f"{array.size} values do not fit the shape {list(shape)}")
    return op.constant(array.reshape(tuple(shape)).astype(to_numpy(dtype)), dtype)


@paddle.lowers("range")
def range_(node: LoweringNode, op: OpBuilder, start: SSAValue, end: SSAValue, step: SSAValue) -> SSAValue:
    """paddle.range(start, end, step) -> opset4.Range(start, end, step)"""
    element = optional_element(node, "dtype") or element_of(start)
    first, last, distance = (
        op.Reshape(op.convert(each, element) if not is_integer(each) else each, [], special_zero=False) for each in (start, end, step)
    )
    return range_counted_in_type(op, first, last, distance, element)


@paddle.lowers("linspace")
def linspace(node: LoweringNode, op: OpBuilder, start: SSAValue, stop: SSAValue, _num: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """paddle.linspace(start, stop, num) -> start + i · (stop - start) / (num - 1)"""
    count = known_integer(node, 2, "num")
    ends = [node.constant(index) for index in (0, 1)]
    if count < 1:
        node.fail(f"num {count} is not a number of elements")
    check_constant_size(count)
    if all(end is not None for end in ends):
        first, last = (float(end.reshape(-1)[0]) for end in ends if end is not None)
        return op.constant(np.linspace(first, last, count).astype(to_numpy(dtype)), dtype)
    first, last = (op.Reshape(op.convert(each, f32), [], special_zero=False) for each in (start, stop))
    steps = op.constant(np.linspace(0, 1, count, dtype=np.float32))
    return op.convert(op.Add(first, op.Multiply(op.Subtract(last, first), steps)), dtype)


@paddle.lowers("eye")
def eye(node: LoweringNode, op: OpBuilder, _rows: SSAValue, _columns: SSAValue | None = None, *, dtype: Attribute = f32) -> SSAValue:
    """paddle.eye(rows, columns) -> opset1.Constant with ones in the diagonal"""
    rows = known_integer(node, 0, "num_rows")
    columns = known_integer(node, 1, "num_columns", -1)
    if rows < 0 or columns < -1:
        node.fail(f"a matrix of {rows} rows and {columns} columns")
    check_constant_size(rows, rows if columns == -1 else columns)
    return op.constant(np.eye(rows, rows if columns == -1 else columns).astype(to_numpy(dtype)), dtype)


@paddle.lowers("tril_indices", "triu_indices")
def indices_of_triangle(
    node: LoweringNode, op: OpBuilder, *, rows: int = 0, cols: int = 0, row: int = 0, col: int = 0, offset: int = 0, dtype: Attribute = si64
) -> SSAValue:
    """paddle.tril_indices() {rows, cols, offset} -> the rows and columns of a triangle, as a constant; `triu_indices`
    of the upper one
    """
    is_lower = node.op.KIND == "tril_indices"
    check_constant_size(2, *((rows, cols) if is_lower else (row, col)))
    indices = np.tril_indices(rows, offset, cols) if is_lower else np.triu_indices(row, offset, col)
    return op.constant(np.stack(indices).astype(np.int64), dtype)


@paddle.lowers("logspace")
def log_space(
    node: LoweringNode, op: OpBuilder, start: SSAValue, stop: SSAValue, num: SSAValue, base: SSAValue, *, dtype: Attribute = f32
) -> SSAValue:
    """paddle.logspace(start, stop, num, base) -> base to the power of equally spaced numbers"""
    exponents = linspace(node, op, start, stop, num, dtype=f32)
    return op.convert(op.Power(op.Reshape(as_type(op, base, f32), [], special_zero=False), exponents), dtype)
