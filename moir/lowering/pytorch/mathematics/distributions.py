"""Samples of distributions that torch has as operators, made of uniform ones; they differ from torch's.

Source: DistributionTemplates.h and TransformationHelper.h of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log1p, pi
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si64, to_numpy
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.mathematics.random import SMALLEST, normal, uniform, whole_numbers
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

LARGEST_WHOLE = 2**31 - 1
"""The largest whole number that is sampled for types with a larger range."""


def exponential(node: LoweringNode, op: OpBuilder, shape: SSAValue) -> SSAValue:
    """Random numbers of the exponential distribution of rate 1, above 0, as a tensor of the given shape."""
    return op.Negative(op.Log(uniform(node, op, shape, SMALLEST)))


@aten.lowers("exponential.default")
def exponential_like(node: LoweringNode, op: OpBuilder, self: SSAValue, *, lambd: float = 1.0) -> SSAValue:
    """aten.exponential.default(x) {lambd} -> -ln(opset8.RandomUniform(ShapeOf(x), 0, 1)) / lambd"""
    return op.Divide(exponential(node, op, op.ShapeOf(self)), lambd)


@aten.lowers("geometric.default")
def geometric(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: float) -> SSAValue:
    """aten.geometric.default(x) {p} -> ⌈ln(opset8.RandomUniform(ShapeOf(x), 0, 1)) / ln(1 - p)⌉"""
    if not 0 < p < 1:
        node.fail(f"the probability {p} is not between 0 and 1")
    return op.Ceiling(op.Divide(op.Negative(exponential(node, op, op.ShapeOf(self))), log1p(-p)))


@aten.lowers("cauchy.default")
def cauchy(node: LoweringNode, op: OpBuilder, self: SSAValue, *, median: float = 0.0, sigma: float = 1.0) -> SSAValue:
    """aten.cauchy.default(x) {median, sigma} -> median + sigma · tan(π (opset8.RandomUniform(…) - 1/2))"""
    angle = op.Multiply(op.Subtract(uniform(node, op, op.ShapeOf(self)), 0.5), pi)
    return op.Add(op.Multiply(op.Tan(angle), sigma), median)


@aten.lowers("log_normal.default")
def log_normal(node: LoweringNode, op: OpBuilder, self: SSAValue, *, mean: float = 1.0, std: float = 2.0) -> SSAValue:
    """aten.log_normal.default(x) {mean, std} -> exp(mean + std · a sample of the normal distribution)"""
    return op.Exp(op.Add(op.Multiply(normal(node, op, op.ShapeOf(self)), std), mean))


@aten.lowers("random.default", "random.from", "random.to")
def random(node: LoweringNode, op: OpBuilder, self: SSAValue, *, to: int | None = None) -> SSAValue:
    """aten.random.from(x) {from, to} -> opset8.RandomUniform(ShapeOf(x), from, to); without `to` up to the largest
    whole number that the element type represents exactly with all smaller ones
    """
    element = inferred_element(node)
    if to is None:
        digits = 1 << (np.finfo(to_numpy(element)).nmant + 1) if element in REAL_TYPES else int(np.iinfo(to_numpy(element)).max)
        to = min(digits, LARGEST_WHOLE)
    return op.convert(whole_numbers(node, op, op.ShapeOf(self), node.attribute("from", 0) or 0, to), element)


@aten.lowers("multinomial.default")
def multinomial(node: LoweringNode, op: OpBuilder, self: SSAValue, *, num_samples: int, replacement: bool = False) -> SSAValue:
    """aten.multinomial.default(p) {num_samples, replacement} -> the indices of the largest p / e, where e is
    exponential

    Without replacement those of the `num_samples` largest quotients, with replacement that of the largest quotient for
    each sample.

    Source: P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir" (2006).
    """
    rank = node.known_rank(0)
    weights = op.convert(self, f32)
    if replacement:
        weights = op.Unsqueeze(weights, [-2])
        rows = [dimension_list(op, self, axis) for axis in range(rank - 1)]
        shape = op.Concat(*rows, op.constant([num_samples]), dimension_list(op, self, rank - 1), axis=0)
    else:
        shape = op.ShapeOf(weights)
    quotients = op.Divide(weights, exponential(node, op, shape))
    count = op.constant(1 if replacement else num_samples)
    _, indices = op.TopK.results(
        quotients, count, axis=rank if replacement else rank - 1, mode="max", sort="value", index_element_type=si64
    )
    return op.Squeeze(indices, [-1]) if replacement else indices


_REFUSED: Mapping[str, str] = {
    "poisson": "Poisson",
    "binomial": "binomial",
    "_standard_gamma": "gamma",
    "_sample_dirichlet": "Dirichlet",
}


@aten.lowers(*(f"{name}.default" for name in _REFUSED))
def refused(node: LoweringNode) -> NoReturn:
    """Raises ConversionError: the distribution is sampled by rejection, in a number of steps that differs for each
    element.
    """
    name = _REFUSED[node.op.KIND.partition(".")[0]]
    node.fail(
        f"samples of the {name} distribution take a number of random numbers that differs for each element",
        hint="sample outside of the model, and make the sample an input",
    )
