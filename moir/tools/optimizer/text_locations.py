"""The place of an error in a parsed text: the line and column of the operation that it is about."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.ir import Operation
from xdsl.utils.lexer import Location, Span

from moir.dialects.names import name_of
from moir.errors import ConversionError, InternalError
from moir.rewriting.failing_operation import failing_operation, subject_of
from moir.rewriting.verification import OperationVerifyException

if TYPE_CHECKING:
    from moir.tools.optimizer.text import TextParser


class TextLocations:
    """The locations of operations of a parsed text.

    Args:
        parser: the parser, which has parsed the text.
        line_offset: number of lines of the file before the text.
    """

    def __init__(self, parser: TextParser, line_offset: int = 0) -> None:
        self._positions = parser.positions
        self._input = parser.lexer.input
        self._line_offset = line_offset

    def of_operation(self, op: Operation) -> Location | None:
        """The location of an operation in the text. For an operation that is not in the text, that of one there with
        the same node name.

        Returns None if there is neither.
        """
        if op not in self._positions:
            return self.of_node(op.name, name_of(op))
        position = self._positions[op]
        return Span(position, position, self._input, self._line_offset).get_location()

    def of_node(self, operation: str | None, node: str | None) -> Location | None:
        """The location of the first operation that comes from a node, preferably one with the operation name
        `operation`.

        Returns None if the text has no operation of the node.
        """
        candidates = self._by_node.get(node or "", [])
        matching = [op for op in candidates if op.name == operation] or candidates
        return self.of_operation(matching[0]) if matching else None

    @cached_property
    def _by_node(self) -> dict[str, list[Operation]]:
        by_node: dict[str, list[Operation]] = {}
        # A pass may have renamed or erased an operation: its name in the text is not kept.
        for op in sorted(self._positions, key=self._positions.__getitem__):
            if name := name_of(op):
                by_node.setdefault(name, []).append(op)
        return by_node

    def of_error(self, error: Exception) -> Location | None:
        """The location of the operation that an error is about; None if it is not about an operation of the text."""
        if isinstance(error, OperationVerifyException):
            return self.of_operation(error.subject)
        if isinstance(error, ConversionError):
            subject = subject_of(error)
            if subject is not None and (subject is error.subject or subject in self._positions):
                return self.of_operation(subject)
            return None if error.operation is None else self.of_node(error.operation, error.node)
        if isinstance(error, InternalError) and error.__cause__ is not None:
            failing = failing_operation(error.__cause__.__traceback__)
            return None if failing is None else self.of_operation(failing)
        return None


def set_location(error: Exception, location: Location | None) -> None:
    """Add a location to an error that has none; None changes nothing."""
    if location is not None and isinstance(error, ConversionError | OperationVerifyException | InternalError):
        error.location = error.location or str(location)
