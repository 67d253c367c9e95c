"""Selective state spaces in the form that the runtime replaces by one operation, also with GenAI's paged cache."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, Region, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32
from moir.dialects.opset.control_flow import Loop
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.repetition import Tile
from moir.dialects.opset.shape import Reshape, Unsqueeze
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.loops.state_space import state_step
from moir.expansions.loops.token_steps import OUTPUTS, body_of_tokens
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.rewriting.operations_with_bodies import create_repeating
from moir.targets.openvino_cpu.preferences.token_loops import computation, write_first_squeezes
from moir.targets.record import Form
from moir.targets.stages import FUSED

RANKS = [5, 5, 5, 4, 4]
"""The ranks of the loop's operands: factors, updates, outputs, state and zeros."""


@dataclass(frozen=True)
class StateSpace:
    """The operands of a selective state space.

    rates: [heads], a constant.
    steps: [batch, tokens, heads].
    x: [batch, tokens, heads * head size], or [batch, tokens, heads, head size].
    inputs, outputs: [batch, tokens, groups, 1, state size], before they are repeated for the heads of a group; with as
        many groups as heads the dimension of 1 may be missing.
    """

    rates: SSAValue
    steps: SSAValue
    x: SSAValue
    inputs: SSAValue
    outputs: SSAValue


class StepsOfStateSpace(Pattern):
    """Writes a loop of a selective state space as SelectiveSSMFusion of the runtime looks for it.

        %d = opset1.Reshape(opset1.Exp(opset1.Multiply(%rates, %steps)))
        %g = opset1.Tile(opset1.Unsqueeze(%inputs, [3, 4]))
        %u = opset1.Multiply(opset1.Unsqueeze(opset1.Multiply(opset1.Unsqueeze(%steps), opset1.Reshape(%g))), …)
        %c = opset1.Reshape(opset1.Tile(opset1.Unsqueeze(%outputs)))
        %y, %s = opset5.Loop(%tokens, %true, %d, %u, %c, %state, %zeros) ({the steps, with copies of slices})
    ->  the same with %x [batch, tokens, heads, head size], %inputs and %outputs [batch, tokens, groups, state size] as
        values of their own, an Unsqueeze for each further axis, and %y, %s = opset5.Loop(…) ({the steps})

    The runtime's fusion recognizes the dimensions by these shapes; it expects negative axes, and the first version of
    Squeeze.
    """

    roots = (Loop,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Loop)
        return len(op.operands) == 7 and len(op.results) == 2 and [rank_of(value) for value in op.operands[2:]] == RANKS

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Loop)
        build, (_, _, factors, updates, outputs, state, zeros) = rewriter.op, op.operands
        space, shape = _space(factors, updates, outputs), shape_of(state)
        if space is None or shape is None or min(shape[1:]) < 0 or op.ports("outputs") != OUTPUTS or element_of(state) != f32:
            return
        block, inputs = body_of_tokens(build, state_step, (factors, updates, outputs), state, zeros, 1)
        if computation(block, inputs) != computation(op.block, op.ports("inputs")):
            return
        write_first_squeezes(rewriter, block)
        _, heads, size, width = shape
        x = build.Reshape(space.x, [0, 0, heads, size], special_zero=True)
        factor = build.Reshape(build.Exp(build.Multiply(space.rates, space.steps)), [0, 0, heads, 1, 1], special_zero=True)
        weighted = build.Multiply(build.Unsqueeze(space.steps, [-1]), _spread(build, space.inputs, heads, width))
        update = build.Multiply(build.Unsqueeze(weighted, [-2]), build.Unsqueeze(x, [-1]))
        output = build.Unsqueeze(_spread(build, space.outputs, heads, width), [-2])
        operands = [*op.operands[:2], factor, update, output, state, zeros]
        rewriter.replace_with(op, create_repeating(build, Loop, operands, inputs, OUTPUTS, Region(block)))


def _spread(op: OpBuilder, groups: SSAValue, heads: int, width: int) -> SSAValue:
    """Repeat the values of groups [batch, tokens, groups, …] for all heads: [batch, tokens, heads, width].

    `heads` is a multiple of the number of groups.
    """
    count = (shape_of(groups) or (0, 0, heads))[2]
    parts = op.Reshape(groups, [0, 0, count, width], special_zero=True)
    tiled = op.Tile(op.Unsqueeze(parts, [3]), [1, 1, 1, heads // count, 1])
    return op.Reshape(tiled, [0, 0, heads, width], special_zero=True)


def _space(factors: SSAValue, updates: SSAValue, outputs: SSAValue) -> StateSpace | None:
    """The operands of a state space, traced back from the operands of its loop; None if these are computed in another
    way.

    Args:
        factors: the factors of the state in each step.
        updates: what is added to the state.
        outputs: what the state is multiplied by for the results.
    """
    exponents = _operands(_bare(factors), "opset1.Exp")
    decay = _operands(exponents[0], "opset1.Multiply") if exponents else ()
    update = _operands(updates, "opset1.Multiply")
    weighted = _operands(_bare(update[0]), "opset1.Multiply") if update else ()
    if not decay or not weighted:
        return None
    rates, steps = decay
    if constant_of(rates) is None or rank_of(rates) != 1 or rank_of(steps) != 3 or _bare(weighted[0]) != steps:
        return None
    groups, read = _groups(weighted[1]), _groups(outputs)
    return None if groups is None or read is None else StateSpace(rates, steps, _bare(update[1]), groups, read)


def _operands(x: SSAValue, name: str) -> tuple[SSAValue, ...]:
    """The operands of the operation with this name whose result is x; an empty tuple if x is not the result of such an
    operation.
    """
    return tuple(x.owner.operands) if isinstance(x.owner, OpsetOp) and x.owner.name == name else ()


def _bare(x: SSAValue) -> SSAValue:
    """The value from which x is computed only by Reshapes and Unsqueezes that keep the first two dimensions."""
    while isinstance(x.owner, Reshape | Unsqueeze) and (target := constant_of(x.owner.operands[1])) is not None:
        if isinstance(x.owner, Unsqueeze):
            keeps = int((target % (rank_of(x) or 1)).min()) > 1
        else:
            keeps = value_of(x.owner.properties["special_zero"]) is True and target[:2].tolist() == [0, 0]
        if not keeps:
            break
        x = x.owner.operands[0]
    return x


def _groups(x: SSAValue) -> SSAValue | None:
    """The values [batch, tokens, groups, …] that a Tile repeats to the values x of all heads; x itself if no Tile
    computes it.

    None if the Tile does not repeat along the axis after the groups.
    """
    tiled = _bare(x)
    if not isinstance(tiled.owner, Tile):
        return x
    value, repeats = tiled.owner.operands
    counts, shape = constant_of(repeats), shape_of(value)
    if counts is None or shape is None or len(shape) != 5 or shape[3] != 1 or min(shape[2], shape[4]) < 1:
        return None
    return value if [index for index, count in enumerate(counts.tolist()) if count != 1] in ([3], []) else None


FORMS = (Form("step-by-state-space", (StepsOfStateSpace,), stage=FUSED),)
