"""Evaluation of If, Loop and TensorIterator: the branch that is selected, or the body once for each iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from moir.dialects.element_types import to_numpy
from moir.dialects.memory_map import Array
from moir.dialects.moir import Slicing
from moir.dialects.opset.control_flow import If, Loop, RepeatingOp, results_of
from moir.dialects.shapes import element_of, shape_of
from moir.errors import ExecutionError

EvaluateBlock = Callable[[Block, Sequence[Array], Sequence[SSAValue]], dict[SSAValue, Array]]
"""Computes values of a block from arrays for its Parameters."""


def results_of_control_flow(op: Operation, operands: Sequence[Array | None], evaluate: EvaluateBlock) -> list[Array] | None:
    """The results of an If, Loop or TensorIterator; None for any other operation, or if an operand is None.

    Args:
        op: the operation.
        operands: its operands.
        evaluate: computes the values of a body.
    """
    arrays = [array for array in operands if array is not None]
    if len(arrays) < len(operands):
        return None
    if isinstance(op, If):
        name, body = ("then", op.then_body.block) if np.all(arrays[0]) else ("else", op.else_body.block)
        results = results_of(body)
        known = evaluate(body, [arrays[index] for index in op.integers(f"{name}_inputs")], results)
        return [known[each] for each in results]
    return _iterated(op, arrays, evaluate) if isinstance(op, RepeatingOp) else None


def _iterated(op: RepeatingOp, operands: Sequence[Array], evaluate: EvaluateBlock) -> list[Array]:
    """The results of a Loop or TensorIterator; `evaluate` computes the values of the body in each iteration."""
    inputs, outputs, results = op.ports("inputs"), op.ports("outputs"), results_of(op.block)
    sliced = [(operands[port.index], port.slicing) for port in inputs if port.index is not None and port.slicing is not None]
    count = min((_count(array, slicing) for array, slicing in sliced), default=1)
    if isinstance(op, Loop):
        limit = int(operands[0].ravel()[0])
        count = limit if limit >= 0 else None
        if not operands[1].all():
            count = 0
    iterations: list[list[Array]] = []
    while count is None or len(iterations) < count:
        number, values = len(iterations), list[Array]()
        for port in inputs:
            if port.index is None:
                values.append(np.asarray(number, np.int64))
            elif port.back_edge is not None and iterations:
                values.append(iterations[-1][port.back_edge])
            else:
                array = operands[port.index]
                values.append(array if port.slicing is None else _part(array, port.slicing, number))
        known = evaluate(op.block, values, results)
        iterations.append([known[each] for each in results])
        if isinstance(op, Loop) and not iterations[-1][op.integer("condition")].all():
            break
    return [_output(op, operands, iterations, index, port.slicing) for port in outputs if (index := port.index) is not None]


def _output(op: RepeatingOp, operands: Sequence[Array], iterations: Sequence[list[Array]], index: int, slicing: Slicing | None) -> Array:
    """An output of a loop.

    Args:
        op: the loop.
        operands: its operands.
        iterations: the values of the body's Results in each iteration.
        index: the index of the body's Result whose values the output has.
        slicing: how the values of all iterations are concatenated; None for the value of the last iteration alone.

    Without iterations, the output is empty along the axis, or it is the initial value of the state; ExecutionError is
    raised if it has neither.
    """
    values = [each[index] for each in iterations]
    if slicing is not None and values:
        return np.concatenate(values if slicing.stride > 0 else values[::-1], slicing.axis)
    if slicing is None and values:
        return values[-1]
    if slicing is not None:
        value = results_of(op.block)[index]
        if (shape := shape_of(value)) is not None:
            sizes = [0 if axis == slicing.axis % len(shape) else max(size, 0) for axis, size in enumerate(shape)]
            return np.zeros(sizes, to_numpy(element_of(value)))
    initial = next((port.index for port in op.ports("inputs") if port.back_edge == index and port.index is not None), None)
    if slicing is not None or initial is None:
        raise ExecutionError("its body was not run, so that a result has no value", operation=op.name)
    return operands[initial]


def _ends(array: Array, slicing: Slicing) -> tuple[int, int]:
    size = array.shape[slicing.axis]
    start, end = (bound + size if bound < 0 else bound for bound in (slicing.start, slicing.end))
    return start, end


def _count(array: Array, slicing: Slicing) -> int:
    """The number of iterations that slicing an operand of a loop implies: the number of slices of `part_size` between
    its `start` and `end`.
    """
    start, end = _ends(array, slicing)
    return (abs(end - start) + 1) // slicing.part_size


def _part(array: Array, slicing: Slicing, iteration: int) -> Array:
    """The slice of an array for iteration `iteration`, from 0 on, by the axis, bounds and stride of `slicing`.

    With a negative stride slices are counted from the end.
    """
    start, _ = _ends(array, slicing)
    first = start + iteration * slicing.stride
    if slicing.stride < 0:
        first -= slicing.part_size - 1
    return np.take(array, np.arange(first, first + slicing.part_size), slicing.axis)
