"""Windows of signals, and numbers at equal distances or ratios: constants, or computed from their bounds.

Source: TensorFactories.cpp and RangeFactories.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral, number_of
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size

_Numbers = NDArray[np.floating[Any]]


def _cosines(*factors: float) -> Callable[[_Numbers], _Numbers]:
    """A function of t, from 0 to 1, that returns f0 - f1 · cos(2πt) + f2 · cos(4πt) - …, for the given factors f."""
    return lambda t: np.sum([(-1) ** k * factor * np.cos(2 * np.pi * k * t) for k, factor in enumerate(factors)], axis=0)


WINDOWS: Mapping[str, Callable[[_Numbers], _Numbers]] = {
    "hann": _cosines(0.5, 0.5),
    "blackman": _cosines(0.42, 0.5, 0.08),
    "bartlett": lambda t: 1 - np.abs(2 * t - 1),
}
"""The windows by name, as functions of the position from 0 to 1."""


def _positions(length: int, periodic: bool) -> _Numbers:
    """The positions of a window's elements, from 0 to 1; a periodic window consists of the first elements of a window
    that is longer by 1.
    """
    check_constant_size(length)
    return np.arange(length) / max(length if periodic else length - 1, 1)


def _constant(node: LoweringNode, op: OpBuilder, values: _Numbers) -> SSAValue:
    return op.convert(op.constant(values.astype(np.float32)), inferred_element(node))


@aten.lowers(*(f"{name}_window.{overload}" for name in WINDOWS for overload in ("default", "periodic")))
def window(node: LoweringNode, op: OpBuilder, *, window_length: int, periodic: bool = True) -> SSAValue:
    """aten.hann_window.default() {window_length, periodic} -> opset1.Constant of the window; likewise the others in
    WINDOWS
    """
    if window_length == 1:
        return op.Reshape(number_of(op, 1, inferred_element(node)), [1], special_zero=False)
    return _constant(node, op, WINDOWS[node.op.KIND.partition("_")[0]](_positions(window_length, periodic)))


@aten.lowers(*(f"hamming_window.{overload}" for overload in ("default", "periodic", "periodic_alpha", "periodic_alpha_beta")))
def hamming(
    node: LoweringNode, op: OpBuilder, *, window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46
) -> SSAValue:
    """aten.hamming_window.periodic_alpha_beta() {alpha, beta} -> alpha - beta · cos(2πt) as a constant"""
    if window_length == 1:
        return op.Reshape(number_of(op, 1, inferred_element(node)), [1], special_zero=False)
    return _constant(node, op, _cosines(alpha, beta)(_positions(window_length, periodic)))


@aten.lowers(*(f"kaiser_window.{overload}" for overload in ("default", "periodic", "beta")))
def kaiser(node: LoweringNode, op: OpBuilder, *, window_length: int, periodic: bool = True, beta: float = 12.0) -> SSAValue:
    """aten.kaiser_window.beta() {beta} -> the window of Kaiser as a constant"""
    check_constant_size(window_length)
    whole = np.kaiser(window_length + periodic, beta)
    return _constant(node, op, whole[:window_length] if window_length > 1 else np.ones(window_length))


_BOUNDS = ("default", "Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
"""The overloads of functions with two bounds, each a number or a tensor."""


@aten.lowers(*(f"linspace.{overload}" for overload in _BOUNDS), *(f"logspace.{overload}" for overload in _BOUNDS))
def linspace(node: LoweringNode, op: OpBuilder, *, start: Scalar, end: Scalar, steps: int, base: float = 10.0) -> SSAValue:
    """aten.linspace.default() {start, end, steps} -> a constant, or computed from the bounds

    `logspace` raises the base to these numbers. Bounds are converted to the element type of the result; results of an
    integer type are truncated at the end.
    """
    element = inferred_element(node)
    check_constant_size(steps)
    is_logarithmic = node.op.KIND.startswith("logspace")
    if not isinstance(start, SSAValue) and not isinstance(end, SSAValue):
        first, last = (float(np.asarray(each).astype(to_numpy(element))) for each in (start, end))
        numbers = np.linspace(first, last, steps)
        return op.constant((base**numbers if is_logarithmic else numbers).astype(to_numpy(element)), element)
    bounds = (op.Reshape(each, [], special_zero=False) for each in as_element(op, element, start, end))
    low, high = (op.convert(each, f32) if is_integral(element) else each for each in bounds)
    step = op.Divide(op.Subtract(high, low), float(max(steps - 1, 1)))
    indices = np.arange(steps)
    # The second half is computed from the last bound, which is exact then.
    points = op.Select(
        indices < max(steps // 2, steps == 1),
        op.Add(low, op.Multiply(step, op.constant_like(indices, step))),
        op.Subtract(high, op.Multiply(step, op.constant_like(steps - 1 - indices, step))),
    )
    if not is_logarithmic:
        return op.convert(points, element)
    powers = op.Power(op.constant_like(base, points), points)
    if not is_integral(element):
        return powers
    # A power that is a whole number may be computed a little below it.
    whole = op.Round(powers)
    near = op.LessEqual(op.Abs(op.Subtract(powers, whole)), op.Multiply(op.Abs(whole), 1e-5))
    return op.convert(op.Select(near, whole, powers), element)


@aten.lowers("fft_fftfreq.default", "fft_rfftfreq.default")
def frequencies(node: LoweringNode, op: OpBuilder, *, n: int, d: float = 1.0) -> SSAValue:
    """aten.fft_fftfreq.default() {n, d} -> the frequencies of a transform as a constant; `rfftfreq` -> those from 0
    on
    """
    return _constant(node, op, (np.fft.rfftfreq if "rfft" in node.op.KIND else np.fft.fftfreq)(n, d))
