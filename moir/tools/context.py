"""The dialects a tool knows: ours and `builtin`, loaded as they are needed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Builtin
from xdsl.ir import Operation

from moir.dialects import opset
from moir.dialects.data import SideFileReader
from moir.dialects.framework import FrameworkContext
from moir.dialects.moir import Moir


class ToolContext(FrameworkContext):
    """A context in which every operation of ours exists; the file of an opset family is imported when an operation of it is first named.

    Args:
        weights: where the parser finds data that is in a side file.
        allow_unregistered: whether operations nobody defines are allowed in text.
    """

    def __init__(self, weights: SideFileReader | None = None, *, allow_unregistered: bool = False) -> None:
        super().__init__(allow_unregistered)
        self.weights = weights
        self.load_dialect(Builtin)
        self.load_dialect(Moir)

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        dialect = name.partition(".")[0]
        if dialect in opset.OPSETS or opset.is_registered(name):
            try:
                return opset.operation(name)
            except KeyError:
                pass
        elif dialect == "extension" and "." in name:
            from moir.dialects.extension import extension_operation

            return extension_operation(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def clone(self) -> ToolContext:
        copy = ToolContext(self.weights, allow_unregistered=self.allow_unregistered)
        copy.__dict__.update(super().clone().__dict__)
        return copy
