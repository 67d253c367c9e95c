"""The check of a precision: whether the outputs agree, which operations are at fault, and which have to stay in f32."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.provenance import Source, all_sources
from moir.checking.diagnosis import LEVELS, Loss, losses, producers, readers_of_overflows
from moir.checking.findings import ROUNDING, Finding, Node, PrecisionCheck
from moir.checking.formats import FORMATS, NumberFormat
from moir.checking.simulation import Simulation
from moir.dialects.element_types import f16, f32, f64
from moir.dialects.memory_map import Array
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.shapes import element_of
from moir.execution.comparison import difference
from moir.support.records import Record

QUANTIZED = 0.1
"""The tolerance for a quantized model."""

ROUNDS = 6
"""The maximum number of rounds in which the operations that compute operands of kept operations are kept, too."""


class Examination(Record):
    """A check, with the operations of the module that have to stay in f32."""

    check: PrecisionCheck
    kept: tuple[Operation, ...] = ()


def check_precision(
    module: ModuleOp, samples: Iterable[Mapping[str, Array]], precision: str, tolerance: float | None = None
) -> PrecisionCheck:
    """What a model loses in a number format: the check of `examine_precision`."""
    return examine_precision(module, samples, precision, tolerance).check


def examine_precision(
    module: ModuleOp, samples: Iterable[Mapping[str, Array]], precision: str, tolerance: float | None = None
) -> Examination:
    """What a model loses in a number format.

    Args:
        module: a module in opset dialects.
        samples: arrays by the names of inputs.
        precision: the name of the format, one of `FORMATS`.
        tolerance: the largest relative difference of an output that counts as agreement; None for that of the format.

    Raises ExecutionError for a model that cannot be run.
    """
    number_format = FORMATS[precision]
    limit = _tolerance(module, number_format) if tolerance is None else tolerance
    simulation = Simulation(module, number_format)
    count, worst, failing = 0, 0.0, list[tuple[Mapping[str, Array], Mapping[str, Array]]]()
    for inputs in samples:
        expected = simulation.values(inputs, None)
        error = _distance(simulation.values(inputs, ()), expected)
        worst, count = max(worst, error), count + 1
        if error > limit and len(failing) < _EXAMINED:
            failing.append((inputs, expected))
    if not failing:
        return Examination(PrecisionCheck(precision, count, limit, worst))
    at_fault: dict[Operation, Loss] = {}
    for inputs, _ in failing:
        for op, loss in losses(simulation, inputs).items():
            at_fault[op] = loss if op not in at_fault else max(at_fault[op], loss, key=lambda each: each.error)
    kept, error = _sufficient(simulation, at_fault, failing, limit)
    if error > limit and error > worst / 2:
        # The rounding of single operations is not the cause.
        at_fault = {op: loss for op, loss in at_fault.items() if loss.kind != ROUNDING}
        kept = kept if at_fault else set[Operation]()
    named = all_sources(module)
    in_order = list(simulation.block.walk())
    findings = tuple(_finding(op, at_fault[op], named) for op in in_order if op in at_fault)
    operations = tuple(op for op in in_order if op in kept)
    names = tuple(dict.fromkeys(name for op in operations if (name := _keepable_name(op, named))))
    check = PrecisionCheck(precision, count, limit, _finite(worst), findings, names, _finite(error) if operations else None)
    return Examination(check, operations)


def _tolerance(module: ModuleOp, number_format: NumberFormat) -> float:
    """The largest relative difference of an output that counts as agreement: that of the number format; at least
    `QUANTIZED` for a module with a FakeQuantize or Round.
    """
    is_quantized = any(isinstance(op, LEVELS) for op in module.walk())
    return max(number_format.tolerance, QUANTIZED) if is_quantized else number_format.tolerance


_EXAMINED = 4
"""The maximum number of samples with wrong outputs that are examined."""


def _sufficient(
    simulation: Simulation,
    at_fault: Mapping[Operation, Loss],
    failing: Sequence[tuple[Mapping[str, Array], Mapping[str, Array]]],
    limit: float,
) -> tuple[set[Operation], float]:
    """Operations that have to be in f32 so that the outputs agree, and the remaining error."""

    def error_of(kept: set[Operation]) -> float:
        return max(_distance(simulation.values(inputs, kept), expected) for inputs, expected in failing)

    kept = {op for op in {*at_fault, *readers_of_overflows(at_fault)} if _is_keepable(op)}
    best, least = set[Operation](), np.inf
    for _ in range(ROUNDS):
        error = error_of(kept)
        if not best or error < least:
            best, least = set(kept), error
        if error <= limit:
            break
        more = {op for op in producers(kept) - kept if _is_keepable(op)}
        if not more:
            break
        kept |= more
    return best, least


def _is_keepable(op: Operation) -> bool:
    """Whether an operation computes floating-point numbers, so that it can be kept in f32."""
    return not isinstance(op, Constant | Parameter) and any(map(_is_float, op.results))


def _is_float(value: SSAValue) -> bool:
    return element_of(value) in (f16, f32, f64)


def _distance(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> float:
    return max((difference(actual[name], array).error for name, array in expected.items()), default=0.0)


def _finite(error: float) -> float | None:
    return error if np.isfinite(error) else None


def _finding(op: Operation, loss: Loss, named: Mapping[Operation, Sequence[Source]]) -> Finding:
    nodes = tuple(Node(each.node, each.operation) for each in named.get(op, ()))
    return Finding(loss.kind, _name(op), op.name.partition(".")[2], nodes, loss.factor, _finite(loss.error))


def _name(op: Operation) -> str:
    return name_of(op) or op.name


def _keepable_name(op: Operation, named: Mapping[Operation, Sequence[Source]]) -> str | None:
    """The name of an operation or, if it has none, of a node from which it comes; None if there is neither."""
    return name_of(op) or next((each.node for each in named.get(op, ())), None)
