"""Quantised numbers."""

from __future__ import annotations

import numpy as np
from onnx import helper

from tests.fuzz.draw import Draw
from tests.fuzz.recipes.matrix import product_shapes
from tests.fuzz.signature import Required, Signature, Values, recipe

SCALES = (0.1, 1.0, 0.5, 0.02, 2.0)


def granularity(draw: Draw, signature: Signature, shape: list[int]) -> tuple[list[int], Values]:
    """The shape of a scale: for all, for each place along an axis, for blocks along an axis."""
    kinds = 1 if not shape else 2 if signature.version >= 13 else 1
    kinds = 3 if kinds == 2 and signature.version >= 21 else kinds
    match draw.integer(1, kinds):
        case 1:
            return draw.one_of(([], [])), {"axis": None if draw.chance(0.5) else draw.axis(len(shape)), "block_size": None}
        case 2:
            axis = draw.axis(len(shape))
            return [shape[axis]], {"axis": axis, "block_size": None}
        case _:
            axis = draw.axis(len(shape))
            block = draw.integer(1, 3)
            blocks = list(shape)
            blocks[axis] = -(-shape[axis] // block)
            return blocks, {"axis": axis, "block_size": block}


@recipe("QuantizeLinear")
def quantize(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    scale, attributes = granularity(draw, signature, shape)
    x, s, z = (signature.dtype(name) for name in ("x", "y_scale", "y_zero_point"))
    values = draw.array(x, shape, special=0)
    if draw.chance(0.3) and x.kind not in "iu":
        # Halves between two steps are where roundings differ.
        values = (np.round(values.astype(np.float32) * 2) / 2).astype(x)
    scales = np.asarray(draw.random.choice(np.array(SCALES if s.kind not in "iu" else (1, 2, 3)), size=scale)).astype(s)
    zero = draw.array(z, scale, special=0) if not z.name.startswith("float") else np.zeros(scale, z)
    result = {"x": values, "y_scale": scales, "saturate": 1, "precision": None, "output_dtype": None} | attributes
    if draw.chance(0.7):
        return result | {"y_zero_point": Required(zero)}
    if signature.version >= 21 and draw.chance(0.7):
        result["output_dtype"] = helper.np_dtype_to_tensor_dtype(z)
    return result


@recipe("DequantizeLinear")
def dequantize(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    scale, attributes = granularity(draw, signature, shape)
    x, s = signature.dtype("x"), signature.dtype("x_scale")
    zero = draw.array(x, scale, special=0) if x.name[:5] != "float" and x != np.int32 else np.zeros(scale, x)
    scales = np.asarray(draw.random.choice(np.array(SCALES if s.kind not in "iu" else (1, 2, 3)), size=scale)).astype(s)
    return {"x": draw.array(x, shape, special=0.2), "x_scale": scales, "x_zero_point": zero, "output_dtype": None} | attributes


@recipe("DynamicQuantizeLinear")
def dynamic(draw: Draw, signature: Signature) -> Values:
    return {"x": draw.array(signature.dtype(), draw.filled(), special=0)}


@recipe("QLinearMatMul")
def product(draw: Draw, signature: Signature) -> Values:
    left, right = product_shapes(draw)
    values: Values = {}
    for name in ("b_zero_point", "y_zero_point"):
        signature.use(name, signature.dtype("a_zero_point"))
    for name, shape in (("a", left), ("b", right), ("y", [])):
        zero = signature.dtype(f"{name}_zero_point")
        scale = signature.dtype(f"{name}_scale")
        if name != "y":
            values[name] = draw.array(zero, shape)
        values |= {f"{name}_scale": draw.positive(scale, []), f"{name}_zero_point": draw.array(zero, [])}
    return values
