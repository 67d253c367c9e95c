"""Operations before a convolution that the runtime merges into it wrongly, and strides that it moves before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_constant, weight_of
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.movement import Split, Transpose
from moir.dialects.opset.pooling import MaxPool, MaxPool8
from moir.dialects.shapes import shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, rectified_identity
from moir.targets.record import Fault, Form


class MapOfPaddedImage(Pattern):
    """Computes a PRelu of slope 1 between a constant map over an image and a convolution that pads the image.

        %1 = opset1.Multiply(%0, %map)                       // %map: [1, 1, 3, 3]
        %2 = opset1.Convolution(%1, %w) {pads_begin = [1, 1], pads_end = [1, 1]}      // %w: [8, 4, 3, 3]
    ->  %3 = opset1.PRelu(%1, [1])
        %2 = opset1.Convolution(%3, %w) {pads_begin = [1, 1], pads_end = [1, 1]}

    The runtime multiplies the kernels by the map if it has their sizes, which is right without padding only. The plugin
    computes the PRelu together with the product.
    """

    roots = (Multiply, Divide)
    companions = ((Convolution, GroupConvolution),)

    def may_match(self, op: Operation) -> bool:
        value, is_padded = op.results[0], False
        while value.has_one_use() and any(is_constant(each) for each in op.operands):
            user = next(iter(value.uses)).operation
            if isinstance(user, Convolution | GroupConvolution):
                is_data = user.operands[0] is value
                return is_data and (is_padded or _is_padded(user)) and any(_is_map(each, _kernel(user)) for each in op.operands)
            is_padded |= user.name in _PADS
            scaled = isinstance(user, Multiply | Divide) and any(is_constant(each) for each in user.operands)
            if not scaled and user.name not in (*_PADS, "opset1.Negative"):
                return False
            value = user.results[0]
        return False

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, rectified_identity(rewriter.op, same))


_PADS = ("opset1.Pad", "opset12.Pad")
"""The kinds of Pad, which the runtime merges into a convolution."""


def _kernel(op: ConvolutionOp) -> Sequence[int]:
    """The sizes of the kernels of a convolution, -1 for dynamic dimensions."""
    count = len(op.integers("strides"))
    return (shape_of(op.operands[1]) or (-1,) * count)[-count:]


def _is_map(value: SSAValue, kernel: Sequence[int]) -> bool:
    """Whether a value is a constant that varies along a spatial axis, and whose spatial sizes are each 1 or the
    kernel's.

    `kernel` has the kernel's size for each spatial axis; -1, for a dynamic size, matches any size.
    """
    if weight_of(value) is None:
        return False
    sizes = ((1,) * len(kernel) + (shape_of(value) or ()))[-len(kernel) :]
    return any(size != 1 for size in sizes) and all(size in (1, length) or length < 0 for size, length in zip(sizes, kernel, strict=True))


def _is_padded(op: ConvolutionOp) -> bool:
    """Whether a convolution may have padding."""
    if op.text("auto_pad") in ("explicit", "valid"):
        return op.text("auto_pad") == "explicit" and (any(op.integers("pads_begin")) or any(op.integers("pads_end")))
    return True


class StridesBehindParts(Pattern):
    """Inserts a PRelu of slope 1 between elementwise operations on one result of a Split and a strided 1x1 convolution.

        %1, %2 = opset1.Split(%0, 1)
        %3 = opset1.Relu(%2)
        %4 = opset1.Convolution(%3, %w) {strides = [2, 2]}   // %w: [8, 4, 1, 1]
    ->  %5 = opset1.PRelu(%3, [1])
        %4 = opset1.Convolution(%5, %w) {strides = [2, 2]}

    The runtime moves the strides before the Relu, and then takes the first result for each of them, or does not compile
    the model. It moves no strides before a PRelu, which the plugin computes together with the Relu.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        return max(op.integers("strides"), default=1) > 1 and _has_unit_kernel(op) and any(_parts(op.operands[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, filters = op.operands
        same = rectified_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(Convolution, [same, filters], dict(op.properties)).results)


def _has_unit_kernel(op: Convolution) -> bool:
    """Whether the kernels of a convolution have one element."""
    return set(_kernel(op)) == {1}


def _parts(value: SSAValue) -> Iterator[SSAValue]:
    """Yields the results of operations with several results (`_is_part`) that a value is computed from.

    Looks through elementwise operations and convolutions by kernels of one element, before which the runtime moves
    strides, and through movements that the runtime removes, as they keep the shape.
    """
    pending, seen = [value], {value}
    while pending:
        owner = pending.pop().owner
        is_passed = isinstance(owner, OpsetOp) and (owner.POINTWISE or owner.BROADCASTS or _keeps_shape(owner))
        if isinstance(owner, Operation) and (is_passed or (isinstance(owner, Convolution) and _has_unit_kernel(owner))):
            following = [each for each in owner.operands if each not in seen]
            seen.update(following)
            pending += following
            yield from (each for each in following if _is_part(each))


def _keeps_shape(op: OpsetOp) -> bool:
    """Whether an operation is a Transpose, Reshape, Squeeze or Unsqueeze whose result has the shape of its operand."""
    return (op.RESHAPES or isinstance(op, Transpose)) and shape_of(op.operands[0]) in (None, shape_of(op.results[0]))


def _is_part(value: SSAValue) -> bool:
    """Whether a value is a result of an operation with several results, other than the first result of a Split or
    MaxPool.
    """
    owner = value.owner
    is_known = isinstance(owner, Split | MaxPool | MaxPool8) and value is owner.results[0]
    return isinstance(owner, Operation) and len(owner.results) > 1 and not is_known


class WindowsOfPadding(Pattern):
    """Pads the data before a convolution whose last windows may lie behind them.

        %1 = opset1.Convolution(%0, %w) {pads_begin = [0], pads_end = [1]}       // %w: [8, 4, 1]
    ->  %2 = opset12.Pad(%0, [0, 0, 0], [0, 0, 1])
        %3 = opset1.PRelu(%2, [1])
        %1 = opset1.Convolution(%3, %w) {pads_begin = [0], pads_end = [0]}

    The plugin reads out of bounds if it computes in several threads and adds a bias or an activation. Without the PRelu
    the runtime would make the Pad a part of the convolution. An identity before the Pad keeps the runtime from padding
    the integers of quantized data, whose zero point may be moved by an elementwise operation.
    """

    roots = (Convolution, GroupConvolution)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, ConvolutionOp)
        return op.text("auto_pad") == "explicit" and any(self._excess(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ConvolutionOp)
        data, filters = op.operands
        build, excess, ends = rewriter.op, self._excess(op), op.integers("pads_end")
        none = [0] * (len(ends) + 2)
        if isinstance(owner := data.owner, OpsetOp) and (owner.POINTWISE or owner.BROADCASTS):
            data = computed_identity(build, data)
        padded = build.Pad(data, none, [0, 0, *excess], build.constant_like(0, data), pad_mode="constant")
        left = [end - size for end, size in zip(ends, excess, strict=True)]
        same = build.create(type(op), [rectified_identity(build, padded), filters], {**op.properties, "pads_end": left})
        rewriter.replace_with(op, same.results)

    @staticmethod
    def _excess(op: ConvolutionOp) -> list[int]:
        """The padding at the end of each axis if a whole window fits into that padding; 0 for axes where it
        does not.
        """
        sizes = zip(op.integers("pads_end"), _kernel(op), op.integers("dilations"), strict=True)
        return [end if end > 0 and end >= (length - 1) * step + 1 else 0 for end, length, step in sizes]


FORMS = (
    Form(
        "pad-before-convolutions",
        (WindowsOfPadding,),
        after=("widen-kernels",),
        faults=(
            Fault(
                "windows-of-padding",
                "Convolution whose padding at an end is at least a window, then a bias or an activation, in several threads",
                "reads out of bounds",
            ),
        ),
    ),
    Form(
        "separate-maps",
        (MapOfPaddedImage,),
        faults=(
            Fault(
                "multiplied-kernels",
                "Convolution with padding of an image that is multiplied by a constant map, whose sizes are 1 or those of the kernel",
                "the kernel is multiplied by the map, not the image",
            ),
        ),
    ),
    Form(
        "keep-strides",
        (StridesBehindParts,),
        faults=(
            Fault(
                "strides-of-parts",
                "Convolution by kernels of one element with strides, after an elementwise operation on the second result of a Split",
                "is that of the first result; of a VariadicSplit or TopK is not compiled",
            ),
        ),
    ),
)
