"""Attributes of framework nodes under the names that Model Optimizer's extractors gave them.

A framework's attribute is read under its own name. For common kinds this table adds the extractor's names: the
property each is read from, its default, and the conversion to the form in which extensions expect it. What an extractor
computed from several properties (a `window` with an entry for each axis of the data) is a function of the operation.

Source: the attributes that Model Optimizer's nodes have in the front phase, 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.model_optimizer.graph.normal_names import onnx_version
from moir.model_optimizer.graph.window_attributes import channel_first_window, channel_last_window


@dataclass(frozen=True)
class Extracted:
    """One attribute: its property, its default (None: absent), and the conversion of its value.

    With `of` it is what that function computes of the operation; such an attribute has no property.
    """

    source: str
    default: Any = None
    form: Callable[[Any], Any] | None = None
    of: Callable[[Operation], Any] | None = None


def as_bytes(value: str | bytes) -> bytes:
    """Text as bytes, as in TensorFlow's messages."""
    return value if isinstance(value, bytes) else value.encode()


def as_integers(value: Any) -> Any:
    """A list of integers."""
    return np.array(value, dtype=np.int64).reshape(-1)


def _fixed(value: Any) -> Extracted:
    return Extracted("", value)


def _computed(function: Callable[[Operation], Any]) -> Extracted:
    return Extracted("", of=function)


def _softmax_axis(op: Operation) -> int:
    given = op.properties.get("axis")
    return int(value_of(given)) if given is not None else 1 if onnx_version(op) < 13 else -1


def _pads(op: Operation) -> Any:
    """The pads of an ONNX Pad as a pair for each axis."""
    given = op.properties.get("pads")
    return None if given is None else np.array(value_of(given), dtype=np.int64).reshape(2, -1).T


def _result_count(op: Operation) -> int:
    return len(op.results)


_CHANNELS_LAST = {"data_format": Extracted("data_format", b"NHWC", as_bytes)}
_CHANNELS_LAST_3D = {"data_format": Extracted("data_format", b"NDHWC", as_bytes)}
_EPSILON = {"eps": Extracted("epsilon", 1e-4)}
_TF_REDUCTION = {"keep_dims": Extracted("keep_dims", False, bool)}
_ONNX_REDUCTION = {"axis": Extracted("axes", None, as_integers), "keep_dims": Extracted("keepdims", True, bool)}
_ONNX_ARGUMENT = {
    "axis": Extracted("axis", 0),
    "keepdims": Extracted("keepdims", 1),
    "top_k": _fixed(1),
    "out_max_val": _fixed(0),
    "output_type": _fixed(np.int64),
}
_ONNX_AXIS = {"axis": Extracted("axis", 0)}
_ONNX_WINDOW = {name: _computed(function) for name, function in channel_first_window().items()}
_ONNX_POOLING = {**_ONNX_WINDOW, "rounding_type": Extracted("ceil_mode", "floor", lambda value: "ceil" if value else "floor")}
_TF_WINDOW = {name: _computed(function) for name, function in channel_last_window().items()}
_TF_POOLING = {**_TF_WINDOW, "global_pool": _fixed(False), "rounding_type": _fixed("floor"), "exclude_pad": _fixed(True)}
_TF_OUT_TYPE = {"output_type": Extracted("out_type", np.int32)}
_INT64_OUTPUT = {"output_type": _fixed(np.int64)}
_LRN = {"bias": Extracted("bias", 1.0), "region": _fixed("across")}
_RESIZE = {
    "mode": Extracted("mode", "nearest"),
    "coordinate_transformation_mode": Extracted("coordinate_transformation_mode", "half_pixel"),
    "nearest_mode": Extracted("nearest_mode", "round_prefer_floor"),
    "cube_coeff": Extracted("cubic_coeff_a", -0.75),
}


def _power(power: float) -> dict[str, Extracted]:
    return {"power": _fixed(power), "scale": _fixed(1.0), "shift": _fixed(0.0)}


def _pooling(method: str, is_global: bool = False) -> dict[str, Extracted]:
    return {**_ONNX_POOLING, "pool_method": _fixed(method), "global_pool": _fixed(is_global)}


