"""Control flow: branches and loops, whose regions have a Parameter for each operand after the condition.

Source: while_op.cc, conditional_block_op.cc and select_input_op.cc of PaddlePaddle 2.6; control_flow_op.cc of 3.3.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from moir.analysis.dimensions import Dimensions
from moir.analysis.iteration_sizes import differing_axes
from moir.dialects.element_types import boolean
from moir.dialects.moir import is_none
from moir.dialects.opset.control_flow import Loop, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import UNKNOWN, element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import lowered_body, repeated_body
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.control_flow.connections import Connections
from moir.lowering.paddle.control_flow.arrays import HINT, is_written_array
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _truth(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A condition of one element, of any type, as a boolean scalar."""
    return as_scalar(op, value if element_of(value) == boolean else op.NotEqual(value, 0))


@paddle.lowers("if")
def if_(node: LoweringNode, op: OpBuilder, condition: SSAValue, *values: SSAValue) -> Replacement:
    """paddle.if(condition, values…) -> opset8.If; the operations of one branch if the condition is constant"""
    if len(node.op.regions) != 2:
        node.fail(f"it has {len(node.op.regions)} branches, not 2")
    return _branch_results(node, op, condition, [node.op.regions[0], node.op.regions[1]], list(values))


def _branch_results(
    node: LoweringNode, op: OpBuilder, condition: SSAValue, branches: list[Region], values: list[SSAValue]
) -> list[SSAValue]:
    known = node.known.constant(condition)
    if known is not None and known.size == 1:
        return inlined(node, op, branches[0 if known.any() else 1], values)
    return conditional(node, op, _truth(op, condition), branches, values)


@paddle.lowers("conditional_block")
def conditional_block(node: LoweringNode, op: OpBuilder, *, earlier: int = 0) -> Replacement:
    """paddle.conditional_block(condition, earlier…, captured…) -> opset8.If(condition, block, earlier values)

    Raises ConversionError where a variable has no earlier value.
    """
    condition, values = node.operand(0), list(node.op.operands[1:])
    if len(node.op.regions) != 1 or node.result_count != earlier or len(values) < earlier:
        node.fail(f"it has {len(node.op.regions)} blocks and {node.result_count} results for {earlier} values")
    before, captured = values[:earlier], values[earlier:]
    used = [index for index in range(earlier) if node.is_used(index)]
    known = node.known.constant(condition)
    missing = next((index for index in used if is_none(before[index].owner)), None)
    if missing is not None and not (known is not None and known.any()):
        node.fail(f"result {missing} has no value where the branch is not taken", hint="give the variable a value before the branch")
    then = node.op.regions[0].clone()
    results = [each for each in then.block.ops if isinstance(each, Result)]
    for index, each in enumerate(results):
        if index not in used:
            each.detach()
            each.erase()
    kept = [before[index] for index in used]
    for position, _ in enumerate(kept):
        _insert_parameter(then.block, position)
    other = Block()
    for _ in (*kept, *captured):
        other.add_op(Parameter.create(result_types=[UNKNOWN]))
    for parameter in list(other.ops)[: len(kept)]:
        other.add_op(Result.create(operands=[parameter.results[0]]))
    branch_results = _branch_results(node, op, condition, [then, Region(other)], [*kept, *captured])
    replaced: list[SSAValue | None] = [None] * node.result_count
    for index, value in zip(used, branch_results, strict=True):
        replaced[index] = value
    return replaced


def _insert_parameter(block: Block, position: int) -> None:
    """Insert a Parameter of unknown type before the operation at the index `position` of a block."""
    created = Parameter.create(result_types=[UNKNOWN])
    anchor = next((each for index, each in enumerate(block.ops) if index == position), None)
    if anchor is None:
        block.add_op(created)
    else:
        block.insert_op_before(created, anchor)


@paddle.lowers("select_input")
def select_input(node: LoweringNode, op: OpBuilder, mask: SSAValue, *values: SSAValue) -> SSAValue:
    """paddle.select_input(mask, values…) -> values[mask]; opset1.Select if there are two of equal static shapes"""
    known = node.constant_integers(0)
    if known is not None and len(known) == 1 and 0 <= known[0] < len(values):
        return values[known[0]]
    shapes = {shape_of(value) for value in values}
    if len(values) != 2 or len(shapes) != 1 or not is_static(next(iter(shapes))):
        node.fail("a value is selected that no branch computes", hint="build the model with paddle.static.nn.cond")
    return op.Select(as_scalar(op, op.NotEqual(mask, 0)), values[1], values[0])


