"""Sums with convolutions of dynamic shape that the CPU plugin computes wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_constant
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.data_types import Convert
from moir.dialects.shapes import Shape, element_of, is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import rectified_identity
from moir.targets.record import AVX_512, Fault, Form

FEW_CHANNELS = 8
"""The number of input channels from which on no wrong sum was seen; with 1 to 4 channels some sums lacked the
convolution.
"""


class SumWithConvolution(Pattern):
    """Puts a PRelu of slope 1 between a convolution of dynamic shape and a sum with another computed value, or a
    difference, if the convolution has few input channels, or if the other value may be broadcast.

        %1 = opset1.Convolution(%0, %w)                      // %0: [?, 1, ?], %w: [8, 1, 3]
        %2 = opset1.Add(%1, %other)                          // %other: [?, 8, ?]
    ->  %1 = opset1.Convolution(%0, %w)
        %3 = opset1.PRelu(%1, [1])
        %2 = opset1.Add(%3, %other)

    The plugin makes the sum a part of the convolution, which adds to the memory of the other value. It may then read or
    write the wrong memory, so that the convolution is missing from the sum; and it does not broadcast all sizes. With
    the PRelu, which becomes a part of the convolution, the plugin computes the sum on its own. Declines static shapes,
    and constants: these are biases.
    """

    roots = (Add, Subtract)
    companions = ((Convolution, GroupConvolution),)

    def may_match(self, op: Operation) -> bool:
        operands = op.operands
        is_computed = element_of(operands[0]) in REAL_TYPES and not any(map(_is_stored, operands))
        is_dynamic = not all(is_static(shape_of(each)) for each in operands)
        return is_computed and is_dynamic and any(_may_be_wrong(each, operands[1 - index]) for index, each in enumerate(operands))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Add | Subtract)
        a, b = op.operands
        operands = [rectified_identity(rewriter.op, each) if _may_be_wrong(each, other) else each for each, other in ((a, b), (b, a))]
        rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties)).results[0])


def _is_stored(value: SSAValue) -> bool:
    """Whether a value is a constant, or a constant that is converted to another element type."""
    return is_constant(value.owner.operands[0] if isinstance(value.owner, Convert) else value)


def _may_be_wrong(value: SSAValue, other: SSAValue) -> bool:
    """Whether the plugin may compute value + other wrongly: if `value` is a convolution of few channels, or `other` may
    be broadcast.

    False if `value` is not a convolution.
    """
    if (convolution := _convolution_of(value)) is None:
        return False
    channels = (shape_of(convolution.operands[1]) or (-1, -1))[1]
    has_few_channels = isinstance(convolution, Convolution) and channels < FEW_CHANNELS
    return has_few_channels or not _have_equal_sizes(shape_of(value), shape_of(other))


def _have_equal_sizes(convolved: Shape, other: Shape) -> bool:
    """Whether two values have the same static and the same dynamic dimensions, and the channels are static."""
    if convolved is None or other is None or len(convolved) != len(other):
        return False
    return convolved == other and convolved[1] != -1


def _convolution_of(value: SSAValue) -> Convolution | GroupConvolution | None:
    """The convolution that computes a value, looking through arithmetic with constants; None otherwise, or if it has
    several uses.
    """
    while value.has_one_use():
        owner = value.owner
        if isinstance(owner, Convolution | GroupConvolution):
            return owner
        if not isinstance(owner, Add | Subtract | Multiply | Divide):
            return None
        computed = [each for each in owner.operands if not _is_stored(each)]
        if len(computed) != 1:
            return None
        value = computed[0]
    return None


FORMS = (
    Form(
        "separate-convolution-sums",
        (SumWithConvolution,),
        after=("widen-kernels", "pair-single-channels"),
        faults=(
            Fault(
                "convolution-sum",
                "Convolution or GroupConvolution of dynamic shape, to which a value is added, or from which one is subtracted, that "
                "may be broadcast or has more images or channels",
                "does not run, or has other sizes",
            ),
            Fault(
                "lost-convolutions",
                "Convolution of dynamic shape of one channel, or of few channels to one column, to which something is added",
                "is missing from the sum",
                feature=AVX_512,
            ),
        ),
    ),
)
