"""Quantization that the CPU plugin merges with the operations before it, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f16, f32, si8, si32, ui8
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Fault, Form

_MOVING = frozenset(("Reshape", "Squeeze", "Transpose", "Unsqueeze"))
_VIEWS = frozenset(("Reshape", "Squeeze", "Unsqueeze"))
_ACTIVATIONS = frozenset(("PRelu",))
_EXTREMES = frozenset(("ReduceMax", "ReduceMin"))
_FLOATS = (f16, f32)
_BYTES = (si8, ui8)


class QuantizedExtremes(Pattern):
    """Quantizes maxima and minima with one more dimension.

        %0 = opset1.ReduceMax(%x, [2, 3]) {keep_dims = true}
        %y = opset1.FakeQuantize(%0, %low, %high, %low, %high)
    ->  %1 = opset1.FakeQuantize(opset1.Unsqueeze(%0, [0]), %low, %high, %low, %high)
        %y = opset15.Squeeze(%1, [0])

    The plugin computes a reduction and the FakeQuantize after it, also after elementwise operations between them, as
    one. If the result is one of integers of 8 bits, it is off by some integers. An Unsqueeze that gives the result the
    shape which it had if the reduction kept its dimensions does not separate the two. In this case an identity after
    the FakeQuantize keeps the result from being computed in integers. If a Concat is between the two, the plugin moves
    the FakeQuantize before it, which an identity after the Concat prevents.
    """

    roots = (FakeQuantize,)
    companions = (("opset1.ReduceMax", "opset1.ReduceMin"),)

    def may_match(self, op: Operation) -> bool:
        value = merged_before(op.operands[0], _MOVING)
        if isinstance(value.owner, Concat):
            return not is_computed_identity(op.operands[0]) and any(map(_is_extreme, value.owner.operands))
        return _is_extreme(value) and not _is_separate(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        data, *limits = op.operands
        build = rewriter.op
        if isinstance(merged_before(data, _MOVING).owner, Concat):
            same = computed_identity(build, data)
            rewriter.replace_with(op, build.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])
            return
        axis = _separate_axis(op, rewriter)
        if axis is None:
            rounded = build.create(FakeQuantize, list(op.operands), dict(op.properties)).results[0]
            rewriter.replace_with(op, computed_identity(build, rounded))
            return
        # Limits along the second axis stay there: it is the only axis that the plugin supports for dynamic dimensions.
        wider = [each if axis == 0 or shape_of(each) in ((), (1,)) else build.Unsqueeze(each, [axis]) for each in limits]
        rounded = build.create(FakeQuantize, [build.Unsqueeze(data, [axis]), *wider], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Squeeze(rounded, [axis]))


def _is_extreme(value: SSAValue) -> bool:
    """Whether a value is a ReduceMax or ReduceMin, perhaps after operations that the plugin merges into it."""
    owner = merged_before(value, _MOVING).owner
    return isinstance(owner, ReductionOp) and owner.KIND in _EXTREMES


def _separate_axis(op: FakeQuantize, rewriter: Rewriter) -> int | None:
    """The axis, 0 or -1, at which an Unsqueeze separates a FakeQuantize from the ReduceMax or ReduceMin before it; None
    if neither axis does.
    """
    data, *limits = op.operands
    reduction = merged_before(data, _MOVING).owner
    assert isinstance(reduction, ReductionOp)
    rank, axes = rank_of(reduction.operands[0]), rewriter.known.integers(reduction.operands[1])
    if rank is None or not axes or rank_of(data) is None or any((rank_of(each) or 0) > (rank_of(data) or 0) for each in limits):
        return None
    reduced = {normalize_axis(axis, rank) for axis in axes}
    keeps = reduction.flag("keep_dims") and rank_of(data) == rank
    before, after = shape_of(reduction.operands[0]) or (), shape_of(data) or ()
    kept = tuple(1 if axis in reduced else size for axis, size in enumerate(before))
    if (keeps or 0 not in reduced) and (1, *after) != kept and all(shape_of(each) in ((), (1,)) for each in limits):
        return 0
    return -1 if (keeps or rank - 1 not in reduced) and (*after, 1) != kept else None


def merged_before(value: SSAValue, also: frozenset[str] = frozenset()) -> SSAValue:
    """The value before all operations that the plugin merges into the producer of that value; the value itself if there
    are none.

    Merged are elementwise operations with constants, PRelus with constant slopes, and operations of the kinds
    in `also`.
    """
    also |= _ACTIVATIONS
    while isinstance(owner := value.owner, OpsetOp) and owner.operands:
        computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
        if len(computed) != 1 or not (owner.POINTWISE or owner.BROADCASTS or owner.KIND in also) or isinstance(owner, FakeQuantize):
            break
        value = computed[0]
    return value


def _is_separate(op: Operation) -> bool:
    """Whether the only user of a FakeQuantize already separates it from the reduction before it.

    Such a user is a Round, an identity (see `is_computed_identity`), or a Squeeze if an Unsqueeze is before the
    FakeQuantize. False if there are several users.
    """
    before, users = op.operands[0].owner, [use.operation for use in op.results[0].uses]
    if len(users) != 1 or not isinstance(users[0], OpsetOp) or not users[0].results:
        return False
    is_wider = isinstance(before, OpsetOp) and before.KIND == "Unsqueeze"
    return users[0].KIND == "Round" or is_computed_identity(users[0].results[0]) or (is_wider and users[0].KIND == "Squeeze")


class QuantizedProducts(Pattern):
    """Separates quantization with limits along a second or later axis from the matrix product before it.

        %0 = opset1.MatMul(%a, %b)                               // [2, 8, 5, 5]
        %y = opset1.FakeQuantize(%0, %low, %high, %low, %high)   // %low: [1, 8, 1, 1]
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %0), %low, %high, %low, %high)

    The plugin takes the last axis of a product of three dimensions and more for that of the limits: it does not compile
    the model, or results have other sizes or are quantized otherwise.
    """

    roots = (FakeQuantize,)
    companions = ((MatMul,),)

    def may_match(self, op: Operation) -> bool:
        product = merged_before(op.operands[0], _VIEWS)
        if not isinstance(product.owner, MatMul) or is_computed_identity(op.operands[0]):
            return False
        rank = rank_of(op.operands[0])
        if rank is None or rank_of(product) != rank:
            return any(shape_of(each) not in ((), (1,)) for each in op.operands[1:])
        return rank > 2 and any(_varies_after_first(shape_of(each), rank) for each in op.operands[1:])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        rewriter.replace_with(
            op, rewriter.op.create(FakeQuantize, [computed_identity(rewriter.op, data), *limits], dict(op.properties)).results[0]
        )


def _varies_after_first(shape: tuple[int, ...] | None, rank: int) -> bool:
    """Whether a limit of this shape, broadcast to a rank, has several elements along an axis other than the
    first one.
    """
    if shape is None:
        return True
    return any(size != 1 for size in shape[len(shape) - rank + 1 if len(shape) >= rank else 0 :])


class TruncatedBeforeRounding(Pattern):
    """Converts floats to integers of 8 bits and back by way of i32 if they are quantized after that.

        %1 = opset1.Convert(opset1.Convert(%x) {destination_type = si8}) {destination_type = f32}
        %y = opset1.FakeQuantize(%1, %low, %high, %low, %high)
    ->  %2 = opset1.Convert(opset1.Convert(%x) {destination_type = si8}) {destination_type = si32}
        %1 = opset1.Convert(%2) {destination_type = f32}

    The plugin removes both conversions, with them the rounding towards 0.
    """

    roots = (Convert,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        inner = op.operands[0].owner
        if not isinstance(inner, Convert) or element_of(op.results[0]) not in _FLOATS:
            return False
        return element_of(op.operands[0]) in _BYTES and element_of(inner.operands[0]) in _FLOATS and _is_rounded_after(op.results[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        wide = rewriter.op.convert(op.operands[0], si32)
        rewriter.replace_with(op, rewriter.op.convert(wide, element_of(op.results[0])))


def _is_rounded_after(value: SSAValue) -> bool:
    """Whether a value reaches a FakeQuantize, directly or through elementwise operations with constants."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, FakeQuantize) and use.index == 0:
            return True
        if not isinstance(user, OpsetOp) or not (user.POINTWISE or user.BROADCASTS):
            continue
        others = [each for each in user.operands if each is not value]
        if all(constant_of(each) is not None for each in others) and _is_rounded_after(user.results[0]):
            return True
    return False


