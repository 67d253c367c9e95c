"""Operators that are operations of TensorFlow.

    tflite.GATHER(x, indices) {axis = 1}  ->  what tf.GatherV2(x, indices, 1) lowers to

An activation that is fused into an operator follows.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.properties import value_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.table import Replacement
from moir.lowering.tflite.fused_activation import activated
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record


class Same(Record):
    """The operation of TensorFlow that an operator of TensorFlow Lite corresponds to.

    Args:
        kind: its kind.
        names: the names in TensorFlow of attributes that have another name in TensorFlow Lite, by the latter.
        defaults: attributes that TensorFlow Lite does not have, with their values.
    """

    kind: str
    names: Mapping[str, str] = {}
    defaults: Mapping[str, object] = {}


_ARITHMETIC = {
    "ADD": "AddV2",
    "ADD_N": "AddN",
    "ATAN2": "Atan2",
    "BITWISE_XOR": "BitwiseXor",
    "DIV": "RealDiv",
    "FLOOR_DIV": "FloorDiv",
    "FLOOR_MOD": "FloorMod",
    "MAXIMUM": "Maximum",
    "MINIMUM": "Minimum",
    "MUL": "Mul",
    "POW": "Pow",
    "RIGHT_SHIFT": "RightShift",
    "SQUARED_DIFFERENCE": "SquaredDifference",
    "SUB": "Sub",
}

_ELEMENTWISE = {
    "ABS": "Abs",
    "CEIL": "Ceil",
    "COS": "Cos",
    "ELU": "Elu",
    "EXP": "Exp",
    "FLOOR": "Floor",
    "LOGICAL_NOT": "LogicalNot",
    "LOGISTIC": "Sigmoid",
    "LOG_SOFTMAX": "LogSoftmax",
    "NEG": "Neg",
    "RELU": "Relu",
    "RELU6": "Relu6",
    "ROUND": "Round",
    "RSQRT": "Rsqrt",
    "SIGN": "Sign",
    "SIN": "Sin",
    "SQRT": "Sqrt",
    "SQUARE": "Square",
    "TANH": "Tanh",
    "ZEROS_LIKE": "ZerosLike",
}

_COMPARISON = {
    "EQUAL": "Equal",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessEqual",
    "LOGICAL_AND": "LogicalAnd",
    "LOGICAL_OR": "LogicalOr",
    "NOT_EQUAL": "NotEqual",
    "SELECT": "Select",
    "SELECT_V2": "SelectV2",
    "WHERE": "Where",
}

_MOVEMENT = {
    "BATCH_TO_SPACE_ND": "BatchToSpaceND",
    "BROADCAST_ARGS": "BroadcastArgs",
    "BROADCAST_TO": "BroadcastTo",
    "EXPAND_DIMS": "ExpandDims",
    "FILL": "Fill",
    "GATHER_ND": "GatherNd",
    "PAD": "Pad",
    "PADV2": "PadV2",
    "RANGE": "Range",
    "REVERSE_V2": "ReverseV2",
    "SCATTER_ND": "ScatterNd",
    "SLICE": "Slice",
    "SPACE_TO_BATCH_ND": "SpaceToBatchND",
    "TILE": "Tile",
    "TRANSPOSE": "Transpose",
}

_REDUCTION = {
    "MEAN": "Mean",
    "REDUCE_ALL": "All",
    "REDUCE_ANY": "Any",
    "REDUCE_MAX": "Max",
    "REDUCE_MIN": "Min",
    "REDUCE_PROD": "Prod",
    "SUM": "Sum",
}

_SEGMENTS = {
    "SEGMENT_SUM": "SegmentSum",
    "UNSORTED_SEGMENT_MAX": "UnsortedSegmentMax",
    "UNSORTED_SEGMENT_MIN": "UnsortedSegmentMin",
    "UNSORTED_SEGMENT_PROD": "UnsortedSegmentProd",
    "UNSORTED_SEGMENT_SUM": "UnsortedSegmentSum",
}

_OTHERS = {
    "ARG_MAX": "ArgMax",
    "ARG_MIN": "ArgMin",
    "BUCKETIZE": "Bucketize",
    "COMPLEX_ABS": "ComplexAbs",
    "CUMSUM": "Cumsum",
    "DEPTH_TO_SPACE": "DepthToSpace",
    "IMAG": "Imag",
    "LEAKY_RELU": "LeakyRelu",
    "MATRIX_DIAG": "MatrixDiag",
    "MATRIX_SET_DIAG": "MatrixSetDiag",
    "MIRROR_PAD": "MirrorPad",
    "ONE_HOT": "OneHot",
    "PACK": "Pack",
    "RANDOM_STANDARD_NORMAL": "RandomStandardNormal",
    "RANDOM_UNIFORM": "RandomUniform",
    "RANK": "Rank",
    "REAL": "Real",
    "RFFT2D": "RFFT2D",
    "RESIZE_BILINEAR": "ResizeBilinear",
    "REVERSE_SEQUENCE": "ReverseSequence",
    "SHAPE": "Shape",
    "SPACE_TO_DEPTH": "SpaceToDepth",
    "SPARSE_TO_DENSE": "SparseToDense",
    "SQUEEZE": "Squeeze",
    "STRIDED_SLICE": "StridedSlice",
    "TOPK_V2": "TopKV2",
    "UNPACK": "Unpack",
}

_BY_NAME = _ARITHMETIC | _ELEMENTWISE | _COMPARISON | _MOVEMENT | _REDUCTION | _SEGMENTS | _OTHERS

SAME: Mapping[str, Same] = {kind: Same(name) for kind, name in _BY_NAME.items()} | {
    "LOCAL_RESPONSE_NORMALIZATION": Same("LRN", {"radius": "depth_radius"}),
    "MULTINOMIAL": Same("Multinomial", {"seed2": "seed2"}),
    "NON_MAX_SUPPRESSION_V4": Same("NonMaxSuppressionV4", defaults={"pad_to_max_output_size": True}),
    "NON_MAX_SUPPRESSION_V5": Same("NonMaxSuppressionV5", defaults={"pad_to_max_output_size": True}),
    "SPLIT": Same("Split", {"num_splits": "num_split"}),
    "SPLIT_V": Same("SplitV", {"num_splits": "num_split"}),
    "UNIQUE": Same("Unique", {"idx_out_type": "out_idx"}),
}
"""For each kind, the operation of TensorFlow that lowers it."""

_LEFT_OUT = frozenset(("pot_scale_int16", "asymmetric_quantize_inputs", "fused_activation_function", "values_count"))
"""Attributes that are not passed on to the operation of TensorFlow: they only concern kernels, or it has no
equivalent.
"""


@tflite.lowers(*SAME, complex=PAIRS)
def same(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tflite.TILE(x, n) -> what tf.Tile(x, n) lowers to; likewise the other kinds of `SAME`"""
    row = SAME[node.op.KIND]
    attributes: dict[str, object] = dict(row.defaults)
    for name, attribute in node.op.properties.items():
        if name not in _LEFT_OUT:
            attributes[row.names.get(name, name)] = value_of(attribute) if name == "boundaries" else attribute
    results = lowered_as(node, op, row.kind, node.values, attributes)
    if node.has("fused_activation_function") and isinstance(first := results[0], SSAValue):
        results[0] = activated(node, op, first)
    return results


@tflite.lowers("Flex")
def flex(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tflite.FlexErf(x) -> what tf.Erf(x) lowers to; likewise for every kind with the prefix Flex"""
    return lowered_as(node, op, node.op.KIND.removeprefix("Flex"), node.values, node.op.properties)
