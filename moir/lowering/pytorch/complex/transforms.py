"""Fourier transforms: opset7.DFT and IDFT of pairs, opset9.RDFT and IRDFT of real numbers.

Source: SpectralOps.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, f64, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.complex_numbers import conjugated, paired
from moir.expansions.shape_values import dimension_value
from moir.expansions.signal_lengths import lengthened
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import named_operand
from moir.lowering.pytorch.complex.layout import complex_operands, for_pairs
from moir.lowering.pytorch.promotion import is_integral
from moir.rewriting.builder import OpBuilder


class Transform(NamedTuple):
    """A transform.

    Args:
        axes: the axes, counted from the front.
        sizes: the length of the signal along each axis; -1 for its own length, if no factor depends on that.
        is_inverse: whether it is the inverse transform.
        normalization: "backward", "ortho" or "forward": which of both transforms is divided by the size.
    """

    axes: Sequence[int]
    sizes: Sequence[int]
    is_inverse: bool
    normalization: str

    @property
    def factor(self) -> float:
        """The number by which the transform is multiplied; the runtime's inverse transforms already divide by the
        size.
        """
        if self.normalization == "backward":
            return 1.0
        count = float(prod(self.sizes))
        if self.normalization == "ortho":
            return sqrt(count) if self.is_inverse else 1 / sqrt(count)
        if self.normalization == "forward":
            return count if self.is_inverse else 1 / count
        raise AssertionError(self.normalization)


def _cut(op: OpBuilder, x: SSAValue, axes: Sequence[int], sizes: Sequence[int]) -> SSAValue:
    """A signal cut, or padded with zeros at the end, to a size along each axis."""
    shape = shape_of(x) or ()
    for axis, size in zip(axes, sizes, strict=True):
        if size < 0 or (axis < len(shape) and shape[axis] == size):
            continue
        x = op.Slice(lengthened(op, x, axis, op.constant([size])), [0], [size], [1], [axis])
    return x


def _scaled(op: OpBuilder, x: SSAValue, factor: float) -> SSAValue:
    return x if factor == 1.0 else op.Multiply(x, factor)


def complex_transform(op: OpBuilder, x: SSAValue, how: Transform) -> SSAValue:
    """The transform of pairs."""
    x = _cut(op, _real(op, x), how.axes, how.sizes)
    found = op.IDFT(x, list(how.axes)) if how.is_inverse else op.DFT(x, list(how.axes))
    return _scaled(op, found, how.factor)


def real_transform(op: OpBuilder, x: SSAValue, how: Transform) -> SSAValue:
    """The transform of real numbers: the frequencies from 0 up to half of the last size."""
    return _scaled(op, op.RDFT(_cut(op, _real(op, x), how.axes, how.sizes), list(how.axes)), how.factor)


def to_real(op: OpBuilder, x: SSAValue, how: Transform) -> SSAValue:
    """The inverse transform to real numbers, from the frequencies from 0 up to half of the last size."""
    *others, last = how.axes
    *before, size = how.sizes
    x = _real(op, x)
    if others:
        x = op.IDFT(_cut(op, x, others, before), others)
    # The runtime's IRDFT does not add zeros itself.
    x = _cut(op, x, [last], [size // 2 + 1])
    return _scaled(op, op.IRDFT(x, [last], op.constant([size])), how.factor)


def _with_parts(op: OpBuilder, x: SSAValue, is_complex: bool) -> SSAValue:
    return x if is_complex else paired(op, x, op.Multiply(x, 0))


def _given(node: LoweringNode, x: SSAValue, is_complex: bool, is_to_real: bool) -> Transform:
    """The transform that the arguments of a function of torch.fft describe."""
    name = node.op.KIND.partition(".")[0].removeprefix("fft_").replace("h", "")
    shape, rank = shape_of(x), (rank_of(x) or 1) - is_complex
    given = node.attribute("dim", None)
    wanted = node.attribute("n", None) if node.has("n") else node.attribute("s", None)
    if named_operand(node, "n") is not None or any(each.startswith("s.") for each in node.texts("arguments", ())):
        node.fail("the lengths of its signals are computed when the model runs")
    lengths = None if wanted is None else [wanted] if isinstance(wanted, int) else list(wanted)
    if given is not None:
        axes = [given] if isinstance(given, int) else list(given)
    elif name.endswith("2"):
        axes = [-2, -1]
    elif name.endswith("n"):
        axes = list(range(rank)) if lengths is None else list(range(-len(lengths), 0))
    else:
        axes = [-1]
    axes = [axis % rank for axis in axes]
    sizes: list[int] = []
    for index, axis in enumerate(axes):
        size = -1 if shape is None else shape[axis]
        if lengths is not None and lengths[index] >= 0:
            size = lengths[index]
        elif is_to_real and index == len(axes) - 1:
            size = 2 * (size - 1) if size >= 0 else -1
        sizes.append(size)
    norm = node.text("norm", "backward")
    _check(node, norm, sizes, is_to_real)
    return Transform(axes, sizes, name[0] == "i", norm)


def _check(node: LoweringNode, norm: str, sizes: Sequence[int], is_to_real: bool) -> None:
    """Raises ConversionError for an unknown normalization, or for lengths that have to be known."""
    if norm not in ("backward", "ortho", "forward"):
        node.fail(f"the normalization {norm!r} is not known")
    if min(sizes, default=0) < 0 and (norm != "backward" or (is_to_real and sizes[-1] < 0)):
        node.fail("the lengths of its signals are unknown", hint="give the model's inputs static shapes")


@for_pairs(*(f"fft_{kind}fft{axes}" for kind in ("", "i") for axes in ("", "2", "n")))
def fft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_fft2.default(x) {s, dim, norm} -> opset7.DFT(x, dim); `ifft` opset7.IDFT"""
    x, is_complex = node.op.operands[0], 0 in (complex_operands(node.op) or ())
    how = _given(node, x, is_complex, False)
    return complex_transform(op, _with_parts(op, _real(op, x), is_complex), how)


