"""Shapes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("RESHAPE", complex=PAIRS)
def reshape(
    node: LoweringNode, op: OpBuilder, input: SSAValue, shape: SSAValue | None = None, *, new_shape: tuple[int, ...] = (0,)
) -> Replacement:
    """tflite.RESHAPE(x, shape) -> what tf.Reshape(x, shape) lowers to; the shape may be the attribute new_shape

    The operand counts if it is a vector. Old converters wrote a matrix, beside the attribute.
    """
    if shape is None or (node.has("new_shape") and rank_of(shape) not in (1, None)):
        # In files of the first converters the shape [0] means a scalar.
        shape = op.constant([] if new_shape == (0,) else list(new_shape), si32)
    return lowered_as(node, op, "Reshape", [input, shape])
