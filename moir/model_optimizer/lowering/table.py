"""The table of the `mo` dialect: operations that extensions made with Model Optimizer's API.

    @lowers("Power")
    def power(node: MoLoweringNode, op: OpBuilder) -> Replacement: ...

All kinds have one handler, `operation.lower_operation`. It asks for the built-in handler of a kind, of which the
families below have one for each of Model Optimizer's own operations, and for those that Model Optimizer wrote in
another form than the operation sets. A built-in handler returns NotImplemented for an operation that is to be written
as its `backend_attrs` say.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar, cast

from moir.dialects.framework import MODEL_OPTIMIZER
from moir.lowering.table import Handler, LoweringTable

FAMILIES: dict[str, str] = {
    "arithmetic": (
        "Power AttributedPower Eltwise EltwiseN AddN Add Sub Mul Div Minus Negative Neg ScaleShift BiasAdd Clamp LeakyReLU ReLU "
        "Activation HardSigmoid ReLU6 Square Rsqrt Reciprocal Log1p SoftMax Softmax SoftMaxONNX LogSoftmaxONNX"
    ),
    "data_types": "Const Constant ConstantLike Parameter Placeholder Result OpOutput Cast Identity Dropout StopGradient",
    "matrix": "FullyConnected InnerProduct Gemm",
    "movement": (
        "Concat Pack Unpack Split AttributedSplit VariadicSplit AttributedVariadicSplit CaffeSlice Gather Pad "
        "Slice AttributedSlice TFSlice MXSlice Crop ShuffleChannel AttributedGather Tile Select "
        "AttributedPad TFPad ONNXPad AttributedTile AttributedRoll Fill Transpose Permute"
    ),
    "normalization": (
        "MVN MVNCaffe MVNOnnx InstanceNormalization batchNormInference BatchNormInference FusedBatchNorm BatchNorm LRN AttributedLRN "
        "Norm Normalize"
    ),
    "prior_boxes": "PriorBox PriorBoxClustered",
    "proposals": "Proposal",
    "reduction": (
        "Reduce ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceAnd ReduceOr ReduceLogicalAnd ReduceLogicalOr"
    ),
    "region": "RegionYolo ReorgYolo",
    "sampling": "Interpolate Upsample Resample Interp ROIPooling",
    "shape": "Squeeze Unsqueeze ExpandDims Reshape MXReshape ConstantOfShape Flatten FlattenONNX Size Rank Shape TopK ArgMax ArgMin",
    "sliding_window": "Convolution Conv Conv2D Conv3D Deconvolution Deconv2D Pooling AvgPool AveragePool MaxPool AdaptiveAvgPooling",
}
"""The kinds each file lowers."""

_OPERATION = "moir.model_optimizer.lowering.operation"


class OperationTable(LoweringTable):
    """The table of the `mo` dialect."""

    command_line: Namespace | None = None
    """The options of the conversion that loads extensions, for `graph.graph["cmd_params"]`; None without extensions.
    """

    def handler(self, kind: str, version: int) -> Handler:
        """The handler of every kind. As the built-in handlers, it is imported when it is first asked for."""
        return import_module(_OPERATION).lower_operation

    def built_in(self, kind: str) -> Callable[..., Any] | None:
        """The handler of one of Model Optimizer's own kinds, None for any other kind."""
        return super().handler(kind, 1)

    @contextmanager
    def with_command_line(self, options: Namespace) -> Generator[None]:
        """While this lasts, functions of extensions find these options in the graph."""
        outer = self.command_line
        self.command_line = options
        try:
            yield
        finally:
            self.command_line = outer


mo = OperationTable(MODEL_OPTIMIZER, {family: f"moir.model_optimizer.lowering.{family}" for family in FAMILIES}, FAMILIES)
"""The table."""

BuiltInHandler = TypeVar("BuiltInHandler", bound=Callable[..., Any])


def lowers(*kinds: str) -> Callable[[BuiltInHandler], BuiltInHandler]:
    """Register a built-in handler for kinds of the `mo` dialect."""
    return cast(Any, mo.lowers(*kinds))
