"""The matrices of the experts of a layer [experts, rows, columns], however a folder stores them.

each                 one tensor [rows, columns] for each expert and projection
packed               one tensor [experts, rows, columns]; the rows of gate, then those of up, in one
packed transposed    one tensor [experts, columns, rows]; the rows of gate and up alternate in one, and stay so
flat                 one tensor [experts * rows, columns] for each of gate and up, [experts * columns, rows] for down
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import stacked_matrices
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import ComputedArray
from moir.errors import ModelFileError

NUMBER = "{}"
"""The text in place of an expert's index in the name of a tensor."""

_OPERAND = re.compile(r"(layers\.\d+\.experts\.)(gate_up|gate|up|down)\.(weight|bias)")

ReadTensor = Callable[[str, tuple[int, ...]], DataAttr]
"""Reads the tensor with this name; raises if it has another shape."""


def matrix_of_each(read: ReadTensor, name: str, shape: tuple[int, ...]) -> StoredWeight:
    """The stacked matrix of all experts, of a shape [experts, rows, columns], read from one tensor for each expert.

    `name` has `NUMBER` in place of the expert's index. Raises ModelFileError if their element types differ.
    """
    tensors = [read(name.replace(NUMBER, str(expert)), shape[1:]) for expert in range(shape[0])]
    elements = {each.element for each in tensors}
    if len(elements) > 1:
        raise ModelFileError(f"the tensors {name!r} have different element types", hint="convert all of them to one")
    return StoredWeight(DataAttr.of(stacked_matrices([each.values for each in tensors]), tensors[0].element))


def joined_rows(parts: Sequence[DataAttr], name: str, shape: tuple[int, ...]) -> DataAttr:
    """The concatenation of several small tensors along their rows, for the weight `name` of a shape.

    Raises ModelFileError if the tensors have other numbers of rows or different element types.
    """
    if sum(each.shape[0] for each in parts) != shape[0] or len({each.element for each in parts}) > 1:
        shapes = ", ".join(str(list(each.shape)) for each in parts)
        raise ModelFileError(f"tensors {shapes} cannot be joined to {name!r} of the shape {list(shape)}", hint="are they of one model?")
    return DataAttr.of(np.concatenate([np.asarray(each.values) for each in parts]), parts[0].element)


def flat_matrix(read: ReadTensor, block: Callable[[str], str], operand: str, shape: tuple[int, ...]) -> StoredWeight | None:
    """The matrices of all experts from a 2-D tensor without `.weight` in its name; None for other operands.

    Args:
        read: reads a tensor.
        block: returns the name in the file of a block.
        operand: the operand.
        shape: the shape of the weight [experts, rows, columns].
    """
    match = _OPERAND.fullmatch(operand)
    if match is None:
        return None
    count, rows, columns = shape
    is_down = match[2] == "down"
    height, width = (columns, rows) if is_down else (rows, columns)
    data = read(block(operand.rpartition(".")[0]), (count * height, width))
    values = data.values.reshape(count, height, width)
    return StoredWeight(DataAttr.of(values.transpose((0, 2, 1)) if is_down else values, data.element))


class PackedMatrix(NamedTuple):
    """The position of a matrix of experts in a tensor that stacks several matrices.

    Args:
        tensor: the operand of the tensor, without `weight` or `bias`.
        half: 0 or 1 for the first or second half of the rows of the tensor; None for all rows.
    """

    tensor: str
    half: int | None


def matrix_of(operand: str) -> PackedMatrix | None:
    """The stacked tensor that contains a weight or bias of experts; None for an operand of another block."""
    match = _OPERAND.fullmatch(operand)
    if match is None:
        return None
    prefix, part, _ = match.groups()
    if part in ("gate", "up"):
        return PackedMatrix(f"{prefix}gate_up", 0 if part == "gate" else 1)
    return PackedMatrix(f"{prefix}{part}", None)


class Packing(NamedTuple):
    """How the tensors of a file stack the matrices of experts.

    Args:
        is_transposed: whether a tensor is [experts, columns, rows], and its name ends without `.weight`.
        has_halves: whether the rows of gate are all before those of up; otherwise they are interleaved.
        may_be_rows: whether a tensor may also be [experts, rows, columns], which its shape shows.
    """

    is_transposed: bool
    has_halves: bool
    may_be_rows: bool = False


PACKINGS = {
    "packed": Packing(False, True),
    "packed transposed": Packing(True, False),
    "packed columns": Packing(True, True),
    "packed rows or columns": Packing(True, True, may_be_rows=True),
}
"""The packings by their names in the records of families."""


def packed_matrix(
    read: ReadTensor,
    stored: Callable[[str], tuple[int, ...] | None],
    block: Callable[[str], str],
    operand: str,
    shape: tuple[int, ...],
    packing: Packing,
) -> StoredWeight | None:
    """A weight or bias of experts that is part of a stacked tensor; None for other operands.

    Args:
        read: reads a tensor.
        stored: returns the shape of a tensor of the file by its name; None if there is none.
        block: returns the name in the file of a block.
        operand: the operand.
        shape: the shape of the weight [experts, rows, columns], or of the bias [experts, rows].
        packing: how the tensors stack the matrices.
    """
    matrix = matrix_of(operand)
    if matrix is None:
        return None
    name, kind = block(matrix.tensor), operand.rpartition(".")[2]
    count, rows, *columns = shape
    half = matrix.half if packing.has_halves else None
    whole = rows if half is None else 2 * rows
    if packing.is_transposed and not (packing.may_be_rows and stored(name) == (count, whole, *columns)):
        data = read(f"{name}_bias" if kind == "bias" else name, (count, *columns, whole))
        values = data.values.transpose((0, 2, 1)) if columns else data.values
    else:
        data = read(name if stored(f"{name}.{kind}") is None else f"{name}.{kind}", (count, whole, *columns))
        values = data.values
    if half is not None:
        part = slice(half * rows, (half + 1) * rows)
        values = values.moved(lambda array: array[:, part]) if isinstance(values, ComputedArray) else values[:, part]
    return StoredWeight(data if values is data.values else DataAttr.of(values, data.element))
