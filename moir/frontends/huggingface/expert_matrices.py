"""The matrices of the experts of a layer [experts, rows, columns], however a folder stores them.

each                 one tensor [rows, columns] for each expert and projection
packed transposed    one tensor [experts, columns, rows]; the rows of gate and up alternate in one
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import stacked_matrices
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import ComputedArray
from moir.errors import ModelFileError

NUMBER = "{}"
"""What stands for the number of an expert in the name of a tensor."""

_OPERAND = re.compile(r"(layers\.\d+\.experts\.)(gate|up|down)\.(weight|bias)")

ReadTensor = Callable[[str, tuple[int, ...]], DataAttr]
"""Reads a tensor of a name and a shape."""


def matrix_of_each(read: ReadTensor, name: str, shape: tuple[int, ...]) -> StoredWeight:
    """The matrices of all experts, each of which is a tensor whose name has its number."""
    tensors = [read(name.replace(NUMBER, str(expert)), shape[1:]) for expert in range(shape[0])]
    elements = {each.element for each in tensors}
    if len(elements) > 1:
        raise ModelFileError(f"the tensors {name!r} have different element types", hint="convert all of them to one")
    return StoredWeight(DataAttr.of(stacked_matrices([each.values for each in tensors]), tensors[0].element))


class PackedMatrix(NamedTuple):
    """Where the matrices of experts are of which several lie in one tensor.

    Args:
        tensor: the operand of the tensor, without `weight` or `bias`.
        rows: the rows of the matrices among those of the tensor.
    """

    tensor: str
    rows: slice


def matrix_of(operand: str) -> PackedMatrix | None:
    """Where a weight or bias of experts is; None for other operands. The rows of gate and up alternate."""
    match = _OPERAND.fullmatch(operand)
    if match is None:
        return None
    prefix, part, _ = match.groups()
    if part not in ("gate", "up"):
        return PackedMatrix(f"{prefix}{part}", slice(None))
    return PackedMatrix(f"{prefix}gate_up", slice(0 if part == "gate" else 1, None, 2))


def packed_matrix(read: ReadTensor, block: Callable[[str], str], operand: str, shape: tuple[int, ...]) -> StoredWeight | None:
    """A weight or bias of experts that lie in one tensor, [columns, rows] each; None for other operands.

    Args:
        read: reads a tensor.
        block: the name in the file of a block.
        operand: the operand.
        shape: the shape of the weight [experts, rows, columns], or of the bias [experts, rows].
    """
    found = matrix_of(operand)
    if found is None:
        return None
    name = block(found.tensor) + ("_bias" if operand.endswith(".bias") else "")
    count, rows, *columns = shape
    data = read(name, (count, *columns, (found.rows.step or 1) * rows))
    values, part = data.values, found.rows
    values = values.moved(lambda array: array[..., part]) if isinstance(values, ComputedArray) else values[..., part]
    return StoredWeight(DataAttr.of(values.transpose((0, 2, 1)) if columns else values, data.element))
