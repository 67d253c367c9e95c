"""Activation functions as compositions of older operations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import rank_of
from moir.expansions.special.gamma import in_single
from moir.expansions.special.normal_quantile import inverse_error_function
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def gelu(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))): the approximation, Hendrycks and Gimpel, "Gaussian Error
    Linear Units", 2016.
    """
    x = node.operands[0]
    cubic = op.Add(x, op.Multiply(op.Multiply(op.Multiply(x, x), x), 0.044715))
    return op.Multiply(op.Multiply(x, 0.5), op.Add(op.Tanh(op.Multiply(cubic, math.sqrt(2 / math.pi))), 1.0))


def hard_sigmoid(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """min(max(x + 3, 0), 6) / 6"""
    return op.Multiply(op.Clamp(op.Add(node.operands[0], 3.0), min=0.0, max=6.0), 1 / 6)


def log_softmax(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """x - max(x) - ln(Σ exp(x - max(x)))"""
    x, axes = node.operands[0], [node.integer("axis")]
    shifted = op.Subtract(x, op.ReduceMax(x, axes, keep_dims=True))
    return op.Subtract(shifted, op.Log(op.ReduceSum(op.Exp(shifted), axes, keep_dims=True)))


def round_to_integer(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """sign(x) · ⌊|x| + ½⌋, or, to even numbers, ⌊x⌋ + 1 where the fraction is above ½, or is ½ and ⌊x⌋ is odd."""
    x = node.operands[0]
    if node.text("mode") == "half_away_from_zero":
        return op.Multiply(op.Sign(x), op.Floor(op.Add(op.Abs(x), 0.5)))
    floor = op.Floor(x)
    fraction = op.Subtract(x, floor)
    is_tie_of_odd = op.LogicalAnd(op.Equal(fraction, 0.5), op.NotEqual(op.FloorMod(floor, 2.0), 0.0))
    return op.Add(floor, op.ConvertLike(op.LogicalOr(op.Greater(fraction, 0.5), is_tie_of_odd), x))


def softmax(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """opset8.Softmax(x) {axis = -1} -> opset1.Softmax(x) {axis = rank - 1}; None for a dynamic rank."""
    rank = rank_of(node.operands[0])
    return None if rank is None else op["opset1.Softmax"](node.operands[0], axis=node.integer("axis") % rank)


EXPANSIONS: Mapping[str, Expansion] = {
    "opset7.Gelu": gelu,
    "opset5.HSigmoid": hard_sigmoid,
    "opset5.LogSoftmax": log_softmax,
    "opset5.Round": round_to_integer,
    # x / (1 + |x|)
    "opset9.SoftSign": lambda op, node: op.Divide(node.operands[0], op.Add(op.Abs(node.operands[0]), 1.0)),
    "opset8.Softmax": softmax,
    "opset17.ErfInv": lambda op, node: in_single(op, partial(inverse_error_function, op), node.operands[0]),
}
