"""Folding: operations on constants are evaluated, and constants replace them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues, evaluate
from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import REAL_TYPES, describe, f8e4m3, f8e5m2, si4, si8, ui4, ui8
from moir.dialects.names import inherit_names
from moir.dialects.opset.base import OpsetOp
from moir.dialects.shapes import element_count, element_of, shape_of, tensor
from moir.dialects.symbols import is_symbolic
from moir.rewriting.events import RECORDING

ALLOWANCE = 256 << 20
"""Bytes by which the constants of a module may grow in total, so that a small file cannot demand unlimited memory."""

SMALL = 1 << 10
"""Results of at most this many bytes are always folded."""

QUANTIZED_TYPES = frozenset((si8, ui8, si4, ui4, f8e4m3, f8e5m2))
"""Element types in which weights are stored quantized."""


class Folding:
    """One run of the pass: the known values and the remaining allowance of memory in bytes."""

    def __init__(self, static_shape: bool) -> None:
        self.static_shape = static_shape
        self.allowance = ALLOWANCE
        self.known = KnownValues()

    def block(self, block: Block, is_kept: Callable[[OpsetOp], bool] | None = None) -> bool:
        """Fold the operations of a block in order; returns whether any was folded.

        Args:
            block: the block, in topological order.
            is_kept: whether an operation is left as it is; by default none is.
        """
        is_changed = False
        for op in list(block.ops):
            if not isinstance(op, OpsetOp) or not op.operands or op.regions or not op.DETERMINISTIC or op.EFFECTS:
                continue
            if is_kept is not None and is_kept(op):
                continue
            results = self.results(op)
            if results is not None:
                replace_by_constants(op, results)
                is_changed = True
        return is_changed

    def results(self, op: OpsetOp) -> list[Array] | None:
        """Values of the results; None if they cannot be evaluated or should not be folded."""
        if self.static_shape and op.name.endswith(".ShapeOf"):
            array = self.known.elements(op.results[0])
            return None if array is None or is_symbolic(array) else [array]
        operands = [constant_of(operand) for operand in op.operands]
        if any(array is None for array in operands) or is_dequantization(op):
            return None
        arrays = [array for array in operands if array is not None]
        growth = self.growth(op, arrays)
        if growth is None or growth > self.allowance:
            return None
        results = evaluate(op, arrays)
        if results is None:
            return None
        self.allowance -= max(0, growth)
        return list(results)

    def growth(self, op: OpsetOp, operands: list[Array]) -> int | None:
        """Bytes of the results less those of the operands; None if the shape of a result is unknown."""
        size = 0
        for result in op.results:
            count = element_count(shape_of(result))
            if count is None:
                return None
            size += count * max(1, describe(element_of(result)).bits // 8)
        return 0 if size <= SMALL else size - sum(array.nbytes for array in operands)


def is_dequantization(op: OpsetOp) -> bool:
    """Whether an operation is the Convert at the head of a dequantized weight, `(Convert(w) - zero point) * scale`.

    The runtime computes with the stored integers if it finds this form; folding it would store and compute in floating
    point.
    """
    return (
        op.name == "opset1.Convert"
        and element_of(op.operands[0]) in QUANTIZED_TYPES
        and element_count(shape_of(op.operands[0])) != 1
        and element_of(op.results[0]) in REAL_TYPES
        and all(use.index == 0 and use.operation.name in ("opset1.Subtract", "opset1.Multiply") for use in op.results[0].uses)
    )


def replace_by_constants(op: OpsetOp, results: list[Array]) -> None:
    """Replace an operation by one constant for each result."""
    assert op.parent is not None
    values: list[SSAValue] = []
    for result, array in zip(op.results, results, strict=True):
        data = DataAttr.of(array, element_of(result))
        constant = opset.operation("opset1.Constant").create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])
        op.parent.insert_op_before(constant, op)
        values.append(constant.results[0])
    if (recording := RECORDING.get()) is not None:
        recording.replaced("fold-constants", [op], [value.owner for value in values if isinstance(value.owner, Operation)])
    inherit_names(op, values)
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()