class QuantizedAfterNegativeScales(Pattern):
    """Separates quantization from negative constant factors before it.

        %0 = opset1.Multiply(%x, %c)                             // %c: [1, 4, 1, 1], some of its numbers are negative
        %y = opset1.FakeQuantize(%0, %low, %high, %low, %high)
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %0), %low, %high, %low, %high)

    The plugin divides the limits by the factors, also through operations that only move elements, and takes the larger
    limit for the lower one. It does so for dynamic dimensions, and wherever it does not generate code.
    """

    roots = (FakeQuantize,)
    companions = ((Multiply, Divide),)

    def may_match(self, op: Operation) -> bool:
        value = op.operands[0]
        while isinstance(owner := value.owner, OpsetOp) and owner.operands and not is_computed_identity(value):
            if isinstance(owner, Multiply | Divide) and any(_has_negative(each) for each in owner.operands):
                return True
            computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
            if len(computed) != 1 or not (owner.KIND in _MOVED or owner.POINTWISE or owner.BROADCASTS) or isinstance(owner, FakeQuantize):
                return False
            value = computed[0]
        return False

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])


_MOVED = _MOVING | {"Concat", "DepthToSpace", "ShuffleChannels", "SpaceToDepth"}
"""Operations through which the plugin moves factors to the limits of a FakeQuantize."""


def _has_negative(value: SSAValue) -> bool:
    """Whether a value is a constant with a negative element."""
    known = constant_of(value)
    return known is not None and bool((known < 0).any())


FORMS = (
    Form(
        "separate-fake-quantize",
        (QuantizedExtremes, QuantizedProducts, QuantizedAfterNegativeScales, TruncatedBeforeRounding),
        "Separates a FakeQuantize from reductions, matrix products, negative factors and conversions.",
        after=(
            "rewrite-fake-quantize",
            "separate-reductions",
        ),
        faults=(
            Fault(
                "negative-factors-of-levels",
                "FakeQuantize of a product of dynamic shape with constants of several signs",
                "takes the larger limit for the lower one",
            ),
            Fault(
                "levels-of-extremes",
                "FakeQuantize of a ReduceMax or ReduceMin, perhaps after elementwise operations, for integers of 8 bits",
                "is off by some quantization steps",
            ),
            Fault(
                "levels-of-joined-extremes",
                "FakeQuantize of a Concat of a ReduceMax or ReduceMin and another value",
                "is off by some quantization steps",
            ),
            Fault(
                "levels-of-products",
                "FakeQuantize of a MatMul of three dimensions and more, with limits along another axis than the first",
                "is not compiled, or has other sizes or quantized values",
            ),
            Fault(
                "truncated-levels",
                "Convert of floats to integers of 8 bits and back, then FakeQuantize",
                "numbers are not rounded to integers",
            ),
        ),
    ),
)
