"""Attributes that are lists of integers with an element for each axis."""

from __future__ import annotations

from collections.abc import Sequence

from moir.errors import InferenceError


def require_rows(shape: Sequence[int], **columns: Sequence[int]) -> None:
    """Raises InferenceError unless each attribute in `columns`, given by its name, has an element for each axis of
    `shape`.
    """
    for name, column in columns.items():
        if len(column) != len(shape):
            raise InferenceError(f"{name} has {len(column)} entries for an operand of rank {len(shape)}")
