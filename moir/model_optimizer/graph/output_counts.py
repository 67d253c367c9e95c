"""Adds the unused outputs that nodes had in Model Optimizer.

    %y = tf.TopKV2(%x, %k)  ->  %y:2 = tf.TopKV2(%x, %k)

A model need not name unused outputs of a node, and a frontend builds no results for them. In the front phase a
transformation may connect them.
"""

from __future__ import annotations

from xdsl.ir import Block, OpResult, SSAValues

from moir.dialects.framework import FrameworkOp
from moir.dialects.shapes import UNKNOWN
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.frameworks.lookup import view_of


def complete_outputs(block: Block, framework: str) -> None:
    """Give each operation of a framework in a block the number of results that its kind had in Model Optimizer."""
    counts = view_of(framework).output_counts
    for op in nodes_of(block) if counts else ():
        if isinstance(op, FrameworkOp) and op.dialect_name() == framework:
            count = counts.get(op.KIND, 0)
            more = [OpResult(UNKNOWN, op, index) for index in range(len(op.results), count)]
            if more:
                op.results = SSAValues((*op.results, *more))
