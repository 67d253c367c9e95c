"""Each builtin operator against the interpreter: tables of cases, of which each is an output of one model."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core, run
from tests.numerical.tflite.models import converted, interpreted, kinds, signature_inputs

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(38)


def filters(*shape: int) -> Any:
    return tf.constant(RANDOM.normal(size=shape).astype(np.float32) * 0.5)


def xla() -> Any:
    return importlib.import_module("tensorflow.compiler.tf2xla.ops.gen_xla_ops")


INPUTS = {
    "x": RANDOM.normal(size=(2, 5, 6, 4)).astype(np.float32),
    "y": RANDOM.normal(size=(2, 5, 6, 4)).astype(np.float32),
    "p": RANDOM.uniform(0.2, 3, size=(2, 5, 6, 4)).astype(np.float32),
    "m": RANDOM.normal(size=(3, 4)).astype(np.float32),
    "v": RANDOM.normal(size=(1, 3, 4, 5, 2)).astype(np.float32),
    "i": RANDOM.integers(-9, 9, size=(3, 4)).astype(np.int32),
    "j": RANDOM.integers(1, 5, size=(3, 4)).astype(np.int32),
    "k": RANDOM.integers(0, 3, size=(5,)).astype(np.int32),
    "b": RANDOM.integers(0, 2, size=(3, 4)).astype(bool),
    "s": RANDOM.integers(-100, 100, size=(3, 4)).astype(np.int8),
}

FLOATS: Mapping[str, Callable[..., Any]] = {
    "ABS": lambda x, **_: tf.abs(x),
    "ADD": lambda x, y, **_: tf.nn.relu(x + y),
    "ADD_N": lambda x, y, p, **_: tf.add_n([x, y, p]),
    "ATAN2": lambda x, p, **_: tf.atan2(x, p),
    "AVERAGE_POOL_2D": lambda x, **_: tf.nn.avg_pool2d(x, [2, 3], [2, 1], "SAME"),
    "BATCH_MATMUL": lambda x, y, **_: tf.matmul(x, y, transpose_b=True),
    "BATCH_TO_SPACE_ND": lambda x, **_: tf.batch_to_space(tf.concat([x, x], 0), [2, 2], [[0, 1], [1, 0]]),
    "BROADCAST_TO": lambda m, **_: tf.broadcast_to(m[:, None, :], [3, 5, 4]) + 1,
    "CEIL": lambda x, **_: tf.math.ceil(x),
    "CONCATENATION": lambda x, y, **_: tf.concat([x, y], -1),
    "CONV_2D": lambda x, **_: tf.nn.relu6(tf.nn.conv2d(x, filters(3, 2, 4, 5), [1, 2, 1, 1], "SAME")),
    "CONV_2D dilated": lambda x, **_: tf.nn.conv2d(x, filters(2, 2, 4, 3), 1, "VALID", dilations=[2, 3]),
    "CONV_2D grouped": lambda x, **_: tf.nn.conv2d(x, filters(3, 3, 2, 6), 1, "SAME"),
    "CONV_3D": lambda v, **_: tf.nn.conv3d(v, filters(2, 3, 2, 2, 3), [1, 1, 2, 1, 1], "SAME"),
    "CONV_3D_TRANSPOSE": lambda v, **_: tf.nn.conv3d_transpose(v, filters(2, 2, 3, 3, 2), [1, 6, 8, 10, 3], 2, "SAME"),
    "COS": lambda x, **_: tf.cos(x),
    "CUMSUM": lambda x, **_: tf.cumsum(x, 1, exclusive=True, reverse=True),
    "DEPTHWISE_CONV_2D": lambda x, **_: tf.nn.depthwise_conv2d(x, filters(3, 2, 4, 2), [1, 1, 1, 1], "SAME") - 1,
    "DEPTH_TO_SPACE": lambda x, **_: tf.nn.depth_to_space(x, 2),
    "DIV": lambda x, p, **_: x / p,
    "DYNAMIC_UPDATE_SLICE": lambda x, **_: xla().xla_dynamic_update_slice(x, x[:1, :2, :2], [1, 2, 3, 0]),
    "ELU": lambda x, **_: tf.nn.elu(x),
    "EXP": lambda x, **_: tf.exp(x),
    "EXPAND_DIMS": lambda x, k, **_: tf.expand_dims(x, k[0] * 0 + 1),
    "FILL": lambda m, **_: tf.fill(tf.shape(m) + 1, m[0, 0]),
    "FLOOR": lambda x, **_: tf.floor(x),
    "FLOOR_DIV": lambda x, p, **_: tf.math.floordiv(x, p),
    "FLOOR_MOD": lambda x, p, **_: tf.math.floormod(x, p),
    "FULLY_CONNECTED": lambda m, **_: tf.nn.relu(tf.matmul(m, filters(4, 7)) + filters(7)),
    "FULLY_CONNECTED of volumes": lambda x, **_: tf.tensordot(x, filters(4, 3), [[3], [0]]),
    "GATHER": lambda x, k, **_: tf.gather(x, k, axis=1),
    "GATHER in batches": lambda m, j, **_: tf.gather(m, j - 1, batch_dims=1),
    "GATHER_ND": lambda x, j, **_: tf.gather_nd(x, tf.minimum(j, 1)),
    "GELU approximate": lambda x, **_: tf.nn.gelu(x, approximate=True),
    "HARD_SWISH": lambda x, **_: x * tf.nn.relu6(x + 3) * (1 / 6),
    "L2_NORMALIZATION": lambda x, **_: tf.nn.l2_normalize(x, -1),
    "LEAKY_RELU": lambda x, **_: tf.nn.leaky_relu(x, 0.3),
    "LOCAL_RESPONSE_NORMALIZATION": lambda x, **_: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.7),
    "LOG": lambda p, **_: tf.math.log(p),
    "LOGISTIC": lambda x, **_: tf.sigmoid(x),
    "LOG_SOFTMAX": lambda x, **_: tf.nn.log_softmax(x),
    "MATRIX_DIAG": lambda m, **_: tf.linalg.diag(m),
    "MATRIX_SET_DIAG": lambda x, **_: tf.linalg.set_diag(x, x[..., 0, :]) if False else tf.linalg.set_diag(x[0], x[0, :, :4, 0]),
    "MAXIMUM": lambda x, y, **_: tf.maximum(x, y),
    "MAX_POOL_2D": lambda x, **_: tf.nn.max_pool2d(x, [2, 3], [1, 2], "SAME"),
    "MEAN": lambda x, **_: tf.reduce_mean(x, [1, 2], keepdims=True),
    "MINIMUM": lambda x, y, **_: tf.minimum(x, y),
    "MIRROR_PAD": lambda x, **_: tf.pad(x, [[0, 0], [2, 1], [1, 2], [0, 0]], "REFLECT"),
    "MIRROR_PAD symmetric": lambda x, **_: tf.pad(x, [[0, 0], [2, 1], [1, 2], [1, 1]], "SYMMETRIC"),
    "MUL": lambda x, y, **_: x * y,
    "NEG": lambda x, **_: -x,
    "ONE_HOT": lambda k, **_: tf.one_hot(k, 4, 2.5, -1.0, axis=0),
    "PACK": lambda x, y, **_: tf.stack([x, y], 2),
    "PAD": lambda x, **_: tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 1]]),
    "PADV2": lambda x, **_: tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 1]], constant_values=0.75),
    "POW": lambda x, p, **_: tf.pow(p, x),
    "RANGE": lambda m, **_: tf.range(m[0, 0], m[0, 0] + 5, 1.5),
    "RANGE of tenths": lambda m, **_: tf.range(tf.round(m[0, 0]), tf.round(m[0, 0]) + 1.1, 0.1),
    "REDUCE_MAX": lambda x, **_: tf.reduce_max(x, [1, 3]),
    "REDUCE_MIN": lambda x, **_: tf.reduce_min(x, [-1], keepdims=True),
    "REDUCE_PROD": lambda x, **_: tf.reduce_prod(x, [2]),
    "RELU": lambda x, **_: tf.nn.relu(x),
    "RELU6": lambda x, **_: tf.nn.relu6(x),
    "RELU_N1_TO_1": lambda x, **_: tf.minimum(tf.maximum(x, -1.0), 1.0),
    "RESHAPE": lambda x, **_: tf.reshape(x, [4, -1]),
    "RESIZE_BILINEAR": lambda x, **_: tf.image.resize(x, [9, 7]),
    "RESIZE_BILINEAR aligned": lambda x, **_: tf.compat.v1.image.resize_bilinear(x, [9, 7], align_corners=True),
    "RESIZE_NEAREST_NEIGHBOR": lambda x, **_: tf.image.resize(x, [9, 7], "nearest"),
    "REVERSE_SEQUENCE": lambda x, **_: tf.reverse_sequence(x, [2, 4], seq_axis=1, batch_axis=0),
    "REVERSE_V2": lambda x, **_: tf.reverse(x, [1, 2]),
    "ROUND": lambda x, **_: tf.round(x * 4 + 0.01),
    "RSQRT": lambda p, **_: tf.math.rsqrt(p),
    "SCATTER_ND": lambda m, **_: tf.scatter_nd([[1], [3], [1]], m, [5, 4]),
    "SEGMENT_SUM": lambda m, **_: tf.math.segment_sum(m, [0, 0, 1]),
    "SELECT_V2": lambda x, y, **_: tf.where(x > 0, x, y[:1]),
    "SIGN": lambda x, **_: tf.sign(x),
    "SIN": lambda x, **_: tf.sin(x),
    "SLICE": lambda x, **_: tf.slice(x, [0, 1, 2, 0], [2, 3, -1, 2]),
    "SOFTMAX": lambda x, **_: tf.nn.softmax(x),
    "SPACE_TO_BATCH_ND": lambda x, **_: tf.space_to_batch(x, [2, 3], [[1, 0], [0, 0]]),
    "SPACE_TO_DEPTH": lambda x, **_: tf.nn.space_to_depth(x[:, :4], 2),
    "SPARSE_TO_DENSE": lambda m, **_: tf.raw_ops.SparseToDense(
        sparse_indices=[[0, 1], [2, 0]], output_shape=[3, 4], sparse_values=m[0, :2], default_value=m[1, 0], validate_indices=False
    ),
    "SPLIT": lambda x, **_: tf.split(x, 3, 2)[1],
    "SPLIT_V": lambda x, **_: tf.split(x, [1, 3, 2], 2)[2],
    "SQRT": lambda p, **_: tf.sqrt(p),
    "SQUARE": lambda x, **_: tf.square(x),
    "SQUARED_DIFFERENCE": lambda x, y, **_: tf.math.squared_difference(x, y),
    "STRIDED_SLICE": lambda x, **_: x[:, ::-2, 1:-1, 2],
    "SUB": lambda x, y, **_: x - y,
    "SUM": lambda x, **_: tf.reduce_sum(x, [0, 2]),
    "TANH": lambda x, **_: tf.tanh(x),
    "TILE": lambda m, **_: tf.tile(m, [2, 3]),
    "TOPK_V2": lambda x, **_: tf.math.top_k(x, 3).values,
    "TRANSPOSE": lambda x, **_: tf.transpose(x, [2, 0, 3, 1]),
    "TRANSPOSE_CONV": lambda x, **_: tf.nn.conv2d_transpose(x, filters(3, 3, 5, 4), [2, 10, 12, 5], 2, "SAME"),
    "UNPACK": lambda x, **_: tf.unstack(x, axis=1)[3],
    "UNSORTED_SEGMENT_MAX": lambda m, **_: tf.math.unsorted_segment_max(m, [1, 0, 1], 2),
    "UNSORTED_SEGMENT_MIN": lambda m, **_: tf.math.unsorted_segment_min(m, [1, 0, 1], 2),
    "UNSORTED_SEGMENT_PROD": lambda m, **_: tf.math.unsorted_segment_prod(m, [1, 0, 1], 2),
    "UNSORTED_SEGMENT_SUM": lambda m, **_: tf.math.unsorted_segment_sum(m, [1, 0, 1], 3),
}
"""Operators of floats, by their kinds and what is special of a case."""

INTEGERS: Mapping[str, Callable[..., Any]] = {
    "ADD of integers": lambda i, j, **_: i + j,
    "ARG_MAX": lambda x, **_: tf.argmax(x, 2, output_type=tf.int32),
    "ARG_MIN": lambda x, **_: tf.argmin(x, -1),
    "BITWISE_XOR": lambda i, j, **_: tf.bitwise.bitwise_xor(i, j),
    "BUCKETIZE": lambda x, **_: tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.25, 1.0]),
    "BUCKETIZE of NaN": lambda x, **_: tf.raw_ops.Bucketize(input=tf.math.log(x), boundaries=[-1.0, 0.0]),
    "CAST": lambda x, **_: tf.cast(x * 3, tf.int32),
    "EQUAL": lambda i, j, **_: tf.equal(i, j),
    "FLOOR_DIV of integers": lambda i, j, **_: i // j,
    "FLOOR_MOD of integers": lambda i, j, **_: i % j,
    "GREATER": lambda x, y, **_: x > y,
    "GREATER_EQUAL": lambda i, j, **_: i >= j,
    "LESS": lambda x, y, **_: x < y,
    "LESS_EQUAL": lambda i, j, **_: i <= j,
    "LOGICAL_AND": lambda b, i, **_: tf.logical_and(b, i > 0),
    "LOGICAL_NOT": lambda b, **_: tf.logical_not(b),
    "LOGICAL_OR": lambda b, i, **_: tf.logical_or(b, i > 0),
    "NON_MAX_SUPPRESSION_V4": lambda m, p, **_: (
        tf.raw_ops.NonMaxSuppressionV4(
            boxes=tf.abs(m), scores=p[0, 0, :3, 0], max_output_size=3, iou_threshold=0.3, score_threshold=0.1, pad_to_max_output_size=True
        ).selected_indices
    ),
    "NON_MAX_SUPPRESSION_V5": lambda m, p, **_: (
        tf.raw_ops.NonMaxSuppressionV5(
            boxes=tf.abs(m),
            scores=p[0, 0, :3, 0],
            max_output_size=3,
            iou_threshold=0.3,
            score_threshold=0.1,
            soft_nms_sigma=0.0,
            pad_to_max_output_size=True,
        ).selected_indices
    ),
    "NOT_EQUAL": lambda i, j, **_: tf.not_equal(i, j),
    "REDUCE_ALL": lambda b, **_: tf.reduce_all(b, 0),
    "REDUCE_ANY": lambda b, **_: tf.reduce_any(b, 1, keepdims=True),
    "RIGHT_SHIFT": lambda i, j, **_: tf.bitwise.right_shift(i, j),
    "UNIQUE": lambda k, **_: tf.unique(k).y,
    "WHERE": lambda b, **_: tf.where(b),
}
"""Operators with integers or truth values as results."""

UNKNOWN: Mapping[str, Callable[..., Any]] = {
    "BROADCAST_ARGS": lambda x, y, **_: tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y[:1])),
    "BROADCAST_TO": lambda x, y, **_: tf.broadcast_to(y[:1], tf.shape(x)),
    "PRELU": lambda x, **_: tf.nn.relu(x) + filters(1, 1, 4) * tf.nn.relu(-x),
    "GELU": lambda p, **_: tf.nn.gelu(p),
    "SHAPE": lambda x, **_: tf.shape(x, out_type=tf.int64),
    "RESHAPE": lambda x, **_: tf.reshape(x, [tf.shape(x)[0], -1]),
    "FILL": lambda x, **_: tf.fill([tf.shape(x)[0], 3], 1.5),
    "ZEROS_LIKE": lambda x, **_: tf.zeros_like(x),
    "TRANSPOSE_CONV": lambda x, **_: tf.nn.conv2d_transpose(x, filters(3, 3, 5, 4), [tf.shape(x)[0], 10, 12, 5], 2, "SAME"),
    "CONV_2D": lambda x, **_: tf.nn.conv2d(x, filters(3, 3, 4, 2), 2, "SAME"),
}
"""Operators of tensors whose first dimension is unknown."""

COMPLEX: Mapping[str, Callable[..., Any]] = {
    "RFFT2D": lambda m, **_: tf.abs(tf.signal.rfft2d(m, [4, 8])),
    "REAL": lambda m, **_: tf.math.real(tf.signal.rfft2d(m, [4, 8])),
    "IMAG": lambda m, **_: tf.math.imag(tf.signal.rfft2d(m, [4, 8])),
    "COMPLEX_ABS": lambda m, **_: tf.abs(tf.signal.rfft2d(m, [2, 4])),
}


QUANTIZED = (
    *("ABS", "ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BATCH_TO_SPACE_ND", "CONCATENATION", "CONV_2D", "CONV_2D dilated"),
    *("DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "EXP", "FULLY_CONNECTED", "GATHER", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU"),
    *("LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "PACK", "PAD", "PADV2"),
    *("REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "RSQRT", "SELECT_V2"),
    *("SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUARED_DIFFERENCE", "STRIDED_SLICE"),
    *("SUB", "SUM", "TANH", "TILE", "TOPK_V2", "TRANSPOSE", "TRANSPOSE_CONV", "UNPACK"),
    *("BROADCAST_TO", "CONV_2D grouped", "EXPAND_DIMS", "FULLY_CONNECTED of volumes", "GATHER in batches", "GATHER_ND"),
    *("GELU approximate", "LOG", "MATRIX_DIAG", "MIRROR_PAD symmetric", "REDUCE_PROD", "RELU_N1_TO_1", "RESIZE_BILINEAR aligned"),
    *("MATRIX_SET_DIAG", "REVERSE_V2", "SCATTER_ND", "SPARSE_TO_DENSE", "SQRT"),
)
"""Operators that compute with integers of 8 bits; those of 16 bits are fewer."""

QUANTIZED_CHOICES = ("ARG_MAX", "ARG_MIN", "GREATER", "LESS")
"""Operators that compare integers of 8 bits."""

QUANTIZED_UNKNOWN = ("GELU", "PRELU", "TRANSPOSE_CONV", "CONV_2D", "RESHAPE")
"""Operators that compute with integers of 8 bits, of tensors whose first dimension is unknown."""

QUANTIZED_16 = (
    *("ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "GATHER", "LEAKY_RELU"),
    *("LOGISTIC", "MAXIMUM", "MAX_POOL_2D", "MEAN", "MUL", "PAD", "RELU", "RESHAPE", "SLICE", "SOFTMAX", "SUB", "TANH", "TRANSPOSE"),
)

LARGE: Mapping[str, Callable[..., Any]] = {
    "CONV_2D large": lambda x, **_: tf.nn.conv2d(x, filters(3, 3, 4, 64), 1, "SAME"),
    "FULLY_CONNECTED large": lambda m, **_: tf.matmul(m, filters(4, 512)),
    "DEPTHWISE_CONV_2D": lambda x, **_: tf.nn.depthwise_conv2d(x, filters(3, 3, 4, 64), [1, 1, 1, 1], "SAME"),
    "TRANSPOSE_CONV": lambda x, **_: tf.nn.conv2d_transpose(x, filters(3, 3, 64, 4), [2, 10, 12, 64], 2, "SAME"),
}
"""Operators with so many weights that the converter quantizes them."""


def name_of(case: str) -> str:
    return case.replace(" ", "_").lower()


def quantized_inputs(model: bytes) -> dict[str, Any]:
    """The inputs of the comparison, as integers where the model takes integers."""
    given: dict[str, Any] = {}
    for name, value, details in signature_inputs(model, INPUTS):
        scale, zero = details["quantization"]
        ends = np.iinfo(details["dtype"]) if scale else None
        given[name] = value if ends is None else np.clip(np.round(value / scale) + zero, ends.min, ends.max).astype(details["dtype"])
    return given


def compared(tmp_path: Path, cases: Mapping[str, Callable[..., Any]], tolerance: float = 1e-5, **options: Any) -> None:
    """Convert all cases as one model, and compare its outputs."""
    model = converted(lambda **given: {name_of(case): build(**given) for case, build in cases.items()}, INPUTS, **options)
    path = tmp_path / "m.tflite"
    path.write_bytes(model)
    missing = {case.partition(" ")[0] for case in cases} - kinds(path)
    assert not missing
    inputs = quantized_inputs(model)
    wanted = interpreted(model, inputs)
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    written = core().read_model(tmp_path / "m.xml")
    names = [output.get_any_name() for output in written.outputs]
    actual = dict(zip(names, run(written, inputs, IN_FLOATS), strict=True))
    wrong: dict[str, str] = {}
    for case in cases:
        a, b = wanted[name_of(case)], actual[name_of(case)]
        if a.shape != b.shape or a.dtype != b.dtype:
            wrong[case] = f"{b.dtype}{b.shape} for {a.dtype}{a.shape}"
        elif not np.allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(a).max(initial=0))):
            wrong[case] = f"differs by {np.abs(a.astype(np.float64) - b).max()}"
    assert not wrong


@pytest.mark.parametrize("cases", [FLOATS, INTEGERS, COMPLEX], ids=["floats", "integers", "complex"])
def test_operators_compute_what_the_interpreter_computes(tmp_path: Path, cases: Mapping[str, Callable[..., Any]]) -> None:
    compared(tmp_path, cases)


def test_operators_of_unknown_sizes(tmp_path: Path) -> None:
    compared(tmp_path, UNKNOWN, unknown=("x", "y"))


def samples() -> list[dict[str, Any]]:
    """Inputs by which ranges are found: those of the comparison, and others."""
    return [INPUTS, *({name: np.roll(value, step) for name, value in INPUTS.items()} for step in (1, 2))]


@pytest.mark.parametrize("kind", ["i8", "i8 with integers as inputs", "u8 as inputs"])
def test_quantized_operators(tmp_path: Path, kind: str) -> None:
    integers = {"i8": tf.float32, "i8 with integers as inputs": tf.int8, "u8 as inputs": tf.uint8}[kind]
    compared(
        tmp_path,
        {case: FLOATS[case] for case in QUANTIZED},
        tolerance=0.02,
        samples=samples(),
        optimizations=[tf.lite.Optimize.DEFAULT],
        target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8]),
        inference_input_type=integers,
        inference_output_type=integers,
    )


@pytest.mark.parametrize("unknown", [(), ("x", "y")], ids=["choices", "unknown sizes"])
def test_further_quantized_operators(tmp_path: Path, unknown: tuple[str, ...]) -> None:
    compared(
        tmp_path,
        {case: UNKNOWN[case] for case in QUANTIZED_UNKNOWN} if unknown else {case: INTEGERS[case] for case in QUANTIZED_CHOICES},
        tolerance=0.02,
        unknown=unknown,
        samples=samples(),
        optimizations=[tf.lite.Optimize.DEFAULT],
        target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8]),
    )


def test_operators_with_activations_of_16_bits(tmp_path: Path) -> None:
    ops = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    compared(
        tmp_path,
        {case: FLOATS[case] for case in QUANTIZED_16},
        tolerance=1e-3,
        samples=samples(),
        optimizations=[tf.lite.Optimize.DEFAULT],
        target_spec=tf.lite.TargetSpec(supported_ops=[ops]),
    )


def test_quantized_weights(tmp_path: Path) -> None:
    compared(tmp_path, LARGE, tolerance=0.02, optimizations=[tf.lite.Optimize.DEFAULT])


def test_weights_of_halves(tmp_path: Path) -> None:
    halves = tf.lite.TargetSpec(supported_types=[tf.float16])
    compared(tmp_path, LARGE, tolerance=1e-3, optimizations=[tf.lite.Optimize.DEFAULT], target_spec=halves)
