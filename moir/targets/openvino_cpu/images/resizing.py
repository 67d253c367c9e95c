"""Interpolate along more axes than the CPU plugin resizes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.element_types import REAL_TYPES, f32
from moir.dialects.opset.image.resampling import Interpolate, Interpolate4
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol, same
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.record import Fault, Form

LARGEST_RANK = 5
"""The largest rank of data that the plugin resizes itself; the runtime's reference implementation computes others."""

LAST_TOGETHER: Mapping[int, int] = {3: 2, 4: 2, 5: 3}
"""For a rank of data, how many of the last axes the plugin always resizes together; the axes before them, too, are one
group.
"""

CHANNEL_AXIS = 1


class EarlierInterpolate(Pattern):
    """Replaces an Interpolate of operation set 4 by that of set 11, if the other patterns may apply to it.

        %y = opset4.Interpolate(%x, %sizes, %scales, [0, 2, 3]) {shape_calculation_mode = "sizes"}
    ->  %y = opset11.Interpolate(%x, %sizes, [0, 2, 3]) {shape_calculation_mode = "sizes"}
    """

    roots = (Interpolate4,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Interpolate4)
        return _may_be_refused(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Interpolate4)
        data, sizes, scales, *axes = op.operands
        target = sizes if op.text("shape_calculation_mode") == "sizes" else scales
        rewriter.replace_with(op, rewriter.op.create(Interpolate, [data, target, *axes], dict(op.properties)).results[0])


class ResizedAxes(DimensionsPattern):
    """Resizes the last axes of an Interpolate first, and then the axes before them, if it does not resize all at once.

        %y = opset11.Interpolate(%x, [2.0, 2.0, 2.0], [1, 2, 3]) {mode = "cubic"}        // %x: [1, 3, 8, 8]
    ->  %0 = opset11.Interpolate(%x, [2.0, 2.0], [2, 3]) {mode = "cubic"}
        %y = opset11.Interpolate(%0, [2.0], [1]) {mode = "cubic"}

    The plugin refuses three axes of data of rank 4 if the first one is among them, and four axes of rank 5. It
    computes other results for several axes of rank 3 and for three of rank 4 in mode `cubic`. Each mode computes one
    axis after the other, so that the parts have the same result; integers are interpolated as f32, and rounded
    at the end.

    An axis counts if its size changes or may change. But dynamic dimensions of the batch and channels of data of rank 3
    and 4 are assumed to equal a constant size, as they do for images; else the plugin ends the inference with an error.
    """

    roots = (Interpolate,)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[0]) in LAST_TOGETHER

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Interpolate)
        data, rank, mode = op.operands[0], rank_of(op.operands[0]) or 0, op.text("mode")
        axes = _axes(op, rank)
        if axes is None or not _is_refused(_changed(op, axes, self.known), rank, mode):
            return
        build, element = rewriter.op, element_of(data)
        rounds = mode != "nearest" and element not in REAL_TYPES
        result = build.convert(data, f32) if rounds else data
        properties = dict(op.properties)
        first = rank - LAST_TOGETHER[rank]
        for selects_last in (True, False):
            indices = [index for index, axis in enumerate(axes) if (axis >= first) is selects_last]
            if indices:
                target = build.Gather(op.operands[1], indices, 0)
                part = build.constant([axes[index] for index in indices])
                result = build.create(Interpolate, [result, target, part], properties).results[0]
                # The data are padded once, before the first part is resized.
                properties = {name: value for name, value in properties.items() if name not in ("pads_begin", "pads_end")}
        rewriter.replace_with(op, build.convert(build.Round(result, mode="half_to_even") if rounds else result, element))


def _axes(op: Interpolate | Interpolate4, rank: int) -> list[int] | None:
    """The axes that an Interpolate resizes; None if they are computed."""
    operand = op.optional_operand(3 if isinstance(op, Interpolate4) else 2)
    if operand is None:
        return list(range(rank))
    axes = constant_of(operand)
    return None if axes is None else axes.ravel().tolist()


