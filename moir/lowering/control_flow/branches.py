"""Conditionals: the regions of a node become the branches of an If, or the operations of one replace the node."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue

from moir.analysis.input_dependence import is_computed_of_inputs
from moir.dialects.opset.control_flow import If, parameters_of, results_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.shape import Squeeze
from moir.dialects.shapes import rank_of
from moir.errors import InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import Body, lowered_body, need_ranks
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_with_bodies

_NAMES = ("then", "else")


def conditional(
    node: LoweringNode,
    op: OpBuilder,
    condition: SSAValue,
    branches: Sequence[Region],
    values: Sequence[SSAValue],
    needed: Sequence[int | None] = (),
) -> list[SSAValue]:
    """Build an If of two lowered branches, and return its results; if one branch cannot run, the other branch replaces
    the If.

    A branch cannot run if the shapes of its operands contradict its operations, or if a result does not have the rank
    that is needed.

    Args:
        node: the node with the branches.
        op: the builder.
        condition: a boolean scalar.
        branches: the regions for true and false, in this order.
        values: the operands for the Parameters of both branches.
        needed: the rank that is needed of each result; None if it is not known.

    Raises ConversionError if the branches have different numbers of results.
    """
    bodies: list[Body] = []
    for index, branch in enumerate(branches):
        try:
            bodies.append(lowered_body(node, branch, values, needed=needed, in_place=True))
        except InferenceError as error:
            node.note(f"its {_NAMES[index]} branch is left out: {error.reason}")
            # If the other graph cannot run either, its own error is raised.
            return moved(op, bodies[0], values) if bodies else inlined(node, op, branches[1], values, needed)
    if any(len(body.results) != len(bodies[0].results) for body in bodies):
        node.fail("its branches do not have equally many outputs")
    for result_index, results in enumerate(zip(bodies[0].values(), bodies[1].values(), strict=True)):
        ranks = [rank_of(each) for each in results]
        if None in ranks or ranks[0] == ranks[1]:
            continue
        if result_index < len(needed) and (rank := needed[result_index]) in ranks:
            taken = ranks.index(rank)
            reason = f"its {_NAMES[1 - taken]} branch is left out: it gives {ranks[1 - taken]} dimensions, and what reads them takes {rank}"
            node.note(reason)
            return moved(op, bodies[taken], values)
        if not is_computed_of_inputs(condition) and (taken := _squeezing(bodies, result_index)) is not None:
            reason = f"its {_NAMES[1 - taken]} branch is left out: inference will fail unless the dimension that the other one removes is 1"
            node.note(reason)
            return moved(op, bodies[taken], values)
        _check_differing_ranks(node, condition, ranks)
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


def moved(op: OpBuilder, body: Body, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Move the operations of a lowered body to the insertion point of a builder; returns the values of the body's
    results.

    Args:
        op: the builder.
        body: the body, which is empty afterwards.
        values: the value that replaces each Parameter.
    """
    for position, value in enumerate(values):
        if (parameter := body.parameters[position]) is not None:
            parameter.results[0].replace_all_uses_with(value)
            body.drop(position)
    return _emptied(op, body.block)


def _emptied(op: OpBuilder, block: Block) -> list[SSAValue]:
    """Move the operations of a block without Parameters to the insertion point of a builder; returns the operands of
    its Results.
    """
    results = results_of(block)
    for inner in list(block.ops):
        inner.detach()
        if isinstance(inner, Result):
            inner.erase()
        else:
            op.insert(inner)
    return results


def _squeezing(bodies: Sequence[Body], result: int) -> int | None:
    """The index of the branch that squeezes a value which the other branch returns unchanged; None if there is no such
    branch.

    `bodies` are both branches, `result` is the index of the result. TorchScript's exporter writes the removal of a
    dynamic dimension as such an If: only a dimension of 1 is squeezed.
    """
    for index, (own, other) in enumerate((bodies, bodies[::-1])):
        squeeze = own.values()[result].owner
        if not isinstance(squeeze, Squeeze) or len(squeeze.operands) < 2:
            continue
        parameters = [parameter for parameter in range(len(own.parameters)) if other.is_passed_through(parameter, result)]
        if any(
            (argument := own.parameters[parameter]) is not None and argument.results[0] is squeeze.operands[0] for parameter in parameters
        ):
            return index
    return None


def _check_differing_ranks(node: LoweringNode, condition: SSAValue, ranks: Sequence[int | None]) -> None:
    """Raises ConversionError if a result of an If, whose ranks in the two branches differ, cannot be converted.

    It cannot be if the condition depends on values of the inputs, or if one rank is 0 and the other 1. `ranks` are the
    two ranks, both static.
    """
    differ = f"a result has {ranks[0]} dimensions in one branch and {ranks[1]} in the other"
    if is_computed_of_inputs(condition):
        node.fail(f"{differ}, which the values of the inputs decide", hint="give both branches results of equal ranks")
    if set(ranks) == {0, 1}:
        # The result of opset8.If is a 1-D tensor if one branch has a scalar and the other one a 1-D tensor.
        node.fail(f"{differ}, which the shapes of the inputs decide", hint="give the model's inputs static shapes")


def inlined(
    node: LoweringNode, op: OpBuilder, region: Region, values: Sequence[SSAValue], needed: Sequence[int | None] = ()
) -> list[SSAValue]:
    """Move the operations of a region before the node, lower them, and return the values of the region's results.

    Args:
        node: the node with the region.
        op: the builder.
        region: the region, which is empty afterwards; its Parameters are replaced by `values`.
        values: the value of each Parameter.
        needed: the rank that is needed of each result; None if it is not known.

    Raises ConversionError if the number of values is not that of the Parameters.
    """
    block = region.block
    parameters = parameters_of(block)
    if len(parameters) != len(values):
        node.fail(f"a graph has {len(parameters)} inputs where {len(values)} are given")
    for parameter, value in zip(parameters, values, strict=True):
        parameter.results[0].replace_all_uses_with(value)
        parameter.detach()
        parameter.erase()
    need_ranks(block, needed)
    node.run.block(block)
    return _emptied(op, block)
