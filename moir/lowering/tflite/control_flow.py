"""Control flow, lowered as in TensorFlow: IF with a graph for each branch, WHILE with graphs for condition and
body.
"""

from __future__ import annotations

from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.table import NEWEST, Replacement
from moir.lowering.tensorflow.table import tf
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder

_KINDS = {"IF": "If", "WHILE": "While", "STABLEHLO_WHILE": "While"}


@tflite.lowers(*_KINDS, complex=PAIRS)
def control_flow(node: LoweringNode, op: OpBuilder) -> Replacement | None:
    """tflite.WHILE(x…) -> what tf.While(x…) of the same bodies lowers to; likewise IF and STABLEHLO_WHILE"""
    handler = tf.handler(_KINDS[node.op.KIND], NEWEST)
    assert handler is not None
    return handler(node, op)
