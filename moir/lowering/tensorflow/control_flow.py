"""Control flow: If, Case, While.

Functions capture no values: all their Parameters have operands. The operands of a While are those that
`raise-tensor-lists` arranges; a While that this pass has not changed has loop-carried values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from moir.dialects import element_types
from moir.dialects.element_types import boolean, si64
from moir.dialects.frameworks.tensorflow import add_results, new_integers, new_node, new_parameter
from moir.dialects.moir import Slicing
from moir.dialects.opset.control_flow import Loop, RepeatingOp, TensorIterator, parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import Body, graph_of, lowered_body, repeated_body
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.control_flow.connections import Connections, results_without_iterations
from moir.lowering.control_flow.ranks_by_use import rank_by_use
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.ranks_by_use import RULES
from moir.lowering.tensorflow.resources.list_values import HINT, new_list, new_pieces, refuse_pieces, unmade_list, with_read_shapes
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.operations_with_bodies import slice_type


def truth(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """The boolean value of a condition: a scalar is true if it is not 0, any other tensor if it is not empty."""
    rank = rank_of(value)
    if rank is None and element_of(value) is boolean:
        return value
    if rank is None:
        node.fail("the rank of its condition is unknown")
    if rank > 0:
        return op.NotEqual(op.ReduceProd(op.ShapeOf(value), [0], keep_dims=False), 0)
    if element_of(value) is boolean:
        return value
    if element_of(value) is element_types.string:
        node.fail("its condition is a string")
    return op.NotEqual(value, 0)


@tf.lowers("If", "StatelessIf", "XlaIf")
def if_(node: LoweringNode, op: OpBuilder, cond: SSAValue, *operands: SSAValue) -> Replacement:
    """tf.If(cond, x…)
    -> opset8.If(cond, x…) {then_inputs, else_inputs}; the operations of one branch if cond is known
    """
    refuse_pieces(node, operands)
    operands = tuple(with_read_shapes(node, op, operands))
    condition = truth(node, op, cond)
    branches = [graph_of(node, name) for name in ("then_branch", "else_branch")]
    if any(len(results_of(branch.block)) < node.result_count for branch in branches):
        node.fail("a branch has fewer outputs than the operation has results")
    known, needed = node.known.constant(condition), _needed_ranks(node)
    _drop_unused(node, branches)
    if known is not None and known.size == 1:
        return _of_used(node, inlined(node, op, branches[0 if known.item() else 1], operands, needed))
    _refuse_new_lists(node, branches, operands)
    return _of_used(node, conditional(node, op, condition, branches, operands, needed))


def _needed_ranks(node: LoweringNode) -> list[int | None]:
    """The ranks that the users of the used results need, None where they need no certain one."""
    return [rank_by_use(result, RULES) for result in node.op.results if node.is_used(result.index)]


def _of_used(node: LoweringNode, values: Sequence[SSAValue]) -> Replacement:
    """The values of the used results among all results of a node."""
    remaining = iter(values)
    return [next(remaining) if node.is_used(index) else None for index in range(node.result_count)]


def _refuse_new_lists(node: LoweringNode, branches: Sequence[Region], values: Sequence[SSAValue]) -> None:
    """Raises ConversionError if a branch reads a new list whose elements have an unknown shape."""
    for branch in branches:
        for parameter, value in zip(parameters_of(branch.block), values, strict=False):
            if unmade_list(value) is not None and parameter.results[0].uses:
                node.fail("its branches get a list whose elements have an unknown shape", HINT)


def _drop_unused(node: LoweringNode, branches: Sequence[Region]) -> None:
    """Erase the Results of branches for which the corresponding results of the node have no uses, and what is only
    needed for them: values for the gradient of a branch, which no operation of OpenVINO holds.
    """
    for branch in branches:
        results = [each for each in branch.block.ops if isinstance(each, Result)]
        for index, result in enumerate(results):
            if not node.is_used(index):
                result.detach()
                result.erase()
        eliminate_dead(branch.block)


@tf.lowers("Case", "StatelessCase")
def case(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Replacement:
    """tf.Case(index, x…)
    -> opset8.If(index = 0, first branch, else opset8.If(index = 1, second branch, else …))

    An index without a branch selects the last one.
    """
    refuse_pieces(node, operands)
    branches = list(node.op.regions)
    index, *values = with_read_shapes(node, op, operands)
    if set(node.texts("graph_attributes", ())) != {"branches"}:
        node.fail("it has no branches")
    if any(len(results_of(branch.block)) < node.result_count for branch in branches):
        node.fail("a branch has fewer outputs than the operation has results")
    known, needed = node.known.integers(index), _needed_ranks(node)
    _drop_unused(node, branches)
    if known is not None and len(known) == 1:
        branch = branches[known[0] if 0 <= known[0] < len(branches) else -1]
        return _of_used(node, inlined(node, op, branch, values, needed))
    if len(branches) == 1:
        return _of_used(node, inlined(node, op, branches[0], values, needed))
    _refuse_new_lists(node, branches, values)
    return _of_used(node, _chained(node, op, index, values, needed))


def _chained(
    node: LoweringNode, op: OpBuilder, index: SSAValue, values: Sequence[SSAValue], needed: Sequence[int | None]
) -> list[SSAValue]:
    """An If between the first branch, if the index is 0, and a Case of the other branches with the index minus 1.

    The branches have Results for the used results of the node only.
    """
    first, *others = [node.op.detach_region(branch) for branch in list(node.op.regions)]
    block = Block()
    parameters = [new_parameter(value) for value in (index, *values)]
    one = new_integers(1)
    less = new_node("Sub", [parameters[0].results[0], one.results[0]])
    rest = new_node(
        "Case",
        [less.results[0], *(parameter.results[0] for parameter in parameters[1:])],
        {"graph_attributes": ["branches"] * len(others)},
        results=len(needed),
        name=node.name,
        regions=others,
    )
    block.add_ops([*parameters, one, less, rest])
    add_results(block, list(rest.results))
    parameter = new_parameter(index)
    assert first.block.first_op is not None
    first.block.insert_op_before(parameter, first.block.first_op)
    is_first = op.Equal(as_scalar(op, index), 0)
    return conditional(node, op, is_first, [first, Region(block)], [index, *values], needed)


@dataclass
class Repetition:
    """The operands of a While by their roles, as `raise-tensor-lists` arranges them.

    `joined` is the number of results that concatenate the values of all iterations; `last` is the number of results
    that are values of the last iteration.
    """

    states: list[SSAValue]
    sliced: list[SSAValue]
    invariants: list[SSAValue]
    bounds: list[SSAValue]
    joined: int
    last: int

    @staticmethod
    def of(node: LoweringNode) -> Repetition:
        """The operands of a node by their roles.

        Raises ConversionError if there are fewer than its attributes declare.
        """
        values = node.operands
        counts = [len(node.integers("sliced", ())), node.integer("invariants", 0), len(node.integers("bounds", ()))]
        if sum(counts) > len(values):
            node.fail("it does not have the operands its attributes say")
        first = len(values) - sum(counts)
        second = first + counts[0]
        third = second + counts[1]
        return Repetition(
            states=values[:first],
            sliced=values[first:second],
            invariants=values[second:third],
            bounds=values[third:],
            joined=node.integer("joined", 0),
            last=node.integer("last", 0),
        )


@tf.lowers("While", "StatelessWhile", "XlaWhile")
def while_(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.While(state…, sliced…, invariant…, bound…) -> opset5.Loop(trip_count, condition, state…, sliced…, invariant…)

    The condition is computed before the Loop for the first iteration, and at the end of the body for the following
    ones. If there are bounds, the condition is true and the trip count is the minimum of the bounds. If this minimum is
    constant and the length of a sliced operand, the result is an opset1.TensorIterator.
    """
    given, body = Repetition.of(node), graph_of(node, "body")
    given.states = with_read_shapes(node, op, given.states)
    count = len(results_of(body.block))
    if count < node.result_count or count != len(given.states) + given.joined + given.last:
        node.fail(f"it has {node.result_count} outputs and its body {count}, for {len(given.states)} values handed on")
    refuse_pieces(node, node.operands)
    if any(unmade_list(state) is not None for state in given.states):
        node.fail("it hands on a list whose elements have an unknown shape", HINT)
    if not given.bounds:
        return _conditional_loop(node, op, given, body)
    return _counted_loop(node, op, given, body)


