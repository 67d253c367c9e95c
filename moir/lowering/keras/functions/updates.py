"""Parts of tensors that are replaced or added to.

%y = keras.ops.ScatterUpdate(%x, %i, %u)  ->  %y = opset15.ScatterNDUpdate(%x, %i, %u)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, is_tensor, numbers_of
from moir.lowering.keras.functions.movement import sizes
from moir.lowering.keras.functions.networks import tensor_argument
from moir.lowering.keras.table import keras
from moir.lowering.xla.padding import updated_at
from moir.rewriting.builder import OpBuilder

REDUCTIONS = {None: "none", "add": "sum", "max": "max", "min": "min", "mul": "prod"}


def scatter_indices(op: OpBuilder, arguments: Arguments) -> SSAValue:
    """The argument `indices` of a call as a tensor of i64."""
    indices = arguments.get("indices")
    return op.convert(indices, si64) if is_tensor(indices) else op.constant(numbers_of(indices).astype(np.int64), si64)


@keras.lowers("ops.ScatterUpdate")
def scatter_update(node: LoweringNode, op: OpBuilder, *, reduction: str | None = None) -> SSAValue:
    """keras.ops.ScatterUpdate(x, i, u) {reduction} -> opset15.ScatterNDUpdate(x, i, u)"""
    arguments = Arguments(node, "inputs", "indices", "updates")
    x = arguments.tensor("inputs")
    if reduction not in REDUCTIONS:
        node.fail(f"the reduction {reduction!r} does not exist")
    updates = op.convert(tensor_argument(op, arguments, "updates", x), element_of(x))
    return op.ScatterNDUpdate(x, scatter_indices(op, arguments), updates, reduction=REDUCTIONS[reduction])


@keras.lowers("ops.Scatter")
def scatter(node: LoweringNode, op: OpBuilder, *, shape: object | None = None) -> SSAValue:
    """keras.ops.Scatter(i, u) {shape} -> opset15.ScatterNDUpdate(zeros, i, u) {reduction = sum}"""
    arguments = Arguments(node, "indices", "values", "shape")
    values = arguments.tensor("values")
    zeros = op.Broadcast(op.constant_like(0, values), sizes(node, op, arguments.get("shape", shape)))
    return op.ScatterNDUpdate(zeros, scatter_indices(op, arguments), values, reduction="sum")


@keras.lowers("ops.SliceUpdate")
def slice_update(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.SliceUpdate(x, starts, u) -> opset3.ScatterUpdate, or a Select between x and the padded u"""
    arguments = Arguments(node, "inputs", "start_indices", "updates")
    x = arguments.tensor("inputs")
    updates = op.convert(tensor_argument(op, arguments, "updates", x), element_of(x))
    starts = sizes(node, op, arguments.get("start_indices"))
    return updated_at(op, x, updates, op.convert(starts, si64) if is_tensor(starts) else op.constant(starts, si64))
