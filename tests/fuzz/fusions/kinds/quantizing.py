"""Quantization to 8 bits and back."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import floats_only
from tests.fuzz.fusions.kinds.registry import kind


def quantization(d: Draft, x: Value, *, per_channel: bool) -> tuple[list[Value], dict[str, int]]:
    """Scales and zero points, with the axis that they are along."""
    draw = d.draw
    dtype = draw.one_of((np.uint8, np.int8))
    axis = d.channel_axis(x)
    shape = (x.shape[axis],) if per_channel else ()
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
    scales = draw.random.uniform(0.01, 0.06, size=shape) if draw.chance(0.7) else np.full(shape, draw.one_of((1 / 32, 1 / 16)))
    match draw.integer(0, 2):
        case 0:
            zeros = np.full(shape, 128 if dtype == np.uint8 else 0)
        case 1:
            zeros = np.full(shape, 0)
        case _:
            zeros = np.full(shape, draw.integer(low, high - 1))
    operands = [d.constant(np.asarray(scales, np.float32).astype(x.dtype)), d.constant(np.asarray(zeros, dtype))]
    return operands, {"axis": axis} if per_channel else {}


@kind("QDQ", "quantization", 4.0)
def quantized(d: Draft, x: Value) -> Value:
    floats_only(x)
    operands, _ = quantization(d, x, per_channel=False)
    return d.op("DequantizeLinear", d.op("QuantizeLinear", x, *operands), *operands)


@kind("QDQ.channels", "quantization", 1.5)
def quantized_per_channel(d: Draft, x: Value) -> Value:
    floats_only(x)
    if x.rank < 2:
        raise NoCase("no channels")
    operands, attributes = quantization(d, x, per_channel=True)
    return d.op("DequantizeLinear", d.op("QuantizeLinear", x, *operands, **attributes), *operands, **attributes)


@kind("QDQ.other", "quantization", 0.5)
def dequantized_otherwise(d: Draft, x: Value) -> Value:
    """Quantized by one scale, dequantized by another one."""
    floats_only(x)
    operands, _ = quantization(d, x, per_channel=False)
    scale = d.scalar(d.draw.one_of((0.02, 0.1, -0.05)), x)
    result = d.op("Cast", d.op("QuantizeLinear", x, *operands), to=1)
    if x.dtype != np.float32:
        raise NoCase("f32 only")
    if d.draw.chance(0.5):
        result = d.op("Sub", result, d.scalar(d.draw.one_of((3.0, 128.0)), x))
    return d.op("Mul", result, scale)
