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
from moir.expansions.shape_values import dimension, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, complex_operands
from moir.lowering.pytorch.arguments import READERS, Size, named_operand, shape_value, size_list, size_scalar
from moir.lowering.pytorch.promotion import is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


class Transform(NamedTuple):
    """A transform.

    Args:
        axes: the axes, counted from the front.
        sizes: the length of the signal along each axis; -1 keeps a dynamic length.
        is_inverse: whether it is the inverse transform.
        normalization: "backward", "ortho" or "forward": which of both transforms is divided by the size.
    """

    axes: Sequence[int]
    sizes: Sequence[Size]
    is_inverse: bool
    normalization: str


def _lengths(op: OpBuilder, x: SSAValue, axes: Sequence[int], sizes: Sequence[Size]) -> list[SSAValue]:
    """The operand of signal sizes for a transform, as a list of one value; empty if they are the sizes of the
    signal.
    """
    shape = shape_of(x) or ()
    is_whole = all(
        isinstance(size, int) and (size < 0 or (axis < len(shape) and shape[axis] == size)) for axis, size in zip(axes, sizes, strict=True)
    )
    return [] if is_whole else [shape_value(op, sizes)]


def _scaled(op: OpBuilder, result: SSAValue, x: SSAValue, transform: Transform) -> SSAValue:
    """The result of a transform of x, multiplied by the factor of its normalization.

    The factor is computed if a length is; opset7.IDFT and opset9.IRDFT already divide by the size.
    """
    if transform.normalization == "backward":
        return result
    sizes = [dimension(op, x, axis) if size == -1 else size for axis, size in zip(transform.axes, transform.sizes, strict=True)]
    is_root, is_product = transform.normalization == "ortho", transform.is_inverse
    if all(isinstance(size, int) for size in sizes):
        count = float(prod(size for size in sizes if isinstance(size, int)))
        factor = sqrt(count) if is_root else count
        return op.Multiply(result, factor if is_product else 1 / factor)
    element = element_of(result)
    size = op.convert(op.ReduceProd(shape_value(op, sizes), [0], keep_dims=False), f32)
    root = op.convert(op.Sqrt(size) if is_root else size, element)
    return op.Multiply(result, root) if is_product else op.Divide(result, root)


def complex_transform(op: OpBuilder, x: SSAValue, transform: Transform) -> SSAValue:
    """The Fourier transform of complex numbers [..., 2]."""
    x = _real(op, x)
    build = op.IDFT if transform.is_inverse else op.DFT
    return _scaled(op, build(x, list(transform.axes), *_lengths(op, x, transform.axes, transform.sizes)), x, transform)


def real_transform(op: OpBuilder, x: SSAValue, transform: Transform) -> SSAValue:
    """The transform of real numbers: the frequencies from 0 up to half of the last size."""
    x = _real(op, x)
    return _scaled(op, op.RDFT(x, list(transform.axes), *_lengths(op, x, transform.axes, transform.sizes)), x, transform)


def to_real(op: OpBuilder, x: SSAValue, transform: Transform) -> SSAValue:
    """The inverse transform to real numbers, from the frequencies from 0 up to half of the last size."""
    *others, last = transform.axes
    *before, size = transform.sizes
    x = _real(op, x)
    if others:
        x = op.IDFT(x, others, *_lengths(op, x, others, before))
    return _scaled(op, op.IRDFT(x, [last], size_list(op, size)), x, transform)


def _with_parts(op: OpBuilder, x: SSAValue, is_complex: bool) -> SSAValue:
    return x if is_complex else paired(op, x, op.Multiply(x, 0))