@paddle.lowers("while")
def while_(node: LoweringNode, op: OpBuilder, condition: SSAValue, *values: SSAValue, carried: int) -> Replacement:
    """paddle.while(condition, carried…, captured…) {carried} -> opset5.Loop(-1, condition, carried…, captured…)

    The region yields the next condition, then the next values.
    """
    if len(node.op.regions) != 1 or not 0 <= carried <= len(values) or node.result_count != carried:
        node.fail(f"it has {len(node.op.regions)} bodies and {node.result_count} results for {carried} values")
    known = node.known.constant(condition)
    states, captured = list(values[:carried]), list(values[carried:])
    if known is not None and not known.any():
        return states
    region = node.op.regions[0]
    block = region.block
    results = results_of(block)
    if len(results) != carried + 1:
        node.fail(f"its body gives {len(results)} values, not {carried + 1}")
    _make_condition_scalar(node, block)
    _share_states(node, block, states)
    _keep_unread_states(node, block, carried)
    arrays = _written_arrays(block, carried)
    body = repeated_body(
        node,
        region,
        [value.type for value in states],
        lambda types, in_place: lowered_body(node, region, [*types, *captured], in_place=in_place),
        first_result=1,
    )
    start = op.constant(np.array(True)) if known is not None else _truth(op, condition)
    operands = [op.constant(-1), start]
    connections = Connections(node, body, operands, first_parameter=0, first_result=1)
    connections.drop_unused(carried)
    connections.add_states(states)
    connections.add_invariants(carried, captured)
    written = [body.values()[1 + index] for index in arrays]
    created = connections.create(op, Loop)
    _check_arrays(node, created, written)
    return [state if value is None else value for state, value in zip(states, created, strict=True)]


def _share_states(node: LoweringNode, block: Block, states: list[SSAValue]) -> None:
    """Replace the uses of a loop state whose initial value is a placeholder by another state with the same value.

    For a variable that is first assigned in the body, PaddlePaddle starts with a placeholder of another rank, which
    nothing reads. If the body also assigns its value to a variable that it reads, both are equal after each iteration.
    """
    parameters = [each for each in block.ops if isinstance(each, Parameter)]
    after = [_assigned(value) for value in results_of(block)[1:]]
    ranks = [rank_of(value) for value in states]
    for index, value in enumerate(after):
        if not node.is_used(index) or parameters[index].results[0].first_use is not None:
            continue
        others = (each for each, other in enumerate(after) if other is value and ranks[each] != ranks[index])
        other_index = next(others, None)
        if other_index is not None:
            node.op.results[index].replace_all_uses_with(node.op.results[other_index])


def _written_arrays(block: Block, carried: int) -> list[int]:
    """The indices of the arrays, among the first `carried` states of a loop, to which the body writes."""
    return [index for index, value in enumerate(results_of(block)[1 : 1 + carried]) if is_written_array(_assigned(value))]


def _check_arrays(node: LoweringNode, created: list[SSAValue | None], arrays: list[SSAValue]) -> None:
    """Raises ConversionError if a loop writes tensors to an array whose sizes may differ between iterations.

    Args:
        node: the loop.
        created: the results of the operation that it became.
        arrays: the arrays that its body computes.
    """
    loop = next((value.owner for value in created if value is not None and isinstance(value.owner, Loop)), None)
    if loop is None or all(is_static((shape_of(array) or (-1, -1))[1:]) for array in arrays):
        return
    for axes in differing_axes(loop, Dimensions(static=True), arrays):
        # Dimension 0 counts the tensors.
        if any(axes):
            node.fail("the sizes of the tensors that it writes to an array may differ from iteration to iteration", HINT)


def _assigned(value: SSAValue) -> SSAValue:
    """The value at the start of a chain of assign operations; the value itself if there is none."""
    while isinstance(value.owner, Operation) and value.owner.name in ("paddle.assign", "paddle.share_data"):
        value = value.owner.operands[0]
    return value


def _keep_unread_states(node: LoweringNode, block: Block, carried: int) -> None:
    """Make a body return the initial value of states that neither the body nor an operation after the loop reads.

    PaddlePaddle gives such a variable, which is first assigned in the body, an initial value of another shape.
    """
    parameters = [each for each in block.ops if isinstance(each, Parameter)]
    results = [each for each in block.ops if isinstance(each, Result)]
    for index in range(carried):
        unread = parameters[index].results[0]
        if not node.is_used(index) and unread.first_use is None:
            results[index + 1].operands[0] = unread


def _make_condition_scalar(node: LoweringNode, block: Block) -> None:
    """Make the first Result of a body, the condition, a scalar, as Loop requires."""
    first = next(each for each in block.ops if isinstance(each, Result))
    inside = OpBuilder(node.known, block, first)
    value = first.operands[0]
    if rank_of(value) != 0:
        first.operands[0] = inside.Reshape(value, [], special_zero=False)
