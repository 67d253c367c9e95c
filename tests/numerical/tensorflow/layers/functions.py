"""Graphs around functions of TensorFlow that are several operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array
from tests.numerical.tensorflow.layers.case import Layer, function_case

random = np.random.default_rng(11)


def floats(*shape: int) -> Array:
    return random.normal(size=shape).astype(np.float32)


X, Y, M, S = floats(2, 3, 4), floats(2, 3, 4), floats(2, 4, 4), floats(2, 40)
IMAGE = random.uniform(0, 1, (2, 6, 8, 3)).astype(np.float32)
IDS = np.array([0, 0, 1, 3], np.int32)
ROWS = floats(4, 3)
POSITIVE = np.abs(X) + np.float32(0.3)
COMPLEX = (floats(2, 3, 4) + 1j * floats(2, 3, 4)).astype(np.complex64)
SPD = (M @ M.transpose(0, 2, 1) + 4 * np.eye(4)).astype(np.float32)

ELEMENTWISE = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor is_finite is_inf is_nan lgamma log log1p "
    "log_sigmoid ndtri negative reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan "
    "tanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e"
)
WITHIN_ONE = frozenset({"acos", "asin", "atanh", "erfinv", "ndtri"})
REDUCTIONS = "reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance"
IMAGE_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "adjust_brightness": lambda x: tf.image.adjust_brightness(x, 0.2),
    "adjust_contrast": lambda x: tf.image.adjust_contrast(x, 1.5),
    "adjust_gamma": lambda x: tf.image.adjust_gamma(x, 0.5, 2.0),
    "adjust_hue": lambda x: tf.image.adjust_hue(x, 0.2),
    "adjust_saturation": lambda x: tf.image.adjust_saturation(x, 0.4),
    "central_crop": lambda x: tf.image.central_crop(x, 0.5),
    "crop_to_bounding_box": lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 4),
    "extract_patches": lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    "flip_left_right": tf.image.flip_left_right,
    "flip_up_down": tf.image.flip_up_down,
    "grayscale_to_rgb": lambda x: tf.image.grayscale_to_rgb(x[..., :1]),
    "hsv_to_rgb": tf.image.hsv_to_rgb,
    "image_gradients": lambda x: tf.image.image_gradients(x),
    "pad_to_bounding_box": lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 10, 12),
    "per_image_standardization": tf.image.per_image_standardization,
    "psnr": lambda x: tf.image.psnr(x, x * 0.9, 1.0),
    "resize_with_crop_or_pad": lambda x: tf.image.resize_with_crop_or_pad(x, 4, 10),
    "resize_with_pad": lambda x: tf.image.resize_with_pad(x, 9, 9),
    "rgb_to_grayscale": tf.image.rgb_to_grayscale,
    "rgb_to_hsv": tf.image.rgb_to_hsv,
    "rgb_to_yiq": tf.image.rgb_to_yiq,
    "rgb_to_yuv": tf.image.rgb_to_yuv,
    "rot90": lambda x: tf.image.rot90(x, 3),
    "sobel_edges": tf.image.sobel_edges,
    "ssim": lambda x: tf.image.ssim(x, x * 0.9, 1.0, filter_size=3),
    "total_variation": tf.image.total_variation,
    "transpose": tf.image.transpose,
    "yiq_to_rgb": tf.image.yiq_to_rgb,
    "yuv_to_rgb": tf.image.yuv_to_rgb,
    **{f"resize {method}": lambda x, method=method: tf.image.resize(x, (9, 5), method)
       for method in ("area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic", "nearest")},
    **{f"resize {method}, antialias": lambda x, method=method: tf.image.resize(x, (3, 5), method, antialias=True)
       for method in ("bicubic", "bilinear", "lanczos3")},
}  # fmt: skip


def rnn(x: Any, n: Any, cell: Callable[..., Any], sizes: Sequence[int]) -> Any:
    """A loop over the steps of sequences of lengths, as `dynamic_rnn` of TensorFlow 1 makes it."""
    rows = tf.transpose(x, [1, 0, 2])
    steps, batch = tf.shape(rows)[0], tf.shape(rows)[1]
    data = tf.TensorArray(tf.float32, steps).unstack(rows)
    result = tf.TensorArray(tf.float32, steps, element_shape=[None, sizes[0]])
    zeros = [tf.zeros([batch, size]) for size in sizes]

    def body(time: Any, result: Any, *states: Any) -> Any:
        new = cell(data.read(time), *states)
        done = (time >= n)[:, None]
        written = tf.where(done, zeros[0], new[0])
        return time + 1, result.write(time, written), *(tf.where(done, old, each) for old, each in zip(states, new, strict=True))

    _, result, *states = tf.while_loop(lambda time, *_: time < steps, body, (tf.constant(0), result, *zeros))
    return [tf.transpose(result.stack(), [1, 0, 2]), *states]


W_IMAGE = floats(3, 3, 3, 4)
W4, W3, W1, B4 = floats(7, 16) * np.float32(0.5), floats(7, 8), floats(7, 4), floats(16)


def lstm(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), W4) + B4, 4, axis=1)
    new = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
    return tf.sigmoid(o) * tf.tanh(new), new


def gru(x: Any, h: Any) -> tuple[Any]:
    r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), W3)), 2, axis=1)
    c = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), W1))
    return (u * h + (1 - u) * c,)


def plain(x: Any, h: Any) -> tuple[Any]:
    return (tf.tanh(tf.matmul(tf.concat([x, h], 1), W1)),)


SEQUENCE = {"x": floats(2, 6, 3), "n": np.array([3, 5], np.int32)}
KNOWN = ("x.2",)

TABLE: Mapping[str, tuple[Callable[..., Any], dict[str, Array], Sequence[str]]] = {
    **{f"math.{name}": (getattr(tf.math, name), {"x": np.clip(POSITIVE, 0, 0.9) if name in WITHIN_ONE else POSITIVE + 1}, ())
       for name in ELEMENTWISE.split()},
    **{f"math.{name} {axis}": (lambda x, name=name, axis=axis: getattr(tf.math, name)(x, axis, keepdims=axis == 1), {"x": X}, ())
       for name in REDUCTIONS.split() for axis in (None, 1, (0, 2))},
    **{f"image.{name}": (function, {"x": IMAGE}, ("x.3", "x.1", "x.2") if "gradients" in name else ("x.3",))
       for name, function in IMAGE_FUNCTIONS.items()},
    "dynamic_rnn of LSTM": (lambda x, n: rnn(x, n, lstm, (4, 4)), SEQUENCE, KNOWN),
    "dynamic_rnn of GRU": (lambda x, n: rnn(x, n, gru, (4,)), SEQUENCE, KNOWN),
    "dynamic_rnn of a plain cell": (lambda x, n: rnn(x, n, plain, (4,)), SEQUENCE, KNOWN),
    "argsort": (lambda x: tf.argsort(x, stable=True), {"x": X}, ()),
    "sort": (lambda x: tf.sort(x, direction="DESCENDING"), {"x": X}, ()),
    "boolean_mask": (lambda x, y: tf.boolean_mask(x, y > 0), {"x": X, "y": Y}, ()),
    "clip_by_norm": (lambda x: tf.clip_by_norm(x, 1.5), {"x": X}, ()),
    "clip_by_global_norm": (lambda x, y: tf.clip_by_global_norm([x, y], 1.5)[0], {"x": X, "y": Y}, ()),
    "clip_by_value": (lambda x: tf.clip_by_value(x, -0.5, 0.5), {"x": X}, ()),
    "cumsum": (lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), {"x": X}, ()),
    "one_hot, first": (lambda x: tf.one_hot(x, 5, axis=0), {"x": IDS}, ()),
    "eye": (lambda x: tf.eye(tf.shape(x)[0], 3, batch_shape=[2]) + 0 * x[0, 0, 0], {"x": X}, ()),
    "fill": (lambda x: tf.fill(tf.shape(x), 3.0) * x, {"x": X}, ()),
    "foldl": (lambda x: tf.foldl(lambda a, e: a * 0.5 + e, x), {"x": ROWS}, ()),
    "gather, batch": (lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), {"x": X, "i": np.array([[0, 3], [1, 2]])}, ()),
    "gather_nd, batch": (lambda x, i: tf.gather_nd(x, i, batch_dims=1), {"x": X, "i": np.array([[[0, 3]], [[1, 2]]])}, ("i",)),
    "histogram": (lambda x: tf.histogram_fixed_width(x, [-1.0, 1.0], 5), {"x": X}, ()),
    "map_fn": (lambda x: tf.map_fn(lambda e: e * 2.0 + tf.reduce_sum(e), x), {"x": ROWS}, ()),
    "map_fn to another type": (
        lambda x: tf.map_fn(lambda e: tf.argmax(e), x, fn_output_signature=tf.TensorSpec([], tf.int64)), {"x": ROWS}, ()),
    "meshgrid": (lambda x, y: tf.meshgrid(x, y, indexing="ij"), {"x": floats(3), "y": floats(4)}, ()),
    "norm": (lambda x: tf.norm(x, axis=1), {"x": X}, ()),
    "norm, 1": (lambda x: tf.norm(x, 1, axis=[1, 2]), {"x": X}, ()),
    "norm, infinite": (lambda x: tf.norm(x, np.inf, axis=-1), {"x": X}, ()),
    "pad, symmetric": (lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 1]], "SYMMETRIC"), {"x": X}, ()),
    "pad, reflect": (lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 1]], "REFLECT"), {"x": X}, ()),
    "repeat": (lambda x: tf.repeat(x, [1, 2, 0], axis=1), {"x": X}, ()),
    "space_to_batch": (lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), {"x": IMAGE}, ()),
    "scan": (lambda x: tf.scan(lambda a, e: a * 0.5 + e, x), {"x": ROWS}, ()),
    "scan, backwards": (lambda x: tf.scan(lambda a, e: a * 0.5 + e, x, reverse=True), {"x": ROWS}, ()),
    "sequence_mask": (lambda n: tf.sequence_mask(n, 6), {"n": IDS}, ()),
    "sequence_mask, computed": (lambda n: tf.sequence_mask(n), {"n": IDS}, ()),
    "split": (lambda x: tf.split(x, [1, 2], axis=1), {"x": X}, ()),
    "tensordot": (lambda x, y: tf.tensordot(x, y, [[1, 2], [1, 2]]), {"x": X, "y": Y}, ()),
    "top_k": (lambda x: tf.math.top_k(x, 2), {"x": X}, ()),
    "in_top_k": (lambda x, i: tf.math.in_top_k(i, x, 2), {"x": ROWS, "i": np.array([0, 1, 2, 0])}, ()),
    "unique_with_counts": (lambda i: tf.unique_with_counts(i), {"i": IDS}, ()),
    "unstack": (lambda x: tf.unstack(x, axis=1), {"x": X}, ("x.1",)),
    "where": (lambda x: tf.where(x > 0), {"x": X}, ()),
    "while": (lambda x: tf.while_loop(lambda x: tf.reduce_sum(x) < 100.0, lambda x: (x * 2.0 + 1.0,), (x,)), {"x": X}, ()),
    "case": (lambda x: tf.switch_case(tf.cast(tf.reduce_sum(x) > 0, tf.int32), [lambda: x + 1, lambda: x - 1]), {"x": X}, ()),
    "bincount": (lambda i: tf.math.bincount(i, minlength=3), {"i": IDS}, ()),
    "confusion_matrix": (lambda i: tf.math.confusion_matrix(i, i[::-1], 4), {"i": IDS}, ()),
    "l2_normalize": (lambda x: tf.math.l2_normalize(x, 1), {"x": X}, ()),
    "zero_fraction": (lambda x: tf.math.zero_fraction(x), {"x": np.maximum(X, 0)}, ()),
    "segment_mean": (lambda x, i: tf.math.segment_mean(x, i), {"x": ROWS, "i": IDS}, ()),
    "unsorted_segment_mean": (lambda x, i: tf.math.unsorted_segment_mean(x, i, 5), {"x": ROWS, "i": IDS}, ()),
    "unsorted_segment_sqrt_n": (lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 5), {"x": ROWS, "i": IDS}, ()),
    "polyval": (lambda x: tf.math.polyval([2.0, 1.0, -0.5], x), {"x": X}, ()),
    "angle": (lambda x: tf.math.angle(x), {"x": COMPLEX}, ()),
    "complex product": (lambda x: x * tf.math.conj(x) + tf.exp(x), {"x": COMPLEX}, ()),
    "complex matmul": (lambda x: tf.matmul(x, x, adjoint_b=True), {"x": COMPLEX}, ()),
    "complex mean": (lambda x: tf.reduce_mean(x, 1), {"x": COMPLEX}, ()),
    "linalg.adjoint": (tf.linalg.adjoint, {"x": X}, ()),
    "linalg.band_part": (lambda x: tf.linalg.band_part(x, 1, 2), {"x": M}, ()),
    "linalg.cross": (lambda x: tf.linalg.cross(x[..., :3], x[..., 1:]), {"x": X}, ("x.2",)),
    "linalg.det": (tf.linalg.det, {"x": SPD}, ("x.1", "x.2")),
    "linalg.diag": (tf.linalg.diag, {"x": X}, ()),
    "linalg.diag, diagonals": (lambda x: tf.linalg.diag(x, k=(-1, 1)), {"x": X}, ("x.1", "x.2")),
    "linalg.diag_part": (tf.linalg.diag_part, {"x": M}, ()),
    "linalg.inv": (tf.linalg.inv, {"x": SPD}, ("x.1", "x.2")),
    "linalg.solve": (tf.linalg.solve, {"matrix": SPD, "rhs": M}, ("matrix.1", "matrix.2", "rhs.1", "rhs.2")),
    "linalg.l2_normalize": (lambda x: tf.linalg.l2_normalize(x, -1), {"x": X}, ()),
    "linalg.matmul": (lambda x, y: tf.linalg.matmul(x, y, transpose_b=True), {"x": X, "y": Y}, ()),
    "linalg.matvec": (lambda x, y: tf.linalg.matvec(x, y), {"x": M, "y": floats(2, 4)}, ()),
    "linalg.normalize": (lambda x: tf.linalg.normalize(x, axis=1), {"x": X}, ()),
    "linalg.set_diag": (lambda x: tf.linalg.set_diag(x, tf.ones(tf.shape(x)[:-1])), {"x": M}, ()),
    "linalg.tensor_diag": (tf.linalg.tensor_diag, {"x": floats(4)}, ()),
    "linalg.trace": (tf.linalg.trace, {"x": M}, ()),
    "signal.dct": (lambda x: tf.signal.dct(x), {"x": S}, ("x.1",)),
    "signal.idct": (lambda x: tf.signal.idct(x), {"x": S}, ("x.1",)),
    "signal.fft": (tf.signal.fft, {"x": COMPLEX}, ()),
    "signal.fft2d": (tf.signal.fft2d, {"x": COMPLEX}, ()),
    "signal.fftshift": (lambda x: tf.signal.fftshift(x, 1), {"x": X}, ()),
    "signal.frame": (lambda x: tf.signal.frame(x, 8, 4), {"x": S}, ()),
    "signal.hann_window": (lambda n: tf.signal.hann_window(n), {"n": np.array(8, np.int32)}, ()),
    "signal.irfft": (lambda x: tf.signal.irfft(tf.signal.rfft(x)), {"x": S}, ("x.1",)),
    "signal.mdct": (lambda x: tf.signal.mdct(x, 8), {"x": S}, ("x.1",)),
    "signal.mfcc": (lambda x: tf.signal.mfccs_from_log_mel_spectrograms(x), {"x": S}, ("x.1",)),
    "signal.overlap_and_add": (lambda x: tf.signal.overlap_and_add(x, 2), {"x": X}, ("x.1", "x.2")),
    "signal.rfft": (lambda x: tf.signal.rfft(x), {"x": S}, ("x.1",)),
    "signal.stft": (lambda x: tf.abs(tf.signal.stft(x, 16, 8)), {"x": S}, ()),
    "signal.inverse_stft": (lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 16, 8), 16, 8), {"x": S}, ("x.1",)),
    "nn.atrous_conv2d": (lambda x: tf.nn.atrous_conv2d(x, W_IMAGE, 2, "SAME"), {"x": IMAGE}, ("x.3",)),
    "nn.batch_normalization": (lambda x: tf.nn.batch_normalization(x, 0.1, 1.2, 0.3, 0.9, 1e-3), {"x": X}, ()),
    "nn.crelu": (tf.nn.crelu, {"features": X}, ()),
    "nn.log_softmax": (lambda x: tf.nn.log_softmax(x, 1), {"x": X}, ()),
    "nn.depth_to_space": (lambda x: tf.nn.depth_to_space(tf.concat([x] * 4, -1), 2), {"x": IMAGE}, ("x.3",)),
    "nn.embedding_lookup": (lambda x, i: tf.nn.embedding_lookup(x, i), {"x": ROWS, "i": IDS}, ()),
    "nn.avg_pool": (lambda x: tf.nn.avg_pool(x, 2, 1, "SAME"), {"x": IMAGE}, ("x.3",)),
    "nn.gelu": (lambda x: tf.nn.gelu(x), {"x": X}, ()),
    "nn.gelu, approximate": (lambda x: tf.nn.gelu(x, True), {"x": X}, ()),
    "nn.max_pool": (lambda x: tf.nn.max_pool(x, 2, 2, "VALID"), {"x": IMAGE}, ("x.3",)),
    "nn.moments": (lambda x: tf.nn.moments(x, [0, 1]), {"x": X}, ()),
    "nn.weighted_moments": (lambda x: tf.nn.weighted_moments(x, [0], 1.0), {"x": X}, ()),
    "nn.pool": (lambda x: tf.nn.pool(x, [2, 2], "AVG", dilations=[2, 1]), {"x": IMAGE}, ("x.3",)),
    "nn.l2_loss": (lambda x: tf.nn.l2_loss(x), {"x": X}, ()),
    "nn.separable_conv2d": (
        lambda x: tf.nn.separable_conv2d(x, W_IMAGE[..., :1], W_IMAGE[:1, :1, :, :2], [1, 1, 1, 1], "SAME"), {"x": IMAGE}, ("x.3",)),
    "nn.sigmoid_cross_entropy": (
        lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(y > 0, tf.float32), x), {"x": X, "y": Y}, ()),
    "nn.silu": (lambda x: tf.nn.silu(x), {"x": X}, ()),
    "nn.softmax_cross_entropy": (
        lambda x, y: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), x), {"x": X, "y": Y}, ()),
    "nn.local_response_normalization": (lambda x: tf.nn.local_response_normalization(x, 2), {"x": IMAGE}, ()),
    "nn.max_pool_with_argmax": (lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"), {"x": IMAGE}, ("x.3",)),
    "ragged.range": (lambda n: tf.ragged.range(n).to_tensor(), {"n": IDS}, ()),
    "ragged to dense": (lambda x, n: tf.RaggedTensor.from_row_lengths(x, n).to_tensor(-1.0), {"x": floats(4), "n": IDS}, ()),
    "ragged sums": (lambda x, n: tf.reduce_sum(tf.RaggedTensor.from_row_lengths(x, n), 1), {"x": floats(4), "n": IDS}, ()),
    "sparse to dense": (
        lambda i, v: tf.sparse.to_dense(tf.SparseTensor(i, v, [3, 4])),
        {"i": np.array([[0, 1], [2, 3]], np.int64), "v": floats(2)}, ("i.1",)),
    "sparse product": (
        lambda i, v, x: tf.sparse.sparse_dense_matmul(tf.SparseTensor(i, v, [3, 4]), x),
        {"i": np.array([[0, 1], [2, 3]], np.int64), "v": floats(2), "x": floats(4, 2)}, ("i.1", "x.1")),
    "sparse rows": (
        lambda i, v: tf.sparse.fill_empty_rows(tf.SparseTensor(i, v, [3, 4]), 9.0)[0].values,
        {"i": np.array([[0, 1], [2, 3]], np.int64), "v": floats(2)}, ("i.1",)),
    "safe_embedding_lookup_sparse": (
        lambda i, v: tf.nn.safe_embedding_lookup_sparse(ROWS, tf.SparseTensor(i, v, [3, 4]), combiner="mean"),
        {"i": np.array([[0, 1], [0, 2], [2, 3]], np.int64), "v": np.array([1, 2, 3], np.int64)}, ("i.1",)),
}  # fmt: skip
"""Functions with their inputs and what of the shapes is known in the dynamic form."""

LOOPS = ("rnn", "map_fn", "foldl", "scan", "while", "case")
"""Parts of the names of functions that have control flow."""


@cache
def functions() -> dict[str, Layer]:
    """All graphs by name, such as `tf/image.resize area`; those with loops also in the form of the first version."""
    results: dict[str, Layer] = {}
    for name, (function, inputs, fixed) in TABLE.items():
        case = partial(function_case, name, function, inputs, fixed=fixed)
        results[f"tf/{name}"] = Layer(name, case)
        if any(word in name for word in LOOPS):
            results[f"tf/{name}, version 1"] = Layer(name, partial(case, lowered=True))
    return results
