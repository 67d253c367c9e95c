"""Operations on the batched tensors of torch.vmap, which `raise-vmap` introduces."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("moir.aligned")
def aligned(node: LoweringNode, op: OpBuilder, *, levels: tuple[str, ...]) -> Sequence[SSAValue]:
    """aten.moir.aligned(x, y) {levels} -> opset1.Unsqueeze, so that vmap levels and dimensions are aligned

    The first dimensions of an operand are those of its vmap levels, which `levels` lists. Each result has one for each
    level of any operand, and then as many dimensions as the others.
    """
    own = [[int(level) for level in each.split(",") if level] for each in levels]
    union = sorted({level for each in own for level in each})
    ranks = [node.known_rank(index) - len(each) for index, each in enumerate(own)]
    if min(ranks, default=0) < 0:
        node.fail(f"the operands have fewer dimensions than their vmap levels {list(levels)}")
    most = max(ranks, default=0)
    results: list[SSAValue] = []
    for value, each, rank in zip(node.op.operands, own, ranks, strict=True):
        missing = [axis for axis, level in enumerate(union) if level not in each]
        # A tensor that no vmap level batches is broadcast without new axes.
        axes = [*missing, *range(len(union), len(union) + most - rank)] if each else []
        results.append(op.Unsqueeze(value, axes) if axes else value)
    return results
