"""Uniform and normal random numbers, shuffling, and sampling of classes.

    %y = tf.RandomUniform(%shape) {seed = 7, seed2 = 3, dtype = f32}
->  %y = opset8.RandomUniform(%shape, 0.0, 1.0) {global_seed = 7, op_seed = 3, output_type = f32}

For the same seeds opset8.RandomUniform generates the uniform numbers of TensorFlow. Other distributions have the same
distribution, but not the same numbers. The stateless kinds generate the same numbers in every run, but not those of
TensorFlow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.input_dependence import is_computed_of_states
from moir.dialects.element_types import bf16, f16, f32, f64, si32, si64, to_numpy, ui64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import as_scalar, dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

PHILOX = 1
"""TensorFlow's identifier of the Philox generator, which opset8.RandomUniform describes as well."""

DISTANCE = 2.0
"""The bound of a truncated normal distribution, in standard deviations."""

LARGEST_SEED = 2**31 - 1


_OF_STATE = (0, 1)
"""The seed that stands for a seed read from a state; no user gives this pair."""


class Seeds(NamedTuple):
    """The two seeds of a generator. If both are 0, the numbers differ from run to run."""

    first: int
    second: int

    def stream(self, index: int) -> Seeds:
        """The seeds of an independent stream of random numbers for each index; zeros if both seeds are 0."""
        return Seeds(self.first, (self.second + index) & LARGEST_SEED or 1) if any(self) else self


def seeds_of(seed: int, seed2: int) -> Seeds:
    """The seeds that are the attributes `seed` and `seed2` of a node."""
    return Seeds(seed & LARGEST_SEED, seed2 & LARGEST_SEED)


def stateless_seeds(node: LoweringNode, *indices: int) -> Seeds:
    """The seeds in the operands of a node at the given indices.

    A seed that is read from a state, as in Keras layers that augment images, gives other numbers in each inference.
    Raises ConversionError if the seeds are neither read from a state nor constant.
    """
    integers: list[int] = []
    for index in indices:
        values = node.constant_integers(index)
        if not values and is_computed_of_states(node.operand(index)):
            node.note("it draws other random numbers in each run; images are augmented unless the model is exported without such layers")
            return Seeds(0, 0)
        if values is None:
            node.fail("the seed is computed when the model runs", hint="make the seed a constant")
        integers.extend(values)
    if len(integers) < 2:
        node.fail(f"the seed has {len(integers)} numbers instead of 2")
    if integers[2:] == [*_OF_STATE[1:]]:
        return Seeds(0, 0)
    first, second = integers[0] & LARGEST_SEED, integers[1] & LARGEST_SEED
    return Seeds(first, second) if first or second else Seeds(0, 1)


def generated(op: OpBuilder, shape: SSAValue, low: SSAValue, high: SSAValue, seeds: Seeds, element: Attribute) -> SSAValue:
    """Uniform random numbers of a shape in [low, high), in an element type that opset8.RandomUniform has."""
    return op.RandomUniform(shape, low, high, output_type=element, global_seed=seeds.first, op_seed=seeds.second)


def uniform(op: OpBuilder, shape: SSAValue, low: float, high: float, seeds: Seeds) -> SSAValue:
    """Uniform random numbers of type f32 in [low, high)."""
    return generated(op, shape, op.constant(np.asarray(low, np.float32)), op.constant(np.asarray(high, np.float32)), seeds, f32)


def normal(op: OpBuilder, shape: SSAValue, seeds: Seeds) -> SSAValue:
    """Random numbers of a shape with a normal distribution, by the transform of Box and Muller: sqrt(-2 ln u) cos(2 π
    v).
    """
    # The logarithm of 0 is infinite, so u has a positive lower limit.
    u = uniform(op, shape, float(np.finfo(np.float32).tiny), 1.0, seeds)
    v = uniform(op, shape, 0.0, 2 * math.pi, seeds.stream(1))
    return op.Multiply(op.Sqrt(op.Multiply(op.Log(u), -2.0)), op.Cos(v))


def truncated_normal(op: OpBuilder, shape: SSAValue, seeds: Seeds) -> SSAValue:
    """Random numbers of a truncated normal distribution, by inversion of its distribution function: sqrt(2)
    ErfInv(w).
    """
    end = math.erf(DISTANCE / math.sqrt(2))
    return op.Multiply(op.ErfInv(uniform(op, shape, -end, end, seeds)), math.sqrt(2))


def real_type(node: LoweringNode) -> Attribute:
    """The element type of the random numbers, attribute `dtype`; f32 if it is absent."""
    return node.element_attribute("dtype", f32)


def uniform_reals(node: LoweringNode, op: OpBuilder, seeds: Seeds) -> SSAValue:
    """Uniform random numbers in [0, 1), in the shape that operand 0 contains."""
    return uniform_reals_of(op, node.operand(0), seeds, real_type(node))


