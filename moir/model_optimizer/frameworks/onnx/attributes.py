"""Attributes of framework nodes under the names that Model Optimizer's extractors gave them.

A framework's attribute is read under its own name. For common kinds this table adds the extractor's names: the
property each is read from, its default, and the conversion to the form in which extensions expect it. What an extractor
computed from several properties (a `window` with an entry for each axis of the data) is a function of the operation.

Source: the attributes that Model Optimizer's nodes have in the front phase, 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.lowering.onnx.element_types import ELEMENTS
from moir.model_optimizer.frameworks.caffe.attributes import LAYERS
from moir.model_optimizer.frameworks.extracted import Extracted, as_bytes, as_integers
from moir.model_optimizer.frameworks.onnx.names import onnx_version
from moir.model_optimizer.frameworks.onnx.windows import channel_first_window, channel_last_window
from moir.model_optimizer.frameworks.spatial_windows import caffe_entries, mxnet_entries, spatial_window
from moir.model_optimizer.values.python_values import element_type, is_true, numpy_type
from moir.model_optimizer.values.slice_masks import INVERTED, MASKS, inverted


def _integers(source: str, default: Any = None) -> Extracted:
    return Extracted(source, default, as_integers, back=as_integers)


def _flag(source: str, default: bool) -> Extracted:
    return Extracted(source, default, bool, back=is_true)


def _number_as_flag(source: str, default: bool) -> Extracted:
    """A flag that the framework has as a number."""
    return Extracted(source, default, bool, back=lambda value: int(is_true(value)))


def _fixed(value: Any) -> Extracted:
    return Extracted("", value)


def _computed(function: Callable[[Operation], Any]) -> Extracted:
    return Extracted("", of=function)


def _bits(name: str, *, is_inverted: bool) -> Extracted:
    """A mask of a TensorFlow StridedSlice, whose bits are the entries of Model Optimizer's mask."""

    def read(bits: int) -> Any:
        found = np.array([bits >> place & 1 for place in range(max(int(bits).bit_length(), 1))], dtype=np.int64)
        return inverted(found) if is_inverted else found

    def bits(mask: Any) -> int:
        return sum(int(bit) << place for place, bit in enumerate(inverted(mask) if is_inverted else as_integers(mask)))

    return Extracted(name, [1] if is_inverted else [0], read, back=bits)


def _softmax_axis(op: Operation) -> int:
    given = op.properties.get("axis")
    return int(value_of(given)) if given is not None else 1 if onnx_version(op) < 13 else -1


def _pads(op: Operation) -> Any:
    """The pads of an ONNX Pad as a pair for each axis."""
    given = op.properties.get("pads")
    return None if given is None else np.array(value_of(given), dtype=np.int64).reshape(2, -1).T


def _lower_case(texts: Any) -> list[str]:
    return [str(text).lower() for text in texts]


def _result_count(op: Operation) -> int:
    return len(op.results)


