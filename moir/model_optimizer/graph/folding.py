"""Constant folding as a part of `graph.clean_up`."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block

from moir.dialects.opset.base import OpsetOp
from moir.model_optimizer.graph.names import class_type
from moir.model_optimizer.graph.order import sort_block


def fold_constants(block: Block, kept: Collection[str]) -> bool:
    """Replace operations whose operands are constants by constants; returns whether there were any.

    Args:
        block: a block of typed operations, in any order.
        kept: values of `type` of operations that stay as they are.
    """
    from moir.passes.fold.fold_constants import Folding, replace_by_constants

    sort_block(block)
    folding = Folding(static_shape=False)
    is_changed = False
    for op in list(block.ops):
        if not isinstance(op, OpsetOp) or not op.operands or op.regions or not op.DETERMINISTIC or op.EFFECTS:
            continue
        results = None if class_type(type(op)) in kept else folding.results(op)
        if results is not None:
            replace_by_constants(op, results)
            is_changed = True
    return is_changed
