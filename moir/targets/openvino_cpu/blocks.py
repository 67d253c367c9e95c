"""SpaceToBatch with padding, which the CPU plugin computes wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class PaddedBlocks(Pattern):
    """Pads the data by a separate Pad before SpaceToBatch splits them into blocks.

        %y = opset2.SpaceToBatch(%x, [1, 4], [0, 3], [0, 3])     // %x: [2, 2]
    ->  %0 = opset12.Pad(%x, [0, 3], [0, 3])
        %y = opset2.SpaceToBatch(%0, [1, 4], [0, 0], [0, 0])

    The plugin reads wrong elements if some position within the blocks holds padding only, which happens when blocks
    are larger than the data. For computed padding it infers dimensions of 0. It pads data that are rounded to
    quantization levels with the lowest level.
    """

    roots = ("opset2.SpaceToBatch",)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, block, begins, ends = op.operands
        build = rewriter.op
        shape, sizes, *pads = (shape_of(data), *(rewriter.known.integers(each) for each in (block, begins, ends)))
        if None not in pads:
            if shape is None or sizes is None or not any(entry for pad in pads for entry in pad or ()):
                return
            if not is_rounded(data) and not any(size < each > 1 for size, each in zip(shape, sizes, strict=True)):
                return
        zeros = build.Multiply(begins, 0) if shape is None else build.constant([0] * len(shape))
        padded = build.Pad(data, begins, ends, pad_mode="constant")
        rewriter.replace_with(op, build.SpaceToBatch(padded, block, zeros, zeros))


_MOVING = frozenset(("opset1.Reshape", "opset1.Squeeze", "opset1.Transpose", "opset1.Unsqueeze"))
_SCALING = frozenset(("opset1.Multiply", "opset1.Subtract"))


def is_rounded(value: SSAValue) -> bool:
    """Whether a value is rounded to quantization levels or dequantized from integers, and its elements are only moved
    after that.
    """
    while isinstance(owner := value.owner, OpsetOp) and owner.name in (_MOVING | _SCALING):
        value = owner.operands[0]
    return isinstance(value.owner, FakeQuantize) or (isinstance(value.owner, Convert) and element_of(value.owner.data) in INTEGER_TYPES)


FORMS = (
    Form(
        "pad-blocks",
        (PaddedBlocks,),
        faults=(
            Fault("blocks-of-padding", "SpaceToBatch with positions of a block that are padding in all blocks", "has other elements there"),
            Fault(
                "blocks-of-levels",
                "SpaceToBatch with padding of integers with a zero point, or what a FakeQuantize rounds to levels below 0",
                "has the lowest one instead of 0",
            ),
        ),
    ),
)
