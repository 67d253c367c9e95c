"""The context of the parser, which finds each operation of moir's dialects by its name."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Operation

from moir.dialects import opset
from moir.dialects.data import SideFileReader
from moir.dialects.framework import operation_of_name
from moir.dialects.module import Module
from moir.dialects.moir import Moir
from moir.frameworks import is_open_dialect


class MoirContext(Context):
    """A context that knows all operations of moir's dialects.

    The file of an opset family is imported when one of its operations is first requested; classes for operations of
    open dialects are created on demand.

    Args:
        weights: reader for data in side files of the parsed text.
        allow_unregistered: whether the text may contain operations that no dialect defines.
    """

    def __init__(self, weights: SideFileReader | None = None, *, allow_unregistered: bool = False) -> None:
        super().__init__(allow_unregistered)
        self.weights = weights
        # A dialect is loaded when a text names one of its operations: a conversion has a context, but parses no text.
        self.register_dialect(Builtin.name, lambda: Builtin)
        self.register_dialect(Moir.name, lambda: Moir)

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        dialect, _, kind = name.partition(".")
        if name == Module.name:
            return Module
        if kind and is_open_dialect(dialect):
            return operation_of_name(name)
        if dialect in opset.OPSETS or opset.is_registered(name):
            try:
                return opset.operation(name)
            except KeyError:
                pass
        defined = super().get_optional_op(name, dialect_stack=dialect_stack)
        if defined is not None or not kind:
            return defined
        from moir.dialects.extension import EXTENSION, extension_operation

        return extension_operation(name) if dialect == EXTENSION else None

    def clone(self) -> MoirContext:
        copy = MoirContext(self.weights, allow_unregistered=self.allow_unregistered)
        copy.__dict__.update(super().clone().__dict__)
        copy.weights = self.weights
        return copy
