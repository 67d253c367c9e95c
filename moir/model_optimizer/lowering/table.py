"""The handlers of the `mo` dialect: Model Optimizer's own operations, and those it wrote in another form than the operation sets have.

    @lowers("Power")
    def power(node: ForeignNode, op: OpBuilder) -> Replacement: ...

A handler is asked for an operation whose `type` is None or that of an operation of an operation set. All others, and those a handler
gives NotImplemented for, are written as their `backend_attrs` say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from moir.dialects.framework import MODEL_OPTIMIZER
from moir.lowering.table import LoweringTable
from moir.model_optimizer.lowering.node import ForeignNode
from moir.rewriting.builder import OpBuilder

FAMILIES: dict[str, str] = {
    "arithmetic": (
        "Power AttributedPower Eltwise EltwiseN AddN Add Sub Mul Div Minus Negative Neg ScaleShift BiasAdd Clamp LeakyReLU ReLU "
        "HardSigmoid ReLU6 Square Rsqrt Reciprocal Log1p SoftMax Softmax"
    ),
    "data_types": "Const Constant Parameter Placeholder Result OpOutput Cast Identity Dropout StopGradient",
    "matrix": "FullyConnected InnerProduct Gemm",
    "movement": (
        "Pack Unpack Split AttributedSplit AttributedVariadicSplit CaffeSlice Slice AttributedSlice TFSlice Crop AttributedGather "
        "AttributedPad AttributedTile AttributedRoll Fill Transpose Permute"
    ),
    "normalization": "MVN MVNCaffe MVNOnnx batchNormInference BatchNormInference FusedBatchNorm LRN AttributedLRN Norm Normalize",
    "reduction": (
        "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceAnd ReduceOr ReduceLogicalAnd ReduceLogicalOr"
    ),
    "region": "RegionYolo ReorgYolo",
    "sampling": "Interpolate Upsample",
    "shape": "Squeeze Unsqueeze ExpandDims Reshape Flatten FlattenONNX Size Rank Shape TopK ArgMax ArgMin",
    "sliding_window": "Convolution Conv2D Deconvolution Pooling AvgPool MaxPool",
}
"""The kinds each file lowers."""

mo = LoweringTable(MODEL_OPTIMIZER, {family: f"moir.model_optimizer.lowering.{family}" for family in FAMILIES}, FAMILIES)
"""The table."""

Lowering = TypeVar("Lowering", bound=Callable[[ForeignNode, OpBuilder], Any])


def lowers(*kinds: str) -> Callable[[Lowering], Lowering]:
    """Register a handler for kinds of the `mo` dialect."""
    return cast(Any, mo.lowers(*kinds))
