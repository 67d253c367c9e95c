"""The matrices of the experts of a layer [experts, rows, columns], however a folder stores them.

each                 one tensor [rows, columns] for each expert and projection
packed               one tensor [experts, rows, columns]; the rows of gate, then those of up, in one
packed transposed    one tensor [experts, columns, rows]; the rows of gate and up alternate in one
"""

from __future__ import annotations

import re
from collections.abc import Callable

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import stacked_matrices
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import ComputedArray
from moir.errors import ModelFileError

NUMBER = "{}"
"""What stands for the number of an expert in the name of a tensor."""

_OPERAND = re.compile(r"(layers\.\d+\.experts\.)(gate_up|gate|up|down)\.(weight|bias)")

ReadTensor = Callable[[str, tuple[int, ...]], DataAttr]
"""Reads a tensor of a name and a shape."""


def matrix_of_each(read: ReadTensor, name: str, shape: tuple[int, ...]) -> StoredWeight:
    """The matrices of all experts, each of which is a tensor whose name has its number."""
    tensors = [read(name.replace(NUMBER, str(expert)), shape[1:]) for expert in range(shape[0])]
    elements = {each.element for each in tensors}
    if len(elements) > 1:
        raise ModelFileError(f"the tensors {name!r} have different element types", hint="convert all of them to one")
    return StoredWeight(DataAttr.of(stacked_matrices([each.values for each in tensors]), tensors[0].element))


def packed_matrix(
    read: ReadTensor, block: Callable[[str], str], operand: str, shape: tuple[int, ...], is_transposed: bool
) -> StoredWeight | None:
    """A weight or bias of experts that lie in one tensor; None for other operands.

    Args:
        read: reads a tensor.
        block: the name in the file of a block.
        operand: the operand.
        shape: the shape of the weight [experts, rows, columns], or of the bias [experts, rows].
        is_transposed: whether the tensor is [experts, columns, rows], with the rows of gate and up in turn.
    """
    match = _OPERAND.fullmatch(operand)
    if match is None:
        return None
    prefix, part, kind = match.groups()
    is_gated = part in ("gate", "up")
    name = block(f"{prefix}{'gate_up' if is_gated else part}")
    count, rows, *columns = shape
    if not is_transposed:
        data = read(f"{name}.{kind}", (count, 2 * rows if is_gated else rows, *columns))
        return StoredWeight(data if not is_gated else _part(data, slice(0, rows) if part == "gate" else slice(rows, 2 * rows)))
    name += "_bias" if kind == "bias" else ""
    data = read(name, (count, *columns, 2 * rows if is_gated else rows))
    values = data.values
    if is_gated:
        start = 0 if part == "gate" else 1
        values = values.moved(lambda array: array[..., start::2]) if isinstance(values, ComputedArray) else values[..., start::2]
    return StoredWeight(DataAttr.of(values.transpose((0, 2, 1)) if columns else values, data.element))


def _part(data: DataAttr, rows: slice) -> DataAttr:
    """Some rows of the matrix of each expert."""
    values = data.values
    if isinstance(values, ComputedArray):
        return DataAttr.of(values.moved(lambda array: array[:, rows]), data.element)
    return DataAttr.of(values[:, rows], data.element)
