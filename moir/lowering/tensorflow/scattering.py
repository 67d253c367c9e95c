"""Writing elements at computed positions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.tensorflow.indexing import as_indices, check_bad_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("ScatterNd", complex=by_parts(1))
def scatter_nd(node: LoweringNode, op: OpBuilder, indices: SSAValue, updates: SSAValue, shape: SSAValue) -> SSAValue:
    """tf.ScatterNd(indices, updates, shape)
    -> opset15.ScatterNDUpdate(opset3.Broadcast(0, shape), indices, updates) {reduction = sum}
    """
    check_bad_indices(node)
    zeros = op.Broadcast(op.constant_like(0, updates), as_indices(op, shape))
    return op.ScatterNDUpdate(zeros, as_indices(op, indices), updates, reduction="sum")


IN_PLACE = {"InplaceAdd": "sum", "InplaceSub": "sub", "InplaceUpdate": "none"}
"""For each kind, the reduction that combines a row of a tensor with its update."""


UPDATES = {"ScatterNdNonAliasingAdd": "sum"} | {
    f"{prefix}{kind}": reduction
    for prefix in ("TensorScatter", "ResourceScatterNd", "ScatterNd")
    for kind, reduction in (("Add", "sum"), ("Max", "max"), ("Min", "min"), ("Sub", "sub"), ("Update", "none"))
}
"""For each kind, the name in the operation sets of the reduction that combines an update with the present element."""


@tf.lowers(*IN_PLACE)
def changed_rows(node: LoweringNode, op: OpBuilder, x: SSAValue, i: SSAValue, v: SSAValue) -> SSAValue:
    """tf.InplaceAdd(x, rows, values) -> opset15.ScatterNDUpdate(x, Unsqueeze(rows, 1), values) {reduction = sum}

    Likewise InplaceSub and InplaceUpdate with the reductions sub and none.
    """
    return op.ScatterNDUpdate(x, op.Unsqueeze(i, [1]), v, reduction=IN_PLACE[node.op.KIND])


@tf.lowers(*[kind for kind, reduction in UPDATES.items() if reduction in ("max", "min")])
@tf.lowers(*[kind for kind, reduction in UPDATES.items() if reduction not in ("max", "min")], complex=by_parts(0, 2))
def tensor_scatter(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue) -> SSAValue:
    """tf.TensorScatterAdd(x, indices, updates) -> opset15.ScatterNDUpdate(x, indices, updates) {reduction = sum}

    Likewise the other kinds of `UPDATES`.
    """
    check_bad_indices(node)
    return op.ScatterNDUpdate(x, as_indices(op, indices), updates, reduction=UPDATES[node.op.KIND])
