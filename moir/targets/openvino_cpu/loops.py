"""Loops that the CPU plugin executes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, OpResult, SSAValue, SSAValues

from moir.analysis.constants import constant_of
from moir.dialects.moir import BodyPort, BodyPortAttr, Slicing
from moir.dialects.names import names_of, set_names
from moir.dialects.opset.control_flow import Loop, RepeatingOp, TensorIterator, parameters_of, results_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Roll
from moir.dialects.opset.recurrent import RecurrentOp
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.properties import integer_attribute
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class IteratorWithoutSlices(Pattern):
    """Replaces a TensorIterator whose body does not use its slices by a Loop with a trip count.

        %y = opset1.TensorIterator(%s, %x) ({             // a state, and slices of %x along axis 0
          %0 = opset1.Parameter()
          %1 = opset1.Parameter()                         // without uses
          %2 = opset1.Add(%0, 1)
          opset1.Result(%2)
        })
    ->  %n = the size of axis 0 of %x
        %y = opset5.Loop(%n, true, %s) ({
          %0 = opset1.Parameter()
          %2 = opset1.Add(%0, 1)
          opset1.Result(true)
          opset1.Result(%2)
        })

    The runtime removes body Parameters without uses; once the last sliced one is gone, it has no trip count.
    """

    roots = (TensorIterator,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TensorIterator)
        ports, parameters = op.ports("inputs"), parameters_of(op.block)
        slices = [index for index, port in enumerate(ports) if port.slicing is not None]
        if not slices or any(parameters[index].results[0].uses for index in slices):
            return
        for index in slices:
            parameters[index].detach()
            parameters[index].erase()
        _replace_by_loop(op, rewriter, [port for port in ports if port.slicing is None])


class NestedIterator(Pattern):
    """Replaces a TensorIterator in the body of another one by a Loop with a trip count.

        %y = opset1.TensorIterator(%s, %x) (…)
    ->  %n = the size of axis 0 of %x
        %y = opset5.Loop(%n, true, %s, %x) (…)

    The runtime refuses nested TensorIterators.
    """

    roots = (TensorIterator,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TensorIterator)
        ports = op.ports("inputs")
        slicings = [port.slicing for port in ports if port.slicing is not None]
        if isinstance(op.parent_op(), TensorIterator) and slicings and all(map(_is_of_single_elements, slicings)):
            _replace_by_loop(op, rewriter, ports)


def _is_of_single_elements(slicing: Slicing) -> bool:
    """Whether slices are all elements along an axis, one after another, in either direction."""
    return slicing.part_size == 1 and (slicing.start, slicing.end, slicing.stride) in ((0, -1, 1), (-1, 0, -1))


def _replace_by_loop(op: TensorIterator, rewriter: Rewriter, kept: list[BodyPort]) -> None:
    """Replace a TensorIterator by a Loop with as many iterations as the first sliced input has elements.

    Args:
        op: the TensorIterator, whose Parameters are those of `kept`.
        rewriter: the rewriter.
        kept: the connections of the Parameters.
    """
    first = next(port for port in op.ports("inputs") if port.slicing is not None)
    assert first.index is not None
    assert first.slicing is not None
    count = _size(rewriter.op, op.operands[first.index], first.slicing.axis)
    body = op.detach_region(0)
    inside = OpBuilder(rewriter.known.of_body(), body.block, next(each for each in body.block.ops if isinstance(each, Result)))
    inside.insert(Result.create(operands=[inside.constant(np.array(True))]))
    taken = list(dict.fromkeys(port.index for port in kept if port.index is not None))
    loop = Loop.create(
        operands=[count, rewriter.op.constant(np.array(True)), *(op.operands[index] for index in taken)],
        properties={
            "inputs": ArrayAttr([BodyPortAttr(_shifted(port, taken)) for port in kept]),
            "outputs": ArrayAttr([BodyPortAttr(port.with_fields(index=(port.index or 0) + 1)) for port in op.ports("outputs")]),
            "condition": integer_attribute(0),
        },
        regions=[body],
        result_types=[result.type for result in op.results],
    )
    rewriter.op.insert(loop)
    rewriter.replace_with(op, loop.results)


def _size(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """A size of a value, computed also where it is known, since the runtime may reshape the model."""
    return op.Gather(op.ShapeOf(value), axis, 0)


def _shifted(port: BodyPort, taken: list[int]) -> BodyPort:
    """A port of the TensorIterator that refers to an argument, renumbered for the Loop, whose first Result is the
    condition.
    """
    assert port.index is not None
    back_edge = None if port.back_edge is None else port.back_edge + 1
    return BodyPort(Loop.FIRST_ARGUMENT + taken.index(port.index), back_edge, port.slicing)


OWN_MEMORY: tuple[type[Operation], ...] = (ConvolutionOp, MatMul, RecurrentOp, ReductionOp, Roll, ShapeOf)
"""Operations whose results never share memory with an operand; all others are assumed to share it."""


class SliceInMemoryOfState(Pattern):
    """Copies each slice that may share memory with the next value of a loop-carried state.

        ^body:
          %s = opset1.Parameter()                          // the state, with a back edge from result 0
          %e = opset1.Parameter()                          // a slice
          %v = opset1.Squeeze(%e, [0])
          %t = opset1.Add(%v, %s)
          opset1.Result(%t)
    ->    %c = opset7.Roll(%e, 0, [0])
          %v = opset1.Squeeze(%c, [0])

    The plugin computes elementwise operations in place, here in the memory of the Parameter for the slice. It copies
    the next slice into this memory before it reads the state from there. The copy is a Roll by 0 elements because the
    plugin would remove an Identity.
    """

    roots = (RepeatingOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, RepeatingOp)
        ports = op.ports("inputs")
        slices: dict[SSAValue, Slicing] = {
            parameter.results[0]: port.slicing
            for parameter, port in zip(parameters_of(op.block), ports, strict=True)
            if port.slicing is not None
        }
        results = results_of(op.block)
        states = {results[port.back_edge] for port in ports if port.back_edge is not None}
        for value in shared_with(states, op) & slices.keys():
            parameter, slicing = value.owner, slices[value]
            assert isinstance(parameter, Operation)
            uses = list(value.uses)
            copy = OpBuilder(rewriter.known.of_body(), op.block, parameter.next_op).Roll(value, 0, [slicing.axis])
            for use in uses:
                use.operation.operands[use.index] = copy
            rewriter.has_done_action = True


def shared_with(values: set[SSAValue], op: RepeatingOp) -> set[SSAValue]:
    """The values of a loop body that may share memory with some given values, directly or through operations."""
    shared = set(values)
    for inner in reversed(list(iter(op.block.ops))):
        if not isinstance(inner, OWN_MEMORY) and not shared.isdisjoint(inner.results):
            shared.update(inner.operands)
    return shared


class LoopThatMayNotRun(Pattern):
    """Sets the trip count of a Loop to 0 if its initial execution condition is false.

        %y = opset5.Loop(10, %run) (…)                       // the results of all iterations are concatenated
    ->  %0 = opset1.Select(%run, 10, 0)
        %y = opset5.Loop(%0, %run) (…)

    The runtime infers the size of concatenated results from a constant trip count, without regard to the condition.
    """

    roots = (Loop,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Loop)
        limit, run = op.operands[:2]
        if constant_of(run) is not None or constant_of(limit) is None:
            return False
        return any(port.slicing is not None for port in op.ports("outputs"))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.shape_values import as_scalar

        limit, run = op.operands[:2]
        if rewriter.known.constant(run) is None:
            build = rewriter.op
            op.operands[0] = build.Select(as_scalar(build, run), limit, build.constant_like(0, limit))
            rewriter.has_done_action = True


class IteratorOfChangingState(Pattern):
    """Replaces a TensorIterator with a state that changes its size by a Loop with a trip count.

        %y = opset1.TensorIterator(%s, %x) (…)               // %s: [0], in the body [?]
    ->  %n = the size of axis 0 of %x
        %y = opset5.Loop(%n, true, %s, %x) (…)

    The runtime takes the states of a TensorIterator to have the sizes of their initial values.
    """

    roots = (TensorIterator,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TensorIterator)
        ports = op.ports("inputs")
        slicings = [port.slicing for port in ports if port.slicing is not None]
        changes = any(
            changing_axes(op.operands[port.index], parameter.results[0])
            for port, parameter in zip(ports, parameters_of(op.block), strict=True)
            if port.back_edge is not None and port.index is not None
        )
        if changes and slicings and all(map(_is_of_single_elements, slicings)):
            _replace_by_loop(op, rewriter, ports)


class ChangingStateWithoutResult(Pattern):
    """Reads the last value of a state that changes its size after the loop.

        %y = opset5.Loop(%n, %c, %h, %s) (…)                 // %h: [1, 6], in the body [?, 6]; only %s is a result
    ->  %y, %k = opset5.Loop(%n, %c, %h, %s) (…)
        %z = opset8.Slice(%y, [0], opset1.Add(a size of %k, 2³⁰), [1], [0])

    The runtime infers the sizes of a state in the body from its initial value alone, unless the last value is a result
    that is used. The slice takes all elements.
    """

    roots = (RepeatingOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, RepeatingOp)
        outputs = op.ports("outputs")
        used = {port.index for port, result in zip(outputs, op.results, strict=True) if port.slicing is None and result.uses}
        changing = [
            (port.back_edge, axis)
            for port, parameter in zip(op.ports("inputs"), parameters_of(op.block), strict=True)
            if port.back_edge is not None and port.back_edge not in used and port.index is not None
            for axis in changing_axes(op.operands[port.index], parameter.results[0])[:1]
        ]
        carrier = next((result for result in op.results if result.uses), None)
        rank = None if carrier is None else rank_of(carrier)
        if not changing or carrier is None or rank is None:
            return
        known = rewriter.known.of_body()
        values = [results_of(op.block)[number] for number, _ in changing]
        op.properties["outputs"] = ArrayAttr([BodyPortAttr(port) for port in (*outputs, *(BodyPort(number) for number, _ in changing))])
        added = [OpResult(value.type, op, len(outputs) + index) for index, value in enumerate(values)]
        op.results = SSAValues((*op.results, *added))
        assert op.parent is not None
        build, uses = OpBuilder(known, op.parent, op.next_op), list(carrier.uses)
        sizes = [build.Gather(build.ShapeOf(value), [axis], 0) for value, (_, axis) in zip(added, changing, strict=True)]
        end = build.Add(sizes[0], 2**30)
        for size in sizes[1:]:
            end = build.Add(end, size)
        data = carrier if rank else build.Unsqueeze(carrier, 0)
        cut = build.Slice(data, [0], end, [1], [0])
        cut = cut if rank else build.Squeeze(cut, [0])
        names = names_of(carrier)
        set_names(carrier, [])
        set_names(cut, names)
        for use in uses:
            use.operation.operands[use.index] = cut
        rewriter.has_done_action = True


def changing_axes(initial: SSAValue, state: SSAValue) -> list[int]:
    """The dimensions of a state that its initial value says, but not its type in the body."""
    before, during = shape_of(initial), shape_of(state)
    if before is None or during is None or len(before) != len(during):
        return []
    return [axis for axis, (first, size) in enumerate(zip(before, during, strict=True)) if first >= 0 > size]


FORMS = (
    Form(
        "read-changing-states",
        (IteratorOfChangingState, ChangingStateWithoutResult),
        "Lets iterators with states of changing sizes be Loops, and reads the last values of such states.",
    ),
    Form(
        "count-unsliced-iterations",
        (IteratorWithoutSlices, LoopThatMayNotRun),
        "Gives loops that ignore their slices, or may not run at all, an explicit number of iterations.",
    ),
    Form("unnest-iterators", (NestedIterator,)),
    Form("copy-loop-slices", (SliceInMemoryOfState,)),
)
