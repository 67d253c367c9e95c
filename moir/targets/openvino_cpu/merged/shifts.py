"""Quantizations that the CPU plugin takes for the ones before them, from which they differ by a part of a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant, scalar_of
from moir.dialects.data import Array
from moir.dialects.element_types import si8, ui8
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.openvino_cpu.quantized_values import MOVED
from moir.targets.record import Fault, Form

_THROUGH = MOVED | {"ReduceMax", "ReduceMin"}
_LOWEST: Mapping[Attribute, float] = {si8: -128.0, ui8: 0.0}

SAME_STEP = 0.008
"""The largest relative difference of two steps that the plugin takes for the same."""

LOST_SHIFTS = (0.49, 1.0)
"""The parts of a step between which the plugin takes a shift for none, and it is nearer to a step."""


class Levels(NamedTuple):
    """The lowest quantized value, and the difference of two neighbouring ones; of one element for each limit."""

    lowest: Array
    step: Array


class ShiftedLevels(Pattern):
    """Separates a quantization from quantized values whose limits are nearly the same.

        %0 = opset1.FakeQuantize(%x, 0.0, 255.0, 0.75, 255.75)
        %y = opset1.FakeQuantize(%0, 0.0, 255.0, 0.0, 255.0)
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %0), 0.0, 255.0, 0.0, 255.0)

    The plugin removes the second one of two quantizations if their steps are the same and their limits differ by less
    than a step, although values that are half a step and more apart are rounded to another integer. A constant that is
    added between them counts as a difference of the limits; integers of 8 bits by a factor are quantized values, too.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, FakeQuantize)
        levels = _levels(op, 1)
        return levels is not None and _is_shifted(op.operands[0], levels, 1.0, np.zeros(1))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])


def _levels(op: FakeQuantize, index: int) -> Levels | None:
    """The quantized values by the limits at operands `index` and `index` + 1; None if these are not constants."""
    low, high = constant_of(op.operands[index]), constant_of(op.operands[index + 1])
    if low is None or high is None:
        return None
    lowest = low.astype(np.float64)
    return Levels(lowest, (high - lowest) / (op.integer("levels") - 1))


def _is_shifted(value: SSAValue, levels: Levels, factor: float, shift: Array) -> bool:
    """Whether a value is one of quantized values that differ from others by a part of a step.

    Args:
        value: the value.
        levels: the other quantized values.
        factor: what the value is multiplied by before it is quantized again.
        shift: what is added to it before that, a 1-D tensor.
    """
    owner = value.owner
    if not isinstance(owner, OpsetOp) or not owner.operands:
        return False
    if isinstance(owner, FakeQuantize | Convert):
        before = _levels(owner, 3) if isinstance(owner, FakeQuantize) else _levels_of_bytes(owner)
        return before is not None and _is_rounded_otherwise(before, levels, factor, shift)
    computed = [each for each in owner.operands if not is_constant(each)]
    if owner.KIND in _THROUGH:
        return any(_is_shifted(each, levels, factor, shift) for each in computed)
    if not isinstance(owner, Add | Subtract | Multiply | Divide) or len(computed) != 1 or computed[0] is not owner.operands[0]:
        return False
    if isinstance(owner, Multiply | Divide):
        number = scalar_of(owner.operands[1])
        return bool(number) and _is_shifted(computed[0], levels, factor * (1 / number if isinstance(owner, Divide) else number), shift)
    term = constant_of(owner.operands[1])
    if term is None or not _fit(shift, term):
        return False
    added = factor * term.astype(np.float64).ravel()
    return _is_shifted(computed[0], levels, factor, shift - added if isinstance(owner, Subtract) else shift + added)


def _fit(*arrays: Array) -> bool:
    """Whether arrays are of one element, or of the same number of elements as the others that are not."""
    return len({each.size for each in arrays} - {1}) <= 1


def _levels_of_bytes(op: Convert) -> Levels | None:
    """The quantized values that are integers of 8 bits; None for a Convert from another type."""
    lowest = _LOWEST.get(element_of(op.operands[0]))
    return None if lowest is None else Levels(np.array(lowest), np.array(1.0))


def _is_rounded_otherwise(before: Levels, after: Levels, factor: float, shift: Array) -> bool:
    """Whether quantized values, multiplied by a factor and shifted, have the same step as others, but other limits, by
    a part of a step between half a step and a whole one.
    """
    (lowest, step), (wanted, size) = ([array.ravel() for array in each] for each in (before, after))
    if not _fit(lowest, step, wanted, size, shift) or not np.all(np.abs(factor * step / size - 1) < SAME_STEP):
        return False
    distance = np.abs(factor * lowest + shift - wanted) / size
    return bool(np.any((distance > LOST_SHIFTS[0]) & (distance < LOST_SHIFTS[1])))


FORMS = (
    Form(
        "separate-shifts",
        (ShiftedLevels,),
        faults=(
            Fault(
                "shifts-of-levels",
                "FakeQuantize of what another one rounds, perhaps plus a constant, if steps are the same and limits differ by a part of "
                "a step",
                "is not rounded to its own quantized values",
            ),
        ),
    ),
)
