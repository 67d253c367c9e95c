"""Transposes that the CPU plugin merges with operations beside them, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant, is_quantized_weight
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape, SqueezingOp, Unsqueeze
from moir.dialects.opset.slicing import Slice, StridedSlice
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.dequantization import has_single_elements
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

TO_CHANNELS_LAST, TO_CHANNELS_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]

_RESHAPING = frozenset(("Reshape", "Squeeze", "Unsqueeze"))
_MERGED = frozenset(("Add", "Convert", "Divide", "Multiply", "Subtract"))
"""Operations, with constants, that the plugin merges into a convolution before it looks at what follows."""


class TransposesOfCompressedConvolution(Pattern):
    """Separates a convolution by kernels of one element, whose weights are compressed, from movements beside it.

        %0 = opset1.Convolution(%x, %w)                          // %w: [8, 4, 1, 1], integers by a factor
        %y = opset1.Transpose(%0, [0, 2, 1, 3])
    ->  %y = opset1.Transpose(opset1.Maximum(-inf, %0), [0, 2, 1, 3])

    The plugin computes such a convolution between Transposes, or before a Reshape, as a matrix product of data with
    channels last. It takes any Transpose before it for the one to channels first, and any after it for the one to
    channels last, also behind a bias. A convolution with strides or padding loses them. If the Transpose before it
    reads one of several results, the product reads the first of them. If the data are a result of the model, too, with
    channels last, the product reads memory that nothing was written to.
    """

    roots = (Convolution,)
    companions = ((Transpose, Reshape, SqueezingOp, Unsqueeze),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        if rank_of(op.operands[0]) != 4 or not has_single_elements(op) or not _is_compressed(op.operands[1]):
            return False
        return _is_before(op) or _is_after(op.results[0], _is_no_product(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        data, *others = op.operands
        if _is_before(op):
            data = computed_identity(rewriter.op, data)
        result = rewriter.op.create(Convolution, [data, *others], dict(op.properties)).results[0]
        is_after = _is_after(op.results[0], _is_no_product(op))
        rewriter.replace_with(op, computed_identity(rewriter.op, result) if is_after else result)


def _is_compressed(weights: SSAValue) -> bool:
    """Whether weights are dequantized, perhaps in f16 before they are converted."""
    owner = weights.owner
    return is_quantized_weight(owner.operands[0] if isinstance(owner, Convert) else weights) or is_quantized_weight(weights)


def _is_sampled(op: Convolution) -> bool:
    """Whether a convolution has strides above 1 or padding."""
    return max(op.integers("strides")) > 1 or any((*op.integers("pads_begin"), *op.integers("pads_end")))


def _is_no_product(op: Convolution) -> bool:
    """Whether a convolution must not be computed as a matrix product, whatever the order of the Transpose beside
    it is.
    """
    transposes = [use.operation for use in op.operands[0].uses if isinstance(use.operation, Transpose)]
    return _is_sampled(op) or any(not _differs(each, TO_CHANNELS_LAST) and _is_result(each.results[0]) for each in transposes)


def _is_result(value: SSAValue) -> bool:
    """Whether a result of the model is a value, or is computed from it by reshaping alone."""
    users = [use.operation for use in value.uses]
    views = [user for user in users if isinstance(user, OpsetOp) and user.KIND in _RESHAPING]
    return any(isinstance(user, Result) for user in users) or any(_is_result(each.results[0]) for each in views)


def _is_before(op: Convolution) -> bool:
    """Whether the plugin would wrongly merge the Transpose that computes the data of a convolution."""
    owner = op.operands[0].owner
    return isinstance(owner, Transpose) and (_is_sampled(op) or _differs(owner, TO_CHANNELS_FIRST) or _is_one_of_several(owner.operands[0]))


def _is_one_of_several(value: SSAValue) -> bool:
    """Whether a value is one of several results of an operation, or a slice of data with several slices, which the
    runtime computes by one operation.
    """
    owner = value.owner
    if not isinstance(owner, (Slice, StridedSlice)):
        return isinstance(owner, Operation) and len(owner.results) > 1
    return sum(isinstance(use.operation, (Slice, StridedSlice)) for use in owner.operands[0].uses) > 1


def _is_after(value: SSAValue, is_no_product: bool) -> bool:
    """Whether the plugin would wrongly merge a movement that reads the result of a convolution, perhaps after a bias.

    With `is_no_product`, every movement is merged wrongly.
    """
    for use in value.uses:
        user = use.operation
        if isinstance(user, Transpose) and (is_no_product or _differs(user, TO_CHANNELS_LAST)):
            return True
        if isinstance(user, OpsetOp) and is_no_product and user.KIND in _RESHAPING:
            return True
        if _is_merged(user) and _is_after(user.results[0], is_no_product):
            return True
    return False


def _is_merged(op: Operation) -> bool:
    """Whether an operation is one that the plugin merges into the convolution before it: an addition of a constant, or
    a Convert.
    """
    return isinstance(op, OpsetOp) and op.KIND in _MERGED and sum(not is_constant(each) for each in op.operands) == 1


def _differs(op: Transpose, order: list[int]) -> bool:
    """Whether the order of a Transpose is computed, or is a constant other than `order`."""
    known = constant_of(op.operands[1])
    return known is None or known.tolist() != order


class ShuffledDynamicChannels(Pattern):
    """Separates a Transpose of data whose second dimension is dynamic from the Reshapes beside it.

        %0 = opset1.Reshape(%x, [1, -1, 4, 12])                  // [1, ?, 4, 12]
        %1 = opset1.Transpose(%0, [0, 2, 1, 3])
        %y = opset1.Reshape(%1, [1, -1, 4, 3])
    ->  %y = opset1.Reshape(opset1.Maximum(-inf, %1), [1, -1, 4, 3])

    The runtime replaces the three by a ShuffleChannels if the first dimension is static, and then does not compile the
    model. Dimensions that moir knows to be static may be dynamic for the runtime, since moir removes a Reshape that
    only states a size.
    """

    roots = (Reshape,)
    companions = ((Transpose,),)

    def may_match(self, op: Operation) -> bool:
        transpose = op.operands[0].owner
        if not isinstance(transpose, Transpose) or element_of(op.operands[0]) not in REAL_TYPES:
            return False
        order, divided = constant_of(transpose.operands[1]), transpose.operands[0]
        if order is None or order[0] != 0 or not isinstance(divided.owner, Reshape):
            return False
        shape, target = shape_of(divided), constant_of(divided.owner.operands[1])
        if shape is None or shape[0] < 0:
            return False
        is_computed = target is not None and target.tolist()[1] == -1
        return shape[1] < 0 or (is_computed and _may_be_unknown(divided.owner.operands[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, target = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(Reshape, [same, target], dict(op.properties)).results[0])


MOST_STEPS = 64
"""The maximum number of operations that are searched for dynamic dimensions."""


def _may_be_unknown(value: SSAValue) -> bool:
    """Whether a value may be dynamic for the runtime: it is computed from a value with dynamic dimensions, within a few
    operations.
    """
    waiting, seen = [value], {value}
    while waiting and len(seen) <= MOST_STEPS:
        current = waiting.pop(0)
        if -1 in (shape_of(current) or (-1,)):
            return True
        if isinstance(current.owner, OpsetOp):
            operands = [each for each in current.owner.operands if each not in seen and not is_constant(each)]
            seen.update(operands)
            waiting.extend(operands)
    return False


class ActivationBetweenTransposes(Pattern):
    """Removes two Transposes that cancel each other around elementwise operations, of three dimensions.

        %0 = opset1.Transpose(%x, [0, 2, 1])                     // %x: [1, 8, 32], a convolution
        %1 = opset1.Negative(%0)
        %y = opset1.Transpose(%1, [0, 2, 1])
    ->  %y = opset1.Negative(%x)

    The plugin merges the operations into the convolution, and then loses one of the Transposes. Declines if another
    operation uses a value between them, or has constants of several elements: then nothing is merged.
    """

    roots = (Transpose,)
    companions = ((Convolution, GroupConvolution),)

    def may_match(self, op: Operation) -> bool:
        return _activations_before(op) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        activations = _activations_before(op) or []
        (first,) = [each for each in activations[-1].operands if not is_constant(each)]
        assert isinstance(first.owner, Transpose)
        value = first.owner.operands[0]
        for each in reversed(activations):
            operands = [other if is_constant(other) else value for other in each.operands]
            value = rewriter.op.create(type(each), operands, dict(each.properties)).results[0]
        rewriter.replace_with(op, value)


def _activations_before(op: Operation) -> list[OpsetOp] | None:
    """The elementwise operations between a Transpose and one before them that it cancels, the last one first; None if
    there are none.
    """
    value, activations = op.operands[0], list[OpsetOp]()
    while isinstance(owner := value.owner, OpsetOp) and value.has_one_use():
        if isinstance(owner, Transpose):
            orders = [constant_of(each.operands[1]) for each in (owner, op)]
            if not activations or rank_of(value) != 3 or any(each is None for each in orders):
                return None
            first, second = (each.tolist() for each in orders if each is not None)
            return activations if [first[axis] for axis in second] == [0, 1, 2] else None
        computed = [each for each in owner.operands if not is_constant(each)]
        sizes = [element_count(shape_of(each)) for each in owner.operands if is_constant(each)]
        if len(computed) != 1 or set(sizes) - {1} or not (owner.POINTWISE or owner.BROADCASTS):
            return None
        activations.append(owner)
        (value,) = computed
    return None


FORMS = (
    Form(
        "separate-transposes",
        (TransposesOfCompressedConvolution, ShuffledDynamicChannels, ActivationBetweenTransposes),
        "Separates Transposes and Reshapes from compressed convolutions and each other, and removes some around activations.",
        after=("normalize-columns",),
        faults=(
            Fault(
                "activated-transposes",
                "elementwise operations between Transposes that cancel each other, of a Convolution along one dimension",
                "have their elements in another order",
            ),
            Fault(
                "transposed-compressed-convolution",
                "Convolution of images by kernels of one element, which are integers by a factor, before or after a Transpose",
                "has its channels at another axis, or is not compiled",
            ),
            Fault(
                "strided-compressed-convolution",
                "Convolution of images by kernels of one element, which are integers by a factor, with strides or padding, "
                "beside a Transpose or before a Reshape",
                "has the sizes of its data, is not compiled, or ends the process",
            ),
            Fault(
                "compressed-convolution-of-a-result",
                "Convolution of images by kernels of one element, which are integers by a factor, before a Transpose or Reshape, "
                "whose data are a result of the model with channels last",
                "is garbage",
            ),
            Fault(
                "compressed-convolution-of-a-part",
                "Convolution of images by kernels of one element, which are integers by a factor, after a Transpose of a part of "
                "a Split or one of several slices",
                "computes with the first part, or is not compiled",
            ),
            Fault(
                "shuffled-unknown-groups",
                "Transpose between Reshapes that keeps the first dimension, which is known, where the second one is not",
                "is not compiled",
            ),
        ),
    ),
)