def _transform_of(node: LoweringNode, op: OpBuilder, x: SSAValue, is_complex: bool, is_to_real: bool) -> Transform:
    """The transform that the arguments of a function of torch.fft describe.

    `is_complex` says whether the last dimension of x has pairs, `is_to_real` whether the result is real, so that the
    length of its last axis is by default 2 · (n - 1).
    """
    name = node.op.KIND.partition(".")[0].removeprefix("fft_").replace("h", "")
    shape, rank = shape_of(x), (rank_of(x) or 1) - is_complex
    dim = node.attribute("dim", None)
    lengths: list[Size] | None = None
    if (length := named_operand(node, "n")) is not None:
        lengths = [length]
    elif (wanted := node.attribute("n" if node.has("n") else "s", None)) is not None:
        lengths = [wanted] if isinstance(wanted, int) else list(READERS["Sizes"](node, "s", ()))
    if dim is not None:
        axes = [dim] if isinstance(dim, int) else list(dim)
    elif name.endswith("2"):
        axes = [-2, -1]
    elif name.endswith("n"):
        axes = list(range(rank)) if lengths is None else list(range(-len(lengths), 0))
    else:
        axes = [-1]
    axes = [axis % rank for axis in axes]
    sizes: list[Size] = []
    for index, axis in enumerate(axes):
        size: Size = -1 if shape is None else shape[axis]
        if lengths is not None and lengths[index] != -1:
            size = lengths[index]
        elif is_to_real and index == len(axes) - 1:
            size = 2 * (size - 1) if size >= 0 else op.Multiply(op.Subtract(dimension_value(op, x, axis), 1), 2)
        sizes.append(size)
    norm = node.text("norm", "backward")
    _check(node, norm)
    return Transform(axes, sizes, name[0] == "i", norm)


def _check(node: LoweringNode, norm: str) -> None:
    """Raises ConversionError for an unknown normalization."""
    if norm not in ("backward", "ortho", "forward"):
        node.fail(f"the normalization {norm!r} is not known")


@aten.lowers(*(f"fft_{kind}fft{axes}.default" for kind in ("", "i") for axes in ("", "2", "n")), complex=PAIRS)
def fft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_fft2.default(x) {s, dim, norm} -> opset7.DFT(x, dim); `ifft` opset7.IDFT"""
    x, is_complex = node.op.operands[0], 0 in complex_operands(node.op)
    transform = _transform_of(node, op, x, is_complex, False)
    return complex_transform(op, _with_parts(op, _real(op, x), is_complex), transform)


_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@aten.lowers("fft_hfft.default", "fft_hfft2.default", "fft_hfftn.default", complex=PAIRS)
def hfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_hfft.default(x) {n, dim, norm} -> the inverse transform of the conjugate of x, normalized as forward;
    `hfft2` and `hfftn` likewise
    """
    x, is_complex = _real(op, node.op.operands[0]), 0 in complex_operands(node.op)
    transform = _transform_of(node, op, x, is_complex, True)
    opposite = transform._replace(is_inverse=True, normalization=_OPPOSITE[transform.normalization])
    return to_real(op, conjugated(op, _with_parts(op, x, is_complex)), opposite)


@aten.lowers("fft_ihfft.default", "fft_ihfft2.default", "fft_ihfftn.default", complex=PAIRS)
def ihfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_ihfft.default(x) {n, dim, norm} -> the conjugate of the transform of x, normalized as an inverse;
    `ihfft2` and `ihfftn` likewise
    """
    x = node.op.operands[0]
    transform = _transform_of(node, op, x, False, False)
    opposite = transform._replace(is_inverse=False, normalization=_OPPOSITE[transform.normalization])
    return conjugated(op, real_transform(op, x, opposite))


@aten.lowers("fft_rfft.default", "fft_rfft2.default", "fft_rfftn.default", complex=PAIRS)
def rfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_rfft2.default(x) {s, dim, norm} -> opset9.RDFT(x, dim); `rfft` and `rfftn` likewise"""
    x = node.op.operands[0]
    return real_transform(op, _real(op, x), _transform_of(node, op, x, False, False))


@aten.lowers("fft_irfft.default", "fft_irfft2.default", "fft_irfftn.default", complex=PAIRS)
def irfft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_irfft2.default(x) {s, dim, norm} -> opset7.IDFT(x, first axes), opset9.IRDFT(x, last axis); `irfft` and
    `irfftn` likewise
    """
    x, is_complex = node.op.operands[0], 0 in complex_operands(node.op)
    return to_real(op, _with_parts(op, x, is_complex), _transform_of(node, op, x, is_complex, True))


def _real(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Integers and f64 as f32, since the transforms of the operation sets are for f32, f16 and bf16."""
    return op.convert(x, f32) if is_integral(element_of(x)) or element_of(x) == f64 else x


_NORMALIZATIONS = {False: {0: "backward", 1: "ortho", 2: "forward"}, True: {0: "forward", 1: "ortho", 2: "backward"}}
"""The names of the normalizations 0, 1, 2 of decomposed transforms, for forward (False) and inverse (True) transforms.
"""


