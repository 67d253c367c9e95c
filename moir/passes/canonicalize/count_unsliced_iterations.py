"""`count-unsliced-iterations`: a TensorIterator whose body uses none of its slices becomes a Loop.

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

The runtime (2026.4) removes Parameters without uses, and with the last slice forgets how often to repeat the body.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue

from moir.dialects.moir import BodyPort, BodyPortAttr
from moir.dialects.opset.control_flow import Loop, TensorIterator, parameters_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import integer_attribute
from moir.dialects.shapes import shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class IteratorWithoutSlices(Pattern):
    """Replaces a TensorIterator that does not use its slices."""

    roots = (TensorIterator,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TensorIterator)
        ports, parameters = op.ports("inputs"), parameters_of(op.block)
        slices = [index for index, port in enumerate(ports) if port.slicing is not None]
        if not slices or any(parameters[index].results[0].uses for index in slices):
            return
        first = ports[slices[0]]
        assert first.index is not None
        assert first.slicing is not None
        count = _size(rewriter.op, op.operands[first.index], first.slicing.axis)
        for index in slices:
            parameters[index].detach()
            parameters[index].erase()
        body = op.detach_region(0)
        inside = OpBuilder(rewriter.known.of_body(), body.block, next(each for each in body.block.ops if isinstance(each, Result)))
        inside.insert(Result.create(operands=[inside.constant(np.array(True))]))
        kept = [port for port in ports if port.slicing is None]
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
    shape = shape_of(value)
    return op.constant(shape[axis]) if shape is not None and shape[axis] >= 0 else op.Gather(op.ShapeOf(value), axis, 0)


def _shifted(port: BodyPort, taken: list[int]) -> BodyPort:
    """The port of an operand that is one of the arguments of a Loop, whose first Result is the condition."""
    assert port.index is not None
    return BodyPort(Loop.FIRST_ARGUMENT + taken.index(port.index), None if port.back_edge is None else port.back_edge + 1)


class CountUnslicedIterationsPass(PatternPass):
    """Turns TensorIterators that do not use their slices into Loops."""

    name = "count-unsliced-iterations"

    def patterns(self) -> list[Pattern]:
        return [IteratorWithoutSlices()]
