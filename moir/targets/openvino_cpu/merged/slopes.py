"""Elementwise operations with constants of channels that the CPU plugin merges with the sums before them, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_constant
from moir.dialects.opset.activation import PRelu
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.fake_quantize import merged_before
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Fault, Form

_REDUCED = 3

_IMAGES = 3
"""The largest rank of products for which the plugin applies constants along the second axis correctly."""


class SlopesOfSums(Pattern):
    """Separates a PRelu with slopes of channels from the matrix product or the reduction before it.

        %0 = opset1.MatMul(%x, %w)                               // [2, 4, 3, 6]; %w is a constant
        %y = opset1.PRelu(%0, %slopes)                           // %slopes: [4]
    ->  %y = opset1.PRelu(opset1.Maximum(-inf, %0), %slopes)

    The plugin takes the last axis of a product for that of the slopes: it does not compile the model, or uses slopes of
    other elements. Behind a reduction of data of three dimensions, perhaps with a FakeQuantize between them, it reads
    them out of bounds.
    """

    roots = (PRelu,)
    companions = ((MatMul, ReductionOp),)

    def may_match(self, op: Operation) -> bool:
        data, slopes = op.operands
        if is_computed_identity(data) or not set(shape_of(slopes) or (-1,)) - {1}:
            return False
        total = merged_before(data).owner
        if isinstance(total, MatMul):
            return (rank_of(data) or _REDUCED) > 2
        while isinstance(total, FakeQuantize):
            total = merged_before(total.data).owner
        return isinstance(total, ReductionOp) and rank_of(total.operands[0]) == _REDUCED

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, slopes = op.operands
        rewriter.replace_with(op, rewriter.op.PRelu(computed_identity(rewriter.op, data), slopes))


class ChannelsOfProducts(Pattern):
    """Separates a sum or product with constants along the second axis from the matrix product before it.

        %0 = opset1.MatMul(%x, %w)                               // [2, 4, 3, 6]; %w is a constant matrix
        %y = opset1.Add(%0, %c)                                  // %c: [1, 4, 1, 1]
    ->  %y = opset1.Add(opset1.Maximum(-inf, %0), %c)

    The plugin takes the last axis of a product of four and more dimensions for that of the constants. Constants with
    elements along another axis are right, and so are products of batches of matrices.
    """

    roots = (Add, Divide, Multiply, Subtract)
    companions = ((MatMul,),)

    def may_match(self, op: Operation) -> bool:
        return _with_channels(op) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data = _with_channels(op)
        if data is not None:
            same = computed_identity(rewriter.op, data)
            operands = [same if each is data else each for each in op.operands]
            rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties)).results)


def _with_channels(op: Operation) -> SSAValue | None:
    """The operand that is computed from a product with one matrix, if the other operand is a constant with several
    elements along the second axis only; None otherwise.
    """
    for data, other in (op.operands, reversed(op.operands)):
        rank, shape = rank_of(data) or 0, shape_of(other) or ()
        varying = [axis - len(shape) for axis, size in enumerate(shape) if size != 1]
        if rank > _IMAGES and varying == [1 - rank] and is_constant(other) and not is_computed_identity(data):
            product = merged_before(data).owner
            return data if isinstance(product, MatMul) and set((shape_of(product.operands[1]) or (-1,) * 3)[:-2]) <= {1} else None
    return None


FORMS = (
    Form(
        "separate-slopes",
        (SlopesOfSums, ChannelsOfProducts),
        "Separates PRelus with several slopes, and constants along the second axis, from the sums before them.",
        after=("separate-products",),
        faults=(
            Fault(
                "slopes-of-products",
                "PRelu of a MatMul of four and more dimensions by a constant, with several slopes",
                "takes slopes along the last axis, or is not compiled",
            ),
            Fault(
                "channels-of-products",
                "Add, Multiply and the like of a MatMul of four and more dimensions by a matrix, with constants along the second axis",
                "takes the constants along the last axis, or is not compiled",
            ),
            Fault(
                "slopes-of-reductions", "PRelu of a reduction of three dimensions, with several slopes", "reads the slopes out of bounds"
            ),
            Fault(
                "slopes-of-levels",
                "PRelu with several slopes of a FakeQuantize of a reduction of three dimensions",
                "reads the slopes out of bounds",
            ),
        ),
    ),
)
