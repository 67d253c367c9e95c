"""Attributes of framework nodes under the names that Model Optimizer's extractors gave them.

A framework's attribute is read under its own name. For common kinds this table adds the extractor's names: the
property each is read from, its default, and the conversion to the form in which extensions expect it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Extracted:
    """One attribute: its property, its default (None: absent), and the conversion of its value."""

    source: str
    default: Any = None
    form: Callable[[Any], Any] | None = None


def as_bytes(value: str | bytes) -> bytes:
    """Text as bytes, as in TensorFlow's messages."""
    return value if isinstance(value, bytes) else value.encode()


def as_integers(value: Any) -> Any:
    """A list of integers."""
    return np.array(value, dtype=np.int64).reshape(-1)


def _fixed(value: Any) -> Extracted:
    return Extracted("", value)


_CHANNELS_LAST = {"data_format": Extracted("data_format", b"NHWC", as_bytes)}
_CHANNELS_LAST_3D = {"data_format": Extracted("data_format", b"NDHWC", as_bytes)}
_EPSILON = {"eps": Extracted("epsilon", 1e-4)}
_TF_REDUCTION = {"keep_dims": Extracted("keep_dims", False, bool)}
_STRIDES = {"stride": Extracted("strides", None, as_integers), "dilation": Extracted("dilations", None, as_integers)}
_ONNX_REDUCTION = {"axis": Extracted("axes", None, as_integers), "keep_dims": Extracted("keepdims", True, bool)}

_TABLE: dict[str, dict[str, dict[str, Extracted]]] = {
    "tf": {
        "Conv2D Conv2DBackpropInput DepthwiseConv2dNative": {**_CHANNELS_LAST, **_STRIDES},
        "MaxPool AvgPool": {**_CHANNELS_LAST, "stride": Extracted("strides", None, as_integers), "window": Extracted("ksize", None)},
        "BiasAdd DepthToSpace SpaceToDepth": _CHANNELS_LAST,
        "Conv3D Conv3DBackpropInputV2 MaxPool3D AvgPool3D": {**_CHANNELS_LAST_3D, **_STRIDES},
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": {
            **_CHANNELS_LAST,
            **_EPSILON,
            "is_training": Extracted("is_training", True, bool),
        },
        "Max Mean Min Prod Sum All Any": _TF_REDUCTION,
        "Softmax LogSoftmax": {"axis": _fixed(-1)},
        "Pack Unpack": {"axis": Extracted("axis", 0)},
        "Squeeze": {"squeeze_dims": Extracted("squeeze_dims", None, as_integers)},
        "MatMul": {"transpose_a": Extracted("transpose_a", False), "transpose_b": Extracted("transpose_b", False)},
        "BatchMatMul BatchMatMulV2": {"transpose_a": Extracted("adj_x", False), "transpose_b": Extracted("adj_y", False)},
        "Cast": {"dst_type": Extracted("DstT")},
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.2)},
        "Elu": {"alpha": _fixed(1.0)},
        "GatherV2": {"batch_dims": Extracted("batch_dims", 0)},
    },
    "onnx": {
        "Softmax LogSoftmax TopK": {"axis": Extracted("axis", -1)},
        "Concat": {"axis": Extracted("axis", 0)},
        "Gather Split": {"axis": Extracted("axis", 0)},
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
        "Unsqueeze": {"unsqueeze_dims": Extracted("axes", None, as_integers)},
        "Transpose": {"order": Extracted("perm", None, as_integers)},
        "Conv ConvTranspose": {"group": Extracted("group", 1), **_STRIDES, "dilation": Extracted("dilations", None, as_integers)},
        "MaxPool AveragePool": {"stride": Extracted("strides", None, as_integers), "window": Extracted("kernel_shape", None, as_integers)},
        "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum": _ONNX_REDUCTION,
        "DepthToSpace": {"block_size": Extracted("blocksize"), "mode": Extracted("mode", "DCR")},
        "SpaceToDepth": {"block_size": Extracted("blocksize")},
        "Cast": {"dst_type": Extracted("to")},
        "Max": {"operation": _fixed("max")},
        "Min": {"operation": _fixed("min")},
        "Sum": {"operation": _fixed("sum")},
    },
}

EXTRACTED: dict[str, dict[str, Extracted]] = {
    f"{framework}.{kind}": attributes
    for framework, families in _TABLE.items()
    for kinds, attributes in families.items()
    for kind in kinds.split()
}
"""Name of an operation -> its attributes by the extractor's names."""
