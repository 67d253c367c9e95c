"""Open framework dialects: `onnx.Conv`, `tf.FusedBatchNormV3`, `onnx.com.microsoft.QGemm`, …

One operation class per kind is created on demand, so that nodes of any kind can be imported, known or not. Attributes
of the source node are properties. Characters of a kind that the text form does not permit in a name are written `$xx`
(hexadecimal).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Dialect, OpTraits
from xdsl.traits import NoTerminator

from moir import frameworks
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.opset.interfaces.properties import PropertyAccess
from moir.dialects.properties import value_of

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

MODEL_OPTIMIZER = frameworks.MODEL_OPTIMIZER.dialect
"""The dialect of operations that are created by Model Optimizer's API and not yet lowered to an operation set."""

NEWEST_VERSION = "newest_version"
"""The discardable attribute of an ONNX node that is interpreted by the newest operation set instead of the one that the
model imports.
"""


COMPLEX_OPERANDS = "complex_operands"
"""The property with the indices of the operands that are complex: pairs of numbers in a last dimension of size 2.

It is empty if only results are complex. Dialects of frameworks with complex element types do not use it.
"""

REAL_RESULTS = "real_results"
"""The property that is set on an operation with complex operands if its results are real."""


class FrameworkOp(PropertyAccess):
    """A source node as in the model of the framework: any number of operands, results and regions, any attributes."""

    name = "framework.op"
    traits = OpTraits(lambda: (NoTerminator(),))

    KIND: ClassVar[str] = ""
    """The kind of the node in the framework.

    In ONNX the domain precedes it, `com.microsoft.QGemm`, unless that is the default domain.
    """

    def print(self, printer: Printer) -> None:
        from moir.dialects.assembly import print_assembly

        print_assembly(printer, self, {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        from moir.dialects.assembly import parse_free_form

        return parse_free_form(parser, cls)


def encode_kind(kind: str) -> str:
    """A kind in the spelling of operation names: each other character than letters, digits, `_` and `.` as `$xx` for
    its bytes in UTF-8, `a-b` -> `a$2db`.
    """
    if kind.isidentifier() and kind.isascii():
        return kind

    def escaped(match: re.Match[str]) -> str:
        # A damaged file may have halves of surrogate pairs.
        return "".join(f"${byte:02x}" for byte in match.group().encode(errors="surrogatepass"))

    return re.sub(r"[^\w.]", escaped, kind, flags=re.ASCII)


def decode_kind(encoded: str) -> str:
    """The kind from its spelling in an operation name, the inverse of `encode_kind`: `a$2db` -> `a-b`."""
    if "$" not in encoded:
        return encoded
    return re.sub(r"(?:\$[0-9a-f]{2})+", lambda match: bytes.fromhex(match.group().replace("$", "")).decode(errors="replace"), encoded)


@cache
def operation_of_name(name: str) -> type[FrameworkOp]:
    """The operation class of a name in the text form, such as `tf.AddV2`, created at its first use."""
    kind = decode_kind(name.partition(".")[2])
    # A kind may have characters that the name of a Python class must not have.
    return type(name.rpartition(".")[2], (FrameworkOp,), {"name": name, "KIND": kind, "__module__": __name__})


def operation_class(framework: str, kind: str) -> type[FrameworkOp]:
    """The operation class of a kind of a framework, created at its first use."""
    return operation_of_name(f"{framework}.{encode_kind(kind)}")


def framework_dialect(name: str, kinds: Iterable[str] = ()) -> Dialect:
    """A framework dialect with the operations of the given kinds, for tools that support closed dialects only."""
    return Dialect(name, [operation_class(name, kind) for kind in kinds], [])


def framework_of(module: ModuleOp) -> str:
    """The framework of a module: the one that its models record, or else that of its first framework operation.

    The first framework in the table if the module has neither.
    """
    known = [framework.dialect for framework in frameworks.converted()]
    for model in models_of(module):
        parameters = model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS)
        if isinstance(parameters, DictionaryAttr) and "framework" in parameters.data:
            framework = value_of(parameters.data["framework"])
            if framework in known:
                return framework
    names = {op.name.partition(".")[0] for op in module.walk() if isinstance(op, FrameworkOp)}
    return next((name for name in known if name in names), known[0])
