"""Operators of aten against numpy, all in one program: with static sizes, and with a symbol for each.

The expected values follow PyTorch's documentation; element types are those that torch infers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import moir
from tests.numerical.pytorch.programs import NAMES, Program, Type, Value
from tests.numerical.runtime import Array, compare, run

RANDOM = np.random.default_rng(7)


def floats(*shape: int) -> Array:
    """Numbers around 0, none of them close to a whole one."""
    return (RANDOM.standard_normal(shape) * 2).astype(np.float32)


X, Y, Z = floats(2, 3, 4), floats(3, 4), floats(2, 3, 4)
SQUARE, IMAGE = floats(3, 5), floats(1, 2, 5, 6)
WHOLE, J = RANDOM.integers(-7, 8, (2, 3, 4)), RANDOM.integers(1, 5, (3, 4))
SMALL = RANDOM.integers(-9, 9, (3, 4)).astype(np.int8)
BYTES = RANDOM.integers(1, 9, (3, 4)).astype(np.uint8)
MASK = RANDOM.random((3, 4)) < 0.5
SCALAR = np.array(2.5, np.float32)
LINE = np.array([-1, 0, 1, 2e38], np.float32)
EXTREME = np.array([3e38, 1, 0, np.inf, 2e38, np.nan, 0, 1e-30], np.float32)


class Case(NamedTuple):
    """An operator, its arguments by name, and its results."""

    target: str
    arguments: dict[str, Any]
    expected: tuple[Array, ...]


def case(target: str, arguments: dict[str, Any], *expected: Any) -> Case:
    """A case; expected values are arrays, whose element types count."""
    return Case(target, arguments, tuple(np.asarray(each) for each in expected))


def softmax(x: Array, axis: int) -> Array:
    """The exponentials divided by their sum."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def gelu(x: Array) -> Array:
    """x times the normal distribution."""
    return (x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))).astype(np.float32)


def written(x: Array, index: Any, value: Any) -> Array:
    """A copy with values at an index."""
    copy = x.copy()
    copy[index] = value
    return copy


def reduced(x: Array, function: Callable[..., Array], axis: Any, keep: bool = False) -> Array:
    """A reduction in the element type of the data."""
    return np.asarray(function(x, axis=axis, keepdims=keep)).astype(x.dtype)


SLOPES = np.array([0.1, 0.2], np.float32)
MEAN, VARIANCE = floats(2), np.abs(floats(2))
STANDARDIZED = (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + np.float32(1e-5))
CHANNELS = (IMAGE - MEAN[:, None, None]) / np.sqrt(VARIANCE[:, None, None] + np.float32(1e-3))
WINDOWS = IMAGE[..., :4, :].reshape(1, 2, 2, 2, 3, 2)
ROWS, COLUMNS = np.array([0, -1, 2]), np.array([1, 3, 0])
LAYER = floats(5, 4)
TOKENS = floats(3, 8) + np.array([[0], [5], [-5]], np.float32)
TOKEN_SCALES = np.array([[0.02], [0.05], [0.031]], np.float64)
TOKEN_ZEROS = np.array([[-3], [-128], [127]], np.int64)


def levels_of_tokens(scales: Array, zeros: Array) -> Array:
    """Each row of the tokens as integers of its own scale and zero point."""
    return np.clip(np.round(TOKENS / scales + zeros), -128, 127).astype(np.int8)


def parameters_of_tokens() -> tuple[Array, Array]:
    """The scales and the zero points with which 256 integers have all numbers of a row and 0.

    The zero point is that of the end of the range, of both, whose distance to its integer is smaller.
    """
    low, high = np.minimum(TOKENS.min(-1, keepdims=True), 0), np.maximum(TOKENS.max(-1, keepdims=True), 0)
    scales = (high - low) / np.float32(255)
    is_lower = (low / scales - 128) + (high / scales + 127) > 0
    return scales, np.round(np.clip(np.where(is_lower, -128 - low / scales, 127 - high / scales), -128, 127))


