"""Control flow: If, Case, While.

Functions do not capture values: there is an operand for each Parameter. `raise-tensor-lists` may have sorted the
operands of a While by their roles (`Repetition`); otherwise all of them are loop-carried values.
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
from moir.frameworks.traits import BRANCHES
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.control_flow.bodies import Body, graph_of, lowered_body, repeated_body
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.control_flow.connections import Connections, results_without_iterations
from moir.lowering.ranks import rank_by_use
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.ranks import in_branches, in_functions
from moir.lowering.tensorflow.resources.list_values import HINT, new_list, new_pieces, refuse_pieces, unmade_list, with_read_shapes
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.operations_with_bodies import slice_type


def truth(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """The boolean value of a condition: a scalar is true if it is not 0, any other tensor if it is not empty.

    Raises ConversionError if its rank is dynamic, or it is a string.
    """
    rank = rank_of(value)
    if rank is None and element_of(value) is boolean:
        return value
    if rank is None:
        node.fail("the rank of its condition is dynamic")
    if rank > 0:
        return op.NotEqual(op.ReduceProd(op.ShapeOf(value), [0], keep_dims=False), 0)
    if element_of(value) is boolean:
        return value
    if element_of(value) is element_types.string:
        node.fail("its condition is a string")
    return op.NotEqual(value, 0)


@tf.lowers("If", "StatelessIf", "XlaIf", rank=in_branches, complex=PAIRS, traits=(BRANCHES,))
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
    """For each used result of a node the rank that its users require; None if they accept any rank."""
    return [rank_by_use(result, tf.rank) for result in node.op.results if node.is_used(result.index)]


def _of_used(node: LoweringNode, values: Sequence[SSAValue]) -> Replacement:
    """For each result of a node, the next element of `values` if the result has uses, else None."""
    remaining = iter(values)
    return [next(remaining) if node.is_used(index) else None for index in range(node.result_count)]


def _refuse_new_lists(node: LoweringNode, branches: Sequence[Region], values: Sequence[SSAValue]) -> None:
    """Raises ConversionError if a branch uses one of its operands, `values`, that is a tensor list not lowered yet."""
    for branch in branches:
        for parameter, value in zip(parameters_of(branch.block), values, strict=False):
            if unmade_list(value) is not None and parameter.results[0].uses:
                node.fail("its branches get a list whose elements have a dynamic shape", HINT)


def _drop_unused(node: LoweringNode, branches: Sequence[Region]) -> None:
    """Erase the Results of branches that belong to unused results of the node, and the operations that only they use.

    Unused results may be values for the gradient of a branch, which no tensor can hold.
    """
    for branch in branches:
        results = [each for each in branch.block.ops if isinstance(each, Result)]
        for index, result in enumerate(results):
            if not node.is_used(index):
                result.detach()
                result.erase()
        eliminate_dead(branch.block)


@tf.lowers("Case", "StatelessCase", rank=in_branches, traits=(BRANCHES,))
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
    """An If: the first branch of a Case if the index is 0, else a Case of the other branches with the index minus 1.

    Args:
        node: the Case; its branches move into the If.
        op: the builder.
        index: the index of the branch.
        values: the operands of the branches.
        needed: for each used result of the node the rank that its users require; None if they accept any rank.

    The branches must have Results for the used results of the node only.
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

    Args:
        states: the initial values of the loop-carried values.
        sliced: tensors of which each iteration reads one slice along dimension 0.
        invariants: values that every iteration reads unchanged.
        bounds: limits of the number of iterations.
        joined: the number of results that concatenate the values of all iterations.
        last: the number of results that are values of the last iteration.
    """

    states: list[SSAValue]
    sliced: list[SSAValue]
    invariants: list[SSAValue]
    bounds: list[SSAValue]
    joined: int
    last: int

    @staticmethod
    def of(node: LoweringNode) -> Repetition:
        """The operands of a While, sorted by their roles.

        Raises ConversionError if there are fewer operands than the attributes declare.
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


