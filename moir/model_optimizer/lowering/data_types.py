"""Constants, inputs, outputs, conversions, and operations that return their operand."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.element_types import dynamic, to_numpy
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, tensor
from moir.lowering.table import Replacement
from moir.model_optimizer.graph.made_constants import converted
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.values.shapes import type_shape
from moir.rewriting.builder import OpBuilder


@lowers("Const", "Constant")
def constant(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Const() {value, data_type} -> opset1.Constant"""
    value = node.tensor("value")
    if value is None:
        node.fail("a Const needs a value")
    return op.constant(value, node.element_attribute("data_type") if node.has("data_type") else None)


@lowers("ConstantLike")
def constant_like(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ConstantLike(constant, x) -> opset1.Constant of the element type of x; the constant itself if that type
    cannot represent it
    """
    value, other = node.operand(0), node.operand(1)
    element, array = element_of(other), op.known.constant(value)
    if array is None or element in (dynamic, element_of(value)):
        return value if array is None or element != dynamic else op.ConvertLike(value, other)
    values = converted(array, to_numpy(element))
    return value if values is None else op.constant(values, element)


@lowers("Parameter", "Placeholder")
def parameter(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Parameter() {shape, data_type} -> opset1.Parameter; Placeholder likewise"""
    type_ = tensor(type_shape(node.get("shape")), node.element_attribute("data_type"))
    built = Parameter.create(result_types=[type_])
    op.insert(built)
    return built.results[0]


@lowers("Result", "OpOutput")
def result(node: MoLoweringNode, op: OpBuilder) -> list[SSAValue]:
    """mo.Result(x) -> opset1.Result(x); OpOutput likewise"""
    op.insert(Result.create(operands=[node.operand(0)], attributes={"name": string_attribute(node.name)}))
    return []


@lowers("Cast")
def cast(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Cast(x) {dst_type} -> opset1.Convert(x)"""
    if not node.has("dst_type"):
        return NotImplemented
    return op.Convert(node.operand(0), destination_type=node.element_attribute("dst_type"))


@lowers("Identity", "Dropout", "StopGradient")
def identity(node: MoLoweringNode, _op: OpBuilder) -> Replacement | Any:
    """mo.Identity(x) -> x; likewise Dropout and StopGradient"""
    return NotImplemented if node.type is not None else node.operand(0)
