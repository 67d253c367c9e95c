"""Probabilities of classes from those of pairs of classes, by the second method of Wu, Lin and Weng (2004).

Source: "Probability Estimates for Multi-class Classification by Pairwise Coupling", algorithm 2. The probabilities
minimize a quadratic form, by coordinate descent in rounds, until they change little. As in ONNX Runtime
there are at most 100 rounds, and each row stops separately.

In shapes: N rows, C classes, P pairs of classes in the order 0-1, 0-2, …, 1-2, ….
"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.rewriting.builder import OpBuilder

ROUNDS = 100
LEAST = 1e-7
"""The distance from 0 and 1 to which probabilities of pairs are clamped."""


def coupled(op: OpBuilder, wins: SSAValue, classes: int) -> SSAValue:
    """The probabilities [N, C] of classes from those [N, P] of the first class in each pair."""
    wins = op.Minimum(op.Maximum(wins, LEAST), 1 - LEAST)
    form = _quadratic_form(op, wins, classes)
    equal = op.constant(np.full((1, classes), 1 / classes, np.float32))
    first = op.Select(op.Less(op.Gather(wins, [0], 1), 0.0), op.constant(0.0), equal)
    running = op.Less(op.Gather(first, [0], 1), 2.0)
    return repeated_steps(op, partial(_round, classes), [first, running], invariants=[form], most=ROUNDS)[0]


def _quadratic_form(op: OpBuilder, wins: SSAValue, classes: int) -> SSAValue:
    """The matrix [N, C, C] of the form: -r_ij r_ji off the diagonal, the sum of r_ji² on it; r are the probabilities
    `wins`.
    """
    change, constant = np.zeros((_pairs(classes), classes, classes), np.float32), np.zeros((1, classes, classes), np.float32)
    for row, (one, other) in enumerate(combinations(range(classes), 2)):
        change[row, one, other], change[row, other, one], constant[0, other, one] = 1, -1, 1
    flat = op.Add(op.MatMul(wins, change.reshape(-1, classes * classes)), constant.reshape(1, -1))
    matrix = op.Reshape(flat, [-1, classes, classes], special_zero=False)
    diagonal = op.ReduceSum(op.Multiply(matrix, matrix), [1], keep_dims=True)
    products = op.Multiply(matrix, op.Transpose(matrix, [0, 2, 1]))
    return op.Subtract(op.Multiply(diagonal, np.eye(classes, dtype=np.float32)[None]), products)


def _pairs(classes: int) -> int:
    """The number of pairs of classes."""
    return classes * (classes - 1) // 2


def _round(classes: int, op: OpBuilder, states: list[SSAValue], _: list[SSAValue], fixed: list[SSAValue]) -> Step:
    """One round of coordinate descent over all classes; rows that have converged keep their probabilities.

    Args:
        classes: the number of classes.
        op: the builder of the loop body.
        states: the states of the loop.
        fixed: its invariant values.
    """
    (current, running), (form,) = states, fixed
    gradient = op.Squeeze(op.MatMul(form, op.Unsqueeze(current, [2])), [2])
    value = op.ReduceSum(op.Multiply(current, gradient), [1], keep_dims=True)
    error = op.ReduceMax(op.Abs(op.Subtract(gradient, value)), [1], keep_dims=True)
    running = op.LogicalAnd(running, op.LessEqual(0.005 / classes, error))
    following = current
    for index in range(classes):
        row = op.Gather(form, index, 1)
        size, own = op.Gather(row, [index], 1), op.Gather(gradient, [index], 1)
        change = op.Divide(op.Subtract(value, own), size)
        scale = op.Add(change, 1.0)
        added = op.Multiply(change, np.eye(classes, dtype=np.float32)[index][None])
        following = op.Divide(op.Add(following, added), scale)
        grown = op.Multiply(change, op.Add(op.Multiply(change, size), op.Multiply(own, 2.0)))
        value = op.Divide(op.Divide(op.Add(value, grown), scale), scale)
        gradient = op.Divide(op.Add(gradient, op.Multiply(change, row)), scale)
    goes_on = op.ReduceLogicalOr(running, [0, 1], keep_dims=False)
    return Step([op.Select(running, following, current), running], goes_on=goes_on)