@tf.lowers("While", "StatelessWhile", "XlaWhile", rank=in_functions, complex=PAIRS)
def while_(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.While(state…, sliced…, invariant…, bound…) -> opset5.Loop(trip_count, condition, state…, sliced…, invariant…)

    The condition is computed before the Loop for the first iteration, and at the end of the body for the following
    ones. If there are bounds, the condition is true and the trip count is the minimum of the bounds. If this minimum is
    constant and the length of a sliced operand, the result is an opset1.TensorIterator.
    """
    repetition, body = Repetition.of(node), graph_of(node, "body")
    repetition.states = with_read_shapes(node, op, repetition.states)
    count = len(results_of(body.block))
    if count < node.result_count or count != len(repetition.states) + repetition.joined + repetition.last:
        node.fail(f"it has {node.result_count} outputs and its body {count}, for {len(repetition.states)} values handed on")
    refuse_pieces(node, node.operands)
    if any(unmade_list(state) is not None for state in repetition.states):
        node.fail("it hands on a list whose elements have a dynamic shape", HINT)
    if not repetition.bounds:
        return _conditional_loop(node, op, repetition, body)
    return _counted_loop(node, op, repetition, body)


def _conditional_loop(node: LoweringNode, op: OpBuilder, repetition: Repetition, body: Region) -> Replacement:
    if repetition.sliced:
        node.fail("it has slices without a bound")
    cond = graph_of(node, "cond")
    values = [*repetition.states, *repetition.invariants]
    if len(results_of(cond.block)) != 1 or len(parameters_of(cond.block)) != len(parameters_of(body.block)):
        node.fail("its condition does not compute a single value from the loop variables")
    first = truth(node, op, inlined(node, op, cond.clone(), values)[0])
    known = node.known.constant(first)
    if known is not None and not known.any():
        unchanged = _without_iterations(node, op, repetition)
        if unchanged is not None:
            return unchanged
    region = _with_condition(body, cond, len(repetition.states))
    lowered = _body(node, region, repetition, first_result=1)
    return _connected(node, op, lowered, repetition, Loop, [op.constant(-1), first])


def _with_condition(body: Region, cond: Region, states: int) -> Region:
    """A clone of a loop body with a new first Result: whether another iteration follows.

    `cond` computes it from the first `states` Results of the body and from the other Parameters.
    """
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


def _counted_loop(node: LoweringNode, op: OpBuilder, repetition: Repetition, body: Region) -> Replacement:
    # The slices of a Loop begin with the first element.
    repetition.sliced = [
        op.Slice(value, [start], [np.iinfo(np.int64).max], [1], [0]) if start else value
        for value, start in zip(repetition.sliced, node.integers("sliced", ()), strict=True)
    ]
    limits = [op.convert(as_scalar(op, bound), si64) for bound in repetition.bounds]
    for index, start in enumerate(node.integers("bounds")):
        if start:
            limits[index] = op.Subtract(limits[index], start)
    trip_counts = [trip_count for limit in limits if (trip_count := node.known.integers(limit)) is not None]
    count = max(min(counts[0] for counts in trip_counts), 0) if len(trip_counts) == len(limits) else None
    if count == 0:
        unchanged = _without_iterations(node, op, repetition)
        if unchanged is not None:
            return unchanged
    lowered = _body(node, body, repetition, first_result=0)
    operation, operands = _counted_operation(node, op, repetition, lowered, limits, count)
    values = _connected(node, op, lowered, repetition, operation, operands)
    for value in values[len(repetition.states) : len(repetition.states) + repetition.joined]:
        length = node.known.elements(limits[0])
        if value is not None and len(limits) == 1 and length is not None and isinstance(symbol := length.reshape(-1)[0], Symbol):
            node.known.set_dimension(value, 0, symbol)
    return values


def _counted_operation(
    node: LoweringNode, op: OpBuilder, repetition: Repetition, body: Body, limits: list[SSAValue], count: int | None
) -> tuple[type[RepeatingOp], list[SSAValue]]:
    """The class of the operation that repeats a body, and the operands that precede those of the body.

    Args:
        node: the While.
        op: the builder.
        repetition: its operands.
        body: the lowered body; for a Loop, a condition that is always true is added as its first Result.
        limits: the bounds of the number of iterations as scalars.
        count: their minimum; None if it is not constant.

    A TensorIterator if there is at least one iteration and `count` is the length of a sliced operand; otherwise a Loop.
    """
    if count and any((shape_of(value) or (-1,))[0] == count for value in repetition.sliced):
        return TensorIterator, []
    inside = OpBuilder(op.known, body.block, body.results[0] if body.results else None)
    inside.insert(Result.create(operands=[inside.constant(np.array(True))]))
    if count is not None:
        trip_count = op.constant(count)
    else:
        trip_count = limits[0]
        for limit in limits[1:]:
            trip_count = op.Minimum(trip_count, limit)
        # A Loop with a negative trip count has no limit.
        trip_count = trip_count if _is_size(node, trip_count) else op.Maximum(trip_count, 0)
    return Loop, [trip_count, op.constant(np.array(True))]


def _is_size(node: LoweringNode, value: SSAValue) -> bool:
    elements = node.known.elements(value)
    return elements is not None and isinstance(entry := elements.reshape(-1)[0], Symbol) and entry.dimension


def _body(node: LoweringNode, region: Region, repetition: Repetition, first_result: int) -> Body:
    """Lower the body of a While, and return it.

    A slice keeps its axis, with size 1, so the body begins with a Squeeze of each slice. `first_result` is the index of
    the Result that is the first state.
    """

    def squeeze(parameters: list[Parameter]) -> None:
        for parameter in parameters[len(repetition.states) : len(repetition.states) + len(repetition.sliced)]:
            value = parameter.results[0]
            uses = list(value.uses)
            assert parameter.parent is not None
            element = OpBuilder(node.known, parameter.parent, parameter.next_op).Squeeze(value, [0])
            for use in uses:
                use.operation.operands[use.index] = element

    pieces = [slice_type(value) for value in repetition.sliced]
    return repeated_body(
        node,
        region,
        [value.type for value in repetition.states],
        lambda types, in_place: lowered_body(node, region, [*types, *pieces, *repetition.invariants], squeeze, in_place=in_place),
        first_result=first_result,
    )


def _connected(
    node: LoweringNode,
    op: OpBuilder,
    body: Body,
    repetition: Repetition,
    operation: type[RepeatingOp],
    operands: list[SSAValue],
) -> list[SSAValue | None]:
    """Build the operation around a body; return a value for each result of the node, None for a result without uses.

    `operands` are those of the operation itself, such as the trip count of a Loop; they precede those of the body.
    """
    states = len(repetition.states)
    connections = Connections(node, body, operands, first_parameter=0, first_result=1 if operation is Loop else 0)
    connections.drop_unused(states)
    connections.add_states(repetition.states)
    connections.add_slices(repetition.sliced, [Slicing(0)] * len(repetition.sliced))
    connections.add_invariants(states + len(repetition.sliced), repetition.invariants)
    lists = range(states, states + repetition.joined)
    connections.add_joined(states, [Slicing(0)] * repetition.joined, dict.fromkeys(lists, 0), dict.fromkeys(lists, new_pieces))
    connections.add_last(states + repetition.joined, repetition.last)
    return connections.create(op, operation)


def _without_iterations(node: LoweringNode, op: OpBuilder, repetition: Repetition) -> list[SSAValue | None] | None:
    """The results of a loop that never runs; None if the shape of an empty concatenation is dynamic."""
    if not repetition.joined and not repetition.last:
        return [*repetition.states]
    body = _body(node, graph_of(node, "body"), repetition, first_result=0)
    values = body.values()[len(repetition.states) :]
    return results_without_iterations(node, op, repetition.states, values, repetition.joined, lambda: new_list(op, "EmptyTensorList", []))
