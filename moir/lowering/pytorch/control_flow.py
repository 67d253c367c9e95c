"""Higher-order operations: graphs as regions, with a Parameter for each operand.

The operands of a group, such as those that a loop carries, are named after its index among the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.moir import Slicing
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import conditional, inlined
from moir.lowering.pytorch.arguments import names_of_operands
from moir.lowering.pytorch.comparison import truth
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_STEPS = 2**31 - 1


def _group(node: LoweringNode, index: int) -> list[SSAValue]:
    """The operands that belong to the argument at `index`, which is a list, in order."""
    names = names_of_operands(node)
    return [value for name, value in zip(names, node.op.operands, strict=False) if name.partition(".")[0] == f"input{index}"]


def _region(node: LoweringNode, index: int) -> Region:
    if index >= len(node.op.regions):
        node.fail(f"it has {len(node.op.regions)} graphs")
    return node.op.regions[index].clone()


@aten.lowers("higher_order.cond")
def cond(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.higher_order.cond(condition, operands…) -> opset8.If

    If the condition is constant: the operations of one graph.
    """
    predicate, values = _group(node, 0), _group(node, 3)
    known = node.attribute("input0", None)
    if not predicate:
        return inlined(node, op, _region(node, 0 if known else 1), values)
    condition = truth(op, as_scalar(op, predicate[0]))
    value = node.known.constant(condition)
    if value is not None:
        return inlined(node, op, _region(node, 0 if np.all(value) else 1), values)
    return conditional(node, op, condition, [node.op.regions[0], node.op.regions[1]], values)


@aten.lowers("higher_order.while_loop")
def while_loop(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.higher_order.while_loop(carried…, others…) -> opset5.Loop(condition, carried…)"""
    states, fixed = _group(node, 2), _group(node, 3)

    def condition(inside: OpBuilder, carried: Sequence[SSAValue], others: Sequence[SSAValue]) -> SSAValue:
        (result,) = inlined(node, inside, _region(node, 0), [*carried, *others])
        return truth(inside, as_scalar(inside, result))

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], others: list[SSAValue]) -> Step:
        after = inlined(node, inside, _region(node, 1), [*carried, *others])
        if len(after) != len(carried):
            node.fail(f"its graph has {len(after)} outputs for {len(carried)} carried values")
        return Step(after, (), condition(inside, after, others))

    return repeated_steps(op, body, states, invariants=fixed, most=MAXIMUM_STEPS, starts=condition(op, states, fixed))


@aten.lowers("higher_order.scan", "higher_order.map_impl")
def scan(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.higher_order.scan(initial…, scanned…, others…) -> opset1.TensorIterator over the first axes of the scanned
    tensors

    The results are the carried values after the last step, then the outputs of all steps stacked. `map_impl` has no
    carried values.
    """
    is_scan = node.op.KIND.endswith("scan")
    states = _group(node, 1) if is_scan else []
    scanned, fixed = (_group(node, 2), _group(node, 3)) if is_scan else (_group(node, 1), _group(node, 2))
    count = node.result_count - len(states)
    if not scanned or count < 0:
        node.fail(f"it has {len(scanned)} operands to go through and {node.result_count} results")

    def body(inside: OpBuilder, carried: list[SSAValue], cuts: list[SSAValue], others: list[SSAValue]) -> Step:
        slices = [inside.Squeeze(cut, [0]) for cut in cuts]
        results = inlined(node, inside, _region(node, 0), [*carried, *slices, *others])
        if len(results) != len(carried) + count:
            node.fail(f"its graph has {len(results)} outputs, not {len(carried) + count}")
        return Step(results[: len(carried)], [inside.Unsqueeze(value, [0]) for value in results[len(carried) :]])

    cuts = [Cut(value, Slicing(0)) for value in scanned]
    return repeated_steps(op, body, states, cuts=cuts, invariants=fixed, joins=[Slicing(0)] * count)


@aten.lowers("higher_order.associative_scan")
def associative_scan(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.higher_order.associative_scan(scanned…, others…) -> opset1.TensorIterator over all slices

    Each slice is combined with the result for the slices before it; the first result is the first slice.
    """
    scanned, fixed = _group(node, 1), _group(node, 2)
    if not scanned or node.result_count != len(scanned):
        node.fail(f"it has {len(scanned)} operands to go through and {node.result_count} results")

    def body(inside: OpBuilder, carried: list[SSAValue], cuts: list[SSAValue], others: list[SSAValue]) -> Step:
        *before, goes = carried
        slices = [inside.Squeeze(cut, [0]) for cut in cuts]
        results = inlined(node, inside, _region(node, 0), [*before, *slices, *others])
        if len(results) != len(before):
            node.fail(f"its graph has {len(results)} outputs, not {len(before)}")
        # The first step selects the slice itself; it cannot be left out, since the length may be 1.
        states = [inside.Select(goes, new, each) for new, each in zip(results, slices, strict=True)]
        return Step([*states, inside.constant(np.array(True))], [inside.Unsqueeze(each, [0]) for each in states])

    states = [op.Gather(value, op.constant(0), 0) for value in scanned]
    cuts = [Cut(value, Slicing(0)) for value in scanned]
    results = repeated_steps(
        op, body, [*states, op.constant(np.array(False))], cuts=cuts, invariants=fixed, joins=[Slicing(0)] * len(scanned)
    )
    return results[len(scanned) + 1 :]


@aten.lowers(
    *("higher_order.wrap_with_set_grad_enabled", "higher_order.wrap_with_autocast", "higher_order.tag_activation_checkpoint"),
    *("higher_order.hints_wrapper", "higher_order.strict_mode", "higher_order.wrap", "higher_order.invoke_subgraph"),
)
def wrapped(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.higher_order.wrap_with_set_grad_enabled(operands…) -> the operations of its graph; likewise
    `wrap_with_autocast`, `invoke_subgraph` and the other wrappers
    """
    return inlined(node, op, _region(node, 0), list(node.op.operands))