def _decomposed(node: LoweringNode, x: SSAValue, is_inverse: bool, last: Size | None = None) -> Transform:
    shape, rank = shape_of(x), rank_of(x) or 1
    axes = [axis % (rank - (0 in complex_operands(node.op))) for axis in node.integers("dim")]
    sizes: list[Size] = [-1 if shape is None else shape[axis] for axis in axes]
    if last is not None:
        sizes[-1] = last
    norm = _NORMALIZATIONS[is_inverse].get(node.integer("normalization"), "")
    _check(node, norm)
    return Transform(axes, sizes, is_inverse, norm)


@aten.lowers("_fft_c2c.default", complex=PAIRS)
def c2c(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._fft_c2c.default(x) {dim, normalization, forward} -> opset7.DFT(x, dim) or IDFT"""
    x = node.op.operands[0]
    return complex_transform(op, x, _decomposed(node, x, not node.flag("forward")))


@aten.lowers("_fft_r2c.default", complex=PAIRS)
def r2c(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._fft_r2c.default(x) {dim, normalization, onesided} -> opset9.RDFT(x, dim); all frequencies by opset7.DFT"""
    x = node.op.operands[0]
    transform = _decomposed(node, x, False)
    return real_transform(op, x, transform) if node.flag("onesided") else complex_transform(op, _with_parts(op, x, False), transform)


@aten.lowers("_fft_c2r.default", complex=PAIRS)
def c2r(node: LoweringNode, op: OpBuilder, *, last_dim_size: Size) -> SSAValue:
    """aten._fft_c2r.default(x) {dim, normalization, last_dim_size} -> opset7.IDFT, opset9.IRDFT along the last axis"""
    x = node.op.operands[0]
    return to_real(op, x, _decomposed(node, x, True, last_dim_size))


@aten.lowers("fft_fftshift.default", "fft_ifftshift.default", complex=PAIRS)
def fftshift(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.fft_fftshift.default(x) {dim} -> opset7.Roll(x, half of each size, dim); `ifftshift` by the half rounded
    up
    """
    x = node.op.operands[0]
    rank = (rank_of(x) or 1) - (0 in complex_operands(node.op))
    dim = node.attribute("dim", None)
    axes = [axis % rank for axis in ([dim] if isinstance(dim, int) else list(dim or range(rank)))]
    sizes = [dimension(op, x, axis) for axis in axes]
    more = int(node.op.KIND.startswith("fft_i"))
    return op.Roll(
        x, shape_value(op, [(size + more) // 2 if isinstance(size, int) else op.Divide(op.Add(size, more), 2) for size in sizes]), axes
    )


@aten.lowers("stft.default", "stft.center", complex=PAIRS)
def stft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.stft.default(x, window) {n_fft, hop_length} -> opset9.RDFT of windows: [N, frequencies, frames]"""
    x, window = node.op.operands[0], named_operand(node, "window")
    is_complex = 0 in complex_operands(node.op)
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
    transform = Transform([rank], [size], False, "ortho" if node.flag("normalized", False) else "backward")
    if is_complex or node.attribute("onesided", None) is False:
        transformed = complex_transform(op, _with_parts(op, frames, is_complex), transform)
    else:
        transformed = real_transform(op, frames, transform)
    order = [*range(rank - 1), rank, rank - 1, rank + 1]
    return op.transposed(transformed, order)


@aten.lowers("istft.default", complex=PAIRS)
def istft(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.istft.default(x, window) {n_fft, hop_length, win_length, center, length} -> opset16.ISTFT(x, window)"""
    x, window = _real(op, node.op.operands[0]), named_operand(node, "window")
    size = node.integer("n_fft")
    hop = node.integer("hop_length", 0) or size // 4
    width = node.integer("win_length", 0) or size
    if node.flag("return_complex", False):
        node.fail("a signal of complex numbers is not made of its spectrogram")
    if window is not None and window in [node.op.operands[index] for index in complex_operands(node.op)]:
        node.fail("its window has complex numbers")
    frequencies = (shape_of(x) or (-1,) * 3)[-3]
    if node.attribute("onesided", frequencies != size) is False:
        x = op.Slice(x, [0], [size // 2 + 1], [1], [-3])
    weights = op.constant(np.ones(width), element_of(x)) if window is None else op.convert(window, element_of(x))
    computed = named_operand(node, "length")
    length = node.attribute("length", None) if computed is None else computed
    further = [] if length is None else [size_scalar(op, length)]
    properties = {"center": node.flag("center", True), "normalized": node.flag("normalized", False)}
    return op.ISTFT(x, weights, op.constant(size, si64), op.constant(hop, si64), *further, **properties)
