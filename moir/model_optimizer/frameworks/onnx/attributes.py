"""The attributes of ONNX nodes by the names that Model Optimizer's extractors gave them.

    onnx.Cast {to = 7}  ->  dst_type numpy.int64

Source: the attributes that Model Optimizer's nodes have in the front phase, 2019 to 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.lowering.onnx.element_types import ELEMENTS
from moir.model_optimizer.frameworks.extracted import Extracted, by_kind, computed, fixed, integers, number_as_flag, power_of
from moir.model_optimizer.frameworks.onnx.names import onnx_version
from moir.model_optimizer.frameworks.onnx.windows import channel_first_window
from moir.model_optimizer.values.python_values import element_type, is_true, numpy_type


def _softmax_axis(op: Operation) -> int:
    given = op.properties.get("axis")
    return int(value_of(given)) if given is not None else 1 if onnx_version(op) < 13 else -1


def _pads(op: Operation) -> Any:
    """The attribute `pads` of an ONNX Pad as a pair for each axis; None if it is absent."""
    given = op.properties.get("pads")
    return None if given is None else np.array(value_of(given), dtype=np.int64).reshape(2, -1).T


def _lower_case(texts: Any) -> list[str]:
    return [str(text).lower() for text in texts]


def _result_count(op: Operation) -> int:
    return len(op.results)


_ONNX_REDUCTION = {"axis": integers("axes"), "keep_dims": number_as_flag("keepdims", True)}
_ONNX_ARGUMENT = {
    "axis": Extracted("axis", 0),
    "keepdims": Extracted("keepdims", 1),
    "top_k": fixed(1),
    "out_max_val": fixed(0),
    "output_type": fixed(np.int64),
}
_ONNX_AXIS = {"axis": Extracted("axis", 0)}
_ONNX_WINDOW = {name: computed(function) for name, function in channel_first_window().items()}
_ROUNDING = Extracted("ceil_mode", 0, lambda value: "ceil" if value else "floor", back=lambda value: int(value == "ceil"))
_NUMBERS = {element: number for number, element in ELEMENTS.items()}
_DATA_TYPE = Extracted("to", None, lambda number: numpy_type(ELEMENTS[number]), back=lambda type_: _NUMBERS[element_type(type_)])
_EXCLUDE_PAD = Extracted("count_include_pad", 0, lambda value: not value, back=lambda value: int(not is_true(value)))
_LARGEST = Extracted("largest", 1, lambda value: "max" if value else "min", back=lambda mode: int(mode == "max"))
_ONNX_POOLING = {**_ONNX_WINDOW, "rounding_type": _ROUNDING}
_ONNX_RECURRENT = {
    "batch_dim": fixed(1),
    "sequence_dim": fixed(0),
    "blobs_wrb": fixed(True),
    "has_num_directions": fixed(True),
    "num_layers": fixed(1),
    "format": fixed("onnx"),
    "multilayers": fixed(False),
    "direction": Extracted("direction", "forward"),
    "activations": Extracted("activations", None, _lower_case),
}
_INT64_OUTPUT = {"output_type": fixed(np.int64)}
_LRN = {"bias": Extracted("bias", 1.0), "region": fixed("across")}
_RESIZE = {
    "mode": Extracted("mode", "nearest"),
    "coordinate_transformation_mode": Extracted("coordinate_transformation_mode", "half_pixel"),
    "nearest_mode": Extracted("nearest_mode", "round_prefer_floor"),
    "cube_coeff": Extracted("cubic_coeff_a", -0.75),
}


def _pooling(method: str, is_global: bool = False) -> dict[str, Extracted]:
    return {**_ONNX_POOLING, "pool_method": fixed(method), "global_pool": fixed(is_global)}


ATTRIBUTES = by_kind(
    {
        "Softmax LogSoftmax": {"axis": computed(_softmax_axis)},
        "TopK": {
            "axis": Extracted("axis", -1),
            "mode": _LARGEST,
        },
        "Concat": _ONNX_AXIS,
        "Gather GatherElements Scatter ScatterElements": _ONNX_AXIS,
        "Split": {**_ONNX_AXIS, "num_splits": computed(_result_count), "size_splits": integers("split")},
        "Flatten": {"axis": Extracted("axis", 1)},
        "BatchNormalization InstanceNormalization": {"eps": Extracted("epsilon", 1e-5)},
        "Gemm": {
            "alpha": Extracted("alpha", 1.0),
            "beta": Extracted("beta", 1.0),
            "transpose_a": number_as_flag("transA", False),
            "transpose_b": number_as_flag("transB", False),
        },
        "LeakyRelu": {"negative_slope": Extracted("alpha", 0.01)},
        "Elu": {"alpha": Extracted("alpha", 1.0)},
        "Squeeze": {"squeeze_dims": integers("axes")},
        "Unsqueeze": {
            "unsqueeze_dims": integers("axes"),
            "expand_axis": integers("axes"),
        },
        "Transpose": {"order": integers("perm")},
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
        "Max": {"operation": fixed("max")},
        "Min": {"operation": fixed("min")},
        "Sum": {"operation": fixed("sum")},
        "Sqrt": power_of(0.5),
        "Slice": {name: integers(name) for name in ("starts", "ends", "axes")},
        "Clip": {"min": Extracted("min", np.finfo(np.float32).min), "max": Extracted("max", np.finfo(np.float32).max)},
        "LRN": {**_LRN, "local_size": Extracted("size"), "alpha": Extracted("alpha", 1e-4), "beta": Extracted("beta", 0.75)},
        "Pad": {"mode": Extracted("mode", "constant"), "pads": computed(_pads), "fill_value": Extracted("value", 0.0)},
        "ArgMax ArgMin": _ONNX_ARGUMENT,
        "Resize Upsample": _RESIZE,
        "Shape Size NonZero": _INT64_OUTPUT,
        "ConstantOfShape": {"fill_value": Extracted("value", np.zeros(1, np.float32))},
        "OneHot": {"axis": Extracted("axis", -1)},
        "QuantizeLinear DequantizeLinear": {"axis": Extracted("axis", 1)},
        "LSTM": {**_ONNX_RECURRENT, "gate_order": fixed([2, 0, 3, 1]), "input_forget": Extracted("input_forget", 0)},
        "GRU": {**_ONNX_RECURRENT, "gate_order": fixed([0, 1, 2]), "linear_before_reset": Extracted("linear_before_reset", 0)},
        "RNN": {**_ONNX_RECURRENT, "gate_order": fixed([0])},
    }
)
"""Kind -> the records of its attributes, by Model Optimizer's names."""