_CHANNELS_LAST = {"data_format": Extracted("data_format", b"NHWC", as_bytes)}
_CHANNELS_LAST_3D = {"data_format": Extracted("data_format", b"NDHWC", as_bytes)}
_EPSILON = {"eps": Extracted("epsilon", 1e-4)}
_TF_REDUCTION = {"keep_dims": _flag("keep_dims", False)}
_ONNX_REDUCTION = {"axis": _integers("axes"), "keep_dims": _number_as_flag("keepdims", True)}
_ONNX_ARGUMENT = {
    "axis": Extracted("axis", 0),
    "keepdims": Extracted("keepdims", 1),
    "top_k": _fixed(1),
    "out_max_val": _fixed(0),
    "output_type": _fixed(np.int64),
}
_ONNX_AXIS = {"axis": Extracted("axis", 0)}
_ONNX_WINDOW = {name: _computed(function) for name, function in channel_first_window().items()}
_CAFFE_WINDOW = {name: _computed(function) for name, function in spatial_window(caffe_entries).items()}
_MXNET_WINDOW = {name: _computed(function) for name, function in spatial_window(mxnet_entries).items()}
_ROUNDING = Extracted("ceil_mode", 0, lambda value: "ceil" if value else "floor", back=lambda value: int(value == "ceil"))
_NUMBERS = {element: number for number, element in ELEMENTS.items()}
_DATA_TYPE = Extracted("to", None, lambda number: numpy_type(ELEMENTS[number]), back=lambda type_: _NUMBERS[element_type(type_)])
_EXCLUDE_PAD = Extracted("count_include_pad", 0, lambda value: not value, back=lambda value: int(not is_true(value)))
_LARGEST = Extracted("largest", 1, lambda value: "max" if value else "min", back=lambda mode: int(mode == "max"))
_ONNX_POOLING = {**_ONNX_WINDOW, "rounding_type": _ROUNDING}
_TF_WINDOW = {name: _computed(function) for name, function in channel_last_window().items()}
_TF_POOLING = {**_TF_WINDOW, "global_pool": _fixed(False), "rounding_type": _fixed("floor"), "exclude_pad": _fixed(True)}
_TF_ELEMENTWISE = (
    "Add AddV2 Sub Mul Div RealDiv SquaredDifference Pow Square Minimum Maximum BiasAdd Identity Sigmoid Relu Relu6 Tanh Elu "
    "FloorDiv FloorMod Neg Exp Log Abs"
)
_TF_BROADCASTING = (
    "Add AddV2 Sub Mul Div RealDiv SquaredDifference Pow Minimum Maximum FloorMod Select SelectV2 "
    "Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr LogicalXor"
)
_ONNX_RECURRENT = {
    "batch_dim": _fixed(1),
    "sequence_dim": _fixed(0),
    "blobs_wrb": _fixed(True),
    "has_num_directions": _fixed(True),
    "num_layers": _fixed(1),
    "format": _fixed("onnx"),
    "multilayers": _fixed(False),
    "direction": Extracted("direction", "forward"),
    "activations": Extracted("activations", None, _lower_case),
}
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


def _mxnet_rounding(op: Operation) -> str:
    given = op.properties.get("pooling_convention")
    return "ceil" if given is not None and value_of(given) == "full" else "floor"


