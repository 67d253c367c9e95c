"""Open framework dialects: `onnx.Conv`, `tf.FusedBatchNormV3`, `onnx.com.microsoft.QGemm`, …

An operation class per kind is made on demand, so any node of any model imports, a kind nobody knows included.
Attributes of the node are properties; characters of a kind that the text form has no place for are written `$xx`
(hexadecimal).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import ClassVar, Self

from xdsl.ir import Dialect, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator

from moir import frameworks
from moir.dialects.assembly import parse_free_form, print_assembly
from moir.dialects.opset.base import PropertyAccess

MODEL_OPTIMIZER = frameworks.MODEL_OPTIMIZER.dialect
"""The dialect of operations that Model Optimizer's API makes, before they are operations of an operation set."""

NEWEST_VERSION = "newest_version"
"""The discardable attribute of a node of ONNX that is one of the newest operation set, whatever the model imports."""


class FrameworkOp(PropertyAccess):
    """A node of a framework's model as it is there: any number of operands, results and regions, any attributes."""

    name = "framework.op"
    traits = OpTraits(lambda: (NoTerminator(),))

    KIND: ClassVar[str] = ""
    """The framework's name of the operation; for ONNX with the domain in front, `com.microsoft.QGemm`, unless it is the
    default one.
    """

    def print(self, printer: Printer) -> None:
        print_assembly(printer, self, {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return parse_free_form(parser, cls)


def encode_kind(kind: str) -> str:
    """A kind as it stands in the name of its operation."""
    return re.sub(r"[^\w.]", lambda match: "".join(f"${byte:02x}" for byte in match.group().encode()), kind, flags=re.ASCII)


def decode_kind(encoded: str) -> str:
    """The inverse of `encode_kind`."""
    return re.sub(r"(?:\$[0-9a-f]{2})+", lambda match: bytes.fromhex(match.group().replace("$", "")).decode(errors="replace"), encoded)


@cache
def operation_of_name(name: str) -> type[FrameworkOp]:
    """The operation class of the name it has in the text form, `tf.AddV2`, made at its first use."""
    kind = decode_kind(name.partition(".")[2])
    return type(kind.rpartition(".")[2], (FrameworkOp,), {"name": name, "KIND": kind, "__module__": __name__})


def operation_class(framework: str, kind: str) -> type[FrameworkOp]:
    """The operation class of a framework's kind, made at its first use."""
    return operation_of_name(f"{framework}.{encode_kind(kind)}")


def framework_dialect(name: str, kinds: Iterable[str] = ()) -> Dialect:
    """A framework dialect for tools that know closed dialects only: it has the operations of the given kinds."""
    return Dialect(name, [operation_class(name, kind) for kind in kinds], [])
