"""XLA operations that the operation sets cannot express, and the reasons."""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_ITERATIVE = "the operation sets have no decomposition of matrices that iterates until it is exact"
_CUT = "cut the model before this node"
_DEVICES = "it exchanges values between devices, and an IR is for one"
_ONE_DEVICE = "export the model for one device"
_LIBRARY = "it calls a function of a library that is not part of the model"
_RANDOM = "the operation sets have no generator of the bits that XLA draws, so the numbers would be others"

REFUSALS = {
    "XlaAllReduce": (_DEVICES, _ONE_DEVICE),
    "XlaCustomCall": (_LIBRARY, _CUT),
    "XlaCustomCallV2": (_LIBRARY, _CUT),
    "XlaRecv": (_DEVICES, _ONE_DEVICE),
    "XlaReduceScatter": (_DEVICES, _ONE_DEVICE),
    "XlaReplicaId": (_DEVICES, _ONE_DEVICE),
    "XlaRngBitGenerator": (_RANDOM, "make the random numbers an input of the model"),
    "XlaSelectAndScatter": ("it is the gradient of a pooling, which an IR does not have", "export the forward pass only"),
    "XlaSelfAdjointEig": (_ITERATIVE, _CUT),
    "XlaSend": (_DEVICES, _ONE_DEVICE),
    "XlaSetDynamicDimensionSize": ("a dimension has no size apart from that of the data", _CUT),
    "XlaSpmdFullToShardShape": (_DEVICES, _ONE_DEVICE),
    "XlaSpmdShardToFullShape": (_DEVICES, _ONE_DEVICE),
    "XlaSvd": (_ITERATIVE, _CUT),
}
"""For each kind, the reason for its rejection and an alternative."""


@tf.lowers(*REFUSALS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.XlaSvd(x), likewise the other kinds of `REFUSALS`: raises ConversionError, because the operation sets cannot
    express it.
    """
    reason, hint = REFUSALS[node.op.KIND]
    node.fail(reason, hint=hint)
