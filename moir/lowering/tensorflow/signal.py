"""Fourier transforms. Complex numbers are pairs in a last dimension of 2.

    %y = tf.RFFT2D(%x, %length)
->  %y = opset9.RDFT(%x, [-2, -1], %length)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import is_static, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Handler
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def innermost_axes(node: LoweringNode) -> list[int]:
    """The axes that a kind transforms: the last 1, 2 or 3 axes."""
    kind = node.op.KIND
    return list(range(-(int(kind[-2]) if kind.endswith("D") else 1), 0))


def complex_transform(build: str) -> Handler:
    """A handler for transforms of complex numbers."""

    def handler(node: LoweringNode, op: OpBuilder) -> SSAValue:
        return getattr(op, build)(node.operand(0), innermost_axes(node))

    return handler


tf.lowers("FFT", "FFT2D", "FFT3D")(complex_transform("DFT"))
tf.lowers("IFFT", "IFFT2D", "IFFT3D")(complex_transform("IDFT"))


@tf.lowers("RFFT", "RFFT2D", "RFFT3D")
def real_transform(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.RFFT2D(x, lengths) -> opset9.RDFT(x, [-2, -1], lengths)

    The CPU plugin (2026.4) does not compile computed lengths of data of known sizes: these are cut before.
    """
    data, lengths, axes = node.operand(0), node.operand(1), innermost_axes(node)
    if node.constant_integers(1) is None and is_static(shape_of(data)):
        # They are at most the sizes of the data.
        data = op.Slice(data, [0] * len(axes), op.convert(lengths, si64), [1] * len(axes), axes)
        return op.RDFT(data, axes)
    return op.RDFT(data, axes, lengths)


@tf.lowers("IRFFT", "IRFFT2D", "IRFFT3D")
def inverse_real_transform(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.IRFFT2D(x, lengths) -> opset9.IRDFT(x, [-2, -1], lengths)

    The runtime computes wrong results for volumes that have to be cropped; these get a complex transform along the
    first two axes and a real one along the last axis. The CPU plugin (2026.4) does not compile computed lengths of data
    of known sizes: images get two transforms as well, of a line only the part that is needed is transformed.
    """
    data, lengths, axes = node.operand(0), node.operand(1), innermost_axes(node)
    computed = node.constant_integers(1) is None and is_static(shape_of(data))
    if (len(axes) == 3 and not has_lengths(node)) or (len(axes) == 2 and computed):
        data = op.IDFT(data, axes[:-1], op.Slice(lengths, [0], [-1], [1], [0]))
        axes, lengths = axes[-1:], op.Slice(lengths, [len(axes) - 1], [len(axes)], [1], [0])
    elif computed:
        data = op.Slice(data, [0], op.Add(op.Divide(op.convert(lengths, si64), 2), 1), [1], axes)
    return op.IRDFT(data, axes, lengths)


def has_lengths(node: LoweringNode) -> bool:
    """Whether the sizes of the volumes are known to be those of the transform of real volumes of the given lengths."""
    shape, lengths = node.shape(0), node.constant_integers(1)
    return shape is not None and lengths is not None and shape[-4:-1] == (*lengths[:2], lengths[2] // 2 + 1)
