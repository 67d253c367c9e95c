"""The step of the gated delta rule: a linear attention whose state decays, and whose value for a key is overwritten.

Yang, Kautz and Hatamizadeh, "Gated Delta Networks: Improving Mamba2 with Delta Rule", 2024.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


def delta_step(op: OpBuilder, slices: list[SSAValue], state: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The state after a token, and the result of the token [batch, heads, 1, value size].

        state = exp(gate) · state;  state += key · (value - keyᵀ · state) · strength;  result = queryᵀ · state

    Args:
        op: the builder.
        slices: query, key [batch, heads, 1, key size], value [batch, heads, 1, value size], gate and strength [batch,
            heads, 1] of the token.
        state: the state before it [batch, heads, key size, value size].
    """
    query, key, value, gate, strength = slices
    kept = op.Multiply(state, op.Unsqueeze(op.Exp(gate), [-1]))
    column = op.Unsqueeze(op.Squeeze(key, [2]), [-1])
    known = op.ReduceSum(op.Multiply(kept, column), [-2], keep_dims=False)
    change = op.Multiply(op.Subtract(op.Squeeze(value, [2]), known), strength)
    after = op.Add(kept, op.Multiply(column, op.Unsqueeze(change, [-2])))
    weighted = op.Multiply(after, op.Unsqueeze(op.Squeeze(query, [2]), [-1]))
    return after, op.ReduceSum(weighted, [-2], keep_dims=True)
