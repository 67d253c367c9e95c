"""Writing elements at computed positions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.indexing import as_indices, check_bad_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("ScatterNd")
def scatter_nd(node: LoweringNode, op: OpBuilder, indices: SSAValue, updates: SSAValue, shape: SSAValue) -> SSAValue:
    """tf.ScatterNd(indices, updates, shape)
    -> opset15.ScatterNDUpdate(opset3.Broadcast(0, shape), indices, updates) {reduction = sum}
    """
    check_bad_indices(node)
    zeros = op.Broadcast(op.constant_like(0, updates), as_indices(op, shape))
    return op.ScatterNDUpdate(zeros, as_indices(op, indices), updates, reduction="sum")


IN_PLACE = {"InplaceAdd": "sum", "InplaceSub": "sub", "InplaceUpdate": "none"}
"""The name of the reduction that combines each row of a tensor with a new one."""


UPDATES = {"ScatterNdNonAliasingAdd": "sum"} | {
    f"{prefix}{kind}": reduction
    for prefix in ("TensorScatter", "ResourceScatterNd", "ScatterNd")
    for kind, reduction in (("Add", "sum"), ("Max", "max"), ("Min", "min"), ("Sub", "sub"), ("Update", "none"))
}
"""For each kind, the runtime's name of the reduction that combines an update with the present element."""


@tf.lowers(*IN_PLACE)
def changed_rows(node: LoweringNode, op: OpBuilder, x: SSAValue, i: SSAValue, v: SSAValue) -> SSAValue:
    """tf.InplaceAdd(x, rows, values) -> opset15.ScatterNDUpdate(x, Unsqueeze(rows, 1), values) {reduction = sum}"""
    return op.ScatterNDUpdate(x, op.Unsqueeze(i, [1]), v, reduction=IN_PLACE[node.op.KIND])


@tf.lowers(*UPDATES)
def tensor_scatter(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue) -> SSAValue:
    """tf.TensorScatterAdd(x, indices, updates) -> opset15.ScatterNDUpdate(x, indices, updates) {reduction = sum}"""
    check_bad_indices(node)
    return op.ScatterNDUpdate(x, as_indices(op, indices), updates, reduction=UPDATES[node.op.KIND])