_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@for_pairs("fft_hfft", "fft_hfft2", "fft_hfftn")
def hfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_hfft.default(x) {n, dim, norm} -> the inverse transform of the conjugate of x, with the other factor"""
    x, is_complex = _real(op, node.op.operands[0]), 0 in (complex_operands(node.op) or ())
    how = _given(node, x, is_complex, True)
    opposite = how._replace(is_inverse=True, normalization=_OPPOSITE[how.normalization])
    return to_real(op, conjugated(op, _with_parts(op, x, is_complex)), opposite)


@for_pairs("fft_ihfft", "fft_ihfft2", "fft_ihfftn")
def ihfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_ihfft.default(x) {n, dim, norm} -> the conjugate of the transform of x, with the other factor"""
    x = node.op.operands[0]
    how = _given(node, x, False, False)
    if min(how.sizes, default=0) < 0:
        node.fail("the lengths of its signals are unknown", hint="give the model's inputs static shapes")
    opposite = how._replace(is_inverse=False, normalization=_OPPOSITE[how.normalization])
    return conjugated(op, real_transform(op, x, opposite))


@for_pairs("fft_rfft", "fft_rfft2", "fft_rfftn")
def rfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_rfft2.default(x) {s, dim, norm} -> opset9.RDFT(x, dim)"""
    x = node.op.operands[0]
    return real_transform(op, _real(op, x), _given(node, x, False, False))


@for_pairs("fft_irfft", "fft_irfft2", "fft_irfftn")
def irfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_irfft2.default(x) {s, dim, norm} -> opset7.IDFT(x, first axes), opset9.IRDFT(x, last axis)"""
    x, is_complex = node.op.operands[0], 0 in (complex_operands(node.op) or ())
    return to_real(op, _with_parts(op, x, is_complex), _given(node, x, is_complex, True))


