"""The step of a selective state space whose state decays by one factor for each head.

Dao and Gu, "Transformers are SSMs: Generalized Models and Efficient Algorithms Through Structured State Space Duality",
2024.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


def state_step(op: OpBuilder, slices: list[SSAValue], state: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The state after a token, and the result of the token [batch, 1, heads, head size].

        state = state · factor + update;  result = sum over the last dimension of state · output

    Args:
        op: the builder.
        slices: factor [batch, 1, heads, 1, 1], update [batch, 1, heads, head size, state size] and output [batch, 1,
            heads, 1, state size] of the token.
        state: the state before it [batch, heads, head size, state size].
    """
    factor, update, output = (op.Squeeze(each, [1]) for each in slices)
    after = op.Add(op.Multiply(state, factor), update)
    return after, op.Unsqueeze(op.ReduceSum(op.Multiply(after, output), [-1], keep_dims=False), [1])
