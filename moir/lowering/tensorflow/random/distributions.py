"""Random numbers of gamma and Poisson distributions, numbers of generators whose state is in a variable, and random
crops and orders.

    %y = tf.StatefulUniform(%generator, %algorithm, %shape)
->  %y = opset8.RandomUniform(%shape, 0.0, 1.0), which is different in every run, like the numbers of the generator

The distributions are those of TensorFlow, the individual numbers are not.
"""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.random.numbers import (
    Seeds,
    generated,
    in_random_order,
    normal,
    operand_seeds,
    seeds_of,
    stateless_seeds,
    truncated_normal,
    uniform,
    uniform_integers,
    uniform_reals_of,
)
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

NO_SEEDS = Seeds(0, 0)
"""The seeds with which the numbers differ in every inference."""

# Generators whose state is a variable, operand 0; operand 1 of the second version identifies the algorithm


def shape_operand(node: LoweringNode) -> SSAValue:
    """The operand that is the shape of the result of a node."""
    return node.operand(1 if node.op.KIND == "StatefulStandardNormal" else 2)


@tf.lowers("StatefulStandardNormal", "StatefulStandardNormalV2")
def generated_normal(node: LoweringNode, op: OpBuilder, *, dtype: Attribute = f32) -> SSAValue:
    """tf.StatefulStandardNormalV2(generator, algorithm, shape) -> as tf.RandomStandardNormal, without a seed"""
    return op.convert(normal(op, shape_operand(node), NO_SEEDS), dtype)


tf.lowers_each_node(
    {
        # tf.StatefulTruncatedNormal(generator, algorithm, shape) -> as tf.TruncatedNormal, without a seed
        "StatefulTruncatedNormal": lambda node, op, *, dtype=f32: op.convert(truncated_normal(op, shape_operand(node), NO_SEEDS), dtype),
        # tf.StatefulUniform(generator, algorithm, shape) -> opset8.RandomUniform(shape, 0, 1)
        "StatefulUniform": lambda node, op, *, dtype=f32: uniform_reals_of(op, shape_operand(node), NO_SEEDS, dtype),
        # tf.StatelessShuffle(x, key, counter, algorithm) -> as tf.RandomShuffle
        "StatelessShuffle": lambda node, op, value: in_random_order(op, value, stateless_seeds(node, 1, 2)),
    }
)


@tf.lowers("StatefulUniformInt")
def generated_integers(
    node: LoweringNode, op: OpBuilder, _resource: SSAValue, _algorithm: SSAValue, _shape: SSAValue, minval: SSAValue
) -> SSAValue:
    """tf.StatefulUniformInt(generator, algorithm, shape, low, high) -> opset8.RandomUniform(shape, low, high)"""
    return uniform_integers(node, op, (3, 4), NO_SEEDS, node.element_attribute("dtype", element_of(minval)), shape_operand(node))


# Integers of the whole range of their type


@tf.lowers("NonDeterministicInts", "StatefulUniformFullInt", "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2")
def all_integers(node: LoweringNode, op: OpBuilder, shape_: SSAValue, *, dtype: Attribute = si64) -> SSAValue:
    """tf.StatelessRandomUniformFullInt(shape, seed) {dtype = si32}
    -> 2¹⁶ opset8.RandomUniform(shape, -2¹⁵, 2¹⁵) + opset8.RandomUniform(shape, 0, 2¹⁶)

    The range of all integers is too large for a single RandomUniform.
    """
    if dtype is not si32:
        node.fail("integers of other types than int32 are not drawn from their whole range", hint="draw integers of type int32")
    stateless = node.op.KIND.startswith("Stateless")
    seeds = operand_seeds(node) if stateless else NO_SEEDS
    shape = shape_operand(node) if node.op.KIND == "StatefulUniformFullInt" else shape_
    half = 1 << 15
    high = generated(op, shape, op.constant(-half, si32), op.constant(half, si32), seeds, si32)
    low = generated(op, shape, op.constant(0, si32), op.constant(2 * half, si32), seeds.stream(1), si32)
    return op.Add(op.Multiply(high, 2 * half), low)


