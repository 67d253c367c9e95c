"""Open framework dialects: `onnx.Conv`, `tf.FusedBatchNormV3`, `onnx.com.microsoft.QGemm`, …

An operation class per kind is made on demand, so any node of any model imports, a kind nobody knows included. Attributes of the node are
properties; characters of a kind that the text form has no place for are written `$xx` (hexadecimal).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, Self

from xdsl.context import Context
from xdsl.ir import Dialect, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator

from moir.dialects.assembly import parse_free_form, print_assembly
from moir.dialects.opset.base import PropertyAccess

FRAMEWORKS = ("onnx", "tf", "tflite", "caffe", "mxnet", "paddle")
"""The dialects of frameworks."""

MODEL_OPTIMIZER = "mo"
"""The dialect of operations that Model Optimizer's API makes, before they are operations of an operation set."""

OPEN_DIALECTS = frozenset((*FRAMEWORKS, MODEL_OPTIMIZER))
"""The dialects that are open: they have an operation of any name."""

NEWEST_VERSION = "newest_version"
"""The discardable attribute of a node of ONNX that is one of the newest operation set, whatever the model imports."""


class FrameworkOp(PropertyAccess):
    """A node of a framework's model as it is there: any number of operands, results and regions, any attributes."""

    name = "framework.op"
    traits = OpTraits(lambda: (NoTerminator(),))

    KIND: ClassVar[str] = ""
    """The framework's name of the operation; for ONNX with the domain in front, `com.microsoft.QGemm`, unless it is the default one."""

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
def _operation_class(name: str) -> type[FrameworkOp]:
    kind = decode_kind(name.partition(".")[2])
    return type(kind.rpartition(".")[2], (FrameworkOp,), {"name": name, "KIND": kind, "__module__": __name__})


def operation_class(framework: str, kind: str) -> type[FrameworkOp]:
    """The operation class of a framework's kind, made at its first use."""
    return _operation_class(f"{framework}.{encode_kind(kind)}")


class FrameworkContext(Context):
    """A context in which every operation of an open dialect exists: those of the frameworks, `mo` and `extension`."""

    weights: Any = None
    """Where the parser finds data that is in a side file (a `moir.dialects.data.SideFileReader`)."""

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        framework, _, kind = name.partition(".")
        if framework in OPEN_DIALECTS and kind:
            return _operation_class(name)
        defined = super().get_optional_op(name, dialect_stack=dialect_stack)
        if framework == "extension" and kind and defined is None:
            from moir.dialects.extension import extension_operation

            return extension_operation(name)
        return defined

    def clone(self) -> FrameworkContext:
        copy = FrameworkContext(self.allow_unregistered)
        copy.__dict__.update(super().clone().__dict__)
        copy.weights = self.weights
        return copy


def framework_dialect(name: str, kinds: Iterable[str] = ()) -> Dialect:
    """A framework dialect for tools that know closed dialects only: it has the operations of the given kinds."""
    return Dialect(name, [operation_class(name, kind) for kind in kinds], [])
