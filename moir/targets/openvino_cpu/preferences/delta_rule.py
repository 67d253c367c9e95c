"""The gated delta rule in the form that the runtime replaces by one operation, also with GenAI's paged cache."""

from __future__ import annotations

import math

from xdsl.ir import Operation, Region, SSAValue

from moir.analysis.constants import constant_of, is_about, scalar_of
from moir.dialects.element_types import f32
from moir.dialects.opset.control_flow import Loop
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.loops.delta_rule import delta_step
from moir.expansions.loops.token_steps import OUTPUTS, body_of_tokens
from moir.rewriting.driver import Pattern, Rewriter
from moir.rewriting.operations_with_bodies import create_repeating
from moir.targets.openvino_cpu.preferences.token_loops import computation, write_first_squeezes
from moir.targets.record import Form
from moir.targets.stages import FUSED

CUTS, STATE, RESULTS, TOKENS = slice(2, 7), 7, 8, 2
"""CUTS, STATE, RESULTS: the indices of the loop's operands that are sliced, the state, and the initial zeros; TOKENS:
the axis of tokens.
"""


class StepsOfDeltaRule(Pattern):
    """Writes a loop of the gated delta rule as GatedDeltaNetFusion of the runtime looks for it.

        %q = opset1.Divide(opset1.Transpose(opset1.NormalizeL2(%x, [-1])), 4.0)
        %y, %s = opset5.Loop(%tokens, %true, %q, %k, %v, %g, %b, %state, %zeros) ({the steps, with copies of slices})
    ->  %n = opset1.Multiply(%x, opset1.Divide(1.0, opset1.Sqrt(opset1.Add(sum of the squares of %x, eps))))
        %t = opset1.Transpose(%n)
        %q = opset1.Divide(%t, opset1.Power(opset1.Convert(opset8.Gather(opset3.ShapeOf(%t), 3, 0)), 0.5))
        %y, %s = opset5.Loop(%tokens, %true, %q, %k, %v, %g, %b, %state, %zeros) ({the steps})

    The runtime's fusion expects negative axes, the root of the head size as the scale of queries, and the first version
    of Squeeze. This form runs after the forms that make axes nonnegative and that copy slices; the fused operation
    needs no copies.
    """

    roots = (Loop,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Loop)
        ranks = [rank_of(value) for value in op.operands[2:]]
        return len(op.operands) == 9 and len(op.results) == 2 and ranks == [4, 4, 4, 3, 3, 4, 4] and _scaled(op.operands[2]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Loop)
        build, query = rewriter.op, _scaled(op.operands[2])
        block, inputs = body_of_tokens(build, delta_step, op.operands[CUTS], op.operands[STATE], op.operands[RESULTS], TOKENS)
        if query is None or op.ports("outputs") != OUTPUTS or computation(block, inputs) != computation(op.block, op.ports("inputs")):
            return
        write_first_squeezes(rewriter, block)
        query, key = (_unfused(rewriter, each) for each in (query, op.operands[3]))
        size = build.Convert(build.Gather(build.ShapeOf(query), 3, 0), destination_type=f32)
        scaled = build.Divide(query, build.Power(size, 0.5))
        operands = [*op.operands[:2], scaled, key, *op.operands[4:]]
        rewriter.replace_with(op, create_repeating(build, Loop, operands, inputs, OUTPUTS, Region(block)))


def _scaled(query: SSAValue) -> SSAValue | None:
    """The queries x of x / √(head size); None for a value that is not such a quotient."""
    op, size = query.owner, (shape_of(query) or (-1,))[-1]
    if not isinstance(op, OpsetOp) or op.name != "opset1.Divide" or size < 1 or element_of(query) != f32:
        return None
    scale = scalar_of(op.operands[1])
    return op.operands[0] if scale is not None and is_about(scale, math.sqrt(size), f32) else None


def _unfused(rewriter: Rewriter, x: SSAValue) -> SSAValue:
    """Queries or keys with the NormalizeL2 before their Transpose written out as elementary operations; other values
    unchanged.
    """
    build, moved = rewriter.op, x.owner
    normalized = moved.operands[0].owner if isinstance(moved, OpsetOp) and moved.name == "opset1.Transpose" else None
    if (
        not isinstance(normalized, OpsetOp)
        or normalized.name != "opset1.NormalizeL2"
        or value_of(normalized.properties["eps_mode"]) != "add"
    ):
        return x
    value, axes = normalized.operands
    array, rank = constant_of(axes), rank_of(value)
    if array is None or rank is None or (array % rank).tolist() != [rank - 1]:
        return x
    total = build.Add(build.ReduceSum(build.Multiply(value, value), [-1], keep_dims=True), float(value_of(normalized.properties["eps"])))
    unit = build.Multiply(value, build.Divide(build.constant(1.0, f32), build.Sqrt(total)))
    return build.Transpose(unit, moved.operands[1]) if isinstance(moved, OpsetOp) else x


FORMS = (Form("step-by-delta-rule", (StepsOfDeltaRule,), stage=FUSED),)