def _conditional_loop(node: LoweringNode, op: OpBuilder, given: Repetition, body: Region) -> Replacement:
    if given.sliced:
        node.fail("it has slices without a bound")
    cond = graph_of(node, "cond")
    values = [*given.states, *given.invariants]
    if len(results_of(cond.block)) != 1 or len(parameters_of(cond.block)) != len(parameters_of(body.block)):
        node.fail("its condition does not compute one value of what its body gets")
    first = truth(node, op, inlined(node, op, cond.clone(), values)[0])
    known = node.known.constant(first)
    if known is not None and not known.any():
        unchanged = _without_iterations(node, op, given)
        if unchanged is not None:
            return unchanged
    region = _with_condition(body, cond, len(given.states))
    lowered = _body(node, region, given, first_result=1)
    return _connected(node, op, lowered, given, Loop, [op.constant(-1), first])


def _with_condition(body: Region, cond: Region, states: int) -> Region:
    """A clone of a body whose first Result is the condition of the next iteration."""
    region = body.clone()
    block = region.block
    results = [each for each in block.ops if isinstance(each, Result)]
    following = [result.operands[0] for result in results[:states]]
    following += [parameter.results[0] for parameter in parameters_of(block)[states:]]
    clones: dict[SSAValue, SSAValue] = {}
    for each, value in zip(parameters_of(cond.block), following, strict=True):
        clones[each.results[0]] = value
    condition: Operation | None = None
    for each in cond.block.ops:
        if isinstance(each, Result):
            condition = each.clone(clones)
        elif not isinstance(each, Parameter):
            block.add_op(each.clone(clones))
    assert condition is not None
    # The Results must come after the operations that compute the condition.
    for each in results:
        each.detach()
    block.add_ops([condition, *results])
    return region


