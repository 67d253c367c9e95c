"""`fuse-dilated-convolution`: SpaceToBatch, convolution and BatchToSpace become one dilated convolution.

    %1 = opset2.SpaceToBatch(%0, [1, 1, 2, 2], [0, 0, 2, 2], [0, 0, 2, 2])
    %2 = opset1.Convolution(%1, %w) {auto_pad = "valid", strides = [1, 1], dilations = [1, 1]}
    %3 = opset2.BatchToSpace(%2, [1, 1, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0])
->  %3 = opset1.Convolution(%0, %w) {pads_begin = [2, 2], pads_end = [2, 2], strides = [1, 1], dilations = [2, 2]}

The crops of BatchToSpace are subtracted from the padding of SpaceToBatch at the same end. Transposes, and an inserted
axis of one element for one-dimensional convolutions, may stand on both sides of the convolution; they stay. So do
elementwise operations after it, whose constants have entries along the channels alone: a bias, an activation, the
rounding of a quantized network.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.names import inherit_origin
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.image.blocks import BatchToSpace, SpaceToBatch
from moir.dialects.opset.interfaces.elementwise import ElementwiseOp
from moir.dialects.opset.interfaces.spatial import SlidingWindowOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.shape import Squeeze, Squeeze1, Unsqueeze
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

ARITHMETIC = (Add, Subtract, Multiply, Divide)
POINTWISE = (ElementwiseOp, FakeQuantize, *ARITHMETIC)

Axes = list[int | None]
"""For each axis of a value, the corresponding axis of the image; None for an inserted axis."""


def integers_of(value: SSAValue) -> list[int] | None:
    """The elements of a constant as integers; None for any other value."""
    constant = constant_of(value)
    return None if constant is None else [int(entry) for entry in constant.ravel()]


def data_of(op: Operation) -> SSAValue | None:
    """The data operand of an operation that may stand between the fused operations (elementwise, Transpose, …); None
    for others.
    """
    if isinstance(op, ARITHMETIC) and op.text("auto_broadcast") == "numpy":
        return next((each for each in op.operands if constant_of(each) is None), None)
    return op.operands[0] if isinstance(op, Transpose | Unsqueeze | Squeeze | Squeeze1 | ElementwiseOp | FakeQuantize) else None


def is_along_channels(op: Operation, axes: Axes) -> bool:
    """Whether an elementwise operation has, besides its data, only constants that vary along the channels."""
    for operand in op.operands:
        if operand is data_of(op):
            continue
        numbers = constant_of(operand)
        if numbers is None or numbers.ndim > len(axes):
            return False
        aligned = (1,) * (len(axes) - numbers.ndim) + numbers.shape
        if any(size != 1 and axis != 1 for size, axis in zip(aligned, axes, strict=True)):
            return False
    return True


def moved_axes(op: Operation, axes: Axes) -> Axes | None:
    """The axes of the result of a Transpose, Unsqueeze, Squeeze or elementwise operation, given those of its data.

    None for any other operation, if it removes an axis of the image, or if its constants vary within a channel.
    """
    if isinstance(op, POINTWISE):
        return axes if is_along_channels(op, axes) else None
    if not isinstance(op, Transpose | Unsqueeze | Squeeze | Squeeze1) or len(op.operands) != 2:
        return None
    listed_axes = integers_of(op.operands[1])
    rank = rank_of(op.results[0]) if isinstance(op, Unsqueeze) else len(axes)
    if listed_axes is None or rank is None or len(listed_axes) > rank:
        return None
    if isinstance(op, Transpose):
        return [axes[axis] for axis in listed_axes] if len(listed_axes) == rank else None
    counted = {normalize_axis(axis, rank) for axis in listed_axes}
    if isinstance(op, Unsqueeze):
        rest = iter(axes)
        return [None if index in counted else next(rest) for index in range(rank)]
    if any(axes[index] is not None for index in counted):
        return None
    return [axis for index, axis in enumerate(axes) if index not in counted]


def chain_above(value: SSAValue, *ends: type[Operation]) -> tuple[list[Operation], Operation] | None:
    """The chain of operations, first to last, that computes a value (see `data_of`), and the operation before the
    chain.

    None if that operation is of none of the kinds in `ends`.
    """
    chain: list[Operation] = []
    while isinstance(owner := value.owner, Operation) and (data := data_of(owner)) is not None:
        chain.append(owner)
        value = data
    return (chain[::-1], owner) if isinstance(owner, ends) else None


def axes_after(operations: Sequence[Operation], axes: Axes) -> Axes | None:
    """The axes of the result of a chain of operations, given those of its data; None as in `moved_axes`."""
    current: Axes | None = axes
    for op in operations:
        current = None if current is None else moved_axes(op, current)
    return current


def rebuilt(op: OpBuilder, operations: Sequence[Operation], value: SSAValue) -> SSAValue:
    """Apply copies of a chain of operations to another value."""
    for each in operations:
        data = data_of(each)
        copy = op[each.name](*(value if operand is data else operand for operand in each.operands), **each.properties)
        inherit_origin(each, copy)
        value = copy
    return value


def window_of(op: SlidingWindowOp) -> tuple[list[int], list[int], list[int]] | None:
    """Pads at the beginning, pads at the end and dilations of a convolution.

    None if its strides are not 1 or its pads are unknown.
    """
    if set(op.integers("strides")) != {1}:
        return None
    dilations = list(op.integers("dilations"))
    windows = op.windows((shape_of(op.operands[1]) or ())[-len(dilations) :] or (-1,) * len(dilations))
    pads = [padding for window in windows if (padding := window.padding(op.text("auto_pad"))) is not None]
    if len(pads) < len(windows):
        return None
    return [begin for begin, _ in pads], [end for _, end in pads], dilations


class ConvolutionOfParts(Pattern):
    """Replaces SpaceToBatch, a convolution and BatchToSpace with equal block shapes by one dilated convolution."""

    roots = (BatchToSpace,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BatchToSpace)
        below = chain_above(op.operands[0], Convolution, GroupConvolution)
        if below is None or not isinstance(convolution := below[1], SlidingWindowOp):
            return
        if not all(has_one_live_use(each.results[0]) for each in (*below[0], convolution)):
            return
        above = chain_above(convolution.operands[0], SpaceToBatch)
        if above is None:
            return
        lists = [integers_of(operand) for operand in (*above[1].operands[1:], *op.operands[1:])]
        window = window_of(convolution)
        if window is None or any(entries is None for entries in lists):
            return
        blocks, pads_begin, pads_end, own_blocks, crops_begin, crops_end = (entries or [] for entries in lists)
        axes = axes_after(above[0], list(range(len(blocks))))
        if axes is None or blocks != own_blocks or axes_after(below[0], axes) != list(range(len(blocks))):
            return
        channel = axes[1]
        untouched = [0] if channel is None else [0, channel]
        if axes[0] != 0 or any(
            (blocks[axis], pads_begin[axis], pads_end[axis], crops_begin[axis], crops_end[axis]) != (1, 0, 0, 0, 0) for axis in untouched
        ):
            return
        begins, ends, dilations = window
        for index, axis in enumerate(axes[2:]):
            if axis is not None:
                begins[index] = begins[index] * blocks[axis] + pads_begin[axis] - crops_begin[axis]
                ends[index] = ends[index] * blocks[axis] + pads_end[axis] - crops_end[axis]
                dilations[index] *= blocks[axis]
        if min(*begins, *ends) < 0:
            return
        data = rebuilt(rewriter.op, above[0], above[1].operands[0])
        dilated = rewriter.op[convolution.name](
            data,
            convolution.operands[1],
            strides=convolution.integers("strides"),
            dilations=dilations,
            pads_begin=begins,
            pads_end=ends,
            auto_pad="explicit",
        )
        inherit_origin(convolution, dilated)
        rewriter.replace_with(op, rebuilt(rewriter.op, below[0], dilated))


class FuseDilatedConvolutionPass(PatternPass):
    """Fuses dilated convolutions in the form in which older versions of TensorFlow compute them."""

    name = "fuse-dilated-convolution"

    PATTERNS = (ConvolutionOfParts,)
