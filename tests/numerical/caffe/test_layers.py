"""Each kind of layer by itself, compared with OpenCV's dnn module, or with numpy where that ignores a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.numerical.caffe.networks import converted, input_layer, layer, opencv_result, random_inputs, results, write
from tests.numerical.runtime import Array

X = (2, 6, 9, 13)
generator = np.random.default_rng(7)


def weight(*shape: int, low: float = -1.0) -> Array:
    """Weights from `low` to 1."""
    return generator.uniform(low, 1, shape).astype(np.float32)


class Case(NamedTuple):
    """A layer, with the shapes of its bottoms, its weights and what computes its result; None for OpenCV."""

    type: str
    parameters: str = ""
    shapes: Sequence[Sequence[int]] = (X,)
    weights: Sequence[Array] = ()
    expected: Callable[..., Array] | None = None


def sums_of_windows(x: Array, kernel: int, stride: int, pad: int, count: int) -> tuple[Array, Array]:
    """Sums over the windows of an axis pair and the sizes of the windows, by Caffe's pooling loop."""
    n, c, height, width = x.shape
    totals = np.zeros((n, c, count, count), np.float32)
    sizes = np.zeros((count, count), np.float32)
    for i in range(count):
        for j in range(count):
            top, left = i * stride - pad, j * stride - pad
            bottom, right = min(top + kernel, height + pad), min(left + kernel, width + pad)
            sizes[i, j] = (bottom - top) * (right - left)
            totals[:, :, i, j] = x[:, :, max(top, 0) : min(bottom, height), max(left, 0) : min(right, width)].sum((2, 3))
    return totals, sizes


def averages(x: Array) -> Array:
    """Kernel 3, stride 3, pad 2: of the rounded-up windows the last one would begin after the data."""
    totals, sizes = sums_of_windows(x, 3, 3, 2, 3)
    return totals / sizes


