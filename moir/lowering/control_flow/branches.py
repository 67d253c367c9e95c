"""Conditionals: the graphs of a node become the branches of an If, or one of them replaces the node."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue

from moir.analysis.input_dependence import is_computed_of_inputs
from moir.dialects.opset.control_flow import If, parameters_of, results_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import lowered_body
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_with_bodies


def conditional(
    node: LoweringNode, op: OpBuilder, condition: SSAValue, branches: Sequence[Region], values: Sequence[SSAValue]
) -> list[SSAValue]:
    """Build an If of two lowered graphs, and return its results.

    Args:
        node: the node the graphs belong to.
        condition: a boolean scalar.
        branches: the graphs for true and false, in this order.
        values: the operands for the Parameters of both graphs.
    """
    bodies = [lowered_body(node, branch, values) for branch in branches]
    if any(len(body.results) != len(bodies[0].results) for body in bodies):
        node.fail("its branches do not have equally many outputs")
    for then, otherwise in zip(bodies[0].values(), bodies[1].values(), strict=True):
        ranks = rank_of(then), rank_of(otherwise)
        if None in ranks or ranks[0] == ranks[1]:
            continue
        differ = f"a result has {ranks[0]} dimensions in one branch and {ranks[1]} in the other"
        if is_computed_of_inputs(condition):
            node.fail(f"{differ}, which the values of the inputs decide", hint="give both branches results of equal ranks")
        if set(ranks) == {0, 1}:
            # Of a number and a list the runtime says that they are a list.
            node.fail(f"{differ}, which the shapes of the inputs decide", hint="give the model's inputs static shapes")
    operands = [condition]
    indices: dict[SSAValue, int] = {}
    connections: list[list[int]] = []
    for body in bodies:
        connections.append([])
        for position, value in enumerate(values):
            if not body.is_used(position):
                body.drop(position)
                continue
            if value not in indices:
                indices[value] = len(operands)
                operands.append(value)
            connections[-1].append(indices[value])
    properties = {"then_inputs": connections[0], "else_inputs": connections[1]}
    return create_with_bodies(op, If, operands, properties, [body.region for body in bodies])


def inlined(node: LoweringNode, op: OpBuilder, region: Region, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Move the operations of a graph before the node, lower them, and return the values of the results of the graph.

    Args:
        node: the node the graph belongs to.
        region: the graph, which is empty afterwards; its Parameters are replaced by `values`.
    """
    block = region.block
    parameters = parameters_of(block)
    if len(parameters) != len(values):
        node.fail(f"a graph has {len(parameters)} inputs where {len(values)} are given")
    for parameter, value in zip(parameters, values, strict=True):
        parameter.results[0].replace_all_uses_with(value)
        parameter.detach()
        parameter.erase()
    node.run.block(block)
    results = results_of(block)
    for inner in list(block.ops):
        inner.detach()
        if isinstance(inner, Result):
            inner.erase()
        else:
            op.insert(inner)
    return results