def _counted_loop(node: LoweringNode, op: OpBuilder, given: Repetition, body: Region) -> Replacement:
    # A Loop of the runtime cannot start its slices after the first element.
    given.sliced = [
        op.Slice(value, [start], [np.iinfo(np.int64).max], [1], [0]) if start else value
        for value, start in zip(given.sliced, node.integers("sliced", ()), strict=True)
    ]
    limits = [op.convert(as_scalar(op, bound), si64) for bound in given.bounds]
    for index, start in enumerate(node.integers("bounds")):
        if start:
            limits[index] = op.Subtract(limits[index], start)
    numbers = [number for limit in limits if (number := node.known.integers(limit)) is not None]
    count = max(min(found[0] for found in numbers), 0) if len(numbers) == len(limits) else None
    if count == 0:
        unchanged = _without_iterations(node, op, given)
        if unchanged is not None:
            return unchanged
    lowered = _body(node, body, given, first_result=0)
    operation, operands = _counted_operation(node, op, given, lowered, limits, count)
    values = _connected(node, op, lowered, given, operation, operands)
    for value in values[len(given.states) : len(given.states) + given.joined]:
        length = node.known.elements(limits[0])
        if value is not None and len(limits) == 1 and length is not None and isinstance(symbol := length.reshape(-1)[0], Symbol):
            node.known.set_dimension(value, 0, symbol)
    return values


def _counted_operation(
    node: LoweringNode, op: OpBuilder, given: Repetition, body: Body, limits: list[SSAValue], count: int | None
) -> tuple[type[RepeatingOp], list[SSAValue]]:
    """The operation that repeats a body, and the operands that precede those of the body.

    The operation is a TensorIterator if possible; the runtime supports neither nested ones nor ones without iterations.
    Otherwise the operation is a Loop, and a condition is added to the Results of the body.
    """
    nested = any(isinstance(inner, TensorIterator) for inner in body.region.walk())
    if not nested and count and any((shape_of(value) or (-1,))[0] == count for value in given.sliced):
        return TensorIterator, []
    inside = OpBuilder(op.known, body.block, body.results[0] if body.results else None)
    inside.insert(Result.create(operands=[inside.constant(np.array(True))]))
    if count is not None:
        trip_count = op.constant(count)
    else:
        trip_count = limits[0]
        for limit in limits[1:]:
            trip_count = op.Minimum(trip_count, limit)
        # The runtime treats a negative trip count as unlimited.
        trip_count = trip_count if _is_size(node, trip_count) else op.Maximum(trip_count, 0)
    return Loop, [trip_count, op.constant(np.array(True))]


def _is_size(node: LoweringNode, value: SSAValue) -> bool:
    elements = node.known.elements(value)
    return elements is not None and isinstance(entry := elements.reshape(-1)[0], Symbol) and entry.dimension


def _body(node: LoweringNode, region: Region, given: Repetition, first_result: int) -> Body:
    """The lowered body. The runtime keeps the axis of a slice with size 1, so the body begins with a Squeeze of each
    slice.
    """

    def squeeze(parameters: list[Parameter]) -> None:
        for parameter in parameters[len(given.states) : len(given.states) + len(given.sliced)]:
            value = parameter.results[0]
            uses = list(value.uses)
            assert parameter.parent is not None
            element = OpBuilder(node.known, parameter.parent, parameter.next_op).Squeeze(value, [0])
            for use in uses:
                use.operation.operands[use.index] = element

    pieces = [slice_type(value) for value in given.sliced]
    return repeated_body(
        node,
        region,
        [value.type for value in given.states],
        lambda types, in_place: lowered_body(node, region, [*types, *pieces, *given.invariants], squeeze, in_place=in_place),
        first_result=first_result,
    )


def _connected(
    node: LoweringNode,
    op: OpBuilder,
    body: Body,
    given: Repetition,
    operation: type[RepeatingOp],
    operands: list[SSAValue],
) -> list[SSAValue | None]:
    """Build the operation around a body, and return the values of the results of the node."""
    states = len(given.states)
    connections = Connections(node, body, operands, first_parameter=0, first_result=1 if operation is Loop else 0)
    connections.drop_unused(states)
    connections.add_states(given.states)
    connections.add_slices(given.sliced, [Slicing(0)] * len(given.sliced))
    connections.add_invariants(states + len(given.sliced), given.invariants)
    lists = range(states, states + given.joined)
    connections.add_joined(states, [Slicing(0)] * given.joined, dict.fromkeys(lists, 0), dict.fromkeys(lists, new_pieces))
    connections.add_last(states + given.joined, given.last)
    return connections.create(op, operation)


def _without_iterations(node: LoweringNode, op: OpBuilder, given: Repetition) -> list[SSAValue | None] | None:
    """The results of a loop that never runs; None if the shape of an empty concatenation is unknown."""
    if not given.joined and not given.last:
        return [*given.states]
    body = _body(node, graph_of(node, "body"), given, first_result=0)
    values = body.values()[len(given.states) :]
    return results_without_iterations(node, op, given.states, values, given.joined, lambda: new_list(op, "EmptyTensorList", []))
