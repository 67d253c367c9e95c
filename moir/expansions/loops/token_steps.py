"""Loops over the tokens of a text with a state, whose results are written into zeros of their final shape.

    %y, %state = opset5.Loop(%tokens, %true, %slices…, %state, %zeros) ({
      body: condition, state, ScatterUpdate(results, token, result of the token)
    })

Targets recognize some of these loops by exactly these operands, Results and outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Attribute, Block, Region, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import Loop
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import tensor
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_repeating, slice_type

Step = Callable[[OpBuilder, list[SSAValue], SSAValue], tuple[SSAValue, SSAValue]]
"""Builds the state after a token and the result of the token from the token's slices and the state before it."""


OUTPUTS = [BodyPort(2), BodyPort(1)]
"""The outputs of the loop: the results of the tokens, and the state."""


def token_steps(
    op: OpBuilder, step: Step, cuts: Sequence[SSAValue], state: SSAValue, results: SSAValue, axis: int
) -> tuple[SSAValue, SSAValue]:
    """Build a loop over tokens: returns the results of all tokens, and the state after the last one.

    Args:
        op: the builder.
        step: builds the operations of one token from its slices and the state before it.
        cuts: the values of which each token has a slice of size 1.
        state: the state before the first token.
        results: zeros in the shape of the results.
        axis: the dimension of the tokens in `cuts` and `results`.
    """
    count = op.Gather(op.ShapeOf(results), op.constant(axis), op.constant(0))
    operands = [count, op.constant(np.array(True)), *cuts, state, results]
    block, inputs = body_of_tokens(op, step, cuts, state, results, axis)
    values = create_repeating(op, Loop, operands, inputs, OUTPUTS, Region(block))
    return values[0], values[1]


def body_of_tokens(
    op: OpBuilder, step: Step, cuts: Sequence[SSAValue], state: SSAValue, results: SSAValue, axis: int
) -> tuple[Block, list[BodyPort]]:
    """The body of the loop of `token_steps`, and the ports of its Parameters."""
    block = Block()
    inside = OpBuilder(op.known, block)
    inputs: list[BodyPort] = []

    def parameter(type_: Attribute, port: BodyPort) -> SSAValue:
        created = Parameter.create(result_types=[type_])
        inside.insert(created)
        inputs.append(port)
        return created.results[0]

    slices = [parameter(slice_type(each, axis), BodyPort(2 + index, None, Slicing(axis))) for index, each in enumerate(cuts)]
    before = parameter(state.type, BodyPort(2 + len(cuts), 1))
    former = parameter(results.type, BodyPort(3 + len(cuts), 2))
    token = parameter(tensor((), si64), BodyPort(None))
    after, result = step(inside, slices, before)
    joined = inside.ScatterUpdate(former, inside.Unsqueeze(token, inside.constant(0)), result, inside.constant(axis))
    for value in (inside.constant(np.array(True)), after, joined):
        inside.insert(Result.create(operands=[value]))
    return block, inputs
