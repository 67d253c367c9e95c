"""Random numbers."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_random_uniform", "random_uniform", "uniform")
def random_uniform(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...] = (), dtype: Attribute = f32) -> SSAValue:
    """mxnet._random_uniform() {low = 0, high = 1, shape} -> opset8.RandomUniform(shape, low, high)"""
    low, high = (
        op.constant(np.array(node.number(name, default), to_numpy(dtype)), dtype) for name, default in (("low", 0.0), ("high", 1.0))
    )
    return op.RandomUniform(op.constant(list(shape or (1,))), low, high, output_type=dtype)


@mxnet.lowers("_random_normal", "random_normal", "normal")
def random_normal(op: OpBuilder, *, loc: float = 0.0, scale: float = 1.0, shape: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._random_normal() {loc = 0, scale = 1, shape} -> by Box and Muller from two opset8.RandomUniform"""
    sizes = op.constant(list(shape or (1,)))
    smallest, one, turn = (op.constant(value) for value in (1e-7, 1.0, 2 * np.pi))
    radius = op.RandomUniform(sizes, smallest, one, output_type=f32, op_seed=1)
    angle = op.RandomUniform(sizes, op.constant(0.0), turn, output_type=f32, op_seed=2)
    normal = op.Multiply(op.Sqrt(op.Multiply(op.Log(radius), -2.0)), op.Cos(angle))
    return op.Add(op.Multiply(normal, scale), loc)