def _changed(op: Interpolate, axes: Sequence[int], known: Dimensions) -> list[int]:
    """The axes whose size an Interpolate changes or may change."""
    data, shape, entries = op.operands[0], shape_of(op.operands[0]) or (), known.elements(op.operands[1])
    if entries is None or entries.size != len(axes) or any((*op.integers("pads_begin"), *op.integers("pads_end"))):
        return list(axes)
    by_scales, is_image = op.text("shape_calculation_mode") == "scales", len(shape) < LARGEST_RANK
    changed: list[int] = []
    for axis, entry in zip(axes, entries.ravel(), strict=True):
        is_dynamic = not by_scales and shape[axis] < 0
        size = known.dimension(data, axis) if is_dynamic else 1 if by_scales else shape[axis]
        is_assumed = is_dynamic and is_image and axis <= CHANNEL_AXIS and not isinstance(entry, Symbol)
        if not same(entry, size) and not is_assumed:
            changed.append(axis)
    return changed


def _is_refused(axes: Sequence[int], rank: int, mode: str) -> bool:
    """Whether the plugin refuses to resize these axes of data of this rank together in this mode, or computes a wrong
    result.
    """
    is_cubic = mode == "cubic"
    match rank:
        case 3:
            return is_cubic and 0 in axes and len(axes) > 1
        case 4:
            return len(axes) > 2 and (0 in axes or is_cubic)
        case _:
            return len(axes) > 3 and not is_cubic


class LinearByReference(Pattern):
    """Resizes constants, and data of more than five dimensions, in mode `linear` instead of `linear_onnx`.

        %y = opset11.Interpolate(%x, [2.0], [4]) {mode = "linear_onnx"}                  // %x: [1, 3, 2, 2, 8, 8]
    ->  %y = opset11.Interpolate(%x, [2.0], [4]) {mode = "linear"}

    The runtime's reference implementation computes these, and knows `linear_onnx` for the spatial axes of images only.
    Without antialiasing both modes have the same result.
    """

    roots = (Interpolate,)

    def may_match(self, op: Operation) -> bool:
        return _is_computed_by_reference(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Interpolate)
        if op.text("mode") != "linear_onnx" or op.flag("antialias"):
            return
        properties = {**op.properties, "mode": string_attribute("linear")}
        rewriter.replace_with(op, rewriter.op.create(Interpolate, list(op.operands), properties).results[0])


def _may_be_refused(op: Interpolate | Interpolate4) -> bool:
    """Whether, whatever the sizes are, the plugin might refuse to resize all axes of an Interpolate together in its
    mode.
    """
    rank = rank_of(op.operands[0]) or 0
    splits = rank in LAST_TOGETHER and _is_refused(_axes(op, rank) or (), rank, op.text("mode"))
    return splits or _is_computed_by_reference(op)


def _is_computed_by_reference(op: Operation) -> bool:
    """Whether the runtime's reference implementation computes an Interpolate."""
    return (rank_of(op.operands[0]) or 0) > LARGEST_RANK or isinstance(op.operands[0].owner, Constant)


def _split_resized_axes(module: ModuleOp, analyses: Analyses) -> bool:
    if not any(map(_may_be_refused, (*analyses.operations(Interpolate), *analyses.operations(Interpolate4)))):
        return False
    changed = rewrite(module, [EarlierInterpolate()], analyses=analyses)
    patterns = [ResizedAxes(analyses.dimensions(static=True)), LinearByReference()]
    # Without the analyses, which do not have the operations that the first pattern builds.
    return rewrite(module, patterns) or changed


FORMS = (
    Form(
        "split-resized-axes",
        summary="Resizes data along many axes in two steps, and constants and data of high rank in a mode that the runtime has for them.",
        run=_split_resized_axes,
        roots=(Interpolate, Interpolate4),
        faults=(
            Fault("resized-axes", "Interpolate along four axes, or three of rank 4 with the first", "is not computed"),
            Fault("cubic-axes", "Interpolate along several axes of rank 3 or three axes of rank 4 in mode cubic", "has other numbers"),
            Fault("linear-rank", "Interpolate of more than five dimensions, or of constants, in mode linear_onnx", "is not compiled"),
        ),
    ),
)
