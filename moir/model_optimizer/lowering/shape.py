"""Shapes as attributes and as values, and the largest elements along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.lowering.versions import opset_number
from moir.model_optimizer.values.python_values import is_true
from moir.rewriting.builder import OpBuilder

SKIPPING = 15
"""The operation set since which a Squeeze may skip axes whose dimension is not 1."""


@lowers("Squeeze")
def squeeze(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Squeeze(x) {squeeze_dims} -> opset1.Squeeze(x, axes); without axes all dimensions of 1"""
    if (opset_number(node.get("version")) or 0) >= SKIPPING and node.type is not None:
        return NotImplemented
    given, axes = node.optional(1), node.axes("squeeze_dims")
    if given is not None:
        return op["opset1.Squeeze"](node.operand(0), given)
    return op["opset1.Squeeze"](node.operand(0), *([list(axes)] if axes else []))


@lowers("Unsqueeze", "ExpandDims")
def unsqueeze(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Unsqueeze(x) {unsqueeze_dims} -> opset1.Unsqueeze(x, axes); mo.ExpandDims(x) {expand_axis} likewise"""
    if (given := node.optional(1)) is not None:
        return op.Unsqueeze(node.operand(0), given)
    axes = node.axes("unsqueeze_dims", "expand_axis", "axis")
    if axes is None:
        node.fail("neither an input nor an attribute says which dimensions are added")
    return op.Unsqueeze(node.operand(0), list(axes))


@lowers("Reshape")
def reshape(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Reshape(x) {dim} -> opset1.Reshape(x, dim); a 0 is the dimension of the data unless special_zero is false"""
    special = is_true(node.get("special_zero", True))
    if (given := node.optional(1)) is not None:
        return op.Reshape(node.operand(0), given, special_zero=special)
    dimensions = node.axes("dim")
    if dimensions is None:
        node.fail("neither an input nor an attribute says the shape")
    return op.Reshape(node.operand(0), list(dimensions), special_zero=special)


@lowers("MXReshape")
def mxnet_reshape(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.MXReshape(x) {dim, reverse} -> opset1.Reshape(x, shape): the entries 0 to -4 of `dim` mean what they do in
    MXNet
    """
    from moir.lowering.mxnet.movement import reshaped

    dimensions = node.axes("dim")
    if dimensions is None:
        node.fail("it has no attribute dim")
    return reshaped(node, op, list(dimensions), is_true(node.get("reverse", False)))


@lowers("ConstantOfShape")
def constant_of_shape(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ConstantOfShape(shape) {fill_value} -> opset3.Broadcast(fill_value, shape): a number or a list of one"""
    value = node.tensor("fill_value")
    if value is not None and value.size != 1:
        node.fail(f"its fill_value has {value.size} elements, where one is required")
    number = np.zeros((), np.float32) if value is None else value.reshape(())
    return op.Broadcast(op.constant(number), node.operand(0))


@lowers("Flatten")
def flatten(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Flatten(x) {axis, end_axis} -> opset1.Reshape: the dimensions from axis to end_axis become one"""
    data, first, last = node.operand(0), node.integer("axis", 1), node.integer("end_axis", -1)
    if first >= 0 and last == -1:
        return op.Reshape(data, [0] * first + [-1], special_zero=True)
    rank = node.rank_of_value(data)
    first, last = first % max(rank, 1), last % max(rank, 1)
    if last < first:
        node.fail(f"end_axis {last} is before axis {first}")
    if last == rank - 1:
        return op.Reshape(data, [0] * first + [-1], special_zero=True)
    shape = op.ShapeOf(data)
    tail = op.Gather(shape, list(range(last + 1, rank)), 0)
    return op.Reshape(data, op.Concat(op.constant([0] * first + [-1], si64), tail, axis=0), special_zero=True)


@lowers("FlattenONNX")
def flatten_onnx(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.FlattenONNX(x) {axis} -> opset1.Reshape to two dimensions: those before the axis and the others"""
    data, axis = node.operand(0), node.integer("axis", 1)
    if axis in (0, 1):
        return op.Reshape(data, [0, -1] if axis else [1, -1], special_zero=bool(axis))
    axis = axis % node.rank_of_value(data) if axis < 0 else axis
    front = op.ReduceProd(op.Gather(op.ShapeOf(data), list(range(axis)), 0), [0], keep_dims=True)
    return op.Reshape(data, op.Concat(front, op.constant([-1], si64), axis=0), special_zero=False)


@lowers("Size")
def size(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Size(x) -> the product of opset3.ShapeOf(x), a scalar"""
    element = node.element_attribute("output_type", si64)
    return op.ReduceProd(op.ShapeOf(node.operand(0), output_type=element), [0], keep_dims=False)


@lowers("Rank")
def rank(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Rank(x) -> the shape of the shape of x, as a scalar"""
    element = node.element_attribute("output_type", si64)
    return op["opset1.Squeeze"](op.ShapeOf(op.ShapeOf(node.operand(0)), output_type=element), [0])


@lowers("Shape")
def shape(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Shape(x) -> opset3.ShapeOf(x)"""
    return op.ShapeOf(node.operand(0), output_type=node.element_attribute("output_type", si64))


def _scalar(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value of the shape [1] as a scalar."""
    known = op.known.constant(value)
    return op["opset1.Squeeze"](value, [0]) if known is None else op.constant(known.reshape(()), element_of(value))


@lowers("TopK")
def top_k(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.TopK(x) {k, axis, mode, sort} -> opset11.TopK(x, k); the k of an input may have the shape [1]"""
    given = node.optional(1)
    if given is not None and rank_of(given) != 1:
        return NotImplemented
    return op.TopK.results(
        node.operand(0),
        node.integer("k") if given is None else _scalar(op, given),
        axis=node.integer("axis", -1),
        mode=node.text("mode", "max"),
        sort=node.text("sort", "value"),
        index_element_type=node.element_attribute("index_element_type", si32),
    )


@lowers("ArgMax", "ArgMin")
def arg_extremum(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ArgMax(x, axis) {axis, top_k, out_max_val, keepdims} -> indices of opset11.TopK; its values if out_max_val;
    ArgMin likewise
    """
    axis = node.constant_integers(1) if node.optional(1) is not None else (node.integer("axis", -1),)
    if axis is None or len(axis) != 1:
        node.fail("its axis must be a constant")
    values = bool(node.get("out_max_val", 0))
    results = op.TopK.results(
        node.operand(0),
        node.integer("top_k", 1),
        axis=axis[0],
        mode="max" if node.kind == "ArgMax" else "min",
        sort="index" if node.get("remove_values_output") else "value",
        index_element_type=node.element_attribute("output_type", si64),
    )[0 if values else 1]
    keeps = node.get("keepdims", True)
    return results if keeps or node.integer("top_k", 1) != 1 else op["opset1.Squeeze"](results, np.array([axis[0]], np.int64))
