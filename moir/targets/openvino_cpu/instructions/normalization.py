"""Normalizations that the CPU plugin does not execute with a limit of the instruction set.

The limit is the environment variable ONEDNN_MAX_CPU_ISA of the runtime. The form is written if the limit is set in
the environment of the conversion, too: without it the form would cost time, and there is nothing to avoid.
"""

from __future__ import annotations

import math
import os

from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import AVX_512, Fault, Form
from moir.targets.registry import INSTRUCTION_LIMIT

_BELOW_AVX_512 = frozenset(("AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2"))
_ELEMENTS_OF_VECTOR = 16
_LARGEST_MERGED_AXIS = 2
"""The largest first axis of normalized axes for which the plugin has a merged operation: all axes from 0, 1 or 2 on."""


class NormalizationOfPartialVectors(Pattern):
    """Adds first dimensions to a normalization, so that the plugin computes it by simple operations.

        %y = opset6.MVN(%x, [1])                                 // %x: [2, 5]
    ->  %0 = opset6.MVN(opset1.Unsqueeze(%x, [0, 1]), [3])
        %y = opset15.Squeeze(%0, [0, 1])

    Below AVX-512 the operation of the plugin loads vectors of 16 elements, and the rest by instructions of the
    processor that it was not generated for. So only normalizations of a number of elements that is not a multiple of
    16, or dynamic, are changed.
    """

    roots = ("opset6.MVN",)

    def may_match(self, op: Operation) -> bool:
        if os.environ.get(INSTRUCTION_LIMIT, "").upper() not in _BELOW_AVX_512:
            return False
        shape, axes = shape_of(op.operands[0]), constant_of(op.operands[1])
        if shape is None or axes is None or not axes.size:
            return False
        reduced: list[int] = axes.reshape(-1).tolist()
        sizes = [shape[axis] for axis in reduced]
        first = min(normalize_axis(axis, len(shape)) for axis in reduced)
        return first <= _LARGEST_MERGED_AXIS and (min(sizes) < 0 or math.prod(sizes) % _ELEMENTS_OF_VECTOR != 0)

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


FORMS = (
    Form(
        "unfold-limited-normalizations",
        (NormalizationOfPartialVectors,),
        after=("fit-fake-quantize-limits", "normalize-columns"),
        faults=(
            Fault(
                "normalized-partial-vectors",
                "MVN of a number of elements that is not a multiple of 16, with a limit of the instruction set below AVX-512 "
                "(ONEDNN_MAX_CPU_ISA, which has to be set for the conversion, too) on a processor that has it",
                "ends the process",
                feature=AVX_512,
            ),
        ),
    ),
)
