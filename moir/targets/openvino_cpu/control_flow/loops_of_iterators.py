"""A Loop in place of a TensorIterator, whose slices it takes by Gather."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from moir.dialects.moir import BodyPort, BodyPortAttr, Slicing
from moir.dialects.opset.control_flow import Loop, TensorIterator
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import integer_attribute
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Rewriter


def is_of_single_elements(slicing: Slicing) -> bool:
    """Whether a sliced input visits all elements along an axis, one element per iteration, forwards or backwards."""
    return slicing.part_size == 1 and (slicing.start, slicing.end, slicing.stride) in ((0, -1, 1), (-1, 0, -1))


def replace_by_loop(op: TensorIterator, rewriter: Rewriter, kept: list[BodyPort]) -> None:
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
    """The size of a value along an axis, computed at run time even if it is static, since `Model.reshape` may change
    it.
    """
    return op.Gather(op.ShapeOf(value), axis, 0)


def _shifted(port: BodyPort, taken: list[int]) -> BodyPort:
    """The port of a Loop for a port of a TensorIterator, with indices shifted by the Loop's two extra operands and one
    extra Result.

    These come first: the trip count, the initial condition, and the condition in the body. `taken` lists the operands
    of the TensorIterator that the Loop keeps, in order.
    """
    assert port.index is not None
    back_edge = None if port.back_edge is None else port.back_edge + 1
    return BodyPort(Loop.FIRST_ARGUMENT + taken.index(port.index), back_edge, port.slicing)