def uniform_reals_of(op: OpBuilder, shape: SSAValue, seeds: Seeds, wanted: Attribute) -> SSAValue:
    """Uniform random numbers of a shape in [0, 1), in the floating-point type `wanted`."""
    element = wanted if wanted in (f16, bf16, f32, f64) else f32
    low, high = (op.constant(np.asarray(bound).astype(to_numpy(element)), element) for bound in (0.0, 1.0))
    return op.convert(generated(op, shape, low, high, seeds, element), wanted)


def uniform_integers(
    node: LoweringNode, op: OpBuilder, bounds: Sequence[int], seeds: Seeds, element: Attribute, shape: SSAValue | None = None
) -> SSAValue:
    """Uniform random integers of type `element` in [low, high).

    `bounds` are the indices of the operands low and high. `shape` is the shape of the result, by default operand 0.
    """
    drawn = element if element in (si32, si64) else si64
    low, high = (op.convert(as_scalar(op, node.operand(index)), drawn) for index in bounds)
    return op.convert(generated(op, node.operand(0) if shape is None else shape, low, high, seeds, drawn), element)


# Generators with a state


# tf.RandomUniform(shape) {dtype, seed, seed2} -> opset8.RandomUniform(shape, 0, 1) {global_seed, op_seed}
tf.lowers_each_node(
    {"RandomUniform": lambda node, op, *, seed=0, seed2=0: uniform_reals(node, op, seeds_of(seed, seed2))},
    rank=fixed(1),
)

tf.lowers_each_node(
    {
        # tf.Multinomial(logits, count) {output_dtype, seed, seed2} -> opset13.Multinomial(opset5.LogSoftmax(logits),
        # count)
        "Multinomial": lambda node, op, *, seed=0, seed2=0: drawn_classes(node, op, seeds_of(seed, seed2)),
        # tf.StatelessRandomUniform(shape, seed) {dtype} -> opset8.RandomUniform(shape, 0, 1) {global_seed, op_seed}
        "StatelessRandomUniform StatelessRandomUniformV2": lambda node, op: uniform_reals(node, op, operand_seeds(node)),
        # tf.StatelessMultinomial(logits, count, seed) {output_dtype} -> as tf.Multinomial
        "StatelessMultinomial": lambda node, op: drawn_classes(node, op, stateless_seeds(node, 2)),
    }
)


@tf.lowers("RandomUniformInt", rank=fixed(1, 0, 0))
def random_integers(node: LoweringNode, op: OpBuilder, _shape: SSAValue, minval: SSAValue, *, seed: int = 0, seed2: int = 0) -> SSAValue:
    """tf.RandomUniformInt(shape, low, high) {Tout, seed, seed2}
    -> opset8.RandomUniform(shape, low, high) {global_seed, op_seed}
    """
    return uniform_integers(node, op, (1, 2), seeds_of(seed, seed2), node.element_attribute("Tout", element_of(minval)))


@tf.lowers("RandomStandardNormal")
def random_normal(op: OpBuilder, shape: SSAValue, *, seed: int = 0, seed2: int = 0, dtype: Attribute = f32) -> SSAValue:
    """tf.RandomStandardNormal(shape) {dtype, seed, seed2} -> Sqrt(-2 * Log(u)) * Cos(v) of two opset8.RandomUniform"""
    return op.convert(normal(op, shape, seeds_of(seed, seed2)), dtype)


@tf.lowers("TruncatedNormal")
def random_truncated_normal(op: OpBuilder, shape: SSAValue, *, seed: int = 0, seed2: int = 0, dtype: Attribute = f32) -> SSAValue:
    """tf.TruncatedNormal(shape) {dtype, seed, seed2} -> Sqrt(2) * opset17.ErfInv(opset8.RandomUniform(shape))"""
    return op.convert(truncated_normal(op, shape, seeds_of(seed, seed2)), dtype)


@tf.lowers("ParameterizedTruncatedNormal")
def random_parameterized_normal(
    node: LoweringNode, op: OpBuilder, shape: SSAValue, *, seed: int = 0, seed2: int = 0, dtype: Attribute = f32
) -> SSAValue:
    """tf.ParameterizedTruncatedNormal(shape, means, deviations, low, high) -> mean + deviation * Sqrt(2) * ErfInv(w)

    w is uniform between the values of the error function at both bounds. Parameters are scalars, or have an element for
    each row of the result.
    """
    parameters = [_by_row(op, op.convert(node.operand(index), f32), shape) for index in range(1, 5)]
    return op.convert(_between_bounds(op, shape, parameters, seeds_of(seed, seed2)), dtype)


