"""The layout of complex tensors: real tensors with a last dimension of 2 for the real and the imaginary part."""

from __future__ import annotations

from functools import wraps
from importlib import import_module

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder
from moir.tables import by_word, words

COMPLEX_KINDS = (
    "Abs Angle Cast Complex ComplexAbs Conj Exp FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Imag RFFT RFFT2D RFFT3D Real "
    "Add AddN AddV2 AccumulateNV2 DynamicStitch ParallelDynamicStitch Sub Mul Neg Concat ConcatV2 ConjugateTranspose ExpandDims "
    "Squeeze Reshape Transpose Shape ShapeN "
    "Roll Identity IdentityN Pack Unpack GatherV2 StridedSlice Slice Rank Size Snapshot StopGradient PreventGradient GuaranteeConst "
    "EnsureShape DebugGradientIdentity RandomShuffle StatelessWhile While StatelessIf If FFTND IFFTND RFFTND IRFFTND ParallelConcat "
    "Copy CopyHost DeepCopy RefIdentity Eig MatrixLogarithm"
)
"""Kinds whose handlers support complex tensors in their layout as real tensors."""

BY_PARTS: dict[str, tuple[int, ...]] = by_word(
    {
        (
            "BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BroadcastTo Cumsum DepthToSpace Diag DiagPart "
            "DynamicPartition ExtractImagePatches Gather GatherNd MatrixBandPart MatrixDiag MatrixDiagPart Mean "
            "MirrorPad Pad Reverse ReverseSequence ReverseV2 SegmentMean SegmentSum SpaceToDepth SplitV Sum Tile "
            "UnsortedSegmentSum ZerosLike"
        ): (0,),
        "BatchMatrixSetDiag BiasAdd BiasAddV1 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3": (0, 1),
        "Empty": (),
        "Fill ScatterNd Split": (1,),
        ("MatrixDiagPartV2 MatrixDiagPartV3 PadV2 ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterSub TensorScatterUpdate"): (0, 2),
        "MatrixDiagV2 MatrixDiagV3 TensorStridedSliceUpdate": (0, 4),
        "OneHot SparseToDense": (2, 3),
        "RaggedTensorToTensor Select SelectV2": (1, 2),
        "SparseTensorDenseAdd": (1, 3),
    }
)
"""Kinds that are applied to real and imaginary parts separately, with the indices of their complex operands."""

FUNCTIONS = words(
    "Acos Acosh Asin Asinh Atan Atanh BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchMatrixSolve Cos Cosh Cumprod Div "
    "DivNoNan Einsum Equal EuclideanNorm Expm1 Inv Log Log1p LogMatrixDeterminant MatMul MatrixDeterminant "
    "MatrixInverse MatrixSolve MulNoNan NotEqual OnesLike Pow Prod RealDiv Reciprocal Rsqrt Sigmoid Sign Sin Sinh "
    "SparseTensorDenseMatMul Sqrt Square SquaredDifference Tan Tanh Where Xdivy Xlog1py Xlogy"
)
"""Kinds with their own formulas for complex numbers."""

FORMULAS = "moir.lowering.tensorflow.complex.formulas"
"""The module of the formulas for complex numbers, which is imported when the first complex number occurs."""

REAL_RESULTS = words("Abs Angle ComplexAbs Equal Imag IRFFT IRFFT2D IRFFT3D IRFFTND NotEqual Rank Real Shape ShapeN Size Where")
"""Kinds that compute real results from complex operands."""


def adapted(kind: str, handler: BoundHandler) -> BoundHandler:
    """The handler of a kind, extended to complex numbers if it is applied by parts or the kind has formulas for
    them.
    """
    if kind not in BY_PARTS and kind not in FUNCTIONS:
        return handler

    @wraps(handler)
    def choose(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        if not any(isinstance(value, ComplexType) for value in node.op.properties.values()):
            return handler(node, op)
        if kind in BY_PARTS:
            from moir.lowering.complex_parts import computed_by_parts

            return computed_by_parts(node, op, handler, BY_PARTS[kind])
        return import_module(FORMULAS).HANDLERS[kind](node, op)

    return choose


def check_complex(op: Operation) -> None:
    """Raises UnsupportedOperationError for the first complex operation whose handler supports real tensors only."""
    knowing = frozenset((*COMPLEX_KINDS.split(), *BY_PARTS, *FUNCTIONS))
    for each in op.walk():
        if isinstance(each, Result) and gives_complex(each.operands[0].owner):
            add_notes(each, [f"the output {name_of(each)} is complex: its last dimension holds real and imaginary parts"])
        if not isinstance(each, FrameworkOp) or each.KIND in knowing:
            continue
        if any(isinstance(value, ComplexType) for value in each.properties.values()):
            raise UnsupportedOperationError(
                "it computes complex numbers, which OpenVINO IR does not have",
                operation=each.name,
                node=name_of(each),
                hint="write a lowering on real and imaginary parts for this node",
            )


def gives_complex(op: object) -> bool:
    """Whether the results of an operation of the tf dialect are complex."""
    if not isinstance(op, FrameworkOp) or op.KIND in REAL_RESULTS:
        return False
    if op.KIND == "Cast":
        return isinstance(op.properties.get("DstT"), ComplexType)
    return any(isinstance(value, ComplexType) for value in op.properties.values())


def is_complex(node: LoweringNode, attribute: str = "T") -> bool:
    """Whether the data of a node are complex, according to the element type in an attribute."""
    return isinstance(node.op.properties.get(attribute), ComplexType)


def real_axis(node: LoweringNode, axis: int, attribute: str = "T") -> int:
    """The axis of the real tensor that corresponds to an axis of the complex one; a negative axis counts from
    the end.
    """
    return axis - 1 if axis < 0 and is_complex(node, attribute) else axis
