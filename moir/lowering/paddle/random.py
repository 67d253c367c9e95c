"""Random numbers, which differ from those of PaddlePaddle for the same seed.

Source: uniform_random_op.cc, gaussian_random_op.cc, randint_op.cc, randperm_op.cc and multinomial_op.cc of
PaddlePaddle 2.6.
"""

from __future__ import annotations

import math

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64
from moir.expansions.constant_forms import as_type
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import known_integer, vector_of
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


@paddle.lowers("uniform_random")
def uniform(
    op: OpBuilder,
    shape: SSAValue,
    low: SSAValue | None = None,
    high: SSAValue | None = None,
    *,
    dtype: Attribute = f32,
    seed: int = 0,
) -> SSAValue:
    """paddle.uniform_random(shape, min, max) -> opset8.RandomUniform(shape, min, max)"""
    ends = [
        op.constant(default, dtype) if each is None else op.Reshape(as_type(op, each, dtype), [], special_zero=False)
        for each, default in ((low, -1.0), (high, 1.0))
    ]
    return op.RandomUniform(vector_of(op, shape), *ends, output_type=dtype, global_seed=0, op_seed=seed)


@paddle.lowers("gaussian_random")
def gaussian(op: OpBuilder, shape: SSAValue, *, mean: float = 0.0, std: float = 1.0, dtype: Attribute = f32, seed: int = 0) -> SSAValue:
    """paddle.gaussian_random(shape) {mean, std} -> sqrt(-2 log u) · cos(2 pi v) of uniform numbers u and v"""
    target = vector_of(op, shape)
    first, second = (
        op.RandomUniform(target, op.constant(1e-7, f32), op.constant(1.0, f32), output_type=f32, global_seed=number, op_seed=seed)
        for number in (1, 2)
    )
    normal = op.Multiply(op.Sqrt(op.Multiply(op.Log(first), -2.0)), op.Cos(op.Multiply(second, 2 * math.pi)))
    return op.convert(op.Add(op.Multiply(normal, std), mean), dtype)


@paddle.lowers("randint")
def random_integers(op: OpBuilder, shape: SSAValue, *, low: int = 0, high: int = 0, dtype: Attribute = si64, seed: int = 0) -> SSAValue:
    """paddle.randint(shape) {low, high} -> opset8.RandomUniform(shape, low, high) of integers"""
    ends = (op.constant(each, dtype) for each in (low, high))
    return op.RandomUniform(vector_of(op, shape), *ends, output_type=dtype, global_seed=0, op_seed=seed)


@paddle.lowers("randperm")
def random_permutation(node: LoweringNode, op: OpBuilder, *, n: int, dtype: Attribute = si64) -> SSAValue:
    """paddle.randperm() {n} -> the indices that sort random numbers"""
    if n < 1:
        node.fail(f"there is no permutation of {n} numbers")
    samples = op.RandomUniform(op.constant([n]), op.constant(0.0, f32), op.constant(1.0, f32), output_type=f32)
    permutation = op.TopK.results(samples, op.constant(n), axis=0, mode="min", sort="value", index_element_type=si64)[1]
    return op.convert(permutation, dtype)


@paddle.lowers("multinomial")
def multinomial(node: LoweringNode, op: OpBuilder, x: SSAValue, _count: SSAValue | None = None, *, replacement: bool = False) -> SSAValue:
    """paddle.multinomial(x, num_samples) {replacement} -> opset13.Multinomial(x, num_samples)"""
    count = known_integer(node, 1, "num_samples", 1)
    is_vector = node.known_rank(0) == 1
    rows = op.Unsqueeze(x, [0]) if is_vector else x
    properties = {"convert_type": si64, "with_replacement": replacement, "log_probs": False}
    samples = op.Multinomial(rows, op.constant([count]), **properties)
    return op.Squeeze(samples, [0]) if is_vector else samples
