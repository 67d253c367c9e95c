"""Functions of TensorFlow that models of Keras 2 have as layers: the runtime computes what TensorFlow does.

All functions of a group are outputs of one model, which is converted once.
"""

from __future__ import annotations

import json
import math
import os
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import MoirError
from moir.lowering.keras.tensorflow.calls import FUNCTIONS
from moir.lowering.tensorflow.table import tf as tensorflow_table
from tests.numerical.runtime import Array, core
from tests.unit.frontends.tensorflow_js.exporter import functional, input_layer, layer

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf: Any = import_module("tensorflow")
h5py: Any = import_module("h5py")

RANDOM = np.random.default_rng(0)
INPUTS: dict[str, Array] = {
    "x": np.tanh(RANDOM.standard_normal((2, 4, 4, 4))).astype(np.float32),
    "u": RANDOM.random((2, 4, 4, 3)).astype(np.float32),
    "m": RANDOM.random((2, 4, 4)).astype(np.float32) + 3 * np.eye(4, dtype=np.float32),
    "i": RANDOM.integers(0, 4, (2, 4)).astype(np.int32),
    "b": RANDOM.random((2, 4)) > 0.5,
}

FILTERS = RANDOM.standard_normal((2, 2, 4, 3)).round(2).tolist()
DEPTHWISE = RANDOM.standard_normal((3, 3, 4, 2)).round(2).tolist()
SAME = {"strides": 1, "padding": "SAME"}
POOL = {"ksize": 2, "strides": 2, "padding": "SAME"}
PADS = [[0, 0], [1, 2], [2, 1], [0, 0]]
SPD = [[[2.0, 0.5], [0.5, 1.0]]]

