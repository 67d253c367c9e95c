"""The attributes of TensorFlow's nodes by the names that Model Optimizer's extractors gave them.

    tf.Cast {DstT = i64}  ->  dst_type numpy.int64

Source: the attributes that Model Optimizer's nodes have in the front phase, 2019 to 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.model_optimizer.frameworks.extracted import Extracted, as_bytes, as_integers, by_kind, computed, fixed, flag, integers, power_of
from moir.model_optimizer.frameworks.tensorflow.windows import channel_last_filters, channel_last_window
from moir.model_optimizer.values.slice_masks import INVERTED, MASKS, inverted


def _bits(name: str, *, is_inverted: bool) -> Extracted:
    """The record of a mask of a StridedSlice: TensorFlow's attribute `name` is an integer whose bits are the entries of
    Model Optimizer's mask, which are inverted if `is_inverted`.
    """

    def read(bits: int) -> Any:
        bits_of_value = np.array([bits >> position & 1 for position in range(max(int(bits).bit_length(), 1))], dtype=np.int64)
        return inverted(bits_of_value) if is_inverted else bits_of_value

    def bits(mask: Any) -> int:
        return sum(int(bit) << position for position, bit in enumerate(inverted(mask) if is_inverted else as_integers(mask)))

    return Extracted(name, [1] if is_inverted else [0], read, back=bits)


_CHANNELS_LAST = {"data_format": Extracted("data_format", b"NHWC", as_bytes)}
_CHANNELS_LAST_3D = {"data_format": Extracted("data_format", b"NDHWC", as_bytes)}
_EPSILON = {"eps": Extracted("epsilon", 1e-4)}
_TF_REDUCTION = {"keep_dims": flag("keep_dims", False)}
_TF_WINDOW = {name: computed(function) for name, function in channel_last_window().items()}
_TF_FILTERS = {name: computed(function) for name, function in channel_last_filters().items()}
_TF_POOLING = {**_TF_WINDOW, "global_pool": fixed(False), "rounding_type": fixed("floor"), "exclude_pad": fixed(True)}
_TF_ELEMENTWISE = (
    "Add AddV2 Sub Mul Div RealDiv SquaredDifference Pow Square Minimum Maximum BiasAdd Identity Sigmoid Relu Relu6 Tanh Elu "
    "FloorDiv FloorMod Neg Exp Log Abs"
)
_TF_BROADCASTING = (
    "Add AddV2 Sub Mul Div RealDiv SquaredDifference Pow Minimum Maximum FloorMod Select SelectV2 "
    "Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr LogicalXor"
)
_TF_OUT_TYPE = {"output_type": Extracted("out_type", np.int32)}
_INT64_OUTPUT = {"output_type": fixed(np.int64)}
_LRN = {"bias": Extracted("bias", 1.0), "region": fixed("across")}

ATTRIBUTES = by_kind(
    {
        "Conv2D DepthwiseConv2dNative Conv2DBackpropInput": {**_CHANNELS_LAST, **_TF_WINDOW, **_TF_FILTERS},
        "MaxPool MaxPoolV2": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": fixed("max")},
        "AvgPool": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": fixed("avg")},
        "MaxPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": fixed("max")},
        "AvgPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": fixed("avg")},
        "BiasAdd DepthToSpace SpaceToDepth": _CHANNELS_LAST,
        "Conv3D Conv3DBackpropInputV2": {**_CHANNELS_LAST_3D, **_TF_WINDOW, **_TF_FILTERS},
        _TF_ELEMENTWISE: {"data_type": Extracted("T")},
        _TF_BROADCASTING: {"auto_broadcast": fixed("numpy")},
        "Round": {"mode": fixed("half_to_even")},
        "IdentityN": {"data_types": Extracted("T")},
        "Select": {"format": fixed("tf")},
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": {
            **_CHANNELS_LAST,
            **_EPSILON,
            "is_training": flag("is_training", True),
        },
        "Max Mean Min Prod Sum All Any": _TF_REDUCTION,
        "Softmax LogSoftmax": {"axis": fixed(-1)},
        "Pack": {"axis": Extracted("axis", 0)},
        "Unpack": {"axis": Extracted("axis", 0), "num_splits": Extracted("num"), "squeeze_axis": fixed(True)},
        "Split SplitV": {"num_splits": Extracted("num_split")},
        "Squeeze": {"squeeze_dims": integers("squeeze_dims")},
        "MatMul": {"transpose_a": Extracted("transpose_a", False), "transpose_b": Extracted("transpose_b", False)},
        "BatchMatMul BatchMatMulV2": {"transpose_a": Extracted("adj_x", False), "transpose_b": Extracted("adj_y", False)},
        "Cast": {"dst_type": Extracted("DstT")},
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.2)},
        "Elu": {"alpha": fixed(1.0)},
        "Gather": {"axis": fixed(0)},
        "GatherV2": {"batch_dims": Extracted("batch_dims", 0)},
        "Sqrt": power_of(0.5),
        "Rsqrt": power_of(-0.5),
        "Square": power_of(2.0),
        "AddN": {"operation": fixed("sum")},
        "Shape Size": _TF_OUT_TYPE,
        "Rank": {"output_type": fixed(np.int32)},
        "Where": _INT64_OUTPUT,
        "ArgMax ArgMin": {"output_type": Extracted("output_type", np.int64), "top_k": fixed(1), "out_max_val": fixed(0)},
        "TopK TopKV2": {"axis": fixed(-1), "mode": fixed("max"), "sort": fixed("value")},
        "LRN": {
            **_LRN,
            "local_size": Extracted("depth_radius", 5, lambda radius: 2 * int(radius) + 1, back=lambda size: (int(size) - 1) // 2),
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 0.5),
        },
        "Pad PadV2": {"mode": fixed("constant")},
        "MirrorPad": {"mode": Extracted("mode", None, lambda mode: as_bytes(mode).decode().lower(), back=str.upper)},
        "ResizeBilinear": {"mode": fixed("linear")},
        "ResizeNearestNeighbor": {"mode": fixed("nearest")},
        "ResizeBilinear ResizeNearestNeighbor": {
            "align_corners": Extracted("align_corners", False),
            "half_pixel_centers": Extracted("half_pixel_centers", False),
        },
        "OneHot": {"axis": Extracted("axis", -1)},
        "StridedSlice": {name: _bits(name, is_inverted=name in INVERTED) for name in MASKS},
    }
)
"""Kind -> the records of its attributes, by Model Optimizer's names."""