def _real(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Integers as f32, and f64, in which the runtime has no transforms."""
    return op.convert(x, f32) if is_integral(element_of(x)) or element_of(x) == f64 else x


_NORMALIZATIONS = {False: {0: "backward", 1: "ortho", 2: "forward"}, True: {0: "forward", 1: "ortho", 2: "backward"}}
"""The names of the normalizations of the decomposed transforms, by whether they are inverse ones."""


def _decomposed(node: LoweringNode, x: SSAValue, is_inverse: bool, last: int | None = None) -> Transform:
    shape, rank = shape_of(x), rank_of(x) or 1
    axes = [axis % (rank - (0 in (complex_operands(node.op) or ()))) for axis in node.integers("dim")]
    sizes = [-1 if shape is None else shape[axis] for axis in axes]
    if last is not None:
        sizes[-1] = last
    norm = _NORMALIZATIONS[is_inverse].get(node.integer("normalization"), "")
    _check(node, norm, sizes, last is not None)
    return Transform(axes, sizes, is_inverse, norm)


@for_pairs("_fft_c2c")
def c2c(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._fft_c2c.default(x) {dim, normalization, forward} -> opset7.DFT(x, dim) or IDFT"""
    x = node.op.operands[0]
    return complex_transform(op, x, _decomposed(node, x, not node.flag("forward")))


@for_pairs("_fft_r2c")
def r2c(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._fft_r2c.default(x) {dim, normalization, onesided} -> opset9.RDFT(x, dim); all frequencies by opset7.DFT"""
    x = node.op.operands[0]
    how = _decomposed(node, x, False)
    return real_transform(op, x, how) if node.flag("onesided") else complex_transform(op, _with_parts(op, x, False), how)


@for_pairs("_fft_c2r")
def c2r(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._fft_c2r.default(x) {dim, normalization, last_dim_size} -> opset7.IDFT, opset9.IRDFT along the last axis"""
    x = node.op.operands[0]
    return to_real(op, x, _decomposed(node, x, True, node.integer("last_dim_size")))


@for_pairs("fft_fftshift", "fft_ifftshift")
def fftshift(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_fftshift.default(x) {dim} -> opset7.Roll(x, half of each size, dim)"""
    x, shape = node.op.operands[0], shape_of(node.op.operands[0])
    rank = (rank_of(x) or 1) - (0 in (complex_operands(node.op) or ()))
    given = node.attribute("dim", None)
    axes = [axis % rank for axis in ([given] if isinstance(given, int) else list(given or range(rank)))]
    if shape is None or any(shape[axis] < 0 for axis in axes):
        node.fail("the sizes that it shifts by are unknown")
    inverse = node.op.KIND.startswith("fft_i")
    shifts = [(shape[axis] + 1) // 2 if inverse else shape[axis] // 2 for axis in axes]
    return op.Roll(x, shifts, axes)


@for_pairs("stft")
def stft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.stft.default(x, window) {n_fft, hop_length} -> opset9.RDFT of windows: [N, frequencies, frames]"""
    x, window = node.op.operands[0], named_operand(node, "window")
    is_complex = 0 in (complex_operands(node.op) or ())
    size, rank = node.integer("n_fft"), node.known_rank(0) - is_complex
    hop = node.integer("hop_length", 0) or size // 4
    width = node.integer("win_length", 0) or size
    if node.flag("center", False):
        node.fail("a spectrogram that pads its signal itself", hint="pad the signal before it, with center=False")
    starts = op.Range(op.constant(0), op.Subtract(dimension_value(op, x, rank - 1), size - 1), op.constant(hop), output_type=si64)
    frames = op.Gather(x, op.Add(op.Unsqueeze(starts, [1]), op.constant(np.arange(size))), rank - 1)
    if window is not None or width < size:
        weights = op.constant(np.ones(width), element_of(frames)) if window is None else op.convert(window, element_of(frames))
        before = (size - width) // 2
        weights = op.Pad(weights, [before], [size - width - before], pad_mode="constant")
        frames = op.Multiply(frames, op.Unsqueeze(weights, [-1]) if is_complex else weights)
    how = Transform([rank], [size], False, "ortho" if node.flag("normalized", False) else "backward")
    if is_complex or node.attribute("onesided", None) is False:
        found = complex_transform(op, _with_parts(op, frames, is_complex), how)
    else:
        found = real_transform(op, frames, how)
    order = [*range(rank - 1), rank, rank - 1, rank + 1]
    return op.transposed(found, order)


@for_pairs("istft")
def istft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.istft.default(x, window) {n_fft, hop_length, win_length, center, length} -> opset16.ISTFT(x, window)"""
    x, window = _real(op, node.op.operands[0]), named_operand(node, "window")
    size = node.integer("n_fft")
    hop = node.integer("hop_length", 0) or size // 4
    width = node.integer("win_length", 0) or size
    if node.flag("return_complex", False) or named_operand(node, "length") is not None:
        node.fail("a signal of complex numbers, or of a computed length, is not made of its spectrogram")
    if window is not None and window in [node.op.operands[index] for index in complex_operands(node.op) or ()]:
        node.fail("its window has complex numbers")
    frequencies = (shape_of(x) or (-1,) * 3)[-3]
    if node.attribute("onesided", frequencies != size) is False:
        x = op.Slice(x, [0], [size // 2 + 1], [1], [-3])
    weights = op.constant(np.ones(width), element_of(x)) if window is None else op.convert(window, element_of(x))
    length = node.attribute("length", None)
    further = [op.constant(length, si64)] if isinstance(length, int) else []
    how = {"center": node.flag("center", True), "normalized": node.flag("normalized", False)}
    return op.ISTFT(x, weights, op.constant(size, si64), op.constant(hop, si64), *further, **how)
