"""The result of a reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moir.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.memory_map import Array


class Candidate(Record):
    """A part of a model, as a model of its own.

    Args:
        model: a module, or the bytes of an ONNX file.
        inputs: its inputs, by name: the values that these tensors had in the whole model.
        expected: its outputs in the whole model, by name; empty if they are not known.
        operations: the number of its operations, without constants.
    """

    model: ModuleOp | bytes
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    operations: int


class Reduced(Record):
    """A small model that fails as the whole one does.

    Args:
        candidate: the model.
        operations: the number of operations of the whole model, without constants.
        random_weights: whether all its weights are random.
        checks: the number of candidates that were checked.
    """

    candidate: Candidate
    operations: int
    random_weights: bool
    checks: int

    def __str__(self) -> str:
        weights = "random weights" if self.random_weights else "its own weights"
        return f"{self.candidate.operations} of {self.operations} operations, {weights}"
