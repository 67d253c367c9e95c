"""Reading values that have a notation of their own, with errors that give the position of the mistake in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from moir.errors import UsageError

Item = TypeVar("Item")

_QUOTED = r"""'([^']*)'|"([^"]*)\""""


class NotationError(UsageError, ValueError):
    """A text does not have the expected notation."""


class Notation:
    """A text that is read from its start to its end.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.skip_blanks()

    @property
    def rest(self) -> str:
        """The text that is not read yet."""
        return self.text[self.position :]

    def skip_blanks(self) -> None:
        """Read blanks, if there are any."""
        self.position = len(self.text) - len(self.rest.lstrip())

    def matched(self, pattern: str) -> str | None:
        """Read the text that a regular expression matches at the current position, and the blanks after it; returns the
        text.

        None, with nothing read, if it does not match.
        """
        match = re.compile(pattern).match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        self.skip_blanks()
        return match[0]

    def expect(self, pattern: str, description: str, *, hint: str | None = None) -> str:
        """Read the text that a regular expression matches at the current position, and the blanks after it; returns the
        text.

        Raises NotationError if it does not match, in which `description` names the missing text, and `hint` the next
        step.
        """
        text = self.matched(pattern)
        if text is None:
            raise self.fault(f"{description} is missing", hint=hint)
        return text

    def name(self) -> str:
        """Read the name of an input or output, up to the bracket after it; empty without a bracket.

        A name in quotes is taken literally.
        """
        match = re.compile(rf"(?:{_QUOTED}|([^()\[\],]*?))\s*(?=[(\[])").match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[1] or match[2] or match[3] or ""

    def items(self, read: Callable[[Notation], Item]) -> list[Item]:
        """The items of a list, at least one, separated by commas; `read` reads an item."""
        items = [read(self)]
        while self.matched(",") is not None:
            items.append(read(self))
        return items

    def end(self) -> None:
        """Raises NotationError if there is more to read."""
        if self.rest:
            raise self.fault(f"{self.rest[:1]!r} is unexpected")

    def fault(self, reason: str, *, at: int | None = None, hint: str | None = None) -> NotationError:
        """The error for a mistake.

        Args:
            reason: what is wrong, a clause.
            at: the position of the mistake; by default the current position.
            hint: the next step.
        """
        position = self.position if at is None else at
        where = f"at character {position + 1}" if position < len(self.text) else "at the end"
        return NotationError(f"{self.text!r}: {reason} {where}", hint=hint)


def quoted_name(name: str) -> str:
    """A name in the notation that `Notation.name` reads, quoted if necessary."""
    if re.fullmatch(r"[^()\[\],'\"\s]+", name) and "->" not in name:
        return name
    quote = '"' if "'" in name else "'"
    return f"{quote}{name}{quote}"
