"""Loops that the CPU plugin executes wrongly."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.inference import set_type
from moir.dialects.moir import BodyPortAttr, Slicing
from moir.dialects.names import names_of, set_names
from moir.dialects.opset.control_flow import Loop, RepeatingOp, TensorIterator, parameters_of, results_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Roll
from moir.dialects.opset.recurrent import RecurrentOp
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.control_flow.loops_of_iterators import is_of_single_elements, replace_by_loop
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
        replace_by_loop(op, rewriter, [port for port in ports if port.slicing is None])


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
        if _is_in_iterator(op) and slicings and all(map(is_of_single_elements, slicings)):
            replace_by_loop(op, rewriter, ports)


def _is_in_iterator(op: Operation) -> bool:
    """Whether an operation is in the body of a TensorIterator, or in a body there."""
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, TensorIterator):
        outer = outer.parent_op()
    return outer is not None


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
    """The values of a loop body that may share memory with one of `values`, `values` included: operands, and their
    operands.

    The search ends at operations that write their results to memory of their own.
    """
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


class ConcatenatedEmptySlices(Pattern):
    """Concatenates results of a loop that may be empty along axis 0, and transposes the concatenation.

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
    """Insert a Transpose by `order` after result `index` of a loop, and let all users of the result read the Transpose.

    The Transpose has the type that the result had before, and takes over its names.
    """
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
)
