"""The open dialect `extension`: operations that are none of OpenVINO's own, which the runtime gets from a library or a
Python class.

    %y = extension.InceptionBlock(%x) {channels = "32"} : tensor<1x32x8x8xf32>

An operation class per kind is made on demand. Properties are the attributes of `<data>`, as strings; they are written
as they are. The layer has the version `extension`, or the one in the attribute `layer_version`. Result types are those
given, unless the operation knows how to compute them (`TYPES`): an operation nobody defined cannot be inferred from its
operands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from moir.dialects.assembly import LAYER_VERSION, parse_free_form, print_assembly
from moir.dialects.framework import decode_kind, encode_kind
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import OpsetOp, Types
from moir.dialects.python_object import python_entries

EXTENSION = "extension"
"""The name of the dialect, and the version of its layers in the IR."""

TYPES = "$types"
"""The entry among the Python attributes of an operation that computes its result types."""

TypeFunction: TypeAlias = Callable[["ExtensionOp", OperandValues], "Types | None"]
"""Result types of an operation, None if they stay."""


@irdl_op_definition
class ExtensionOp(OpsetOp):
    """Any number of operands and results, any properties."""

    name = EXTENSION
    inputs = var_operand_def()
    outputs = var_result_def()

    # Nobody knows what it computes: two of them are never taken for one.
    DETERMINISTIC: ClassVar[bool] = False

    KIND: ClassVar[str] = ""
    """The type of the layer."""

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
        print_assembly(printer, self, {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return parse_free_form(parser, cls)


def _accept(self: ExtensionOp) -> None:
    """Any properties are right."""


@cache
def extension_class(kind: str) -> type[ExtensionOp]:
    """The operation class of a type of layer, made at its first use."""
    # The class is not defined once more, so the definition of the base, which permits no properties, must not be what
    # verifies it.
    members: dict[str, Any] = {"name": f"{EXTENSION}.{encode_kind(kind)}", "KIND": kind, "verify_": _accept, "__module__": __name__}
    return type(kind, (ExtensionOp,), members)


def extension_operation(name: str) -> type[ExtensionOp]:
    """The operation class of a name such as `extension.InceptionBlock`."""
    return extension_class(decode_kind(name.partition(".")[2]))
