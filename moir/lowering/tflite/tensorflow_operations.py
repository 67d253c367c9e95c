"""Operators of TensorFlow Lite that are replaced by operations of TensorFlow.

tflite.CUMSUM(%x, %axis) {exclusive = true}  ->  what tf.Cumsum(%x, %axis) {exclusive = true} lowers to
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import SSAValue

from moir.dialects.shapes import UNKNOWN
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.check import refusal
from moir.lowering.substitution import lowered_by
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def lowered_as(
    node: LoweringNode,
    op: OpBuilder,
    kind: str,
    operands: Sequence[SSAValue],
    attributes: Mapping[str, object] | None = None,
    result_count: int | None = None,
) -> list[SSAValue | None]:
    """The values to which a TensorFlow operation is lowered: one for each result, None for a result without uses.

    Args:
        node: the node that the operation replaces.
        op: the builder.
        kind: the kind in TensorFlow.
        operands: its operands.
        attributes: its attributes.
        result_count: the number of its results, by default that of the node.

    Raises ConversionError if the operation cannot be lowered, or does not compute with complex numbers.
    """
    properties = dict(attributes or {})
    if isinstance(element := node.op.properties.get("T"), ComplexType):
        if tf.complex(kind) is None:
            raise refusal(node.op)
        properties |= {"T": element, "Tparams": element}
    types = [UNKNOWN] * (node.result_count if result_count is None else result_count)
    return lowered_by(tf, node, op, kind, operands, properties, types)


def value_as(node: LoweringNode, op: OpBuilder, kind: str, *operands: SSAValue, **attributes: object) -> SSAValue:
    """The value to which a TensorFlow operation with one result is lowered, see `lowered_as`."""
    value = lowered_as(node, op, kind, operands, attributes)[0]
    assert value is not None
    return value
