"""The steps before and after a transformation that edits a graph.

    with edit(graph):
        transformation.find_and_replace_pattern(graph)

At its end disconnected ports are dropped or become absent operands, the block is in topological order, and in the
middle and back phases every operation that changed is lowered or inferred.

A transformation of the front phase may leave nodes without tensors that they need, for a later one to remove: `edit`
permits that if it gets the name of the transformation, and `check_connected` reports such nodes at the end of the
phase.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from xdsl.ir import Block, Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import ModelOp, NoneOp
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute, value_of
from moir.errors import ConversionError
from moir.model_optimizer.block.operand_counts import operands_required
from moir.model_optimizer.block.sentinels import ABSENT_PORT, SENTINELS, is_sentinel, nodes_of
from moir.model_optimizer.graph.creation import take_further_operands
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.node_inference import infer_changed, infer_inputs
from moir.rewriting.dead_code import live_operations

logger = logging.getLogger("moir")

LowerNode: TypeAlias = Callable[[GraphNode], bool]
"""The type of functions that replace a node of the `mo` dialect by operations that can be inferred; they return False
if they leave the node.
"""


DISCONNECTED_BY = "disconnected_by"
"""The attribute of an operation with the name of the transformation that left its ports disconnected."""


@contextmanager
def edit(graph: Graph, *, clean_up: bool = False, lower: LowerNode | None = None, by: str | None = None) -> Generator[Graph]:
    """A context for running a transformation on a graph; at its end `finish` is called with the same arguments.

    If the transformation raises an exception, the block stays in its present state.
    """
    interfaces = {block: _interface(block) for block in _blocks(graph)}
    yield graph
    for block, interface in interfaces.items():
        _check_interface(block, interface)
    finish(graph, clean_up=clean_up, lower=lower, by=by)


def finish(graph: Graph, *, clean_up: bool = False, lower: LowerNode | None = None, by: str | None = None) -> None:
    """Put the edited block of a graph in order, and the bodies that were edited with it.

    Args:
        graph: the graph.
        clean_up: remove operations that no output depends on.
        lower: in the middle and back phases, called with each changed node of the `mo` dialect before it is inferred.
        by: the name of a transformation of the front phase, which may leave nodes of the framework incomplete.

    Raises ConversionError, with the name of the node: for a disconnected input port that the operation needs; for a
    cycle; where an operation cannot be inferred.
    """
    for body in graph.viewed_bodies():
        owner = body.block.parent_op()
        if owner is None or owner.parent is None:
            continue
        if body.is_modified and isinstance(owner, OpsetOp):
            graph.touch(owner)
        finish(body, clean_up=clean_up, lower=lower, by=by)
    if clean_up:
        graph.clean_up()
    if not graph.is_modified:
        return
    _settle_ports(graph, by)
    graph.sort()
    if graph.has_data_nodes:
        infer_changed(graph, lower)
        _settle_ports(graph)
        graph.sort()
    else:
        for op, count in graph.operand_counts.items():
            if op.parent is graph.block and len(op.operands) > count:
                take_further_operands(graph, op, count)
        infer_inputs(graph)
    _erase_sentinels(graph.block)
    graph.finished()


def _blocks(graph: Graph) -> Iterator[Block]:
    """The blocks of bodies of operations of an operation set, whose numbers of inputs and outputs cannot change."""
    if isinstance(graph.block.parent_op(), OpsetOp):
        yield graph.block
    for op in graph.block.ops:
        if isinstance(op, OpsetOp):
            yield from (block for region in op.regions for block in region.blocks)


def _interface(block: Block) -> tuple[list[Operation], list[Operation]]:
    return [op for op in block.ops if isinstance(op, Parameter)], [op for op in block.ops if isinstance(op, Result)]


def _check_interface(block: Block, before: tuple[list[Operation], list[Operation]]) -> None:
    owner = block.parent_op()
    if owner is None or owner.parent is None:
        return
    now = _interface(block)
    for what, old, new in zip(("inputs", "outputs"), before, now, strict=True):
        if len(old) != len(new):
            raise ConversionError(
                f"its body had {len(old)} {what} and has {len(new)} now",
                operation=owner.name,
                hint="the inputs and outputs of a body cannot change",
            )


def check_connected(graph: Graph) -> None:
    """Raise ConversionError if a node that an output depends on lacks a tensor, at the end of the front phase."""
    if any(isinstance(op, SENTINELS) for op in graph.block.ops):
        _settle_ports(graph)
        _erase_sentinels(graph.block)


def _settle_ports(graph: Graph, by: str | None = None) -> None:
    """Drop disconnected trailing ports.

    Other disconnected ports raise ConversionError; or, if `by` (the name of a transformation) is given, it is stored in
    their operations for a later report.
    """
    _drop_orphaned_results(graph)
    affected = [op for op in nodes_of(graph.block) if any(is_sentinel(operand) for operand in op.operands)]
    if not affected:
        return
    live = live_operations(graph.block)
    if by is None and any(op not in live for op in affected):
        # Dead operations may be incomplete; they would only fail in a later pass.
        graph.remove_operations([op for op in nodes_of(graph.block) if op not in live])
    for op in affected:
        if op in live:
            graph.trim(op)
            _fill_absent(graph, op)
            if by is None or not isinstance(op, FrameworkOp):
                _check_operands(graph, op)
        if by is not None:
            _note_transformation(op, by)


def _drop_orphaned_results(graph: Graph) -> None:
    """Remove the outputs of the model whose producer was removed, unless that holds for all outputs."""
    orphans = [op for op in graph.orphaned_results if op.parent is graph.block and is_sentinel(op.operands[0])]
    graph.orphaned_results.clear()
    if not orphans or not isinstance(graph.block.parent_op(), ModelOp):
        return
    if all(op in orphans for op in graph.block.ops if isinstance(op, Result)):
        return
    for op in orphans:
        logger.warning("the model has no output %s any more: the node that made it was removed", name_of(op) or graph.id_of(op))
    graph.remove_operations(orphans)


def _fill_absent(graph: Graph, op: Operation) -> None:
    """Make the operand of each deleted port before a connected one an absent operand."""
    for index, operand in enumerate(op.operands):
        if isinstance(operand.owner, ABSENT_PORT):
            none = NoneOp.of()
            graph.block.insert_op_before(none, op)
            op.operands[index] = none.result


def _note_transformation(op: Operation, by: str) -> None:
    for operand in op.operands:
        if is_sentinel(operand) and isinstance(operand.owner, Operation):
            operand.owner.attributes.setdefault(DISCONNECTED_BY, string_attribute(by))


def _check_operands(graph: Graph, op: Operation) -> None:
    required = operands_required(type(op)) if isinstance(op, OpsetOp) else 0
    missing = [index for index, operand in enumerate(op.operands) if is_sentinel(operand)]
    missing.extend(range(len(op.operands), required))
    if missing:
        node = GraphNode.of(graph, op)
        owner = op.operands[missing[0]].owner if missing[0] < len(op.operands) else None
        by = owner.attributes.get(DISCONNECTED_BY) if isinstance(owner, Operation) else None
        raise ConversionError(
            f"its input port {missing[0]} is disconnected" + ("" if by is None else f", since {value_of(by)} ran"),
            operation=node.kind_name if isinstance(op, FrameworkOp) else op.name,
            node=node.name,
            hint="connect it, or remove the node",
        )


def _erase_sentinels(block: Block) -> None:
    current = block.first_op
    while current is not None:
        following = current.next_op
        if isinstance(current, SENTINELS) and not current.results[0].uses:
            current.detach()
            current.erase()
        current = following
