"""Loops that the CPU plugin executes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, OpResult, SSAValue, SSAValues

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.inference import set_type
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
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


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
        if _is_in_iterator(op) and slicings and all(map(_is_of_single_elements, slicings)):
            _replace_by_loop(op, rewriter, ports)


def _is_in_iterator(op: Operation) -> bool:
    """Whether an operation is in the body of a TensorIterator, or in a body there."""
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, TensorIterator):
        outer = outer.parent_op()
    return outer is not None


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
    """A size of a value, computed also if it is static, since `Model.reshape` may change it."""
    return op.Gather(op.ShapeOf(value), axis, 0)


def _shifted(port: BodyPort, taken: list[int]) -> BodyPort:
    """A port of the TensorIterator with the indices of a Loop, which has two more operands and whose first Result is
    the condition.
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
    """The values of a loop body that may share memory with one of `values`, directly or through operations."""
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
    """The dimensions of a state that are static in its initial value, but dynamic in the body."""
    before, during = shape_of(initial), shape_of(state)
    if before is None or during is None or len(before) != len(during):
        return []
    return [axis for axis, (first, size) in enumerate(zip(before, during, strict=True)) if first >= 0 > size]


class ConcatenatedEmptySlices(Pattern):
    """Joins values that may have no elements along the first axis, and transposes the result.

        %y = opset1.TensorIterator(%x) ({ opset1.Result(%v) })               // %v: [?, 1, ?], joined along axis 1
    ->  %0 = opset1.TensorIterator(%x) ({ opset1.Result(opset1.Transpose(%v, [1, 0, 2])) })  // along axis 0
        %y = opset1.Transpose(%0, [1, 0, 2])

    The plugin divides by the number of elements before the axis, and the process ends.
    """

    roots = (RepeatingOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, RepeatingOp)
        outputs, known = op.ports("outputs"), rewriter.known
        ends = [inner for inner in op.block.ops if isinstance(inner, Result)]
        states = [port.back_edge for port in op.ports("inputs")]
        for index, port in enumerate(outputs):
            join, end = port.slicing, ends[port.index or 0]
            shape = shape_of(end.operands[0])
            if join is None or shape is None or not join.axis or min(shape[: join.axis]) > 0 or not op.results[index].uses:
                continue
            order = [join.axis, *(axis for axis in range(len(shape)) if axis != join.axis)]
            moved = OpBuilder(known.of_body(), op.block, end).Transpose(end.operands[0], order)
            if port.index in states or [each.index for each in outputs].count(port.index) > 1:
                ends.append(Result.create(operands=[moved]))
                op.block.add_op(ends[-1])
                port = port.with_fields(index=len(ends) - 1)
            else:
                end.operands[0] = moved
            outputs[index] = port.with_fields(slicing=join.with_fields(axis=0))
            _transpose_result(op, index, [*range(1, join.axis + 1), 0, *range(join.axis + 1, len(shape))], known)
            rewriter.has_done_action = True
        if rewriter.has_done_action:
            op.properties["outputs"] = ArrayAttr([BodyPortAttr(port) for port in outputs])


def _transpose_result(op: RepeatingOp, index: int, order: list[int], known: KnownValues) -> None:
    """Let the users of a result get its transpose, which has the shape that the result had."""
    result, sizes = op.results[index], shape_of(op.results[index])
    assert op.parent is not None
    uses, names = list(result.uses), names_of(result)
    if sizes is not None:
        set_type(result, tensor([sizes[order.index(axis)] for axis in range(len(sizes))], element_of(result)))
    transposed = OpBuilder(known, op.parent, op.next_op).Transpose(result, order)
    set_names(result, [])
    set_names(transposed, names)
    for use in uses:
        use.operation.operands[use.index] = transposed


FORMS = (
    Form(
        "join-along-first-axis",
        (ConcatenatedEmptySlices,),
        after=("step-through-sequences",),
        faults=(
            Fault(
                "joined-without-elements",
                "TensorIterator and Loop that join values along another axis than the first one, before which a size is 0",
                "end the process",
            ),
        ),
    ),
    Form(
        "count-unsliced-iterations",
        (IteratorWithoutSlices, LoopThatMayNotRun),
        "Gives loops that ignore their slices, or may not run at all, an explicit number of iterations.",
        after=("step-through-sequences",),
        faults=(
            Fault(
                "loop-condition", "a Loop of a constant number of iterations that does not run, of which something is joined", "is garbage"
            ),
            Fault("unused-slices", "a TensorIterator whose body uses no slice", "is repeated once, or not at all"),
        ),
    ),
    Form(
        "unnest-iterators",
        (NestedIterator,),
        after=("step-through-sequences",),
        faults=(Fault("nested-iterators", "a TensorIterator in the body of a TensorIterator", 'is refused: "No nested TensorIterator"'),),
    ),
    Form(
        "copy-loop-slices",
        (SliceInMemoryOfState,),
        after=("step-through-sequences",),
        faults=(
            Fault(
                "slices-of-states",
                "a loop whose next state is computed from a slice in place",
                "reads the next slice in place of the state",
            ),
        ),
    ),
    Form(
        "read-changing-states",
        (IteratorOfChangingState, ChangingStateWithoutResult),
        "Lets iterators with states of changing sizes be Loops, and reads the last values of such states.",
        after=(
            "count-unsliced-iterations",
            "unnest-iterators",
            "copy-loop-slices",
        ),
        faults=(
            Fault(
                "iterators-of-changing-size",
                "a TensorIterator with a state of another size after an iteration than before it",
                "takes the state to have its first size",
            ),
            Fault(
                "states-of-changing-size",
                "a loop with a state of another size after an iteration than before the loop, whose last value is not used",
                "takes the state to have its first size: is garbage, or does not run",
            ),
        ),
    ),
)
