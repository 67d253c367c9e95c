"""Folding: operations on constants are evaluated, and constants replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.analysis.constants import FLOATS, is_decompression, values_of
from moir.analysis.folding_budget import FoldingBudget
from moir.analysis.input_dependence import is_computed_of_sizes
from moir.analysis.known_values import KnownValues, evaluate
from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import REAL_TYPES, describe, f8e4m3, f8e5m2, is_element_type, si4, si8, to_numpy, ui4, ui8
from moir.dialects.large_arrays import WORTH_DEFERRING, ComputedArray, Values, computed, pieces
from moir.dialects.locations import located, merged
from moir.dialects.memory_map import Array
from moir.dialects.names import inherit_names
from moir.dialects.opset.interfaces.operation import OpsetOp, is_pure
from moir.dialects.shapes import element_count, element_of, shape_of, tensor
from moir.dialects.symbols import is_symbolic
from moir.errors import InferenceError
from moir.rewriting.dead_code import erase
from moir.rewriting.events import RECORDING

SMALL = 1 << 10
"""Results of at most this many bytes are always folded."""

QUANTIZED_TYPES = frozenset((si8, ui8, si4, ui4, f8e4m3, f8e5m2))
"""Element types in which weights are stored quantized."""


MOST_STEPS = 8
"""The maximum number of uses of a dequantized weight that are followed."""

BOUNDED = 4
"""The largest allowed size of the results of `ELEMENT_DEPENDENT` operations, as a multiple of the bytes of the operand.
"""

ELEMENT_DEPENDENT = frozenset(("NonZero", "StringTensorUnpack", "Unique"))
"""Operations whose result shapes depend on the elements of operands, such as NonZero."""


class Folding:
    """One run of the pass.

    Args:
        static_shape: whether ShapeOf is folded as well if the shape of its operand is static.
        budget: the limit for all runs of the pass on the module together.
    """

    def __init__(self, static_shape: bool, budget: FoldingBudget) -> None:
        self.static_shape = static_shape
        self.budget = budget
        self.known = KnownValues()

    def fold(self, operations: Iterable[Operation], is_kept: Callable[[OpsetOp], bool] | None = None) -> bool:
        """Fold the operations of a block in order; returns whether any was folded.

        Args:
            operations: the operations, in topological order.
            is_kept: whether an operation must not be folded; by default all may be folded.
        """
        is_changed = False
        recording = RECORDING.get()
        # `operations` may iterate over the block itself: only the current operation is erased, and the iterator already
        # holds the next.
        for op in operations:
            if op.regions or not is_pure(type(op)):
                continue
            op = cast(OpsetOp, op)
            if is_kept is not None and is_kept(op):
                continue
            if recording is not None and recording.is_exhausted:
                break
            results = self.results(op)
            if results is not None:
                replace_by_constants(op, results)
                is_changed = True
        return is_changed

    def results(self, op: OpsetOp) -> Sequence[Values] | None:
        """Values of the results; None if they cannot be evaluated or should not be folded."""
        if self.static_shape and op.name.endswith(".ShapeOf"):
            array = self.known.elements(op.results[0])
            return None if array is None or is_symbolic(array) else [array]
        if (empty := without_elements(op)) is not None:
            # The model may be reshaped, so a result without elements may get some.
            return empty if self.static_shape or not any(map(is_computed_of_sizes, op.operands)) else None
        operands: list[Values] = []
        for operand in op.operands:
            values = values_of(operand)
            if values is None:
                return None
            operands.append(values)
        if not operands or is_dequantization(op) or is_stored_compressed(op):
            return None
        size = self.size(op, operands)
        if size is None:
            return None
        steps = op.steps(*operands) + size
        if not self.budget.admits(growth(op, operands, size), steps):
            return None
        results = deferred(op, operands) or evaluate(op, [np.asarray(values) for values in operands])
        if results is None:
            return None
        # The size of strings, and of results of unknown shape, is known only once they are computed.
        taken = growth(op, operands, sum(map(_bytes, results)))
        if not self.budget.admits(taken, steps):
            return None
        self.budget.take(taken, steps)
        return results

    def size(self, op: OpsetOp, operands: list[Values]) -> int | None:
        """The number of bytes of the results of an operation on constants; None for a result of dynamic shape that may
        be large.
        """
        types: Sequence[Attribute] = [result.type for result in op.results]
        if any(element_count(shape_of(each)) is None for each in types):
            if op.KIND in ELEMENT_DEPENDENT:
                return BOUNDED * sum(map(_bytes, operands))
            try:
                # The operands may have become constants since the results got their types.
                types = op.infer(self.known)
            except InferenceError:
                types = []
        size = 0
        for each in types:
            count = element_count(shape_of(each))
            if count is None:
                types = []
                break
            size += count * max(1, describe(element_of(each)).bits // 8)
        if not types:
            return 0 if sum(map(_bytes, operands)) <= SMALL else None
        return size


def growth(op: OpsetOp, operands: Sequence[Values], size: int) -> int:
    """The growth of memory by folding: `size` of the results minus the bytes of the operands that have no other use."""
    if size <= SMALL:
        return 0
    distinct = dict(zip(op.operands, operands, strict=True))
    return size - sum(_bytes(values) for operand, values in distinct.items() if all(use.operation is op for use in operand.uses))


def _bytes(values: Values) -> int:
    """Bytes of the elements of a constant, those of strings included."""
    if values.dtype == object:
        return values.nbytes + sum(len(text) for text in np.asarray(values).ravel().tolist() if isinstance(text, str | bytes))
    return values.nbytes


def without_elements(op: OpsetOp) -> Sequence[Values] | None:
    """The results of an operation if none of them has elements; None otherwise."""
    shapes: list[tuple[int, ...]] = []
    for result in op.results:
        shape = shape_of(result)
        if shape is None or 0 not in shape or -1 in shape:
            return None
        shapes.append(shape)
    if not op.operands or not shapes:
        return None
    elements = [element_of(result) for result in op.results]
    if not all(map(is_element_type, elements)):
        return None
    return [np.zeros(shape or (), to_numpy(element)) for shape, element in zip(shapes, elements, strict=True)]


def deferred(op: OpsetOp, operands: Sequence[Values]) -> Sequence[Values] | None:
    """The result of an operation on large constants, to be computed lazily; None if the operation is not elementwise.

    Results of other types than floats are computed eagerly, since an element may raise an error.
    """
    data, *others = operands
    if max(values.size for values in operands) < WORTH_DEFERRING or len(op.results) != 1:
        return None
    if op.PERMUTES and isinstance(data, ComputedArray):
        arrays = [np.asarray(values) for values in others]
        return [data.moved(lambda part: _only(evaluate(op, [part, *arrays])))]
    if element_of(op.results[0]) not in FLOATS or any(values.dtype.kind not in "fiubV" for values in operands):
        return None
    if op.BROADCASTS:
        if op.text("auto_broadcast") == "pdpd":
            return None
    elif not op.POINTWISE or any(values.size != 1 for values in others):
        return None
    # The operation itself is erased.
    copy = type(op).create(
        operands=Block(arg_types=[operand.type for operand in op.operands]).args,
        properties=op.properties,
        result_types=[op.results[0].type],
    )
    if evaluate(copy, [next(pieces(values, 1)).reshape((1,) * values.ndim) for values in operands]) is None:
        return None
    return [computed(lambda *blocks: _only(evaluate(copy, blocks)), *operands)]


def _only(results: Sequence[Array] | None) -> Array:
    assert results is not None
    return results[0]


def is_dequantization(op: OpsetOp) -> bool:
    """Whether an operation is a Convert of a dequantized weight, `(Convert(w) - Convert(zero point)) * scale`.

    Targets compute with the stored integers in this form, which folding would destroy. A weight that is padded is
    folded, and so are 1-D weights that are added or multiplied.
    """
    if op.name != "opset1.Convert" or element_of(op.operands[0]) not in QUANTIZED_TYPES or element_of(op.results[0]) not in REAL_TYPES:
        return False
    if _is_computed_with(op.results[0]):
        return False
    users = [(use.index, use.operation) for use in op.results[0].uses]
    if all(index == 1 and user.name == "opset1.Subtract" and _is_converted_weight(user.operands[0]) for index, user in users):
        return True
    return element_count(shape_of(op.operands[0])) != 1 and all(
        index == 0 and user.name in ("opset1.Subtract", "opset1.Multiply") for index, user in users
    )


def _is_computed_with(value: SSAValue) -> bool:
    """Whether a dequantized weight is padded, or is a 1-D tensor that is only an operand of elementwise operations.

    Arithmetic with the zero point and the scale, and moves of the elements, are not such uses.
    """
    waiting, is_used = [value], False
    for _ in range(MOST_STEPS):
        if not waiting:
            return is_used
        current = waiting.pop()
        for use in current.uses:
            user = use.operation
            if not isinstance(user, OpsetOp):
                return False
            if user.KIND == "Pad":
                return True
            if (use.index == 0 and user.PERMUTES) or _restores(user, use.index):
                waiting.append(user.results[0])
            elif user.BROADCASTS and sum(size != 1 for size in shape_of(current) or ()) == 1:
                is_used = True
            else:
                return False
    return False


def _restores(op: OpsetOp, index: int) -> bool:
    """Whether an operation is a step of dequantization: one operand is the converted weight, the other the zero point
    or the scale.

    `index` is the index of the operand that is looked at, which may be either of the two.
    """
    if op.name not in ("opset1.Subtract", "opset1.Multiply"):
        return False
    return _is_parameter(op.operands[1]) if index == 0 else _is_converted_weight(op.operands[0])


def _is_parameter(value: SSAValue) -> bool:
    """Whether a value may be the zero point or the scale of a weight: a constant, perhaps with a Convert."""
    op = value.owner
    return values_of(value) is not None or (isinstance(op, OpsetOp) and op.KIND == "Convert" and values_of(op.operands[0]) is not None)


def _is_converted_weight(value: SSAValue) -> bool:
    """Whether a value is a Convert of a tensor (not a scalar) of an element type for quantized weights."""
    op = value.owner
    if not isinstance(op, OpsetOp) or op.name != "opset1.Convert":
        return False
    return element_of(op.operands[0]) in QUANTIZED_TYPES and element_count(shape_of(op.operands[0])) != 1


def is_stored_compressed(op: OpsetOp) -> bool:
    """Whether an operation is the Convert of a weight that is stored in half precision to save space.

    Folding it would store the weight in full precision again. False for scalars, which are folded because other passes
    look for constants.
    """
    return is_decompression(op) and element_count(shape_of(op.results[0])) != 1


def replace_by_constants(op: OpsetOp, results: Sequence[Values]) -> None:
    """Replace an operation by one constant for each result."""
    assert op.parent is not None
    values: list[SSAValue] = []
    location = merged([located(op), *(located(operand.op) for operand in op.operands if isinstance(operand, OpResult))])
    for result, elements in zip(op.results, results, strict=True):
        data = DataAttr.of(elements, element_of(result))
        constant = opset.operation("opset1.Constant").create(
            properties={"value": data}, result_types=[tensor(data.shape, data.element)], location=location
        )
        op.parent.insert_op_before(constant, op)
        values.append(constant.results[0])
    if (recording := RECORDING.get()) is not None:
        recording.replaced("fold-constants", [op], [value.owner for value in values if isinstance(value.owner, Operation)])
    inherit_names(op, values)
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)
