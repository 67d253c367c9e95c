"""`compress-to-fp16`: f32 and f64 constants are stored as f16 and converted back where they are used.

    %w = opset1.Constant() {value = …, name = "w"} : tensor<8x3xf32>
->  %0 = opset1.Constant() {value = …, name = "w_compressed"} : tensor<8x3xf16>
    %w = opset1.Convert(%0) {destination_type = f32, name = "w", runtime_info = {decompression = {version = "0"}}}
             : tensor<8x3xf32>

The computation stays in the precision it had; the mark tells readers of the IR not to fold the Convert. A constant is
unchanged if

1. a finite value of it is beyond ±65504, the largest finite f16 (infinities and NaNs are f16 values);
2. it has at most 32 values and one of them other than zero is smaller than 2⁻¹⁴, below which f16 loses digits or the
whole value: for example the ε of a normalisation, `x / max(x, ε)`; 3. at least three quarters of its nonzero values
are that small: their loss is harmless only in few elements of a weight;
4. it has at most 1024 values and reaches, directly or through a computation on shapes, an operand whose exact value
   matters: shapes, scales and sizes of Interpolate, limits of Range, thresholds and counts of NonMaxSuppression, ranges
   of FakeQuantize, frequencies under Sin and Cos, and anything that is compared or rounded, where a small error changes
   the result at once;
5. it is the scale of weights that are stored as integers, `(codes - zero points) · scale`: these would not be
   recognised any more;
6. its value was left out of the text the module was read from, or it has no values at all.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import DECOMPRESSION
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import INTEGER_TYPES, f16, f32, f64
from moir.dialects.large_arrays import Values, computed, in_memory_order, pieces
from moir.dialects.locations import located
from moir.dialects.memory_map import Array
from moir.dialects.names import name_of
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, tensor
from moir.rewriting.events import RECORDING, is_exhausted
from moir.rewriting.reporting_pass import ReportingPass

LARGEST = 65504.0
"""Largest finite value of f16."""
SMALLEST_NORMAL = 2.0**-14
"""Smallest normal number of f16: smaller magnitudes lose digits, and those below 2⁻²⁵ become 0."""
SMALL_SHARE = 0.75
FEW_VALUES = 32
SENSITIVE_VALUES = 1024


class CompressToFp16Pass(ReportingPass):
    """Stores f32 and f64 constants of models and bodies as f16."""

    name = "compress-to-fp16"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        compressed: dict[int, DataAttr | None] = {}
        constants = [constant for constant in module.walk() if isinstance(constant, Constant) and constant.value.element in (f32, f64)]
        exact = _exact_values(module) if constants else set[SSAValue]()
        for constant in constants:
            data = constant.value.data
            if (constant.results[0] in exact and _count(data) <= SENSITIVE_VALUES) or _is_scale(constant.results[0]):
                continue
            if id(data) not in compressed:
                compressed[id(data)] = _compressed(data)
            value = compressed[id(data)]
            if value is not None:
                if is_exhausted():
                    break
                _replace(constant, value)
        return bool(constants)


def _exact_values(module: ModuleOp) -> set[SSAValue]:
    """The values that reach an operand whose exact value matters."""
    operations = [op for op in module.walk() if isinstance(op, OpsetOp) and op.EXACT_OPERANDS]
    pending = [op.operands[index] for op in operations for index in op.EXACT_OPERANDS if index < len(op.operands)]
    exact: set[SSAValue] = set()
    while pending:
        value = pending.pop()
        if value not in exact:
            exact.add(value)
            if isinstance(value, OpResult) and isinstance(value.op, OpsetOp) and value.op.PASSES_ERRORS_ON:
                pending.extend(value.op.operands)
    return exact


def _is_scale(value: SSAValue) -> bool:
    """Whether a constant is used only as the scale of weights that are stored as integers."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(isinstance(user, Multiply) and _are_codes(user.operands[0]) for user in users)


def _are_codes(value: SSAValue) -> bool:
    """Whether a value is a Convert of a constant of integers, perhaps with a zero point subtracted."""
    if isinstance(value, OpResult) and isinstance(value.op, Subtract):
        value = value.op.operands[0]
    if not isinstance(value, OpResult) or not isinstance(value.op, Convert):
        return False
    return isinstance(value.op.operands[0].owner, Constant) and element_of(value.op.operands[0]) in INTEGER_TYPES


def _count(data: TensorData) -> int:
    return 0 if data.values is None else data.values.size


def _compressed(data: TensorData) -> DataAttr | None:
    """The data of a constant as f16; None if the constant must not be changed (see the module's docstring)."""
    values = data.values
    if values is None or values.size == 0 or not _survives(values):
        return None
    return DataAttr(TensorData(computed(_half, values), f16, data.shape))


def _survives(values: Values) -> bool:
    """Whether f16 represents values well enough (see the module's docstring)."""
    small = 0
    with np.errstate(all="ignore"):
        for piece in pieces(in_memory_order(values)):
            size = np.abs(piece)
            if np.any((size > LARGEST) & (size < np.inf)):
                return False
            small += int(np.count_nonzero((size < SMALLEST_NORMAL) & (size > 0)))
    return not (small >= SMALL_SHARE * values.size or (small and values.size <= FEW_VALUES))


def _half(array: Array) -> Array:
    return array.astype(np.float16)


def _replace(constant: Constant, value: DataAttr) -> None:
    """Replace a constant by its compressed form and a Convert to the original element type."""
    block = constant.parent
    if block is None:
        return
    result = constant.results[0]
    name = name_of(constant)
    stored = Constant.create(
        properties={"value": value},
        attributes={} if name is None else {"name": string_attribute(f"{name}_compressed")},
        result_types=[tensor(value.shape, f16)],
        location=located(constant),
    )
    carried = constant.attributes.get("runtime_info")
    information = DictionaryAttr({**carried.data, **DECOMPRESSION.data}) if isinstance(carried, DictionaryAttr) else DECOMPRESSION
    element = f64 if constant.value.element == f64 else f32
    restored = Convert.create(
        operands=[stored.results[0]],
        properties={"destination_type": element},
        attributes={**constant.attributes, "runtime_info": information},
        result_types=[tensor(value.shape, element)],
        location=located(constant),
    )
    block.insert_ops_before([stored, restored], constant)
    if (recording := RECORDING.get()) is not None:
        recording.replaced("compress-to-fp16", [constant], [stored, restored])
    result.replace_all_uses_with(restored.results[0])
    block.erase_op(constant)
