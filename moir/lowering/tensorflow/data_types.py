"""Conversions of the element type.

    %y = tf.Cast(%x) {SrcT = si32, DstT = f32}
->  %y = opset1.Convert(%x) {destination_type = f32}
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, string, to_numpy
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.ranks import as_result
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("Cast", rank=as_result, complex=PAIRS)
def cast(node: LoweringNode, op: OpBuilder, x: SSAValue, *, DstT: Attribute) -> SSAValue:
    """tf.Cast(x) {SrcT, DstT} -> opset1.Convert(x) {destination_type}; x itself if it already has the type

    A complex number is converted by its real part; a real number becomes a complex one with an imaginary part of 0.
    """
    source = node.element_attribute("SrcT", node.element(0))
    if string in (source, DstT) and source != DstT:
        node.fail("the operation sets do not convert strings", hint="cut the model after this node, where the values are numbers")
    if isinstance(DstT, ComplexType):
        converted = op.convert(x, DstT.parameters[0])
        return converted if isinstance(source, ComplexType) else as_complex(op, converted)
    if isinstance(source, ComplexType):
        x = op.Gather(x, 0, -1)
    return op.convert(x, DstT)


def as_complex(op: OpBuilder, x: SSAValue) -> SSAValue:
    """A real tensor as a complex one: the last dimension of 2 contains the numbers and zeros."""
    return op.Select(op.constant(np.array([True, False])), op.Unsqueeze(x, [-1]), 0)


@tf.lowers("Bitcast")
def reinterpret(node: LoweringNode, op: OpBuilder, input: SSAValue, *, type: Attribute) -> SSAValue:
    """tf.Bitcast(input) {type}
    -> input if it has the type, a constant for a constant, opset1.Convert(input) between integers of the same width

    The bits of other values cannot be reinterpreted. A wider type merges the last dimension, a narrower type adds one.
    """
    source = element_of(input)
    if source == type:
        return input
    constant = op.known.constant(input)
    if constant is not None and not isinstance(type, ComplexType):
        return op.constant(reinterpreted(constant, type), type)
    if (
        source in INTEGER_TYPES
        and not isinstance(type, ComplexType)
        and type in INTEGER_TYPES
        and describe(source).bits == describe(type).bits
    ):
        return op.convert(input, type)
    return node.fail(
        "the bits of a value that is computed when the model runs cannot be read as another type",
        hint="cut the model before and after this node, or write a lowering for what the model does with the bits",
    )


def reinterpreted(array: np.ndarray, target: Attribute) -> np.ndarray:
    """The bits of an array reinterpreted as another element type."""
    dtype = to_numpy(target)
    array = np.ascontiguousarray(array)
    if dtype.itemsize < array.itemsize:
        return array[..., np.newaxis].view(dtype)
    return array.view(dtype)[..., 0] if dtype.itemsize > array.itemsize else array.view(dtype)