_TABLE: dict[str, dict[str, dict[str, Extracted]]] = {
    "tf": {
        "Conv2D DepthwiseConv2dNative Conv2DBackpropInput": {**_CHANNELS_LAST, **_TF_WINDOW},
        "MaxPool MaxPoolV2": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": _fixed("max")},
        "AvgPool": {**_CHANNELS_LAST, **_TF_POOLING, "pool_method": _fixed("avg")},
        "MaxPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": _fixed("max")},
        "AvgPool3D": {**_CHANNELS_LAST_3D, **_TF_POOLING, "pool_method": _fixed("avg")},
        "BiasAdd DepthToSpace SpaceToDepth": _CHANNELS_LAST,
        "Conv3D Conv3DBackpropInputV2": {**_CHANNELS_LAST_3D, **_TF_WINDOW},
        "Conv2DBackpropInput Conv3DBackpropInputV2": {"group": _fixed(1)},
        _TF_ELEMENTWISE: {"data_type": Extracted("T")},
        _TF_BROADCASTING: {"auto_broadcast": _fixed("numpy")},
        "Round": {"mode": _fixed("half_to_even")},
        "IdentityN": {"data_types": Extracted("T")},
        "Select": {"format": _fixed("tf")},
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": {
            **_CHANNELS_LAST,
            **_EPSILON,
            "is_training": _flag("is_training", True),
        },
        "Max Mean Min Prod Sum All Any": _TF_REDUCTION,
        "Softmax LogSoftmax": {"axis": _fixed(-1)},
        "Pack": {"axis": Extracted("axis", 0)},
        "Unpack": {"axis": Extracted("axis", 0), "num_splits": Extracted("num"), "squeeze_axis": _fixed(True)},
        "Split SplitV": {"num_splits": Extracted("num_split")},
        "Squeeze": {"squeeze_dims": _integers("squeeze_dims")},
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
            "local_size": Extracted("depth_radius", 5, lambda radius: 2 * int(radius) + 1, back=lambda size: (int(size) - 1) // 2),
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 0.5),
        },
        "Pad PadV2": {"mode": _fixed("constant")},
        "MirrorPad": {"mode": Extracted("mode", None, lambda mode: as_bytes(mode).decode().lower(), back=str.upper)},
        "ResizeBilinear": {"mode": _fixed("linear")},
        "ResizeNearestNeighbor": {"mode": _fixed("nearest")},
        "ResizeBilinear ResizeNearestNeighbor": {
            "align_corners": Extracted("align_corners", False),
            "half_pixel_centers": Extracted("half_pixel_centers", False),
        },
        "OneHot": {"axis": Extracted("axis", -1)},
        "StridedSlice": {name: _bits(name, is_inverted=name in INVERTED) for name in MASKS},
    },
    "caffe": {"Convolution Deconvolution Pooling": _CAFFE_WINDOW},
    "mxnet": {
        "Convolution Deconvolution": {**_MXNET_WINDOW, "group": Extracted("num_group", 1), "output": Extracted("num_filter")},
        "Pooling": {
            **_MXNET_WINDOW,
            "pool_method": Extracted("pool_type", "max"),
            "global_pool": _flag("global_pool", False),
            "rounding_type": _computed(_mxnet_rounding),
        },
    },
    "onnx": {
        "Softmax LogSoftmax": {"axis": _computed(_softmax_axis)},
        "TopK": {
            "axis": Extracted("axis", -1),
            "mode": _LARGEST,
        },
        "Concat": _ONNX_AXIS,
        "Gather GatherElements Scatter ScatterElements": _ONNX_AXIS,
        "Split": {**_ONNX_AXIS, "num_splits": _computed(_result_count), "size_splits": _integers("split")},
        "Flatten": {"axis": Extracted("axis", 1)},
        "BatchNormalization InstanceNormalization": {"eps": Extracted("epsilon", 1e-5)},
        "Gemm": {
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 1.0),
            "transpose_a": _number_as_flag("transA", False),
            "transpose_b": _number_as_flag("transB", False),
        },
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.01)},
        "Elu": {"alpha": Extracted("alpha", 1.0)},
        "Squeeze": {"squeeze_dims": _integers("axes")},
        "Unsqueeze": {
            "unsqueeze_dims": _integers("axes"),
            "expand_axis": _integers("axes"),
        },
        "Transpose": {"order": _integers("perm")},
        "Conv ConvTranspose": {"group": Extracted("group", 1), **_ONNX_WINDOW},
        "MaxPool": _pooling("max"),
        "AveragePool": {
            **_pooling("avg"),
            "exclude_pad": _EXCLUDE_PAD,
        },
        "GlobalMaxPool": _pooling("max", is_global=True),
        "GlobalAveragePool": _pooling("avg", is_global=True),
        "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum": _ONNX_REDUCTION,
        "DepthToSpace": {"block_size": Extracted("blocksize"), "mode": Extracted("mode", "DCR")},
        "SpaceToDepth": {"block_size": Extracted("blocksize")},
        "Cast": {"dst_type": _DATA_TYPE},
        "Max": {"operation": _fixed("max")},
        "Min": {"operation": _fixed("min")},
        "Sum": {"operation": _fixed("sum")},
        "Sqrt": _power(0.5),
        "Slice": {name: _integers(name) for name in ("starts", "ends", "axes")},
        "Clip": {"min": Extracted("min", np.finfo(np.float32).min), "max": Extracted("max", np.finfo(np.float32).max)},
        "LRN": {**_LRN, "local_size": Extracted("size"), "alpha": Extracted("alpha", 1e-4), "beta": Extracted("beta", 0.75)},
        "Pad": {"mode": Extracted("mode", "constant"), "pads": _computed(_pads), "fill_value": Extracted("value", 0.0)},
        "ArgMax ArgMin": _ONNX_ARGUMENT,
        "Resize Upsample": _RESIZE,
        "Shape Size NonZero": _INT64_OUTPUT,
        "ConstantOfShape": {"fill_value": Extracted("value", np.zeros(1, np.float32))},
        "OneHot": {"axis": Extracted("axis", -1)},
        "QuantizeLinear DequantizeLinear": {"axis": Extracted("axis", 1)},
        "LSTM": {**_ONNX_RECURRENT, "gate_order": _fixed([2, 0, 3, 1]), "input_forget": Extracted("input_forget", 0)},
        "GRU": {**_ONNX_RECURRENT, "gate_order": _fixed([0, 1, 2]), "linear_before_reset": Extracted("linear_before_reset", 0)},
        "RNN": {**_ONNX_RECURRENT, "gate_order": _fixed([0])},
    },
}

EXTRACTED: dict[str, dict[str, Extracted]] = {f"caffe.{kind}": attributes for kind, attributes in LAYERS.items()}
"""Name of an operation -> its attributes by the extractor's names."""

for _framework, _families in _TABLE.items():
    for _kinds, _attributes in _families.items():
        for _kind in _kinds.split():
            EXTRACTED.setdefault(f"{_framework}.{_kind}", {}).update(_attributes)
