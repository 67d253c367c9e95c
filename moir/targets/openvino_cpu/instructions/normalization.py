"""Normalizations that the CPU plugin does not execute with a limit of the instruction set.

The limit is the environment variable ONEDNN_MAX_CPU_ISA of the runtime. The form is written if the limit is set in
the environment of the conversion, too: without it the form would cost time, and there is nothing to avoid.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.preferences.normalization import normalized_rows
from moir.targets.record import AVX_512, Fault, Form
from moir.targets.registry import INSTRUCTION_LIMIT

_BELOW_AVX_512 = frozenset(("AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2"))
_ELEMENTS_OF_VECTOR = 16
_CHANNELS = 1
_LARGEST_MERGED_AXIS = 2
"""The largest first axis of normalized axes for which the plugin has a merged operation: all axes from 0, 1 or 2 on."""


class NormalizationOfPartialVectors(Pattern):
    """Adds first dimensions to a normalization, so that the plugin computes it by simple operations.

        %y = opset6.MVN(%x, [1])                                 // %x: [2, 5]
    ->  %0 = opset6.MVN(opset1.Unsqueeze(%x, [0, 1]), [3])
        %y = opset15.Squeeze(%0, [0, 1])

    Below AVX-512 the operation of the plugin loads vectors of 16 elements, and the rest by instructions of the
    processor that it was not generated for. So only normalizations of a number of elements that is not a multiple of
    16, or dynamic, are changed: of each channel, where the channels are normalized together.
    """

    roots = ("opset6.MVN",)

    def may_match(self, op: Operation) -> bool:
        if not _is_below_avx_512():
            return False
        shape, axes = shape_of(op.operands[0]), constant_of(op.operands[1])
        if shape is None or axes is None or not axes.size:
            return False
        reduced: list[int] = axes.reshape(-1).tolist()
        indices = sorted(normalize_axis(axis, len(shape)) for axis in reduced)
        inner = indices[1:] if indices[0] == _CHANNELS else []
        sizes = [shape[axis] for axis in inner or indices]
        return indices[0] <= _LARGEST_MERGED_AXIS and _fills_no_vectors(sizes)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, rank, build = op.operands[0], rank_of(op.operands[0]), rewriter.op
        counted = constant_of(op.operands[1])
        assert rank is not None
        assert counted is not None
        axes = [normalize_axis(axis, rank) for axis in counted.reshape(-1).tolist()]
        added = list(range(_LARGEST_MERGED_AXIS + 1 - min(axes)))
        moved = build.constant([axis + len(added) for axis in axes])
        wide = build.create(type(op), [build.Unsqueeze(data, added), moved], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Squeeze(wide, added))


class GroupsOfPartialVectors(Pattern):
    """Normalizes groups of channels as rows.

        %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 2, epsilon = 0.00001}     // %x: [2, 4, 7]
    ->  %g = opset1.Reshape(%x, [0, 2, 1, -1])
        %n = opset6.MVN(%g, [3]) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
        %y = opset1.Add(opset1.Multiply(opset1.Reshape(%n, [0, 4, 7]), %scale), %shift)        // not for 1 and 0

    The plugin does so itself where it does not generate code for the operation: in a model with a FakeQuantize, of
    dynamic shape, or without snippets.
    """

    roots = ("opset12.GroupNormalization",)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return _is_below_avx_512() and shape is not None and _fills_no_vectors(shape[2:])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        rewriter.replace_with(op, normalized_rows(rewriter.op, op, shape_of(op.operands[0]) or (), ones=1))


def _is_below_avx_512() -> bool:
    """Whether the environment limits the instruction set of the runtime to one below AVX-512."""
    return os.environ.get(INSTRUCTION_LIMIT, "").upper() in _BELOW_AVX_512


def _fills_no_vectors(sizes: Sequence[int]) -> bool:
    """Whether the number of elements of dimensions is dynamic, or not a multiple of that of a vector."""
    return min(sizes, default=1) < 0 or math.prod(sizes) % _ELEMENTS_OF_VECTOR != 0


FORMS = (
    Form(
        "unfold-limited-normalizations",
        (GroupsOfPartialVectors, NormalizationOfPartialVectors),
        "Adds first dimensions to normalizations that are no multiple of a vector, so that simple operations compute them.",
        after=("fit-fake-quantize-limits", "normalize-columns"),
        faults=(
            Fault(
                "normalized-partial-vectors",
                "MVN and GroupNormalization of a number of elements that is not a multiple of 16, with a limit of the "
                "instruction set below AVX-512 (ONEDNN_MAX_CPU_ISA, which has to be set for the conversion, too) on a "
                "processor that has it",
                "ends the process",
                feature=AVX_512,
            ),
        ),
    ),
)
