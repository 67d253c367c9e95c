"""The operations that are at fault if a model gives other results in a narrower format.

Each operation is computed twice from right operands: in f32, and in the format. Where the results are apart, something
is lost in the operation or in the rounding of its operands, and the first cause that applies is named:

    %s = opset1.Add(%a, %b)      1e5                     overflow, if a reader of %s gets other results by that
    %n = opset6.MVN(%x)          (x - mean)² is 9e4      overflow inside
    %d = opset1.Divide(%a, %b)   %b is 1e-9              vanishes
    %d = opset1.Subtract(%a, %b) 1000.1 - 1000           cancels
                                                         rounding

An overflow is at fault only if it matters: `opset8.Softmax` of scores that a mask has made -3.4e38 is the same for
-inf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.checking.findings import CANCELS, INSIDE, OVERFLOW, ROUNDING, VANISHES
from moir.checking.simulation import Simulation
from moir.checking.stepwise import Steps
from moir.dialects.memory_map import Array
from moir.dialects.opset.arithmetic import Add, Subtract
from moir.dialects.opset.elementwise import Round
from moir.dialects.opset.quantization import FakeQuantize
from moir.execution.evaluation import evaluate_block, evaluate_operation
from moir.support.records import Record

LEVELS = (FakeQuantize, Round)
"""Operations in which a number halfway between two levels may be rounded to either."""

CANCELLATION = 8.0
"""The ratio of operands to the result of their difference from which on digits count as lost by cancellation."""


class Loss(Record):
    """The loss of accuracy in an operation whose operands are accurate.

    Args:
        kind: the kind of the finding.
        factor: see `Finding`.
        error: the relative error of the results; infinite if they are not finite where they should be.
    """

    kind: str
    factor: float | None
    error: float


def losses(simulation: Simulation, inputs: Mapping[str, Array]) -> dict[Operation, Loss]:
    """The operations at fault on one sample, in the order of the model, and what is lost in each.

    Args:
        simulation: the model and the format.
        inputs: an array for each input, by its name.
    """
    by_operation: dict[Operation, Loss] = {}
    overflows: dict[SSAValue, float] = {}
    read_wrongly: set[SSAValue] = set()

    def compute(op: Operation, operands: Sequence[Array | None]) -> Sequence[Array]:
        results = evaluate_operation(op, operands)
        if op in simulation.exact:
            return results
        for result, array in zip(op.results, results, strict=True):
            if (factor := largest(array) / simulation.number_format.largest) > 1:
                overflows[result] = factor
        loss = _loss(simulation, op, operands, results)
        if loss is not None:
            by_operation[op] = loss
            read_wrongly.update(operand for operand in op.operands if operand in overflows)
        return results

    block = simulation.block
    wanted = list(simulation.compared.values())
    with np.errstate(all="ignore"):
        evaluate_block(block, simulation.interface.in_order(inputs), wanted, compute=compute)
    harmful = _harmful(overflows, read_wrongly, set(wanted))
    at_fault: dict[Operation, Loss] = {}
    for op in block.walk():
        factor = max((overflows[result] for result in op.results if result in harmful), default=None)
        if factor is not None:
            at_fault[op] = Loss(OVERFLOW, factor, np.inf)
        elif op in by_operation and not any(operand in harmful for operand in op.operands):
            at_fault[op] = by_operation[op]
    return at_fault


def readers_of_overflows(operations: Mapping[Operation, Loss]) -> set[Operation]:
    """The operations that read a result which overflows; they have to be computed in f32, too."""
    overflowing = [op for op, loss in operations.items() if loss.kind == OVERFLOW]
    return {use.operation for op in overflowing for result in op.results for use in result.uses if use.operation.results}


def largest(array: Array) -> float:
    """The largest magnitude of the finite elements of an array of floating-point numbers; 0 for any other array."""
    if array.dtype.kind not in "fV" or array.size == 0:
        return 0.0
    values = np.abs(array.astype(np.float32))
    return float(np.max(values, initial=0, where=np.isfinite(values)))


def relative_error(actual: Array, expected: Array, limit: float = np.inf) -> float:
    """The largest difference relative to the largest magnitude; infinite for elements that are not finite where they
    should be. For integers and booleans, the share of different elements; integers of 8 bits, which may be quantized
    numbers, count as equal if they differ by 1.

    Args:
        actual: an array.
        expected: what it should be.
        limit: elements that should be beyond it are left out.
    """
    if actual.shape != expected.shape:
        return np.inf
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind not in "fV":
        if expected.dtype.kind in "iu" and expected.dtype.itemsize == 1:
            return np.count_nonzero(np.abs(actual.astype(np.int16) - expected.astype(np.int16)) > 1) / expected.size
        return np.count_nonzero(np.not_equal(actual, expected)) / expected.size
    a, b = actual.astype(np.float32), expected.astype(np.float32)
    finite = np.isfinite(b)
    within = finite & (b <= limit) & (b >= -limit)
    if not np.isfinite(a[within]).all() or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    return float(np.max(np.abs(a[within] - b[within]), initial=0)) / (float(np.max(np.abs(b[within]), initial=0)) + 1e-30)


def _loss(simulation: Simulation, op: Operation, operands: Sequence[Array | None], results: Sequence[Array]) -> Loss | None:
    """What is lost in those results of an operation that are within the format; None if they agree."""
    if not op.results or not any(array.dtype.kind in "fV" for array in operands if array is not None):
        return None
    number_format, steps = simulation.number_format, Steps(simulation.number_format)
    reduced = simulation.results(op, operands, steps=steps)
    error = max((relative_error(a, b, number_format.largest) for a, b in zip(reduced, results, strict=True)), default=0.0)
    if error <= number_format.local_tolerance:
        return None
    # A masked score is beyond the format, too; it is 0 after the softmax, as it should be.
    if steps.largest > number_format.largest and error > number_format.tolerance:
        return Loss(INSIDE, steps.largest / number_format.largest, error)
    present = [(value, array) for value, array in zip(op.operands, operands, strict=True) if array is not None]
    if not np.isfinite(error):
        vanishing = [factor for value, array in present if (factor := _vanishing(simulation, value, array)) is not None]
        if vanishing or steps.vanishes:
            return Loss(VANISHES, max(vanishing, default=None), error)
    ratio = max((largest(array) for _, array in present), default=0.0) / (max(map(largest, results), default=0.0) or 1.0)
    if isinstance(op, Add | Subtract) and ratio >= CANCELLATION:
        return Loss(CANCELS, ratio, error)
    return None if isinstance(op, LEVELS) else Loss(ROUNDING, None, error)


def _vanishing(simulation: Simulation, value: SSAValue, array: Array) -> float | None:
    """By which factor the largest magnitude that becomes 0 is below the smallest number of the format; None if none
    becomes 0.
    """
    if array.dtype.kind not in "fV":
        return None
    values = np.abs(array.astype(np.float32))
    lost = (values > 0) & (np.asarray(simulation.operand(value, array)) == 0)
    return simulation.number_format.smallest / float(np.min(values[lost])) if lost.any() else None


def _harmful(overflows: Mapping[SSAValue, float], read_wrongly: set[SSAValue], outputs: set[SSAValue]) -> set[SSAValue]:
    """The values beyond the range of the format on which an output depends, or an operation whose own results are in
    range.
    """
    harmful: set[SSAValue] = set()
    for value in reversed(list(overflows)):
        readers = (use.operation for use in value.uses)
        if value in outputs or value in read_wrongly or any(result in harmful for op in readers for result in op.results):
            harmful.add(value)
    return harmful


def producers(operations: set[Operation]) -> set[Operation]:
    """The operations that compute the operands of the given operations."""
    return {operand.op for op in operations for operand in op.operands if isinstance(operand, OpResult)}
