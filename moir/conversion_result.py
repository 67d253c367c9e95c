"""The result of a conversion as a record: what `moir --json` prints, and what conversions of many models yield."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from moir.errors import MoirError
from moir.support.records import Record
from moir.version import VERSION

if TYPE_CHECKING:
    from typing import TypeAlias

    Status: TypeAlias = Literal["converted", "cached", "unchanged", "failed"]

# A proxy cannot be sent between processes.
_NONE: Mapping[str, Any] = {}

_VARYING = r"""(?<!\w)'[^']*'|"[^"]*"|…|(?<![\w.?])(?:[+-]?\d|\?x)[\d.,x?]*"""
_VARYING_LIST = re.compile(rf"(?:{_VARYING})(?:[,;]?\s*(?:and\s|or\s)?(?:{_VARYING}))*(?: in all)?")
"""A pattern for the parts of a reason that vary from model to model, and lists of them: names in quotation marks,
numbers and shapes, as in `'a', 'b', … 5 in all`.
"""


class TensorInterface(Record):
    """An input or an output of a converted model.

    Args:
        name: its name; empty if it has none.
        element_type: its element type, as IR writes it: `f32`.
        shape: its dimensions: a size, or the name of a dynamic dimension, `?` without one; None for a dynamic rank.
    """

    name: str
    element_type: str
    shape: tuple[int | str, ...] | None

    def __str__(self) -> str:
        return f"{self.name}: {self.element_type}[{'...' if self.shape is None else ','.join(map(str, self.shape))}]"


class FailureDescription(Record):
    """Why a conversion failed, from the exception.

    Args:
        error: the name of the class of the exception, such as `UnsupportedOperationError`.
        message: what the command line prints, on one line.
        reason: what is wrong, without operation, node, location and hint.
        operation: the operation of the framework's dialect at fault, such as `onnx.Conv`; None if it is none.
        kind: the framework's name of that operation, such as `Conv`.
        node: the framework's name of the node.
        location: the file, with an offset or a line where known.
        hint: what the user can do about it.
        exit_status: the exit status of the command line: 1, or 2 for a mistake in the arguments.
    """

    error: str
    message: str
    reason: str
    operation: str | None = None
    kind: str | None = None
    node: str | None = None
    location: str | None = None
    hint: str | None = None
    exit_status: int = 1

    @property
    def group(self) -> str:
        """A key for grouping failures: the kind of the operation, or else the class of the exception, and the reason
        without names and numbers.

        Two models that fail at the same kind for the same reason have the same key.
        """
        reason = self.reason.replace(self.location, "…") if self.location else self.reason
        return f"{self.kind or self.error}: {_VARYING_LIST.sub('…', reason)}"

    @staticmethod
    def of(error: BaseException, message: str, exit_status: int, model: str | None = None) -> FailureDescription:
        """The description of an exception.

        Args:
            error: the exception.
            message: its message, as the command line prints it.
            exit_status: the exit status of the command line.
            model: the file that was converted, which is the location of an error that has none.
        """
        name = type(error).__name__
        if not isinstance(error, MoirError):
            return FailureDescription(name, message, message, location=model, exit_status=exit_status)
        kind = None
        if error.operation is not None:
            from moir.dialects.framework import decode_kind

            kind = decode_kind(error.operation.partition(".")[2])
        location = error.location or error.model or model
        return FailureDescription(name, message, error.reason, error.operation, kind, error.node, location, error.hint, exit_status)


class SourceFile(Record):
    """A file that was read for a conversion.

    Args:
        path: its path, or its address without the query.
        bytes: its size in bytes.
        changed: the time of its last change in nanoseconds; 0 at an address.
        tag: the entity tag of its version at an address; empty for a path.
    """

    path: str
    bytes: int
    changed: int
    tag: str = ""


class ConversionResult(Record):
    """The result of converting one model, whether it succeeded or failed.

    Args:
        model: the path of the model, as it was given.
        status: `converted`, `cached` if the files came from a cache, `unchanged` if an earlier run has written them, or
            `failed`.
        framework: the name of the dialect of its framework, such as `onnx`; empty if that is not known.
        files: the paths of the files written, the .xml first.
        sizes: their sizes in bytes, in the same order.
        seconds: the durations of the parts of the conversion by name (`import`, `passes`, `emission`, …), and their
            `total`.
        inputs: the inputs of the converted model, in order.
        outputs: its outputs, in order.
        source_operations: the number of operations of the source model by kind, without constants.
        operations: the number of operations of the converted model by kind.
        weights_bytes: the size of its constants.
        notes: what the conversion tells the user, each a sentence.
        failure: why it failed; None if it did not.
        read: the files that were read.
        request: a digest of what was asked for: model, output, options and version; empty if it is not known.
    """

    model: str
    status: Status
    framework: str = ""
    files: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    seconds: Mapping[str, float] = _NONE
    inputs: tuple[TensorInterface, ...] = ()
    outputs: tuple[TensorInterface, ...] = ()
    source_operations: Mapping[str, int] = _NONE
    operations: Mapping[str, int] = _NONE
    weights_bytes: int = 0
    notes: Sequence[str] = ()
    failure: FailureDescription | None = None
    read: tuple[SourceFile, ...] = ()
    request: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as an object of JSON, with moir's version; `null` for what is not known."""
        return {
            "model": self.model,
            "status": self.status,
            "framework": self.framework or None,
            "files": [{"path": path, "bytes": size} for path, size in zip(self.files, self.sizes, strict=True)],
            "seconds": dict(self.seconds),
            "inputs": [each.by_name() for each in self.inputs],
            "outputs": [each.by_name() for each in self.outputs],
            "source_operations": dict(self.source_operations),
            "operations": dict(self.operations),
            "weights_bytes": self.weights_bytes,
            "notes": list(self.notes),
            "error": None if self.failure is None else _error_fields(self.failure),
            "read": [each.by_name() for each in self.read],
            "request": self.request or None,
            "moir": VERSION,
        }

    @staticmethod
    def of_json(fields: Mapping[str, Any]) -> ConversionResult:
        """The result of a conversion that has not failed, from the object of `to_json`.

        Raises KeyError, TypeError or ValueError for other objects.
        """
        return ConversionResult(
            model=str(fields["model"]),
            status=fields["status"],
            framework=fields["framework"] or "",
            files=tuple(str(each["path"]) for each in fields["files"]),
            sizes=tuple(int(each["bytes"]) for each in fields["files"]),
            seconds=dict(fields["seconds"]),
            inputs=tuple(_interface_of(each) for each in fields["inputs"]),
            outputs=tuple(_interface_of(each) for each in fields["outputs"]),
            source_operations=dict(fields["source_operations"]),
            operations=dict(fields["operations"]),
            weights_bytes=int(fields["weights_bytes"]),
            notes=list(fields["notes"]),
            read=tuple(SourceFile(**each) for each in fields["read"]),
            request=fields["request"] or "",
        )


def _interface_of(fields: Mapping[str, Any]) -> TensorInterface:
    shape = fields["shape"]
    return TensorInterface(fields["name"], fields["element_type"], None if shape is None else tuple(shape))


def _error_fields(failure: FailureDescription) -> dict[str, Any]:
    fields = failure.by_name()
    return {"class": fields.pop("error"), **fields, "group": failure.group}
