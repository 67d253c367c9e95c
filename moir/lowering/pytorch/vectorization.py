"""Operations on all tensors of torch.vmap at once: see `raise-vmap`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("moir.aligned")
def aligned(node: LoweringNode, op: OpBuilder, *, levels: tuple[str, ...]) -> Sequence[SSAValue]:
    """aten.moir.aligned(x, y) {levels} -> opset1.Unsqueeze, so that levels and the dimensions after them are aligned

    Each operand has the dimensions of its levels first, which `levels` lists; the results have one for each level that
    any operand has, and equally many after those.
    """
    own = [[int(level) for level in each.split(",") if level] for each in levels]
    union = sorted({level for each in own for level in each})
    ranks = [node.known_rank(index) - len(each) for index, each in enumerate(own)]
    if min(ranks, default=0) < 0:
        node.fail(f"operands of {ranks} dimensions beside those of the levels {list(levels)}")
    most = max(ranks, default=0)
    results: list[SSAValue] = []
    for value, each, rank in zip(node.op.operands, own, ranks, strict=True):
        missing = [place for place, level in enumerate(union) if level not in each]
        # A tensor without levels is broadcast as it is.
        axes = [*missing, *range(len(union), len(union) + most - rank)] if each else []
        results.append(op.Unsqueeze(value, axes) if axes else value)
    return results
