"""The one exception family of moir, and its warning.

Every failure a user can cause is a `MoirError`. A `ConversionError` is a mistake in the model (or in an extension): it
names the operation and the node of the source model, what is wrong and, where possible, the next step. A `UsageError`
is a mistake in the input of the caller: an argument of a function, a command line, a pipeline as text. The command
line prints either as one line and exits with status 1 or 2. A file or folder that cannot be read is a ConversionError.
An InternalError is a bug of moir.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class MoirError(Exception):
    """A failure that the user can do something about.

    Args:
        reason: what is wrong, a clause without a full stop.
        operation: framework type of the node, e.g. ``onnx.Conv``.
        node: the framework's own name of the node.
        location: file, and byte offset or line, where known.
        hint: what the user can do about it.
    """

    subject: object = None
    """The operation of the module at fault, where it is known; a tool that parsed the module from text can tell its
    line.
    """

    model: str | None = None
    """The path of the model that was converted, where it is known."""

    origin: str | None = None
    """The nodes of the source model that the operation comes from; None if unknown, or if `node` names it."""

    def __init__(
        self,
        reason: str,
        *,
        operation: str | None = None,
        node: str | None = None,
        location: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.operation = operation
        self.node = node
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.location, self.described_place(), self.reason) if part)
        return f"{text}; {self.hint}" if self.hint else text

    def described_place(self) -> str:
        """The part of the message with the operation, its node and its origin; empty if the reason itself names
        them.
        """
        origin = f"(from {self.origin})" if self.origin else None
        return " ".join(part for part in (self.operation, repr(self.node) if self.node else None, origin) if part)


class ConversionError(MoirError):
    """A model cannot be read, converted or written."""


class ModelFileError(ConversionError):
    """The file is damaged, is not a model of its framework, or refers to files outside of its folder."""


class UnsupportedOperationError(ConversionError):
    """The module contains operations that no lowering or raising handles."""


class MissingLoweringError(UnsupportedOperationError):
    """There is no lowering for some operations. `operation` and `node` are the first, `operations` are all.

    Args:
        reason: what is wrong; it names all operations and nodes.
        operations: the names of the nodes, by the names of their operations.
        operation: the first of the operations.
        node: the name of its node.
        hint: what the user can do about it.
    """

    def __init__(
        self,
        reason: str,
        operations: Mapping[str, Sequence[str]],
        *,
        operation: str | None = None,
        node: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(reason, operation=operation, node=node, hint=hint)
        self.operations = operations

    def described_place(self) -> str:
        return ""


class InferenceError(ConversionError):
    """Operand types or values contradict the operation's definition."""


class EmissionError(ConversionError):
    """The module cannot be written as OpenVINO IR."""


class ExecutionError(ConversionError):
    """A model cannot be run: its runtime is missing, or fails."""


class UsageError(MoirError):
    """An argument, the command line, or a text with the same syntax names what does not exist, or is inconsistent."""


class ArgumentError(UsageError, TypeError):
    """An argument of a function is unknown, missing, of a wrong type, or not one of the values it can have."""


INTERRUPTIONS = (KeyboardInterrupt, GeneratorExit)
"""Exceptions that end a conversion from outside.

Any other, of whatever class, is a failure of the code that raised it.
"""


class InternalError(MoirError):
    """An unexpected exception in a stage of a conversion, which is a bug of moir; the exception is its `__cause__`.

    Args:
        stage: the stage, e.g. `pass fold-constants`.
    """

    def __init__(self, stage: str) -> None:
        super().__init__(f"internal error in {stage}")
        self.stage = stage

    def __str__(self) -> str:
        cause = self.__cause__
        return super().__str__() if cause is None else f"{super().__str__()}: {type(cause).__name__}: {cause}"


class ConversionWarning(UserWarning):
    """A note of a conversion: the model is converted, and there is something that the user should know."""
