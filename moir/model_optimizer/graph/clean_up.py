"""`graph.clean_up`: constants are folded and operations that no output depends on are removed."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block

from moir.analysis.folding_budget import FoldingBudget
from moir.analysis.order import sort_block
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.operation_names import class_type
from moir.model_optimizer.block.sentinels import SENTINELS, nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.rewriting.dead_code import live_operations
from moir.rewriting.folding import Folding


def fold_constants(block: Block, kept: Collection[str]) -> bool:
    """Replace operations whose operands are constants by constants; returns whether there were any.

    Args:
        block: a block of typed operations, in any order.
        kept: values of `type` of operations that are not replaced.
    """
    sort_block(block)
    return Folding(False, FoldingBudget(list(block.ops))).fold(block.ops, lambda op: class_type(type(op)) in kept)


def clean_up(graph: BlockView, kept: Collection[str]) -> None:
    """Remove the operations that no output depends on, in a graph and in the bodies in it.

    In the middle and back phases operations on constants are first replaced by constants, except operations that
    depend on ShapeOf.

    Args:
        graph: the graph.
        kept: values of `type` of operations that stay nevertheless, with those they depend on.
    """
    if graph.has_data_nodes and fold_constants(graph.block, kept):
        graph.changed_operations = {op for op in graph.changed_operations if op.parent is not None}
        for op in nodes_of(graph.block):
            graph.identifiers.of(op)
        graph.forget_operations()
    roots = [op for op in nodes_of(graph.block) if kept and OperationAttributes(graph, op).get("type") in kept]
    live = live_operations(graph.block, roots)
    dead = [op for op in graph.block.ops if op not in live and not isinstance(op, SENTINELS)]
    if dead:
        graph.remove_operations(dead)
    for body in graph.body_graphs():
        clean_up(body, kept)
