"""`fuse-repeats`: repetition of the elements along an axis becomes an Interpolate in mode `nearest`.

    %1 = opset1.Unsqueeze(%0, [2])                       // %0: [N, H, W, C]
    %2 = opset1.Tile(%1, [1, 1, 2, 1, 1])
    %3 = opset1.Reshape(%2, [N, 2 H, W, C])
->  %3 = opset11.Interpolate(%0, [2.0], [1])
             {mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"}

Interpolates along different axes are merged. `tf.repeat` and the UpSampling layers of Keras have this form.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import f16, f32
from moir.dialects.moir import all_blocks
from moir.dialects.opset.image.resampling import Interpolate
from moir.dialects.opset.repetition import Tile
from moir.dialects.opset.shape import Reshape, Unsqueeze
from moir.dialects.shapes import element_of, rank_of
from moir.dialects.symbols import same
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.rules import FusionRule, Match

MOST_REPETITIONS = 8
"""The largest scale for which the rounded quotient of a coordinate and the scale is never below the exact integer."""

MAXIMUM_RANK = 5
"""Largest rank of the data of an Interpolate that all targets resize."""

NEAREST = {
    "mode": "nearest",
    "shape_calculation_mode": "scales",
    "coordinate_transformation_mode": "asymmetric",
    "nearest_mode": "floor",
}


def repetition(op: Operation) -> tuple[SSAValue, int, int] | None:
    """The data that a Reshape repeats, the axis and the number of repetitions; None for any other Reshape."""
    tile = op.operands[0].owner
    if not isinstance(op, Reshape) or not isinstance(tile, Tile) or not has_one_live_use(op.operands[0]):
        return None
    unsqueeze, repeats = tile.operands[0].owner, constant_of(tile.operands[1])
    if not isinstance(unsqueeze, Unsqueeze) or repeats is None or not has_one_live_use(tile.operands[0]):
        return None
    axes, rank = constant_of(unsqueeze.operands[1]), rank_of(tile.operands[0])
    if axes is None or axes.size != 1 or rank is None or repeats.size != rank or rank > MAXIMUM_RANK + 1:
        return None
    inserted = int(axes.ravel()[0]) % rank
    if inserted == 0 or np.delete(repeats.ravel(), inserted).tolist() != [1] * (rank - 1):
        return None
    return unsqueeze.operands[0], inserted - 1, int(repeats.ravel()[inserted])


class RepeatedElements(DimensionsPattern):
    """Replaces a repetition by an Interpolate if the Reshape restores all other dimensions."""

    roots = (Reshape,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        repeated_elements = repetition(op)
        if repeated_elements is None:
            return
        data, axis, count = repeated_elements
        source, target = self.known.tokens(data) or (), self.known.tokens(op.results[0]) or ()
        if not 1 < count <= MOST_REPETITIONS or element_of(data) not in (f16, f32) or len(source) != len(target):
            return
        if all(same(a, b) for position, (a, b) in enumerate(zip(source, target, strict=True)) if position != axis):
            scales, axes = np.array([count], np.float32), np.array([axis], np.int64)
            repeated = rewriter.op.Interpolate(data, scales, axes, **NEAREST)
            self.known.take_over(repeated, op.results[0])
            rewriter.replace_with(op, repeated)


def scales_of(op: Operation) -> dict[int, float] | None:
    """The scale of an Interpolate along each axis; None if it pads, or if the scales or axes are computed."""
    assert isinstance(op, Interpolate)
    scales, axes = (constant_of(each) for each in op.operands[1:])
    if scales is None or axes is None or any(map(any, (op.integers("pads_begin"), op.integers("pads_end")))):
        return None
    return dict(zip(axes.ravel().tolist(), scales.ravel().tolist(), strict=True))


def merge_scales(op: OpBuilder, match: Match) -> SSAValue | None:
    """One Interpolate along the axes of two; None if they have an axis in common."""
    outer, inner = map(scales_of, match.operations)
    if outer is None or inner is None or outer.keys() & inner.keys():
        return None
    scales = dict(sorted((inner | outer).items()))
    return op.Interpolate(match["x"], np.array([*scales.values()], np.float32), np.array([*scales], np.int64), **NEAREST)


NEAREST_OF_NEAREST = FusionRule(
    name="NearestOfNearest",
    pattern=lambda op, x, a, i, b, j: op["opset11.Interpolate"](op["opset11.Interpolate"](x, a, i, **NEAREST), b, j, **NEAREST),
    rewrite=merge_scales,
)
"""Merges an Interpolate with the one that produces its data if their axes differ."""


class FuseRepeatsPass(ReportingPass):
    """Replaces repetitions of elements by Interpolates."""

    name = "fuse-repeats"

    ROOTS = (Reshape,)

    COMPANIONS = ((Tile,), (Unsqueeze,))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if not any(repetition(each) for each in analyses.operations(Reshape)):
            return False
        known = analyses.dimensions()
        rewrite(module, [RepeatedElements(known)], known=known, analyses=analyses)
        # The replaced operations still use the Interpolates that are to be merged.
        for block in all_blocks(module):
            eliminate_dead(block)
        rewrite(module, [NEAREST_OF_NEAREST])
        return True