@tf.lowers("StatelessParameterizedTruncatedNormal")
def stateless_parameterized_normal(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """tf.StatelessParameterizedTruncatedNormal(shape, seed, means, deviations, low, high)
    -> as tf.ParameterizedTruncatedNormal, with parameters that broadcast to the shape
    """
    parameters = [op.convert(node.operand(index), f32) for index in range(2, 6)]
    return op.convert(_between_bounds(op, shape, parameters, stateless_seeds(node, 1)), dtype)


def _between_bounds(op: OpBuilder, shape: SSAValue, parameters: Sequence[SSAValue], seeds: Seeds) -> SSAValue:
    """Random numbers of truncated normal distributions; `parameters` are means, deviations, lower and upper bounds."""
    mean, deviation, low, high = parameters
    spread = op.Multiply(deviation, math.sqrt(2))
    first, last = (op.Erf(op.Divide(op.Subtract(end, mean), spread)) for end in (low, high))
    position = op.Add(op.Multiply(uniform(op, shape, 0.0, 1.0, seeds), op.Subtract(last, first)), first)
    drawn = op.Add(op.Multiply(op.ErfInv(position), spread), mean)
    return op.Minimum(op.Maximum(drawn, low), high)


def _by_row(op: OpBuilder, parameter: SSAValue, shape: SSAValue) -> SSAValue:
    """A parameter with dimensions of 1 appended, so that each of its elements applies to a row of a result of shape
    `shape`.
    """
    if rank_of(parameter) == 0:
        return parameter
    ones = op.Broadcast(op.constant([1]), op.Subtract(op.ShapeOf(shape), 1))
    return op.Reshape(parameter, op.Concat([-1], ones, axis=0), special_zero=False)


@tf.lowers("RandomShuffle", complex=PAIRS)
def shuffled(op: OpBuilder, value: SSAValue, *, seed: int = 0, seed2: int = 0) -> SSAValue:
    """tf.RandomShuffle(x) {seed, seed2} -> opset8.Gather(x, the permutation that sorts random numbers, 0)"""
    return in_random_order(op, value, seeds_of(seed, seed2))


def in_random_order(op: OpBuilder, x: SSAValue, seeds: Seeds) -> SSAValue:
    """The slices of x along dimension 0 in a random order."""
    rows = dimension(op, x, 0)
    count = op.constant(rows, si64) if isinstance(rows, int) else rows
    keys = uniform(op, op.Unsqueeze(count, [0]), 0.0, 1.0, seeds)
    order = op.TopK.results(keys, count, axis=0, mode="min", sort="value", index_element_type=si64)[1]
    return op.Gather(x, order, 0)


def drawn_classes(node: LoweringNode, op: OpBuilder, seeds: Seeds) -> SSAValue:
    """Classes sampled from the unnormalized log-probabilities in operand 0, as many per row as operand 1 says."""
    logits, element = node.operand(0), node.element_attribute("output_dtype", si64)
    # The logarithms are normalized first, because their exponentials would overflow.
    logits = op.LogSoftmax(op.convert(logits, f32), axis=-1)
    properties = {"with_replacement": True, "log_probs": True, "global_seed": seeds.first, "op_seed": seeds.second}
    return op.Multinomial(logits, as_scalar(op, node.operand(1)), convert_type=element, **properties)


# Generators without a state: the operand is the seed, or a key and a counter computed from it by another node


@tf.lowers("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")
def key_and_counter(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.StatelessRandomGetKeyCounter(seed) -> key, counter: constants that hold the seed for the kinds that
    use them
    """
    seeds = stateless_seeds(node, 0)
    counter = [seeds.second, 0] if any(seeds) else _OF_STATE
    parts = [op.constant(np.array(part, np.uint64), ui64) for part in ([seeds.first], counter)]
    return [*parts, op.constant(PHILOX, si32)][: node.result_count]


@tf.lowers("StatelessRandomGetAlg")
def generator(op: OpBuilder) -> SSAValue:
    """tf.StatelessRandomGetAlg() -> the identifier of the generator"""
    return op.constant(PHILOX, si32)


def operand_seeds(node: LoweringNode) -> Seeds:
    """The seeds of a stateless kind: operand 1 of the first version, key and counter of the second version."""
    return stateless_seeds(node, 1, 2) if node.op.KIND.endswith("V2") else stateless_seeds(node, 1)


@tf.lowers("StatelessRandomUniformInt", "StatelessRandomUniformIntV2")
def stateless_integers(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.StatelessRandomUniformInt(shape, seed, low, high) {dtype}
    -> opset8.RandomUniform(shape, low, high) {global_seed, op_seed}
    """
    bounds = (4, 5) if node.op.KIND.endswith("V2") else (2, 3)
    return uniform_integers(node, op, bounds, operand_seeds(node), node.element_attribute("dtype", element_of(node.operand(bounds[0]))))


@tf.lowers("StatelessRandomNormal", "StatelessRandomNormalV2")
def stateless_normal(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """tf.StatelessRandomNormal(shape, seed) {dtype} -> as tf.RandomStandardNormal"""
    return op.convert(normal(op, shape, operand_seeds(node)), dtype)


@tf.lowers("StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
def stateless_truncated_normal(node: LoweringNode, op: OpBuilder, shape: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """tf.StatelessTruncatedNormal(shape, seed) {dtype} -> as tf.TruncatedNormal"""
    return op.convert(truncated_normal(op, shape, operand_seeds(node)), dtype)
