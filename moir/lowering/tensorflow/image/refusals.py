"""Operations on images that are rejected, because the operation sets cannot express them or their results are
undefined.
"""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_DRAWN = "the operation sets draw no lines into images at computed positions"
_SEQUENCES = "the sizes of its windows are drawn at random by a generator that the operation sets do not have"

REFUSALS = {
    "DrawBoundingBoxes": (_DRAWN, "make the boxes outputs of the model, and draw them after it"),
    "DrawBoundingBoxesV2": (_DRAWN, "make the boxes outputs of the model, and draw them after it"),
    "FractionalAvgPool": (_SEQUENCES, "replace it by tf.nn.avg_pool2d in the model"),
    "FractionalMaxPool": (_SEQUENCES, "replace it by tf.nn.max_pool2d in the model"),
    "GenerateBoundingBoxProposals": (
        "it exists on accelerators only, so that no results of TensorFlow are there to compare with",
        "select the boxes by tf.image.combined_non_max_suppression in the model, or cut it before this node",
    ),
}
"""For each kind, the reason for its rejection and an alternative."""


@tf.lowers(*REFUSALS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.DrawBoundingBoxes(x, boxes), likewise the other kinds of `REFUSALS`: raises ConversionError with the
    reason.
    """
    reason, hint = REFUSALS[node.op.KIND]
    node.fail(reason, hint=hint)
