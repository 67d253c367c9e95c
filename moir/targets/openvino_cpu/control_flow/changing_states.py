"""Loops with states of another size after an iteration than before it."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, OpResult, SSAValue, SSAValues

from moir.dialects.moir import BodyPort, BodyPortAttr
from moir.dialects.names import names_of, set_names
from moir.dialects.opset.control_flow import RepeatingOp, TensorIterator, parameters_of, results_of
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.control_flow.loops_of_iterators import is_of_single_elements, replace_by_loop
from moir.targets.record import Fault, Form


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
        if changes and slicings and all(map(is_of_single_elements, slicings)):
            replace_by_loop(op, rewriter, ports)


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


FORMS = (
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
