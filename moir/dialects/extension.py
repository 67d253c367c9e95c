"""The open dialect `extension`: operations outside of the operation sets.

A library or a Python class implements them in the program that runs the model.

    %y = extension.InceptionBlock(%x) {channels = "32"} : tensor<1x32x8x8xf32>

One operation class per kind is created on demand. Properties are the attributes of `<data>`, as strings, and are
emitted unchanged. The layer has the version `extension`, or that of the attribute `layer_version`. An operation keeps
its result types unless it carries a function that computes them (`TYPES`): the types of an unknown operation cannot be
inferred from its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, var_operand_def, var_result_def

from moir.dialects.discardable import LAYER_VERSION
from moir.dialects.framework import decode_kind, encode_kind
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.python_object import python_entries

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

EXTENSION = "extension"
"""The name of the dialect, and the version of its layers in the IR."""

TYPES = "$types"
"""The key, in the Python attributes of an operation, of the function that computes its result types."""

TypeFunction: TypeAlias = Callable[["ExtensionOp", OperandValues], "Types | None"]
"""A function that returns the result types of an operation; None if they stay unchanged."""


@irdl_op_definition
class ExtensionOp(OpsetOp):
    """An operation of an unknown kind, with any number of operands and results and any properties."""

    name = EXTENSION
    inputs = var_operand_def()
    outputs = var_result_def()

    # Its function is unknown, so two equal operations must not be merged.
    DETERMINISTIC: ClassVar[bool] = False
    SIZES_OF_ELEMENTS: ClassVar[bool] = True

    KIND: ClassVar[str] = ""
    """The kind of the operation: the type of its layer."""

    def infer(self, known: OperandValues) -> Types:
        compute = cast("TypeFunction | None", python_entries(self).get(TYPES))
        types = compute(self, known) if compute is not None else None
        return [result.type for result in self.results] if types is None else types

    def result_count(self) -> int:
        return len(self.results)

    @property
    def version(self) -> str:
        """The version of the layer."""
        version = self.attributes.get(LAYER_VERSION)
        return version.data if isinstance(version, StringAttr) else EXTENSION

    def print(self, printer: Printer) -> None:
        from moir.dialects.assembly import print_assembly

        print_assembly(printer, self, {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        from moir.dialects.assembly import parse_free_form

        return parse_free_form(parser, cls)


def _accept(self: ExtensionOp) -> None:
    """Verifies nothing, because an operation of an extension may have any properties."""


@cache
def extension_class(kind: str) -> type[ExtensionOp]:
    """The operation class of a kind, created at its first use."""
    # The class has no IRDL definition of its own, so it must not be verified by that of the base, which permits no
    # properties.
    members: dict[str, Any] = {"name": f"{EXTENSION}.{encode_kind(kind)}", "KIND": kind, "verify_": _accept, "__module__": __name__}
    return type(kind, (ExtensionOp,), members)


def extension_operation(name: str) -> type[ExtensionOp]:
    """The operation class for a name such as `extension.InceptionBlock`, created at its first use."""
    return extension_class(decode_kind(name.partition(".")[2]))