# Gamma distributions

ATTEMPTS = 8
"""The number of candidates sampled for each result.

At least 95 % of candidates are accepted; the last one is accepted in any case.
"""

TINY = float(np.finfo(np.float32).tiny)
"""The lower bound of uniform numbers whose logarithm is taken.

Each generator uses a different multiple of it, so that no two without seeds are equal operations.
"""


def gamma(op: OpBuilder, shape: SSAValue, alpha: SSAValue, seeds: Seeds) -> SSAValue:
    """Random numbers of gamma distributions whose shape parameters broadcast to the shape.

    With d = α - 1/3, a normal x and v = (1 + x / sqrt(9 d))³ the number d v is accepted if ln(u) < x² / 2 + d - d v +
    d ln(v) for a uniform u. For α below 1 the result is the number for α + 1, multiplied by u to the power of 1/α.

    Source: G. Marsaglia and W. Tsang, "A Simple Method for Generating Gamma Variables" (2000).
    """
    attempts = op.Concat([ATTEMPTS], op.convert(shape, si64), axis=0)
    is_small = op.Less(alpha, 1.0)
    d = op.Subtract(op.Select(is_small, op.Add(alpha, 1.0), alpha), 1 / 3)
    x = normal(op, attempts, seeds)
    root = op.Add(op.Multiply(x, op.Divide(1 / 3, op.Sqrt(d))), 1.0)
    v = op.Multiply(op.Multiply(root, root), root)
    bounded = op.Maximum(v, TINY)
    rest = op.Subtract(op.Multiply(d, op.Add(op.Log(bounded), 1.0)), op.Multiply(bounded, d))
    limit = op.Add(op.Multiply(op.Multiply(x, x), 0.5), rest)
    is_accepted = op.LogicalAnd(op.Greater(v, 0.0), op.Less(op.Log(uniform(op, attempts, 2 * TINY, 1.0, seeds.stream(2))), limit))
    candidates = op.Multiply(bounded, d)
    accepted = op.Gather(candidates, ATTEMPTS - 1, 0)
    for attempt in range(ATTEMPTS - 2, -1, -1):
        accepted = op.Select(op.Gather(is_accepted, attempt, 0), op.Gather(candidates, attempt, 0), accepted)
    power = op.Power(uniform(op, shape, 3 * TINY, 1.0, seeds.stream(3)), op.Divide(1.0, alpha))
    return op.Select(is_small, op.Multiply(accepted, power), accepted)


def followed_by(op: OpBuilder, shape: SSAValue, parameters: SSAValue) -> SSAValue:
    """A shape followed by the shape of `parameters`; the shape itself if they are a scalar."""
    return shape if rank_of(parameters) == 0 else op.Concat(op.convert(shape, si64), op.ShapeOf(parameters), axis=0)


@tf.lowers("RandomGamma")
def random_gamma(op: OpBuilder, shape_: SSAValue, alpha_: SSAValue, *, seed: int = 0, seed2: int = 0) -> SSAValue:
    """tf.RandomGamma(shape, α) -> samples of the shape [shape…, shape of α…], from normal and uniform samples"""
    alpha = op.convert(alpha_, f32)
    shape = followed_by(op, shape_, alpha)
    return op.convert(gamma(op, shape, alpha, seeds_of(seed, seed2)), element_of(alpha_))