CASES: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "arrays": [
        ("broadcast_to", "x", {"shape": [3, 2, 4, 4, 4]}),
        ("compat.v1.pad", "x", {"tensor": None, "paddings": PADS, "mode": "CONSTANT", "constant_values": 1.5}),
        ("compat.v1.pad", "x", {"paddings": PADS, "mode": "REFLECT"}),
        ("pad", "x", {"paddings": PADS, "mode": "SYMMETRIC"}),
        ("slice", "x", {"begin": [0, 1, 0, 0], "size": [-1, 2, 2, 2]}),
        ("strided_slice", "x", {"begin": [0, 1], "end": [2, 3], "strides": [1, 2]}),
        ("tile", "x", {"multiples": [1, 2, 1, 1]}),
        ("roll", "x", {"shift": [1, -1], "axis": [1, 2]}),
        ("reverse", "x", {"axis": [1, 2]}),
        ("repeat", "x", {"repeats": 2, "axis": 1}),
        ("repeat", "x", {"repeats": [1, 0, 2, 1], "axis": 1}),
        ("transpose", "x", {"perm": [0, 3, 1, 2]}),
        ("transpose", "x", {}),
        ("expand_dims", "x", {"axis": -2}),
        ("reshape", "x", {"shape": [-1, 8]}),
        ("split", "x", {"num_or_size_splits": [1, 3], "axis": -1}),
        ("split", "x", {"num_or_size_splits": 2, "axis": 1}),
        ("unstack", "x", {"axis": -1}),
        ("gather", "x", {"indices": [0, 2], "axis": 1}),
        ("gather", "x", {"indices": [[0, 2], [1, 1]], "axis": 2, "batch_dims": 1}),
        ("gather_nd", "x", {"indices": [[0, 1], [1, 2]]}),
        ("one_hot", "i", {"depth": 4, "on_value": 2.0, "off_value": -1.0}),
        ("one_hot", "i", {"depth": 4, "dtype": "int32", "axis": 1}),
        ("sequence_mask", "i", {"maxlen": 5}),
        ("sequence_mask", "i", {"dtype": "float32"}),
        ("shape", "x", {"out_type": "int32"}),
        ("shape", "x", {"out_type": "int64"}),
        ("size", "x", {}),
        ("rank", "x", {}),
        ("zeros_like", "x", {"dtype": "int32"}),
        ("ones_like", "x", {}),
        ("where", "b", {"x": 1.0, "y": 0.0}),
        ("where", "b", {}),
        ("boolean_mask", "x", {"mask": [[True, False, True, True], [False, False, True, False]]}),
        ("space_to_batch", "x", {"block_shape": [2, 2], "paddings": [[0, 0], [0, 0]]}),
        ("compat.v1.batch_to_space_nd", "x", {"block_shape": [1, 2], "crops": [[0, 0], [0, 1]]}),
        ("reverse_sequence", "x", {"seq_lengths": [2, 3], "seq_axis": 1}),
        ("tensor_scatter_nd_update", "m", {"indices": [[1, 2]], "updates": [[1.0, 2.0, 3.0, 4.0]]}),
        ("tensor_scatter_nd_add", "m", {"indices": [[1, 2]], "updates": [[1.0, 2.0, 3.0, 4.0]]}),
        ("sort", "x", {"axis": 1}),
        ("sort", "x", {"direction": "DESCENDING"}),
        ("argsort", "x", {"axis": -1, "direction": "DESCENDING"}),
        ("math.top_k", "x", {"k": 2}),
        ("math.argmax", "x", {"axis": -1}),
        ("math.argmin", "x", {"axis": 1, "output_type": "int32"}),
        ("math.argmax", "x", {}),
        ("fill", "i", {"dims": [2, 3], "value": None}),
        ("clip_by_value", "x", {"clip_value_min": -0.3, "clip_value_max": 0.4}),
        ("dtypes.saturate_cast", "x", {"dtype": "uint8"}),
        ("cast", "x", {"dtype": "int32"}),
        ("searchsorted", "m", {"sorted_sequence": None, "values": [[[0.5, 1.5]] * 4] * 2}),
        ("ensure_shape", "x", {"shape": [None, 4, 4, 4]}),
    ],
    "images": [
        ("image.resize", "x", {"size": [8, 7]}),
        ("image.resize", "x", {"size": [8, 7], "method": "nearest"}),
        ("image.resize", "x", {"size": [8, 7], "method": "bicubic"}),
        ("image.resize", "x", {"size": [2, 2], "method": "area"}),
        ("image.resize", "x", {"size": [7, 6], "method": "lanczos3"}),
        ("image.resize", "x", {"size": [2, 3], "antialias": True}),
        ("image.resize", "x", {"size": [8, 7], "preserve_aspect_ratio": True}),
        ("image.resize", "m", {"size": [3, 5]}),
        ("image.flip_left_right", "x", {}),
        ("image.flip_up_down", "m", {}),
        ("image.transpose", "x", {}),
        ("image.rot90", "x", {"k": 1}),
        ("image.rot90", "x", {"k": 2}),
        ("image.rot90", "x", {"k": 3}),
        ("image.central_crop", "x", {"central_fraction": 0.5}),
        ("image.crop_to_bounding_box", "x", {"offset_height": 1, "offset_width": 0, "target_height": 2, "target_width": 3}),
        ("image.pad_to_bounding_box", "x", {"offset_height": 1, "offset_width": 2, "target_height": 7, "target_width": 7}),
        ("image.resize_with_crop_or_pad", "x", {"target_height": 3, "target_width": 6}),
        ("image.resize_with_pad", "x", {"target_height": 6, "target_width": 9}),
        ("image.rgb_to_grayscale", "u", {}),
        ("image.rgb_to_yuv", "u", {}),
        ("image.yuv_to_rgb", "u", {}),
        ("image.rgb_to_yiq", "u", {}),
        ("image.yiq_to_rgb", "u", {}),
        ("image.rgb_to_hsv", "u", {}),
        ("image.hsv_to_rgb", "u", {}),
        ("image.adjust_brightness", "u", {"delta": 0.3}),
        ("image.adjust_contrast", "u", {"contrast_factor": 1.5}),
        ("image.adjust_gamma", "u", {"gamma": 2.0, "gain": 1.5}),
        ("image.adjust_saturation", "u", {"saturation_factor": 1.5}),
        ("image.adjust_hue", "u", {"delta": 0.2}),
        ("image.per_image_standardization", "u", {}),
        ("image.convert_image_dtype", "u", {"dtype": "uint8"}),
        ("image.convert_image_dtype", "u", {"dtype": "uint8", "saturate": True}),
        (
            "image.extract_patches",
            "x",
            {"sizes": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"},
        ),
        ("image.image_gradients", "x", {}),
        ("image.sobel_edges", "x", {}),
        ("image.total_variation", "x", {}),
        ("image.crop_and_resize", "x", {"boxes": [[0.0, 0.0, 1.0, 1.0], [0.2, 0.1, 0.7, 0.9]], "box_indices": [0, 1], "crop_size": [3, 3]}),
    ],
    "matrices": [
        ("linalg.matmul", "m", {"b": [[[1.0], [2.0], [3.0], [4.0]]], "adjoint_a": True}),
        ("linalg.matvec", "m", {"b": [1.0, 2.0, 3.0, 4.0]}),
        ("linalg.matrix_transpose", "m", {}),
        ("linalg.adjoint", "m", {}),
        ("linalg.band_part", "m", {"num_lower": 1, "num_upper": 0}),
        ("linalg.diag", "i", {}),
        ("linalg.diag_part", "m", {"k": 1}),
        ("linalg.set_diag", "m", {"diagonal": [[1.0, 2.0, 3.0, 4.0]] * 2}),
        ("linalg.trace", "m", {}),
        ("linalg.det", "m", {}),
        ("linalg.inv", "m", {}),
        ("linalg.solve", "m", {"rhs": [[[1.0], [2.0], [3.0], [4.0]]] * 2}),
        ("linalg.triangular_solve", "m", {"rhs": [[[1.0], [2.0], [3.0], [4.0]]] * 2}),
        ("linalg.cross", "u", {"b": np.ones((2, 4, 4, 3)).tolist()}),
        ("linalg.normalize", "x", {"axis": -1}),
        ("tensordot", "m", {"b": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], "axes": 1}),
        ("tensordot", "m", {"b": [[1.0, 2.0, 3.0, 4.0]], "axes": [[1], [1]]}),
        ("norm", "x", {"axis": -1}),
        ("norm", "x", {"ord": 1, "axis": 1, "keepdims": True}),
        ("norm", "x", {"ord": 3, "axis": -1}),
        ("norm", "x", {"ord": 1, "axis": [1, 2]}),
        ("norm", "x", {}),
        ("math.squared_difference", "x", {"y": 0.5}),
        ("math.l2_normalize", "x", {"axis": -1}),
        ("math.l2_normalize", "x", {"axis": [1, 2], "epsilon": 0.5}),
        ("math.reduce_euclidean_norm", "x", {"axis": 1}),
        ("math.reduce_std", "x", {"axis": [1, 2], "keepdims": True}),
        ("math.count_nonzero", "i", {"axis": 1}),
        ("math.zero_fraction", "i", {}),
        ("math.cumsum", "x", {"axis": 1, "exclusive": True}),
        ("math.cumprod", "x", {"axis": -1, "reverse": True}),
        ("math.cumulative_logsumexp", "x", {"axis": 1}),
        ("math.segment_sum", "m", {"segment_ids": [0, 0]}),
        ("math.unsorted_segment_mean", "m", {"segment_ids": [1, 1], "num_segments": 3}),
        ("math.unsorted_segment_sqrt_n", "m", {"segment_ids": [1, 1], "num_segments": 3}),
        ("math.logical_xor", "b", {"y": True}),
        ("math.xlogy", "u", {"y": 0.5}),
        ("math.xdivy", "u", {"y": 0.5}),
        ("math.multiply_no_nan", "u", {"y": 0.0}),
        ("math.reciprocal_no_nan", "u", {}),
        ("math.acos", "x", {}),
        ("math.atan2", "x", {"x": 0.5}),
        ("math.erfc", "x", {}),
        ("math.lgamma", "u", {}),
        ("math.igamma", "u", {"x": 0.5}),
        ("math.rint", "x", {}),
        ("clip_by_norm", "x", {"clip_norm": 0.5}),
        ("clip_by_norm", "x", {"clip_norm": 0.5, "axes": [-1]}),
        ("bitwise.bitwise_and", "i", {"y": 3}),
        ("truncatemod", "i", {"y": 3}),
    ],
    "networks": [
        ("nn.conv2d", "x", {"filters": FILTERS, **SAME}),
        ("nn.conv2d", "x", {"filters": FILTERS, "strides": [1, 2, 2, 1], "padding": [[0, 0], [1, 0], [0, 1], [0, 0]]}),
        ("compat.v1.nn.conv2d", "x", {"filter": FILTERS, "strides": [1, 1, 1, 1], "padding": "SAME", "use_cudnn_on_gpu": True}),
        ("nn.convolution", "x", {"filters": FILTERS, "padding": "SAME", "dilations": 2}),
        ("nn.conv1d", "m", {"filters": FILTERS[0], "stride": 2, "padding": "SAME"}),
        ("nn.atrous_conv2d", "x", {"filters": FILTERS, "rate": 2, "padding": "SAME"}),
        ("nn.depthwise_conv2d", "x", {"filter": DEPTHWISE, "strides": [1, 1, 1, 1], "padding": "SAME"}),
        (
            "nn.separable_conv2d",
            "x",
            {
                "depthwise_filter": DEPTHWISE,
                "pointwise_filter": np.ones((1, 1, 8, 3)).tolist(),
                "strides": [1, 1, 1, 1],
                "padding": "VALID",
            },
        ),
        ("nn.conv2d_transpose", "x", {"filters": np.ones((2, 2, 3, 4)).tolist(), "output_shape": [2, 8, 8, 3], "strides": 2}),
        ("nn.avg_pool2d", "x", POOL),
        ("nn.max_pool2d", "x", POOL | {"padding": "VALID"}),
        ("nn.avg_pool", "x", POOL | {"ksize": [1, 3, 3, 1], "strides": [1, 1, 1, 1]}),
        ("nn.max_pool1d", "m", POOL),
        ("nn.pool", "x", {"window_shape": [2, 2], "pooling_type": "MAX", "strides": [2, 2], "padding": "SAME"}),
        ("nn.max_pool_with_argmax", "x", POOL),
        ("nn.depth_to_space", "x", {"block_size": 2}),
        ("nn.space_to_depth", "x", {"block_size": 2}),
        ("nn.local_response_normalization", "x", {"depth_radius": 2, "alpha": 0.5}),
        ("nn.moments", "x", {"axes": [1, 2]}),
        ("nn.moments", "x", {"axes": [0], "keepdims": True}),
        ("nn.bias_add", "x", {"bias": [1.0, 2.0, 3.0, 4.0]}),
        (
            "nn.batch_normalization",
            "x",
            {"mean": 0.1, "variance": 0.5, "offset": [1.0, 2.0, 3.0, 4.0], "scale": 2.0, "variance_epsilon": 1e-3},
        ),
        ("nn.crelu", "x", {}),
        ("nn.silu", "x", {"beta": 1.5}),
        ("nn.softmax", "x", {"axis": 1}),
        ("nn.log_softmax", "x", {"axis": 1}),
        ("nn.l2_loss", "x", {}),
        ("nn.sigmoid_cross_entropy_with_logits", "u", {"logits": 0.5}),
        ("nn.softmax_cross_entropy_with_logits", "u", {"logits": np.ones((2, 4, 4, 3)).tolist()}),
        ("nn.embedding_lookup", "x", {"ids": [1, 0]}),
        ("nn.dropout", "x", {"rate": 0}),
    ],
}


