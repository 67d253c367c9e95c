"""Conversions to the element type that the file declares for the result."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("CAST", complex=PAIRS)
def cast(node: LoweringNode, op: OpBuilder, input: SSAValue) -> Replacement:
    """tflite.CAST(x) -> what tf.Cast(x) {DstT} lowers to; the type is that of the result"""
    types: dict[str, object] = {"DstT": node.op.properties.get("DstT", element_of(node.op.results[0]))}
    if isinstance(source := node.op.properties.get("T"), ComplexType):
        types["SrcT"] = source
    return lowered_as(node, op, "Cast", [input], types)


@tflite.lowers("BITCAST")
def bitcast(node: LoweringNode, op: OpBuilder, input: SSAValue) -> Replacement:
    """tflite.BITCAST(x) -> what tf.Bitcast(x) {type} lowers to; the type is that of the result"""
    return lowered_as(node, op, "Bitcast", [input], {"type": element_of(node.op.results[0])})
