"""Functions of complex numbers on their parts, and Fourier transforms.

    %r, %i = stablehlo.complex.log(%x, %y)
->  %r = opset1.Log(the magnitude of %x + i %y), %i = the angle of (%x, %y)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, f64, si64
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.complex_numbers import (
    Binary,
    Number,
    Unary,
    angle_of_two,
    cosine,
    direction,
    exponential,
    exponential_less_one,
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
    inverse_cosine,
    inverse_hyperbolic_cosine,
    inverse_hyperbolic_sine,
    inverse_hyperbolic_tangent,
    inverse_sine,
    inverse_tangent,
    logarithm,
    logarithm_of_sum,
    magnitude,
    over,
    paired,
    parts,
    power,
    reciprocal_root,
    root,
    sigmoid,
    sine,
    tangent,
    times,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

UNARY: Mapping[str, Unary] = {
    "complex.cbrt": lambda op, a: power(op, a, Number(op.constant_like(1 / 3, a.real), op.constant_like(0, a.real))),
    "complex.chlo.acos": inverse_cosine,
    "complex.chlo.acosh": inverse_hyperbolic_cosine,
    "complex.chlo.asin": inverse_sine,
    "complex.chlo.asinh": inverse_hyperbolic_sine,
    "complex.chlo.atan": inverse_tangent,
    "complex.chlo.atanh": inverse_hyperbolic_tangent,
    "complex.chlo.cosh": hyperbolic_cosine,
    "complex.chlo.sinh": hyperbolic_sine,
    "complex.chlo.square": lambda op, a: times(op, a, a),
    "complex.chlo.tan": tangent,
    "complex.cosine": cosine,
    "complex.exponential": exponential,
    "complex.exponential_minus_one": exponential_less_one,
    "complex.log": logarithm,
    "complex.log_plus_one": logarithm_of_sum,
    "complex.logistic": sigmoid,
    "complex.rsqrt": reciprocal_root,
    "complex.sign": direction,
    "complex.sine": sine,
    "complex.sqrt": root,
    "complex.tan": tangent,
    "complex.tanh": hyperbolic_tangent,
}

BINARY: Mapping[str, Binary] = {"complex.atan2": angle_of_two, "complex.divide": over, "complex.power": power}


@stablehlo.lowers(*UNARY)
def function(node: LoweringNode, op: OpBuilder, real: SSAValue, imaginary: SSAValue) -> Sequence[SSAValue]:
    """stablehlo.complex.log(x, y) -> the real and the imaginary part of log(x + i y)

    Likewise the other complex functions of one operand: exponential, sqrt, sine, tanh, chlo.acos and so on.
    """
    return UNARY[node.op.KIND](op, Number(real, imaginary))


@stablehlo.lowers(*BINARY)
def function_of_two(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, c: SSAValue, d: SSAValue) -> Sequence[SSAValue]:
    """stablehlo.complex.divide(a, b, c, d) -> the real and the imaginary part of (a + i b) / (c + i d)

    Likewise complex.power, (a + i b) to the power (c + i d), and complex.atan2 of both.
    """
    return BINARY[node.op.KIND](op, Number(a, b), Number(c, d))


stablehlo.lowers_each(
    {
        "complex.abs": lambda op, real, imaginary: magnitude(op, Number(real, imaginary)),
        "complex.separate": lambda op, operand: parts(op, operand),
        "complex.join": paired,
    }
)


@stablehlo.lowers("complex.zero")
def zero(op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.complex.zero(x) -> zeros in the shape of x"""
    shape = shape_of(operand)
    if shape is not None and is_static(shape):
        return op.Broadcast(op.constant_like(0, operand), list(shape)) if shape else op.constant_like(0, operand)
    return op.Broadcast(op.constant_like(0, operand), op.ShapeOf(operand))


@stablehlo.lowers("complex.fft")
def transform(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, imaginary: SSAValue | None = None, *, fft_type: str, fft_length: tuple[int, ...]
) -> SSAValue | Sequence[SSAValue]:
    """stablehlo.complex.fft(x, y) {fft_type = "FFT", fft_length} -> opset7.DFT, opset9.RDFT, …

    The operations take no f64: numbers of f64 are transformed in f32.
    """
    element = element_of(operand)
    if element == f64:
        operand, imaginary = op.convert(operand, f32), None if imaginary is None else op.convert(imaginary, f32)
        results = _transformed(node, op, operand, imaginary, fft_type, fft_length)
        return [op.convert(each, f64) for each in results] if isinstance(results, Sequence) else op.convert(results, f64)
    return _transformed(node, op, operand, imaginary, fft_type, fft_length)


def _transformed(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, imaginary: SSAValue | None, fft_type: str, fft_length: tuple[int, ...]
) -> SSAValue | Sequence[SSAValue]:
    """The real and imaginary parts of a Fourier transform, or the real result of IRFFT.

    Raises ConversionError for a type that does not exist, or does not fit real operands.
    """
    axes = list(range(-len(fft_length), 0))
    lengths = op.constant(list(fft_length), si64)
    if fft_type == "RFFT" and imaginary is None:
        return parts(op, op.RDFT(operand, axes, lengths))
    if imaginary is None:
        node.fail(f"a transform {fft_type} of real numbers")
    pairs = paired(op, operand, imaginary)
    if fft_type in ("FFT", "IFFT"):
        return parts(op, op.DFT(pairs, axes) if fft_type == "FFT" else op.IDFT(pairs, axes))
    if fft_type != "IRFFT":
        node.fail(f"the transform {fft_type!r} does not exist")
    if len(axes) > 1:
        pairs = op.IDFT(pairs, axes[:-1])
    return op.IRDFT(pairs, axes[-1:], op.constant([fft_length[-1]], si64))