@tf.lowers("StatelessRandomGammaV2", "StatelessRandomGammaV3")
def stateless_gamma(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """tf.StatelessRandomGammaV2(shape, seed, α) -> as tf.RandomGamma; the result has the shape, to which α
    broadcasts
    """
    is_keyed = node.op.KIND.endswith("V3")
    seeds = stateless_seeds(node, 1, 2) if is_keyed else stateless_seeds(node, 1)
    alpha = node.operand(4 if is_keyed else 2)
    return op.convert(gamma(op, shape, op.convert(alpha, f32), seeds), dtype)


# Poisson distributions

LARGEST_RATE = 256.0
"""The largest supported rate of a Poisson distribution: a table of probabilities is stored for each rate."""


def poisson(node: LoweringNode, op: OpBuilder, shape: SSAValue, rates: int, seeds: Seeds) -> SSAValue:
    """Poisson numbers: the number of elements in a table of cumulative probabilities that are below a uniform random
    number.

    `shape` is the shape of the result, `rates` the index of the operand with the rates. Raises ConversionError if these
    are not constant, negative, or above LARGEST_RATE.
    """
    known = node.constant(rates)
    if known is None or not (known >= 0).all() or not (known <= LARGEST_RATE).all():
        node.fail(f"its rates are computed, negative or above {LARGEST_RATE:g}", hint="make the rates a constant")
    largest = float(known.max(initial=0))
    counts = np.arange(int(largest + 10 * math.sqrt(largest)) + 16)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    mean = known.astype(np.float64)[..., None]
    probabilities = np.exp(np.where(counts == 0, -mean, counts * np.log(np.maximum(mean, 1e-300)) - mean - factorials))
    drawn = op.Unsqueeze(uniform(op, shape, 0.0, 1.0, seeds), [-1])
    is_above = op.GreaterEqual(drawn, op.constant(np.cumsum(probabilities, -1).astype(np.float32)))
    return op.ReduceSum(op.convert(is_above, f32), [-1], keep_dims=False)


@tf.lowers("RandomPoisson", "RandomPoissonV2")
def random_poisson(node: LoweringNode, op: OpBuilder, shape: SSAValue, rate: SSAValue, *, seed: int = 0, seed2: int = 0) -> SSAValue:
    """tf.RandomPoisson(shape, rate) -> numbers of the shape followed by that of the rate; both operands must be
    constant
    """
    shape = followed_by(op, shape, rate)
    element = node.element_attribute("dtype", si64 if node.op.KIND.endswith("V2") else element_of(rate))
    return op.convert(poisson(node, op, shape, 1, seeds_of(seed, seed2)), element)


@tf.lowers("StatelessRandomPoisson")
def stateless_poisson(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute) -> SSAValue:
    """tf.StatelessRandomPoisson(shape, seed, rates) -> as tf.RandomPoisson; the result has the shape, to which the
    rates broadcast
    """
    return op.convert(poisson(node, op, shape, 2, stateless_seeds(node, 1)), dtype)


# Parts


@tf.lowers("RandomCrop")
def random_crop(op: OpBuilder, image: SSAValue, size_: SSAValue, *, seed: int = 0, seed2: int = 0) -> SSAValue:
    """tf.RandomCrop(image [H, W, C], [h, w]) -> Gather(Gather(image, y + [0, …, h - 1], 0), x + [0, …, w - 1], 1)"""
    size, seeds = op.convert(size_, si64), seeds_of(seed, seed2)
    for axis in (0, 1):
        # Each random number has one use.
        length = op.Gather(size, axis, 0)
        limits = op.convert(op.Add(op.Subtract(dimension_list(op, image, axis), length), 1), f32)
        drawn = op.Floor(op.Multiply(uniform(op, op.constant([1]), axis * TINY, 1.0, seeds.stream(axis)), limits))
        first = op.convert(op.Minimum(drawn, op.Subtract(limits, 1.0)), si64)
        image = op.Gather(image, op.Add(op.Range(0, length, 1, output_type=si64), first), axis)
    return image


# Refusals


@tf.lowers("RngReadAndSkip", "StatefulRandomBinomial", "StatelessRandomBinomial")
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.RngReadAndSkip(generator, …), likewise both kinds of binomial numbers: raises ConversionError, because the
    operation sets cannot express it.
    """
    reason = (
        "the state of its generator, from which others compute seeds, changes in every run"
        if node.op.KIND == "RngReadAndSkip"
        else "a binomial distribution is drawn by a search whose number of steps is not known before"
    )
    node.fail(reason, hint="draw with tf.random.uniform or tf.random.stateless_uniform, or make the random numbers an input")
