"""The matrices of the experts of a layer [experts, rows, columns], however a folder stores them.

each                 one tensor [rows, columns] for each expert and projection
packed               one tensor [experts, rows, columns]; the rows of gate, then those of up, in one
packed transposed    one tensor [experts, columns, rows]; the rows of gate and up alternate in one, and stay so
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

_OPERAND = re.compile(r"(layers\.\d+\.experts\.)(gate_up|gate|up|down)\.(weight|bias)")

ReadTensor = Callable[[str, tuple[int, ...]], DataAttr]
"""Reads a tensor of a name and a shape."""


def matrix_of_each(read: ReadTensor, name: str, shape: tuple[int, ...]) -> StoredWeight:
    """A matrix of all experts stacked, read from one tensor for each expert.

    `name` has `NUMBER` in place of the expert's index. Raises ModelFileError if their element types differ.
    """
    tensors = [read(name.replace(NUMBER, str(expert)), shape[1:]) for expert in range(shape[0])]
    elements = {each.element for each in tensors}
    if len(elements) > 1:
        raise ModelFileError(f"the tensors {name!r} have different element types", hint="convert all of them to one")
    return StoredWeight(DataAttr.of(stacked_matrices([each.values for each in tensors]), tensors[0].element))


class PackedMatrix(NamedTuple):
    """Where a matrix of experts lies in a tensor that stacks several of them.

    Args:
        tensor: the operand of the tensor, without `weight` or `bias`.
        half: 0 or 1 for the first or second half of the rows of the tensor; None for all of them.
    """

    tensor: str
    half: int | None


def matrix_of(operand: str) -> PackedMatrix | None:
    """Where a weight or bias of experts is; None for other operands."""
    match = _OPERAND.fullmatch(operand)
    if match is None:
        return None
    prefix, part, _ = match.groups()
    if part in ("gate", "up"):
        return PackedMatrix(f"{prefix}gate_up", 0 if part == "gate" else 1)
    return PackedMatrix(f"{prefix}{part}", None)


def packed_matrix(
    read: ReadTensor, block: Callable[[str], str], operand: str, shape: tuple[int, ...], is_transposed: bool
) -> StoredWeight | None:
    """A weight or bias of experts that lie in one tensor; None for other operands.

    Args:
        read: reads a tensor.
        block: the name in the file of a block.
        operand: the operand.
        shape: the shape of the weight [experts, rows, columns], or of the bias [experts, rows].
        is_transposed: whether the tensor is [experts, columns, rows], and its name ends without `.weight`.
    """
    matrix = matrix_of(operand)
    if matrix is None:
        return None
    name, kind = block(matrix.tensor), operand.rpartition(".")[2]
    count, rows, *columns = shape
    if is_transposed:
        data = read(f"{name}_bias" if kind == "bias" else name, (count, *columns, rows))
        return StoredWeight(DataAttr.of(data.values.transpose((0, 2, 1)), data.element) if columns else data)
    if matrix.half is None:
        return StoredWeight(read(f"{name}.{kind}", shape))
    data, part = read(f"{name}.{kind}", (count, 2 * rows, *columns)), slice(matrix.half * rows, (matrix.half + 1) * rows)
    values = data.values
    values = values.moved(lambda array: array[:, part]) if isinstance(values, ComputedArray) else values[:, part]
    return StoredWeight(DataAttr.of(values, data.element))
