"""Parts of floating-point numbers, and their neighbours.

Source: BinaryOps.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.expansions.special.neighbours import neighbour_toward
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_HALF = 75
"""Half of the largest exponent of a power of two in the table; the exponents of f32 are between -149 and 128."""


@aten.lowers("nextafter.default")
def nextafter(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.nextafter.default(x, y) -> x ± a little more than half of the distance to its neighbour"""
    return neighbour_toward(op, *as_element(op, inferred_element(node), self, other))


@aten.lowers("hash_tensor.default")
def hash_tensor(node: LoweringNode) -> NoReturn:
    """aten.hash_tensor.default(x): raises ConversionError, because it joins the bits of f64, which no operation
    reads
    """
    node.fail("it computes with the bits of floats", hint="compute the hash outside of the model")


@aten.lowers("frexp.Tensor")
def frexp(op: OpBuilder, self: SSAValue) -> Replacement:
    """aten.frexp.Tensor(x) -> m and e, 0.5 ≤ |m| < 1, of x = m · 2ᵉ

    The logarithm determines the exponent up to an error of 1. x is divided by powers of two from a table, so that no
    digit is lost. For 0, infinity and NaN the exponent is 0.
    """
    x = op.convert(self, f32)
    size = op.Abs(x)
    is_number = op.LogicalAnd(op.IsFinite(x), op.NotEqual(x, 0))
    safe = op.Select(is_number, size, op.constant_like(1, x))
    logarithm = op.Floor(op.Divide(op.Log(safe), float(np.log(2.0))))
    estimate = op.convert(op.Maximum(op.Minimum(logarithm, 2.0 * _HALF - 2), -2.0 * _HALF + 2), si64)
    half = op.Divide(estimate, 2)
    powers = op.constant(2.0 ** -np.arange(-_HALF, _HALF + 1).astype(np.float64), f32)
    # One power of two could be too large or too small for f32, so that each divides by half of the exponent.
    scaled = op.Multiply(safe, op.Gather(powers, op.Add(half, _HALF), 0))
    scaled = op.Multiply(scaled, op.Gather(powers, op.Add(op.Subtract(estimate, half), _HALF), 0))
    above, below = op.GreaterEqual(scaled, 2.0), op.Less(scaled, 1.0)
    fraction = op.Multiply(scaled, op.Select(above, op.constant(0.25, f32), op.Select(below, op.constant(1.0, f32), op.constant(0.5, f32))))
    exponent = op.Add(estimate, op.Select(above, op.constant(2), op.Select(below, op.constant(0), op.constant(1))))
    exponent = op.Select(is_number, exponent, op.constant(0))
    return [op.Select(is_number, op.Multiply(fraction, op.Sign(x)), x), op.convert(exponent, si32)]