_TABLE: dict[str, dict[str, dict[str, Extracted]]] = {
    "tf": {
        "Conv2D DepthwiseConv2dNative Conv2DBackpropInput": {**_CHANNELS_LAST, **_TF_WINDOW, "group": _fixed(1)},
        "MaxPool MaxPoolV2": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": _fixed("max")},
        "AvgPool": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": _fixed("avg")},
        "MaxPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": _fixed("max")},
        "AvgPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": _fixed("avg")},
        "BiasAdd DepthToSpace SpaceToDepth": _CHANNELS_LAST,
        "Conv3D Conv3DBackpropInputV2": {**_CHANNELS_LAST_3D, **_TF_WINDOW, "group": _fixed(1)},
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": {
            **_CHANNELS_LAST,
            **_EPSILON,
            "is_training": Extracted("is_training", True, bool),
        },
        "Max Mean Min Prod Sum All Any": _TF_REDUCTION,
        "Softmax LogSoftmax": {"axis": _fixed(-1)},
        "Pack": {"axis": Extracted("axis", 0)},
        "Unpack": {"axis": Extracted("axis", 0), "num_splits": Extracted("num"), "squeeze_axis": _fixed(True)},
        "Split SplitV": {"num_splits": Extracted("num_split")},
        "Squeeze": {"squeeze_dims": Extracted("squeeze_dims", None, as_integers)},
        "MatMul": {"transpose_a": Extracted("transpose_a", False), "transpose_b": Extracted("transpose_b", False)},
        "BatchMatMul BatchMatMulV2": {"transpose_a": Extracted("adj_x", False), "transpose_b": Extracted("adj_y", False)},
        "Cast": {"dst_type": Extracted("DstT")},
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.2)},
        "Elu": {"alpha": _fixed(1.0)},
        "Gather": {"axis": _fixed(0)},
        "GatherV2": {"batch_dims": Extracted("batch_dims", 0)},
        "Sqrt": _power(0.5),
        "Rsqrt": _power(-0.5),
        "Square": _power(2.0),
        "AddN": {"operation": _fixed("sum")},
        "Shape Size": _TF_OUT_TYPE,
        "Rank": {"output_type": _fixed(np.int32)},
        "Where": _INT64_OUTPUT,
        "ArgMax ArgMin": {"output_type": Extracted("output_type", np.int64), "top_k": _fixed(1), "out_max_val": _fixed(0)},
        "TopK TopKV2": {"axis": _fixed(-1), "mode": _fixed("max"), "sort": _fixed("value")},
        "LRN": {
            **_LRN,
            "local_size": Extracted("depth_radius", 11, lambda radius: 2 * int(radius) + 1),
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 0.5),
        },
        "Pad PadV2": {"mode": _fixed("constant")},
        "MirrorPad": {"mode": Extracted("mode", None, lambda mode: as_bytes(mode).decode().lower())},
        "ResizeBilinear": {"mode": _fixed("linear")},
        "ResizeNearestNeighbor": {"mode": _fixed("nearest")},
        "ResizeBilinear ResizeNearestNeighbor": {
            "align_corners": Extracted("align_corners", False),
            "half_pixel_centers": Extracted("half_pixel_centers", False),
        },
        "OneHot": {"axis": Extracted("axis", -1)},
    },
    "onnx": {
        "Softmax LogSoftmax": {"axis": _computed(_softmax_axis)},
        "TopK": {"axis": Extracted("axis", -1), "mode": Extracted("largest", "max", lambda value: "max" if value else "min")},
        "Concat": _ONNX_AXIS,
        "Gather GatherElements Scatter ScatterElements": _ONNX_AXIS,
        "Split": {**_ONNX_AXIS, "num_splits": _computed(_result_count), "size_splits": Extracted("split", None, as_integers)},
        "Flatten": {"axis": Extracted("axis", 1)},
        "BatchNormalization InstanceNormalization": {"eps": Extracted("epsilon", 1e-5)},
        "Gemm": {
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 1.0),
            "transpose_a": Extracted("transA", False, bool),
            "transpose_b": Extracted("transB", False, bool),
        },
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.01)},
        "Elu": {"alpha": Extracted("alpha", 1.0)},
        "Squeeze": {"squeeze_dims": Extracted("axes", None, as_integers)},
        "Unsqueeze": {
            "unsqueeze_dims": Extracted("axes", None, as_integers),
            "expand_axis": Extracted("axes", None, as_integers),
        },
        "Transpose": {"order": Extracted("perm", None, as_integers)},
        "Conv ConvTranspose": {"group": Extracted("group", 1), **_ONNX_WINDOW},
        "MaxPool": _pooling("max"),
        "AveragePool": {**_pooling("avg"), "exclude_pad": Extracted("count_include_pad", True, lambda value: not value)},
        "GlobalMaxPool": _pooling("max", is_global=True),
        "GlobalAveragePool": _pooling("avg", is_global=True),
        "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum": _ONNX_REDUCTION,
        "DepthToSpace": {"block_size": Extracted("blocksize"), "mode": Extracted("mode", "DCR")},
        "SpaceToDepth": {"block_size": Extracted("blocksize")},
        "Cast": {"dst_type": Extracted("to")},
        "Max": {"operation": _fixed("max")},
        "Min": {"operation": _fixed("min")},
        "Sum": {"operation": _fixed("sum")},
        "Sqrt": _power(0.5),
        "Slice": {name: Extracted(name, None, as_integers) for name in ("starts", "ends", "axes")},
        "Clip": {"min": Extracted("min", np.finfo(np.float32).min), "max": Extracted("max", np.finfo(np.float32).max)},
        "LRN": {**_LRN, "local_size": Extracted("size"), "alpha": Extracted("alpha", 1e-4), "beta": Extracted("beta", 0.75)},
        "Pad": {"mode": Extracted("mode", "constant"), "pads": _computed(_pads), "fill_value": Extracted("value", 0.0)},
        "ArgMax ArgMin": _ONNX_ARGUMENT,
        "Resize Upsample": _RESIZE,
        "Shape Size NonZero": _INT64_OUTPUT,
        "OneHot": {"axis": Extracted("axis", -1)},
    },
    "caffe": {
        "Softmax": {"axis": Extracted("axis", 1)},
    },
}

EXTRACTED: dict[str, dict[str, Extracted]] = {}
"""Name of an operation -> its attributes by the extractor's names."""

for _framework, _families in _TABLE.items():
    for _kinds, _attributes in _families.items():
        for _kind in _kinds.split():
            EXTRACTED.setdefault(f"{_framework}.{_kind}", {}).update(_attributes)
