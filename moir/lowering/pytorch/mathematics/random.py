"""Random numbers, sampled by opset8.RandomUniform: they differ from torch's.

Each operation has a stream of its own, so that two of them sample different numbers.
"""

from __future__ import annotations

from math import pi

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, Size, Sizes, shape_value, size_scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

SMALLEST = 1e-7
"""The lower bound of uniform samples whose logarithm is taken, since the logarithm of 0 is infinite."""


def _seed(node: LoweringNode) -> int:
    """A seed that no other random operation of the model has."""
    counter: list[int] = node.run.state("aten random streams", lambda: [0])
    counter[0] += 1
    return counter[0]


def uniform(node: LoweringNode, op: OpBuilder, shape: SSAValue, low: float = 0.0) -> SSAValue:
    """Random numbers of the uniform distribution from `low` to 1, without 1, as a tensor of the given shape."""
    ends = op.constant(low, f32), op.constant(1.0, f32)
    return op.RandomUniform(shape, *ends, output_type=f32, global_seed=0, op_seed=_seed(node))


def normal(node: LoweringNode, op: OpBuilder, shape: SSAValue) -> SSAValue:
    """Random numbers of the standard normal distribution, as a tensor of the given shape.

    They follow from two uniform ones by Box and Muller's transformation.
    """
    radius = op.Sqrt(op.Multiply(op.Log(uniform(node, op, shape, SMALLEST)), -2))
    return op.Multiply(radius, op.Cos(op.Multiply(uniform(node, op, shape), 2 * pi)))


def whole_numbers(node: LoweringNode, op: OpBuilder, shape: SSAValue, low: Size, high: Size) -> SSAValue:
    """Random integers from `low` to `high`, without `high`, as a tensor of the given shape."""
    ends = size_scalar(op, low), size_scalar(op, high)
    return op.RandomUniform(shape, *ends, output_type=si64, global_seed=0, op_seed=_seed(node))


def _real(node: LoweringNode) -> Attribute:
    element = inferred_element(node)
    if is_integral(element):
        node.fail("random integers of a distribution of real numbers")
    return element


@aten.lowers("rand.default", "randn.default")
def rand(node: LoweringNode, op: OpBuilder, *, size: Sizes) -> SSAValue:
    """aten.rand.default() {size} -> opset8.RandomUniform(size, 0, 1); `randn` of the normal distribution"""
    draw = normal if node.op.KIND.startswith("randn") else uniform
    return op.convert(draw(node, op, shape_value(op, size, 0)), _real(node))


@aten.lowers("rand_like.default", "randn_like.default", "uniform.default", "normal_functional.default")
def rand_like(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    to: float = 1.0,
    mean: float = 0.0,
    std: float = 1.0,
) -> SSAValue:
    """aten.rand_like.default(x) -> opset8.RandomUniform(ShapeOf(x), 0, 1); `randn_like` of the normal distribution"""
    shape, kind = op.ShapeOf(self), node.op.KIND
    if kind.startswith(("randn", "normal")):
        return op.convert(op.Add(op.Multiply(normal(node, op, shape), std), mean), _real(node))
    start = node.number("from", 0.0)
    return op.convert(op.Add(op.Multiply(uniform(node, op, shape), to - start), start), _real(node))


@aten.lowers("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def normal_of_tensors(node: LoweringNode, op: OpBuilder, *, mean: Scalar = 0.0, std: Scalar = 1.0) -> SSAValue:
    """aten.normal.Tensor_Tensor(mean, std) -> mean + std · a sample of the normal distribution for each element"""
    center, deviation = as_element(op, f32, mean, std)
    return op.Add(op.Multiply(normal(node, op, op.ShapeOf(op.Add(center, deviation))), deviation), center)


@aten.lowers("normal.float_float")
def normal_of_size(node: LoweringNode, op: OpBuilder, *, mean: float, std: float, size: Sizes) -> SSAValue:
    """aten.normal.float_float() {mean, std, size} -> mean + std · samples of the normal distribution"""
    return op.Add(op.Multiply(normal(node, op, shape_value(op, size, 0)), std), mean)


@aten.lowers("randint.default", "randint.low", "randint_like.default", "randint_like.low_dtype")
def randint(node: LoweringNode, op: OpBuilder, *, self: Scalar | None = None, low: Size = 0, high: Size, size: Sizes = ()) -> SSAValue:
    """aten.randint.low() {low, high, size} -> opset8.RandomUniform(size, low, high); `randint_like` in the shape of
    x
    """
    shape = op.ShapeOf(self) if isinstance(self, SSAValue) else shape_value(op, size, 0)
    ends = size_scalar(op, low), size_scalar(op, high)
    return op.convert(whole_numbers(node, op, shape, *ends), inferred_element(node))


@aten.lowers("bernoulli.default", "bernoulli.p", "bernoulli.Tensor")
def bernoulli(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: Scalar | None = None) -> SSAValue:
    """aten.bernoulli.default(probabilities) -> 1 where opset8.RandomUniform is below the probability, else 0"""
    (probability,) = as_element(op, f32, self if p is None else p)
    return op.convert(op.Less(uniform(node, op, op.ShapeOf(self)), probability), element_of(self))


@aten.lowers("randperm.default")
def randperm(node: LoweringNode, op: OpBuilder, *, n: Size) -> SSAValue:
    """aten.randperm.default() {n} -> the indices that sort random numbers"""
    count = size_scalar(op, n)
    keys = uniform(node, op, op.Reshape(count, [1], special_zero=False))
    _, permutation = op.TopK.results(keys, count, axis=0, mode="min", sort="value", index_element_type=si64)
    return permutation