CASES = [
    # Type promotion: floats win over integers, tensors over scalars and numbers of their category.
    case("add.Tensor", {"self": X, "other": Y, "alpha": 2}, X + 2 * Y),
    case("add.Tensor", {"self": WHOLE, "other": 1.5}, (WHOLE + 1.5).astype(np.float32)),
    case("add.Tensor", {"self": SMALL, "other": BYTES}, SMALL.astype(np.int16) + BYTES),
    case("add.Tensor", {"self": SMALL, "other": 100}, (SMALL.astype(np.int64) + 100).astype(np.int8)),
    case("add.Tensor", {"self": MASK, "other": MASK}, MASK),
    case("add.Tensor", {"self": MASK, "other": 2}, MASK + 2),
    case("mul.Tensor", {"self": J, "other": SCALAR}, (J * SCALAR).astype(np.float32)),
    case("lt.Tensor", {"self": J, "other": SCALAR}, J < 2.5),
    case("lt.Scalar", {"self": J, "other": 2.5}, J < 2.5),
    case("eq.Tensor", {"self": SMALL, "other": BYTES}, BYTES == SMALL),
    case("ge.Scalar", {"self": MASK, "other": 1}, MASK),
    case("sub.Tensor", {"self": X, "other": 2, "alpha": 3}, X - 6),
    case("rsub.Scalar", {"self": X, "other": 2, "alpha": 3}, 2 - 3 * X),
    case("div.Tensor", {"self": WHOLE, "other": J}, (WHOLE / J).astype(np.float32)),
    case("div.Tensor_mode", {"self": WHOLE, "other": J, "rounding_mode": "floor"}, WHOLE // J),
    case("div.Tensor_mode", {"self": WHOLE, "other": J, "rounding_mode": "trunc"}, np.trunc(WHOLE / J).astype(np.int64)),
    case("floor_divide.default", {"self": X, "other": Y}, np.floor(X / Y)),
    case("remainder.Tensor", {"self": WHOLE, "other": J}, np.mod(WHOLE, J)),
    case("fmod.Tensor", {"self": X, "other": Y}, np.fmod(X, Y)),
    case("pow.Tensor_Scalar", {"self": X, "exponent": 2}, X * X),
    case("pow.Scalar", {"self": 2, "exponent": X}, (2**X).astype(np.float32)),
    case("clamp.default", {"self": X, "min": -1, "max": None}, np.maximum(X, -1)),
    case("clamp.default", {"self": WHOLE, "min": -2, "max": 3}, np.clip(WHOLE, -2, 3)),
    case("clamp.Tensor", {"self": X, "max": Y}, np.minimum(X, Y)),
    case("maximum.default", {"self": X, "other": Y}, np.maximum(X, Y)),
    case("addcmul.default", {"self": X, "tensor1": Y, "tensor2": Z, "value": 0.5}, X + np.float32(0.5) * Y * Z),
    case("lerp.Scalar", {"self": X, "end": Z, "weight": 0.25}, X + np.float32(0.25) * (Z - X)),
    case("hypot.default", {"self": X, "other": Z}, np.hypot(X, Z)),
    case("hypot.default", {"self": EXTREME, "other": EXTREME[::-1].copy()}, np.hypot(EXTREME, EXTREME[::-1])),
    case(
        "margin_ranking_loss.default",
        {"input1": BYTES, "input2": BYTES[::-1].copy(), "target": BYTES, "margin": 0.5},
        np.mean(np.maximum((-BYTES) * (BYTES - BYTES[::-1]) + 0.5, 0)).astype(np.float32),
    ),
    case("atan2.default", {"self": X, "other": Z}, np.arctan2(X, Z)),
    case("logaddexp.default", {"self": X, "other": Z}, np.logaddexp(X, Z)),
    # Elementwise functions, of integers as floats.
    case("exp.default", {"self": X}, np.exp(X)),
    case("cos.default", {"self": WHOLE}, np.cos(WHOLE).astype(np.float32)),
    case("round.default", {"self": X}, np.round(X)),
    case("floor.default", {"self": WHOLE}, WHOLE),
    case("trunc.default", {"self": X}, np.trunc(X)),
    case("log1p.default", {"self": np.abs(X)}, np.log1p(np.abs(X))),
    case("rsqrt.default", {"self": np.abs(X)}, 1 / np.sqrt(np.abs(X))),
    case("reciprocal.default", {"self": J}, (1 / J).astype(np.float32)),
    case("logical_not.default", {"self": WHOLE}, WHOLE == 0),
    case("isnan.default", {"self": WHOLE}, np.zeros_like(WHOLE, bool)),
    case("to.dtype", {"self": X, "dtype": Type("i32")}, X.astype(np.int32)),
    case("to.dtype", {"self": WHOLE, "dtype": Type("bool")}, WHOLE != 0),
    # Logic, bits, selection.
    case("logical_and.default", {"self": WHOLE, "other": J}, (WHOLE != 0) & (J != 0)),
    case("bitwise_and.Tensor", {"self": MASK, "other": MASK}, MASK),
    case("__and__.Scalar", {"self": BYTES, "other": 3}, BYTES & 3),
    case("__rshift__.Scalar", {"self": BYTES, "other": 1}, BYTES >> 1),
    case("bitwise_not.default", {"self": J}, ~J),
    case("where.self", {"condition": MASK, "self": X, "other": Y}, np.where(MASK, X, Y)),
    case("where.ScalarOther", {"condition": MASK, "self": Y, "other": 3}, np.where(MASK, Y, np.float32(3))),
    case("masked_fill.Scalar", {"self": X, "mask": MASK, "value": -1}, np.where(MASK, np.float32(-1), X)),
    # Activations.
    case("relu.default", {"self": X}, np.maximum(X, 0)),
    case("gelu.default", {"self": X}, gelu(X)),
    case("silu.default", {"self": X}, X / (1 + np.exp(-X))),
    case("leaky_relu.default", {"self": X, "negative_slope": 0.1}, np.where(X > 0, X, np.float32(0.1) * X)),
    case("elu.default", {"self": X, "alpha": 0.5}, np.where(X > 0, X, np.float32(0.5) * np.expm1(X))),
    case("softplus.default", {"self": X, "beta": 2}, np.log1p(np.exp(2 * X)) / 2),
    case("hardtanh.default", {"self": X}, np.clip(X, -1, 1)),
    case("softshrink.default", {"self": X}, np.sign(X) * np.maximum(np.abs(X) - np.float32(0.5), 0)),
    case("glu.default", {"self": X, "dim": -1}, X[..., :2] / (1 + np.exp(-X[..., 2:]))),
    case("softmax.int", {"self": X, "dim": 1}, softmax(X, 1)),
    case("_log_softmax.default", {"self": X, "dim": -1, "half_to_float": False}, np.log(softmax(X, -1))),
    case("prelu.default", {"self": IMAGE, "weight": SLOPES}, np.where(IMAGE > 0, IMAGE, IMAGE * SLOPES[:, None, None])),
    # Matrices.
    case("linear.default", {"input": X, "weight": LAYER, "bias": LAYER[:, 0]}, X @ LAYER.T + LAYER[:, 0]),
    case("matmul.default", {"self": X, "other": LAYER.T.copy()}, X @ LAYER.T),
    case(
        "addmm.default",
        {"self": LAYER[:, 0], "mat1": Y, "mat2": LAYER.T.copy(), "beta": 2, "alpha": 0.5},
        2 * LAYER[:, 0] + np.float32(0.5) * (Y @ LAYER.T),
    ),
    case("bmm.default", {"self": X, "mat2": Z.transpose(0, 2, 1).copy()}, X @ Z.transpose(0, 2, 1)),
    case("einsum.default", {"equation": "bij, bkj", "tensors": [X, Z]}, np.einsum("bij,bkj->ik", X, Z)),
    # Selection.
    case("bucketize.Tensor", {"self": EXTREME, "boundaries": LINE}, np.searchsorted(LINE, EXTREME)),
    case("searchsorted.Tensor", {"sorted_sequence": LINE, "self": EXTREME, "right": True}, np.searchsorted(LINE, EXTREME, "right")),
    # Movement.
    case("view.default", {"self": X, "size": [6, -1]}, X.reshape(6, 4)),
    case("flatten.using_ints", {"self": X, "start_dim": 0, "end_dim": 1}, X.reshape(6, 4)),
    case("unflatten.int", {"self": X, "dim": -1, "sizes": [2, 2]}, X.reshape(2, 3, 2, 2)),
    case("permute.default", {"self": X, "dims": [2, -3, 1]}, X.transpose(2, 0, 1)),
    case("transpose.int", {"self": X, "dim0": -1, "dim1": 0}, X.swapaxes(-1, 0)),
    case("expand.default", {"self": Y, "size": [2, -1, 4]}, np.broadcast_to(Y, (2, 3, 4))),
    case("squeeze.dim", {"self": Y[None], "dim": 0}, Y),
    case("repeat.default", {"self": Y, "repeats": [2, 1, 3]}, np.tile(Y, (2, 1, 3))),
    case("repeat_interleave.self_int", {"self": Y, "repeats": 2, "dim": 1}, np.repeat(Y, 2, 1)),
    case("cat.default", {"tensors": [X, Z], "dim": -1}, np.concatenate([X, Z], -1)),
    case("stack.default", {"tensors": [X, Z], "dim": -1}, np.stack([X, Z], -1)),
    case("split_with_sizes.default", {"self": X, "split_sizes": [1, 3], "dim": 2}, X[..., :1], X[..., 1:]),
    case("chunk.default", {"self": X, "chunks": 2, "dim": 1}, X[:, :2], X[:, 2:]),
    case("unbind.int", {"self": X, "dim": 0}, X[0], X[1]),
    case("flip.default", {"self": X, "dims": [0, -1]}, X[::-1, :, ::-1]),
    case("roll.default", {"self": X, "shifts": [1, -1], "dims": [0, 2]}, np.roll(X, (1, -1), (0, 2))),
    case("pad.default", {"self": X, "pad": [1, 2, 0, 1], "value": 0.5}, np.pad(X, ((0, 0), (0, 1), (1, 2)), constant_values=0.5)),
    case(
        "pad.default",
        {"self": IMAGE, "pad": [1, 2, 1, 0], "mode": "reflect"},
        np.pad(IMAGE, ((0, 0), (0, 0), (1, 0), (1, 2)), "reflect"),
    ),
    case("meshgrid.indexing", {"tensors": [ROWS, COLUMNS[:2]], "indexing": "xy"}, *np.meshgrid(ROWS, COLUMNS[:2], indexing="xy")),
    case("unfold.default", {"self": Y, "dimension": 1, "size": 2, "step": 2}, np.stack([Y[:, 0:2], Y[:, 2:4]], 1)),
    # Slices and indices.
    case("slice.Tensor", {"self": X, "dim": 2, "start": -3, "end": 2**63 - 1, "step": 2}, X[..., -3::2]),
    case("select.int", {"self": X, "dim": 1, "index": -1}, X[:, -1]),
    case("select_scatter.default", {"self": X, "src": Z[:, 0], "dim": 1, "index": -2}, written(X, np.s_[:, -2], Z[:, 0])),
    case("slice_scatter.default", {"self": X, "src": Z[:, :2], "dim": 1, "start": 1}, written(X, np.s_[:, 1:], Z[:, :2])),
    case("index_select.default", {"self": X, "dim": 2, "index": COLUMNS}, X[..., COLUMNS]),
    case("embedding.default", {"weight": LAYER, "indices": J}, LAYER[J]),
    case("gather.default", {"self": Y, "dim": 1, "index": J[:2, :3] - 1}, np.take_along_axis(Y[:2], J[:2, :3] - 1, 1)),
    case("index.Tensor", {"self": Y, "indices": [ROWS, COLUMNS]}, Y[ROWS, COLUMNS]),
    case("index.Tensor", {"self": X, "indices": [None, ROWS, COLUMNS]}, X[:, ROWS, COLUMNS]),
    case("index.Tensor", {"self": X, "indices": [np.array([0, 1, -1]), None, COLUMNS]}, X[[0, 1, -1], :, COLUMNS]),
    case("index.Tensor", {"self": Y, "indices": [MASK]}, Y[MASK]),
    case("index.Tensor", {"self": X, "indices": [None, MASK]}, X[:, MASK]),
    case("index_put.default", {"self": Y, "indices": [ROWS, COLUMNS], "values": SQUARE[0, :3]}, written(Y, (ROWS, COLUMNS), SQUARE[0, :3])),
    case("index_put.default", {"self": X, "indices": [None, ROWS[:2]], "values": Z[:, :2]}, written(X, np.s_[:, ROWS[:2]], Z[:, :2])),
    case("index_put.default", {"self": Y, "indices": [MASK], "values": SCALAR}, np.where(MASK, SCALAR, Y)),
    case("index_copy.default", {"self": X, "dim": 1, "index": ROWS[:2], "source": Z[:, :2]}, written(X, np.s_[:, ROWS[:2]], Z[:, :2])),
    case("scatter.src", {"self": Y, "dim": 1, "index": COLUMNS[None], "src": Z[0]}, written(Y, (0, COLUMNS), Z[0, 0, :3])),
    case("masked_select.default", {"self": Y, "mask": MASK}, Y[MASK]),
    case("nonzero.default", {"self": MASK}, np.argwhere(MASK)),
    case("tril.default", {"self": X, "diagonal": -1}, np.tril(X, -1)),
    case("triu.default", {"self": X, "diagonal": 1}, np.triu(X, 1)),
    case("diagonal.default", {"self": X, "offset": 1, "dim1": 1, "dim2": 2}, np.diagonal(X, 1, 1, 2)),
    # Reductions and order.
    case("sum.dim_IntList", {"self": X, "dim": [0, -1], "keepdim": True}, reduced(X, np.sum, (0, 2), True)),
    case("sum.default", {"self": MASK}, MASK.sum()),
    case("mean.dim", {"self": X, "dim": [1]}, reduced(X, np.mean, 1)),
    case("amax.default", {"self": X, "dim": [0]}, X.max(0)),
    case("max.dim", {"self": X, "dim": 2}, X.max(2), X.argmax(2)),
    case("any.dim", {"self": WHOLE, "dim": 0}, (WHOLE != 0).any(0)),
    case("argmax.default", {"self": X}, X.argmax()),
    case("var.correction", {"self": X, "dim": [1], "correction": 1}, X.var(1, ddof=1)),
    case("std.correction", {"self": X, "dim": [0, 2], "correction": 0}, X.std((0, 2))),
    case("cumsum.default", {"self": J, "dim": 1}, J.cumsum(1)),
    case("topk.default", {"self": X, "k": 2, "dim": 1, "largest": False}, np.sort(X, 1)[:, :2], np.argsort(X, 1)[:, :2]),
    case("sort.default", {"self": X, "dim": 2, "descending": True}, -np.sort(-X, 2), np.argsort(-X, 2)),
    case("linalg_vector_norm.default", {"self": X, "ord": 2, "dim": [1], "keepdim": True}, np.linalg.norm(X, axis=1, keepdims=True)),
    # Generation.
    case("arange.start_step", {"start": 1, "end": 8, "step": 3}, np.arange(1, 8, 3)),
    case("full.default", {"size": [2, 3], "fill_value": 1.5}, np.full((2, 3), 1.5, np.float32)),
    case("zeros_like.default", {"self": WHOLE}, np.zeros_like(WHOLE)),
    case("new_ones.default", {"self": X, "size": [2]}, np.ones(2, np.float32)),
    # Normalization and pooling.
    case(
        "layer_norm.default",
        {"input": X, "normalized_shape": [4], "weight": LAYER[0], "bias": LAYER[1]},
        STANDARDIZED * LAYER[0] + LAYER[1],
    ),
    case(
        "batch_norm.default",
        {"input": IMAGE, "weight": None, "running_mean": MEAN, "running_var": VARIANCE, "training": False, "momentum": 0.1, "eps": 1e-3},
        CHANNELS,
    ),
    case("avg_pool2d.default", {"self": IMAGE[..., :4, :], "kernel_size": [2, 2]}, WINDOWS.mean((3, 5))),
    case("max_pool2d.default", {"self": IMAGE[..., :4, :], "kernel_size": [2, 2]}, WINDOWS.max((3, 5))),
    case("adaptive_avg_pool2d.default", {"self": IMAGE, "output_size": [1, 1]}, IMAGE.mean((2, 3), keepdims=True)),
    case(
        "quantized_decomposed.choose_qparams_per_token_asymmetric.default", {"input": TOKENS, "dtype": Type("i8")}, *parameters_of_tokens()
    ),
    case(
        "quantized_decomposed.quantize_per_token.default",
        {"input": TOKENS, "scales": TOKEN_SCALES, "zero_points": TOKEN_ZEROS, "quant_min": -128, "quant_max": 127, "dtype": Type("i8")},
        levels_of_tokens(TOKEN_SCALES, TOKEN_ZEROS),
    ),
    case(
        "quantized_decomposed.dequantize_per_token.default",
        {
            "input": levels_of_tokens(TOKEN_SCALES, TOKEN_ZEROS),
            "scales": TOKEN_SCALES.astype(np.float32),
            "zero_points": TOKEN_ZEROS.astype(np.float32),
            "quant_min": -128,
            "quant_max": 127,
            "dtype": Type("i8"),
            "output_dtype": Type("f32"),
        },
        ((levels_of_tokens(TOKEN_SCALES, TOKEN_ZEROS) - TOKEN_ZEROS) * TOKEN_SCALES).astype(np.float32),
    ),
    case("upsample_nearest2d.vec", {"input": IMAGE, "output_size": None, "scale_factors": [2.0, 2.0]}, IMAGE.repeat(2, 2).repeat(2, 3)),
]


def program_of(form: str) -> tuple[Program, dict[str, Array], list[Array]]:
    """A program of all cases, its inputs and its expected outputs."""
    program, inputs, expected = Program(), dict[str, Array](), list[Array]()

    def given(value: Any) -> Any:
        if isinstance(value, list) and any(isinstance(each, np.ndarray) for each in value):
            return [given(each) for each in value]
        if not isinstance(value, np.ndarray):
            return value
        name = f"x{len(inputs)}"
        inputs[name] = np.array(value, order="C")
        fixed = [int(size) for size in value.shape]
        sizes: list[Any] = fixed if form == "static" else [f"Symbol('s{len(inputs)}_{axis}')" for axis in range(value.ndim)]
        return program.input(name, NAMES[value.dtype.name], sizes if form == "static" else _known_ones(fixed, sizes))

    for each in CASES:
        arguments = [(name, given(value)) for name, value in each.arguments.items()]
        elements = [NAMES[value.dtype.name] for value in each.expected]
        target = each.target if each.target.startswith("quantized_decomposed.") else f"aten.{each.target}"
        values = program.node_of_several(target, arguments, elements)
        for value, wanted in zip(values, each.expected, strict=True):
            program.output(Value(value))
            expected.append(wanted)
    return program, inputs, expected


def _known_ones(fixed: list[int], sizes: list[Any]) -> list[Any]:
    """Symbols for all sizes but 1, which torch.export never makes symbolic."""
    return [1 if size == 1 else symbol for size, symbol in zip(fixed, sizes, strict=True)]


@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_operators(tmp_path: Path, form: str) -> None:
    program, inputs, expected = program_of(form)
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), inputs)
    names = [each.target for each in CASES for _ in each.expected]
    wrong: list[str] = []
    for name, result, wanted in zip(names, results, expected, strict=True):
        try:
            compare([result], [wanted], rtol=2e-4, atol=2e-5)
        except AssertionError as error:
            wrong.append(f"{name}: {result.dtype}{list(result.shape)} {wanted.dtype}{list(wanted.shape)} {str(error).strip()[:120]}")
    assert wrong == []