def within_channel(x: Array) -> Array:
    """LRN within channels, size 3, alpha 0.5, beta 0.75."""
    padded = np.pad(x * x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    mean = sum(padded[:, :, i : i + x.shape[2], j : j + x.shape[3]] for i in range(3) for j in range(3)) / 9
    return x * (1 + 0.5 * mean) ** -0.75


def standardized(x: Array) -> Array:
    """MVN with ε 0.01, which is added to the standard deviation."""
    return (x - x.mean((2, 3), keepdims=True)) / (x.std((2, 3), keepdims=True) + 0.01)


def last_maximum(x: Array) -> Array:
    flat = x.reshape(x.shape[0], -1)
    return (flat.shape[1] - 1 - flat[:, ::-1].argmax(1)).reshape(-1, 1, 1).astype(np.float32)


CASES = {
    "convolution": Case(
        "Convolution", "convolution_param { num_output: 8 kernel_size: 3 pad: 1 stride: 2 }", weights=[weight(8, 6, 3, 3), weight(8)]
    ),
    "convolution of sides": Case(
        "Convolution",
        "convolution_param { num_output: 4 kernel_h: 3 kernel_w: 5 pad_h: 0 pad_w: 2 stride_h: 2 stride_w: 1 group: 2 bias_term: false }",
        weights=[weight(4, 3, 3, 5)],
    ),
    "dilated convolution": Case(
        "Convolution", "convolution_param { num_output: 4 kernel_size: 3 dilation: 2 pad: 2 }", weights=[weight(4, 6, 3, 3), weight(4)]
    ),
    "deconvolution": Case(
        "Deconvolution", "convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 }", weights=[weight(6, 4, 4, 4), weight(4)]
    ),
    "deconvolution in groups": Case(
        "Deconvolution",
        "convolution_param { num_output: 6 kernel_size: 4 stride: 2 pad: 1 group: 6 bias_term: false }",
        weights=[weight(6, 1, 4, 4)],
    ),
    "inner product": Case("InnerProduct", "inner_product_param { num_output: 5 }", weights=[weight(5, 702), weight(5)]),
    "inner product along the last axis": Case(
        "InnerProduct",
        "inner_product_param { num_output: 5 axis: 3 transpose: true }",
        weights=[weight(13, 5), weight(5)],
        expected=lambda x, w, b: x @ w + b,
    ),
    "maximum": Case("Pooling", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"),
    "maximum with padding": Case("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 pad: 1 }"),
    "average": Case("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 }"),
    "average with padding": Case("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"),
    "average with much padding": Case(
        "Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 3 pad: 2 }", shapes=[(1, 2, 5, 5)], expected=averages
    ),
    "average of everything": Case("Pooling", "pooling_param { pool: AVE global_pooling: true }"),
    "maximum of everything": Case("Pooling", "pooling_param { pool: MAX global_pooling: true }"),
    "ReLU": Case("ReLU"),
    "leaky ReLU": Case("ReLU", "relu_param { negative_slope: 0.1 }"),
    "ReLU6": Case("ReLU6"),
    "PReLU": Case("PReLU", weights=[weight(6)]),
    "shared PReLU": Case("PReLU", "prelu_param { channel_shared: true }", weights=[weight(1)]),
    "ELU": Case("ELU", "elu_param { alpha: 0.7 }", expected=lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "Sigmoid": Case("Sigmoid"),
    "TanH": Case("TanH"),
    "AbsVal": Case("AbsVal"),
    "BNLL": Case("BNLL"),
    "Power": Case("Power", "power_param { power: 2 scale: 0.5 shift: 1.5 }"),
    "Exp": Case("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }"),
    "Log": Case("Log", "log_param { base: 10 scale: 2 shift: 3 }", expected=lambda x: np.log10(2 * x + 3)),
    "Threshold": Case("Threshold", "threshold_param { threshold: 0.25 }", expected=lambda x: (x > 0.25).astype(np.float32)),
    "Clip": Case("Clip", "clip_param { min: -0.3 max: 0.4 }", expected=lambda x: np.clip(x, -0.3, 0.4)),
    "Swish": Case("Swish", "swish_param { beta: 2 }", expected=lambda x: x / (1 + np.exp(-2 * x))),
    "Softmax": Case("Softmax"),
    "Softmax along another axis": Case("Softmax", "softmax_param { axis: 3 }"),
    "sum": Case("Eltwise", "eltwise_param { operation: SUM coeff: 0.5 coeff: -2 }", shapes=[X, X]),
    "product": Case("Eltwise", "eltwise_param { operation: PROD }", shapes=[X, X]),
    "larger": Case("Eltwise", "eltwise_param { operation: MAX }", shapes=[X, X, X]),
    "Axpy": Case("Axpy", shapes=[(2, 6, 1, 1), X, X], expected=lambda a, x, y: a * x + y),
    "Scale": Case("Scale", "scale_param { bias_term: true }", weights=[weight(6), weight(6)]),
    "Scale by a bottom": Case("Scale", "scale_param { axis: 0 }", shapes=[X, (2, 6)], expected=lambda x, s: x * s[:, :, None, None]),
    "Scale by a bottom, with a bias": Case(
        "Scale",
        "scale_param { axis: 0 bias_term: true }",
        shapes=[X, (2, 6)],
        weights=[weight(2, 6)],
        expected=lambda x, s, b: x * s[:, :, None, None] + b[:, :, None, None],
    ),
    "Bias": Case("Bias", "bias_param { axis: 2 }", weights=[weight(9)], expected=lambda x, b: x + b[:, None]),
    "BatchNorm": Case("BatchNorm", "batch_norm_param { eps: 0.001 }", weights=[weight(6), weight(6, low=0.1), np.array([2.5], np.float32)]),
    "BatchNorm of the batch": Case(
        "BatchNorm",
        "batch_norm_param { use_global_stats: false }",
        weights=[weight(6), weight(6, low=0.1), np.array([1], np.float32)],
        expected=lambda x, *_: (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5),
    ),
    "LRN": Case("LRN", "lrn_param { local_size: 3 alpha: 0.7 beta: 0.6 }"),
    "LRN with k": Case(
        "LRN",
        "lrn_param { local_size: 1 alpha: 0.7 beta: 0.6 k: 2 }",
        expected=lambda x: x / (2 + 0.7 * x * x) ** 0.6,
    ),
    "LRN with a fraction as k": Case(
        "LRN",
        "lrn_param { local_size: 1 alpha: 0.7 beta: 0.6 k: 1.5 }",
        expected=lambda x: x / (1.5 + 0.7 * x * x) ** 0.6,
    ),
    "LRN within channels": Case("LRN", "lrn_param { local_size: 3 alpha: 0.5 norm_region: WITHIN_CHANNEL }", expected=within_channel),
    "MVN": Case("MVN", "mvn_param { eps: 0.01 }", expected=standardized),
    "MVN of the mean": Case("MVN", "mvn_param { normalize_variance: false across_channels: true }"),
    "Normalize": Case("Normalize", "norm_param { across_spatial: false channel_shared: false }", weights=[weight(6)]),
    "Normalize everything": Case("Normalize", "norm_param { across_spatial: true channel_shared: true }", weights=[weight(1)]),
    "Concat": Case("Concat", shapes=[X, (2, 3, 9, 13)]),
    "Concat of old": Case(
        "Concat", "concat_param { concat_dim: 2 }", shapes=[X, (2, 6, 4, 13)], expected=lambda a, b: np.concatenate([a, b], 2)
    ),
    "Flatten": Case("Flatten"),
    "Flatten of some axes": Case("Flatten", "flatten_param { axis: 1 end_axis: 2 }"),
    "Flatten of the first axes": Case("Flatten", "flatten_param { axis: 0 end_axis: -2 }"),
    "Reshape": Case("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }"),
    "Reshape of some axes": Case(
        "Reshape", "reshape_param { shape { dim: 3 dim: 0 dim: -1 } axis: 1 num_axes: 2 }", expected=lambda x: x.reshape(2, 3, 9, 2, 13)
    ),
    "Reshape with a further axis": Case(
        "Reshape", "reshape_param { shape { dim: 1 } axis: -1 num_axes: 0 }", expected=lambda x: x[..., None]
    ),
    "Permute": Case("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"),
    "Permute of some axes": Case("Permute", "permute_param { order: 1 }", expected=lambda x: x.transpose(1, 0, 2, 3)),
    "Tile": Case("Tile", "tile_param { axis: 2 tiles: 3 }", expected=lambda x: np.tile(x, (1, 1, 3, 1))),
    "ShuffleChannel": Case("ShuffleChannel", "shuffle_channel_param { group: 3 }"),
    "Crop": Case("Crop", "crop_param { axis: 2 offset: 1 offset: 4 }", shapes=[X, (2, 6, 7, 8)]),
    "Reduction": Case("Reduction", "reduction_param { operation: MEAN axis: 2 coeff: 3 }", expected=lambda x: 3 * x.mean((2, 3))),
    "Reduction of squares": Case("Reduction", "reduction_param { operation: SUMSQ axis: 1 }", expected=lambda x: (x * x).sum((1, 2, 3))),
    "Reduction of magnitudes": Case("Reduction", "reduction_param { operation: ASUM axis: -1 }", expected=lambda x: np.abs(x).sum(-1)),
    "ArgMax": Case("ArgMax", "argmax_param { axis: 1 }", expected=lambda x: x.argmax(1)[:, None].astype(np.float32)),
    "ArgMax of samples": Case("ArgMax", expected=last_maximum),
    "ArgMax of two": Case(
        "ArgMax",
        "argmax_param { axis: -1 top_k: 2 out_max_val: true }",
        expected=lambda x: -np.sort(-x, -1)[..., :2],
    ),
    "Dropout": Case("Dropout"),
    "Interp": Case("Interp", "interp_param { height: 17 width: 21 }"),
    "Interp by factors": Case("Interp", "interp_param { zoom_factor: 2 }", expected=None),
    "Upsample": Case("Upsample", "upsample_param { scale: 2 }", expected=lambda x: x.repeat(2, 2).repeat(2, 3)),
    "Resample": Case("Resample", "resample_param { type: NEAREST width: 26 height: 18 }", expected=lambda x: x.repeat(2, 2).repeat(2, 3)),
    "Embed": Case(
        "Embed",
        "embed_param { num_output: 4 input_dim: 3 }",
        shapes=[(5,)],
        weights=[weight(3, 4), weight(4)],
        expected=lambda x, w, b: w[x.astype(int)] + b,
    ),
    "SPP": Case(
        "SPP",
        "spp_param { pyramid_height: 2 pool: MAX }",
        shapes=[(2, 3, 8, 8)],
        expected=lambda x: np.concatenate([x.max((2, 3)).reshape(2, -1), x.reshape(2, 3, 2, 4, 2, 4).max((3, 5)).reshape(2, -1)], 1),
    ),
    "ROIPooling": Case("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", shapes=[(1, 3, 10, 10), (4, 5)]),
}


@pytest.mark.parametrize("name", CASES)
def test_layer(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    bottoms = [f"x{index}" if index else "x" for index in range(len(case.shapes))]
    shapes = dict(zip(bottoms, case.shapes, strict=True))
    text = input_layer(**shapes) + layer(case.type, case.parameters, bottoms)
    path = write(tmp_path, text, {"layer": case.weights})
    inputs = random_inputs(**shapes)
    if name == "ROIPooling":
        inputs["x1"] = np.array([[0, 0, 0, 9, 9], [0, 2, 4, 15, 11], [0, 6, 6, 19, 19], [0, 1, 3, 8, 17]], np.float32)
    if name == "Embed":
        inputs["x"] = np.array([2, 0, 1, 1, 2], np.float32)
    expected = opencv_result(path, inputs) if case.expected is None else case.expected(*inputs.values(), *case.weights)
    output = results(converted(path), inputs)["y"]
    assert output.shape == expected.shape
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=2e-5)


def test_response_normalization_of_dynamic_sizes(tmp_path: Path) -> None:
    path = write(tmp_path, input_layer(x=X) + layer("LRN", "lrn_param { local_size: 5 alpha: 0.7 beta: 0.6 k: 1.5 }"), {"layer": []})
    inputs = random_inputs(x=X)
    output = results(converted(path, input="x[?,?,?,?]"), inputs)["y"]
    np.testing.assert_allclose(output, results(converted(path), inputs)["y"], rtol=1e-5, atol=1e-6)
