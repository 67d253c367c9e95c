"""The one exception family of moir.

Every failure a user can cause is a `ConversionError`: it names the operation and the node of the source model it is
about, says what is wrong and, where there is one, the next step. The command line prints it as one line and exits with
status 1.
"""

from __future__ import annotations


class ConversionError(Exception):
    """A model cannot be read, converted or written.

    Args:
        reason: what is wrong, a clause without a full stop.
        operation: framework type of the node, e.g. ``onnx.Conv``.
        node: the framework's own name of the node.
        location: file, and byte offset or line, where known.
        hint: what the user can do about it.
    """

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
        place = " ".join(part for part in (self.operation, repr(self.node) if self.node else None) if part)
        text = ": ".join(part for part in (self.location, place, self.reason) if part)
        return f"{text}; {self.hint}" if self.hint else text


class ModelFileError(ConversionError):
    """The model file is no model of its framework, is damaged, or refers to something it may not."""


class UnsupportedOperationError(ConversionError):
    """Operations are left that no lowering handles."""


class InferenceError(ConversionError):
    """Operand types or values contradict the operation's definition."""


class EmissionError(ConversionError):
    """The module cannot be written as OpenVINO IR."""


class UsageError(Exception):
    """The command line, or a text that stands for one, asks for something that does not exist or does not fit together."""


class InternalError(Exception):
    """An exception nobody expected, in a stage of a conversion.

    Args:
        stage: where it happened, `pass fold-constants`.
    """

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.stage = stage