def public(name: str) -> Any:
    """The function of TensorFlow that has a name."""
    return reduce(getattr, name.split("."), tf)


def saved(path: Path, layers: list[Any]) -> Path:
    """An HDF5 file of Keras 2 whose outputs are the results of layers."""
    kinds = {"float32": "float32", "int32": "int32", "bool": "bool"}
    inputs = [input_layer(name, each.shape[1:], kinds[each.dtype.name]) for name, each in INPUTS.items()]
    for each in inputs:
        each["config"]["batch_input_shape"][0] = 2
    model = functional([*inputs, *layers], [*INPUTS], [each["name"] for each in layers])
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        file.attrs["keras_version"] = "2.15.0"
        file.create_group("model_weights").attrs["layer_names"] = [b"x"]
    return path


def called(name: str, function: str, operand: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """A layer that calls a function with an input."""
    entry = layer("TFOpLambda", name, function=function, trainable=True, dtype="float32")
    return entry | {"inbound_nodes": [[operand, 0, 0, keywords]]}


def converted(path: Path) -> list[Array]:
    """The results of a model for the inputs."""
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    names = {name for port in compiled.inputs for name in port.get_names()}
    return [*compiled({name: value for name, value in INPUTS.items() if name in names}).values()]


# A first argument of another name than that of the operand, which would be given twice.
FIRST = {"fill": "value", "searchsorted": "sorted_sequence", "compat.v1.pad": "tensor"}


@pytest.mark.parametrize("group", CASES)
def test_functions(group: str, tmp_path: Path) -> None:
    layers, expected = [], []
    for index, (function, operand, keywords) in enumerate(CASES[group]):
        stored = {key: value for key, value in keywords.items() if value is not None}
        given = dict(stored)
        if function == "compat.v1.nn.conv2d":
            given.pop("use_cudnn_on_gpu")
        if function == "fill":
            layers.append(
                called(f"f{index}", function, operand, stored | {"value": 2.0})
                | {"inbound_nodes": [["_CONSTANT_VALUE", -1, [2, 3], {"value": 2.0}]]}
            )
            expected.append(tf.fill([2, 3], 2.0).numpy())
            continue
        if function in ("nn.sigmoid_cross_entropy_with_logits", "nn.softmax_cross_entropy_with_logits"):
            shape = INPUTS[operand].shape
            result = public(function)(labels=INPUTS[operand], logits=np.broadcast_to(np.float32(given["logits"]), shape))
        elif function == "nn.dropout":
            result = INPUTS[operand]
        else:
            result = public(function)(tf.constant(INPUTS[operand]), **given)
        layers.append(called(f"f{index}", function, operand, stored))
        first = result[0] if isinstance(result, list | tuple) else result
        expected.append(np.asarray(first))
    results = converted(saved(tmp_path / "m.h5", layers))
    wrong = {}
    for (function, _, keywords), got, wanted in zip(CASES[group], results, expected, strict=True):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            wrong[f"{function} {keywords}"] = f"{got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
        elif not np.allclose(got, wanted, rtol=1e-3, atol=1e-4):
            wrong[f"{function} {keywords}"] = str(np.abs(got.astype(np.float64) - wanted).max())
    assert not wrong


def test_functions_are_tensorflows() -> None:
    """Each function of the table has the name of one of TensorFlow, and its operations have lowerings."""
    names = [name for name in FUNCTIONS if name not in ("cast", "nn.swish")]
    for name in names:
        # Some are in tf.math as well as in tf.nn; Keras knows these by the first name.
        assert callable(public(name)), name
    kinds = set(tensorflow_table.kinds())
    used = {each.args[0] for each in FUNCTIONS.values() if isinstance(each, partial)}
    assert used <= kinds


def test_nested_constants_before_a_tensor(tmp_path: Path) -> None:
    """The first argument is a list of constants; each item repeats the keywords of the call."""
    rest = {"updates": ["x", 0, 0], "shape": [5, 4, 4, 4]}
    rows = [[["_CONSTANT_VALUE", -1, 1, rest]], [["_CONSTANT_VALUE", -1, 3, rest]]]
    scattered = called("y", "scatter_nd", "x", {}) | {"inbound_nodes": [rows]}
    (result,) = converted(saved(tmp_path / "m.h5", [scattered]))
    np.testing.assert_array_equal(result, tf.scatter_nd([[1], [3]], INPUTS["x"], [5, 4, 4, 4]).numpy())


def test_numbers_among_joined_tensors(tmp_path: Path) -> None:
    """tf.stack and tf.concat of tensors and numbers."""
    size = called("size", "compat.v1.size", "x", {})
    joined = called("joined", "stack", "x", {}) | {"inbound_nodes": [[["size", 0, 0, {}], ["_CONSTANT_VALUE", -1, 7, {}]]]}
    (result, _) = converted(saved(tmp_path / "m.h5", [joined, size]))
    assert result.tolist() == [INPUTS["x"].size, 7]


def test_sizes_that_are_computed(tmp_path: Path) -> None:
    """tf.reshape(x, [tf.shape(x)[0], -1]), as tf_keras writes it, and tf.image.resize to a computed size."""
    layers = [
        called("shape", "compat.v1.shape", "x", {"out_type": "int32"}),
        called("rows", "__operators__.getitem", "shape", {"slice_spec": 0}) | {"class_name": "SlicingOpLambda"},
        called("flat", "reshape", "x", {"shape": [["rows", 0, 0], -1]}),
        called("sides", "__operators__.getitem", "shape", {"slice_spec": [{"start": 1, "stop": 3, "step": None}]})
        | {"class_name": "SlicingOpLambda"},
        called("resized", "image.resize", "x", {"size": ["sides", 0, 0]}),
    ]
    results = converted(saved(tmp_path / "m.h5", layers))
    np.testing.assert_array_equal(results[2], INPUTS["x"].reshape(2, -1))
    np.testing.assert_allclose(results[4], INPUTS["x"], rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "keywords", "reason"),
    [
        ("einsum", {}, r"only the first argument of tf\.einsum.*convert the SavedModel"),
        ("math.special.spence", {}, r"the function tf\.math\.special\.spence is not supported"),
        ("nn.dropout", {"rate": 0.5}, "random elements at inference"),
        ("image.resize", {"size": [2, 2], "method": "mine"}, "the method 'mine' does not exist"),
        ("image.resize", {"sizes": [2, 2]}, r"its arguments do not fit tf\.image\.resize"),
        ("slice", {"begin": [0]}, "its argument size is missing"),
        ("nn.conv2d", {"filters": "a", "strides": 1, "padding": "SAME"}, "where a tensor is meant"),
        ("norm", {"ord": "nuc", "axis": [1, 2]}, "the norm 'nuc' of matrices"),
        ("split", {"num_or_size_splits": [[1], 3]}, "integers are expected"),
    ],
)
def test_what_is_refused(function: str, keywords: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(MoirError, match=reason) as raised:
        moir.convert_model(saved(tmp_path / "m.h5", [called("y", function, "x", keywords)]))
    assert "'y'" in str(raised.value)
    assert math.isfinite(len(str(raised.value)))
