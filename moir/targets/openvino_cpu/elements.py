"""Operations on element types for which the CPU plugin has no kernel, or a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import (
    INTEGER_TYPES,
    REAL_TYPES,
    bf16,
    boolean,
    describe,
    dynamic,
    f4e2m1,
    f16,
    f32,
    f64,
    is_element_type,
    si8,
    si32,
    to_numpy,
    ui2,
    ui4,
    ui8,
)
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.support.records import Record
from moir.targets.record import AVX_512, Fault, Form
from moir.targets.stages import TYPES

PACKED: AbstractSet[Attribute] = frozenset(
    each for each in (*INTEGER_TYPES, *REAL_TYPES) if is_element_type(each) and describe(each).is_packed
)
"""The element types of less than a byte, which are packed."""

NARROW_FLOATS: AbstractSet[Attribute] = frozenset(each for each in REAL_TYPES if describe(each).bits <= 8)
"""The floating-point types of a byte or less."""

SHORT_INTEGERS: AbstractSet[Attribute] = frozenset(each for each in INTEGER_TYPES if describe(each).bits in (8, 16))

BYTES: AbstractSet[Attribute] = frozenset({boolean, si8, ui8})


class Widening(Record):
    """Element types for which the plugin cannot compute an operation, and the operands and results to convert.

    Args:
        elements: the element types of the first operand.
        operands: the operands that are converted; None for all.
        results: the results that are converted back.
        condition: a further condition under which the plugin fails; None if it always does.
    """

    elements: AbstractSet[Attribute]
    operands: tuple[int, ...] | None = (0,)
    results: tuple[int, ...] = (0,)
    condition: Callable[[OpsetOp], bool] | None = None


def _has_dilations_or_indices(op: OpsetOp) -> bool:
    """Whether a MaxPool has dilated windows, or uses of its result with the indices."""
    return set(op.integers("dilations")) != {1} or op.results[1].first_use is not None


def _has_computed_axes(op: OpsetOp) -> bool:
    return constant_of(op.operands[1]) is None


def _has_steep_columns(op: OpsetOp) -> bool:
    """Whether a pooling with three spatial axes has different strides along height and width."""
    strides = op.integers("strides")
    return len(strides) == 3 and strides[-1] != strides[-2]


def _has_smaller_epsilon(op: OpsetOp) -> bool:
    """Whether the attribute `epsilon` is so small that it underflows in f16."""
    epsilon = op.number("eps")
    return epsilon > 0 and not np.float16(epsilon)


_POOLED = Widening(frozenset({bf16, si8, ui8}), condition=_has_dilations_or_indices)
_PADDED = Widening(PACKED | NARROW_FLOATS, operands=(0, 3))
_SCATTERED = Widening(PACKED, operands=(0, 2))
_REDUCED = Widening(frozenset({bf16}), condition=_has_computed_axes)
_CONVOLVED = Widening(frozenset({bf16}), operands=(0, 1), condition=_has_steep_columns)
_EXAMINED = Widening(NARROW_FLOATS, results=())

WIDENINGS: Mapping[str, Widening] = {
    "opset1.Convolution": _CONVOLVED,
    "opset1.FakeQuantize": Widening(frozenset({f64}), operands=None),
    "opset1.GroupConvolution": _CONVOLVED,
    "opset12.GroupNormalization": Widening(frozenset({bf16}), operands=None),
    "opset10.IsFinite": _EXAMINED,
    "opset10.IsInf": _EXAMINED,
    "opset10.IsNaN": _EXAMINED,
    "opset6.MVN": Widening(frozenset({f16}), condition=_has_smaller_epsilon),
    "opset8.MaxPool": _POOLED,
    "opset14.MaxPool": _POOLED,
    "opset1.Pad": _PADDED,
    "opset12.Pad": _PADDED,
    "opset1.ReduceMax": _REDUCED,
    "opset1.ReduceMean": _REDUCED,
    "opset1.ReduceMin": _REDUCED,
    "opset1.ReduceProd": _REDUCED,
    "opset1.ReduceSum": _REDUCED,
    "opset4.ReduceL1": _REDUCED,
    "opset4.ReduceL2": _REDUCED,
    "opset3.ScatterElementsUpdate": _SCATTERED,
    "opset12.ScatterElementsUpdate": _SCATTERED,
    "opset1.Transpose": Widening(PACKED),
    "opset10.Unique": Widening(BYTES),
}
"""The operations that are computed in a wider type, by their names."""

_FLOAT_WIDENED: AbstractSet[Attribute] = REAL_TYPES | {si8, ui8}
"""The types that are widened to f32; all others are widened to i32."""


def wide_type(op: OpsetOp) -> Attribute:
    """The wider element type in which an operation is computed."""
    element = element_of(op.operands[0])
    in_floats = element in REAL_TYPES or (element in _FLOAT_WIDENED and op.KIND == "MaxPool")
    return f32 if in_floats else si32


class ElementsWithoutKernel(Pattern):
    """Computes an operation in an element type for which the plugin has a kernel.

        %y = opset12.GroupNormalization(%x, %s, %b)          // bf16
    ->  %0 = opset12.GroupNormalization(%x, %s, %b as f32)
        %y = opset1.Convert(%0) {destination_type = bf16}

    Without a kernel the plugin does not compile the operation, writes out of bounds, or returns wrong elements, indices
    or counts.
    """

    roots = (*WIDENINGS,)
    elements = frozenset[Attribute]().union(*(each.elements for each in WIDENINGS.values()))

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, OpsetOp)
        rule = WIDENINGS[op.name]
        return element_of(op.operands[0]) in rule.elements and (rule.condition is None or rule.condition(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        rule, build, wide = WIDENINGS[op.name], rewriter.op, wide_type(op)
        places = range(len(op.operands)) if rule.operands is None else rule.operands
        operands = [build.convert(value, wide) if index in places else value for index, value in enumerate(op.operands)]
        results: list[SSAValue] = list(build.create(type(op), operands, dict(op.properties), len(op.results)).results)
        for index in rule.results:
            element = element_of(op.results[index])
            # The plugin would merge a Transpose with the Convert and write out of bounds: a Clamp between them
            # prevents that.
            apart = op.KIND == "Transpose" and element in (f4e2m1, ui2)
            results[index] = build.convert(build.Clamp(results[index], min=-8, max=8) if apart else results[index], element)
        rewriter.replace_with(op, results)


class ExtremeOfNarrowIntegers(Pattern):
    """Limits the maximum or minimum of a possibly empty tensor of narrow integers to the range of its type.

        %y = opset1.ReduceMax(%x, %axes)                     // si8, of dynamic size
    ->  %0 = opset1.ReduceMax(%x as si32, %axes)
        %y = opset1.Maximum(%0, -128) as si8

    For an empty tensor the plugin returns the limit of i32, whose lower bits are not the limit of a narrower type.
    """

    roots = ("opset1.ReduceMax", "opset1.ReduceMin")
    elements = SHORT_INTEGERS

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) in SHORT_INTEGERS and element_count(shape_of(op.operands[0])) in (None, 0)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        build, element = rewriter.op, element_of(op.results[0])
        limits = np.iinfo(to_numpy(element))
        wide = build.create(type(op), [build.convert(op.operands[0], si32), op.operands[1]], dict(op.properties)).results[0]
        bounded = build.Maximum(wide, int(limits.min)) if op.KIND == "ReduceMax" else build.Minimum(wide, int(limits.max))
        rewriter.replace_with(op, build.convert(bounded, element))


class ConversionInSteps(Pattern):
    """Splits a conversion that the plugin does not have into two by way of an intermediate type.

        %y = opset1.Convert(%x) {destination_type = boolean}     // ui2
    ->  %0 = opset1.Convert(%x) {destination_type = ui8}
        %y = opset1.Convert(%0) {destination_type = boolean}

    The plugin converts some narrow floating-point types to and from wider ones only, and does not convert ui2 to
    boolean. If shapes are dynamic, it converts negative floats to 0 where the result is a packed integer.
    """

    roots = ("opset1.Convert",)
    elements = NARROW_FLOATS | {ui2, ui4}

    def may_match(self, op: Operation) -> bool:
        return _step(element_of(op.operands[0]), element_of(op.results[0])) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x, build = op.operands[0], rewriter.op
        between = _step(element_of(x), element_of(op.results[0]))
        assert between is not None
        rewriter.replace_with(op, build.convert(build.convert(x, between), element_of(op.results[0])))


_WIDE_FLOATS = frozenset({bf16, dynamic, f16, f32, f64})


def _step(source: Attribute, result: Attribute) -> Attribute | None:
    """The type in between when a conversion is split in two; None if the plugin can convert from `source` to `result`
    at once.
    """
    if source in _WIDE_FLOATS:
        return si32 if result in (ui2, ui4) and source is not dynamic else None
    if result not in _WIDE_FLOATS and (source in NARROW_FLOATS or result in NARROW_FLOATS):
        return f32
    return ui8 if source == ui2 and result == boolean else None


class ConversionToBytes(Pattern):
    """Converts floats to 8-bit integers by way of integers of 32 bits, whose lowest bits are kept.

        %y = opset1.Convert(%x) {destination_type = ui8}         // f32, of dynamic size
    ->  %0 = opset1.Convert(%x) {destination_type = si32}
        %y = opset1.Convert(%0) {destination_type = ui8}

    If sizes are dynamic, or for f64, the plugin saturates numbers beyond 8 bits, which wrap around in all other cases
    and in the frameworks. A conversion of numbers that are known to be within the limits of the type is unchanged.
    """

    roots = ("opset1.Convert",)
    elements = frozenset({si8, ui8})

    def may_match(self, op: Operation) -> bool:
        source, result = element_of(op.operands[0]), element_of(op.results[0])
        if result not in (si8, ui8) or source not in _WIDE_FLOATS - {dynamic}:
            return False
        shape = shape_of(op.operands[0])
        return (source == f64 or shape is None or -1 in shape) and not _is_within(op.operands[0], result)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        rewriter.replace_with(op, build.convert(build.convert(op.operands[0], si32), element_of(op.results[0])))


def _is_within(value: SSAValue, element: Attribute) -> bool:
    """Whether a tensor of floats is known to be in the range of an integer type, by a Clamp or FakeQuantize, perhaps
    rounded later.
    """
    op, limits = value.owner, np.iinfo(to_numpy(element))
    while isinstance(op, OpsetOp) and op.KIND in ("Round", "Floor", "Ceiling"):
        op = op.operands[0].owner
    if isinstance(op, OpsetOp) and op.KIND == "Clamp":
        return bool(limits.min <= op.number("min") and op.number("max") <= limits.max)
    if isinstance(op, OpsetOp) and op.KIND == "FakeQuantize":
        bounds = [constant_of(each) for each in op.operands[3:5]]
        return all(each is not None and bool(((limits.min <= each) & (each <= limits.max)).all()) for each in bounds)
    return isinstance(op, OpsetOp) and op.KIND == "Convert" and element_of(op.operands[0]) in (boolean, element)


FORMS = (
    Form(
        "widen-elements",
        (ElementsWithoutKernel, ExtremeOfNarrowIntegers),
        "Computes in a wider element type where the plugin has no right kernel for the type.",
        after=(
            "complete-indices",
            "reduce-booleans-as-bytes",
            "normalize-columns",
            "pad-before-indexing",
            "pad-before-convolutions",
            "sum-empty-products",
        ),
        faults=(
            Fault("f8-examination", "IsNaN, IsInf and IsFinite of floats of 8 bits", "are not compiled"),
            Fault("bf16-normalization", "GroupNormalization of bf16", "is not compiled", feature=AVX_512),
            Fault("bf16-pooling", "MaxPool of bf16, of which the indices are used", "is not compiled", feature=AVX_512),
            Fault("bf16-sums", "ReduceSum and others of bf16 along computed axes", "are not compiled", feature=AVX_512),
            Fault("unique-bytes", "Unique of elements of a byte", "returns wrong indices and counts, or writes beyond its results"),
            Fault(
                "packed-padding",
                "Pad, Transpose and ScatterElementsUpdate of elements of less than 8 bits",
                "move whole bytes, or are not compiled",
            ),
            Fault("narrow-extremes", "ReduceMax and ReduceMin of no integer of 8 or 16 bits", "are the lower bits of the limits of i32"),
        ),
    ),
    Form(
        "convert-in-steps",
        (ConversionInSteps, ConversionToBytes),
        "Converts element types through an intermediate type if the plugin has no direct conversion, or saturates.",
        stage=TYPES,
        faults=(
            Fault("u2-boolean", "Convert of u2 to boolean, and of some floats of 8 bits to others", "is not compiled"),
            Fault(
                "saturated-bytes",
                "Convert of f64, and of floats of dynamic shape, to integers of 8 bits",
                "saturates instead of wrapping around, as other conversions do",
            ),
        ),
    ),
)
