"""`copy-loop-slices`: a slice from which a loop computes its next state in place is copied.

    ^body:
      %s = opset1.Parameter()                          // the state, with a back edge from result 0
      %e = opset1.Parameter()                          // a slice
      %v = opset1.Squeeze(%e, [0])
      %t = opset1.Add(%v, %s)
      opset1.Result(%t)
->    %c = opset7.Roll(%e, 0, [0])
      %v = opset1.Squeeze(%c, [0])

The CPU plugin (2026.4) lets elementwise operations write their results into the memory of an operand, also through a
Squeeze, and so into that of the Parameter of the slice. It fetches the next slice into this memory before it reads the
state there. The plugin would remove a simpler copy, an Identity, but it executes a Roll by 0 elements.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.moir import Slicing
from moir.dialects.opset.control_flow import RepeatingOp, parameters_of, results_of
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Roll
from moir.dialects.opset.recurrent import RecurrentOp
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import ShapeOf
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

OWN_MEMORY: tuple[type[Operation], ...] = (ConvolutionOp, MatMul, RecurrentOp, ReductionOp, Roll, ShapeOf)
"""Operations whose results never share memory with an operand; of all others it is assumed that they may."""


class SliceInMemoryOfState(Pattern):
    """Inserts a copy behind each slice that may share memory with the next value of a state."""

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
    """The values of a loop's body whose memory some values of it may share, directly or through operations."""
    shared = set(values)
    for inner in reversed(list(iter(op.block.ops))):
        if not isinstance(inner, OWN_MEMORY) and not shared.isdisjoint(inner.results):
            shared.update(inner.operands)
    return shared


class CopyLoopSlicesPass(PatternPass):
    """Copies slices of loops whose memory the next value of a state may share."""

    name = "copy-loop-slices"

    def patterns(self) -> list[Pattern]:
        return [SliceInMemoryOfState()]
