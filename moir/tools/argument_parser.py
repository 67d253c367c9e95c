"""The argument parser of the tools: a mistake raises UsageError, whose message is one line and names the nearest
option.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from functools import partial
from shutil import get_terminal_size
from typing import Any, NoReturn

from moir.errors import UsageError
from moir.support.suggestions import did_you_mean

_TRUTHS = {"True": True, "true": True, "False": False, "false": False}


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser without abbreviations of options, whose errors are `UsageError`s with the nearest names."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # The base class makes a formatter for each argument, which by default asks the terminal for its width.
        formatter = partial(argparse.RawDescriptionHelpFormatter, width=get_terminal_size().columns - 2)
        super().__init__(*arguments, allow_abbrev=False, formatter_class=formatter, **options)
        self.spellings: dict[str, str] = {}
        """Further spellings of options, which help and completion omit -> the option."""
        self.switches: dict[str, str] = {}
        """The options that are True without a value and also accept a truth value (`--option=False`), with their
        destinations.
        """
        self.rest: str | None = None
        """The destination of a list of further arguments without an option; None if there can be none."""

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with the message."""
        raise UsageError(self._explained(message))

    def add_debug_argument(self) -> None:
        """Add `--debug`, which each tool has."""
        self.add_argument("--debug", action="store_true", help="print a traceback with an error")

    @property
    def arguments(self) -> list[argparse.Action]:
        """All arguments, positional ones and options, in the order of the help text."""
        return list(self._actions)

    def parsed(self, arguments: Sequence[str] | None = None) -> argparse.Namespace:
        """The values of a command line, by default of this process. Raises UsageError for a mistake."""
        # Unknown options are reported first: a missing model may be a consequence of a wrong option.
        given, truths = self._translated(sys.argv[1:] if arguments is None else arguments)
        values, unknown = self._known(given)
        vars(values).update(truths)
        wrong = next((each for each in unknown if each.startswith("-") and each != "-"), None)
        if wrong is not None:
            name = wrong.partition("=")[0]
            raise UsageError(f"there is no option {name}; {self._instead(name)}")
        if self.rest is not None:
            setattr(values, self.rest, unknown)
        elif unknown:
            raise UsageError(f"the argument {unknown[0]!r} is one too many; see {self.prog} --help")
        return values

    def _translated(self, arguments: Sequence[str]) -> tuple[list[str], dict[str, bool]]:
        """A command line with moir's option names, and the switches that were written with a value (`--x=True`), by
        name.

        Those switches are left out of the command line.
        """
        translated: list[str] = []
        truths: dict[str, bool] = {}
        pending = list(arguments)
        while pending and pending[0] != "--":
            name, sign, value = (each := pending.pop(0)).partition("=")
            name = self.spellings.get(name, name)
            if name in self.switches and not sign and pending and pending[0] in _TRUTHS:
                sign, value = "=", pending.pop(0)
            if name in self.switches and sign:
                truths[self.switches[name]] = self._truth(each, value)
            else:
                translated.append(f"{name}{sign}{value}")
        return [*translated, *pending], truths

    def _truth(self, argument: str, value: str) -> bool:
        if value not in _TRUTHS:
            raise UsageError(f"{argument}: {value!r} is neither True nor False")
        return _TRUTHS[value]

    def _known(self, arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
        """The values of the known arguments, and the unknown ones. Raises UsageError if an argument is missing.

        `arguments` is the command line; None for that of this process.
        """
        required = [action for action in self._actions if action.required]
        for action in required:
            action.required = False
        try:
            values, unknown = self.parse_known_args(arguments)
        finally:
            for action in required:
                action.required = True
        missing = [action for action in required if getattr(values, action.dest, None) is None]
        if missing and not any(each.startswith("-") for each in unknown):
            names = " and ".join(str([*action.option_strings, action.metavar or action.dest][0]) for action in missing)
            raise UsageError(f"{names} {'is' if len(missing) == 1 else 'are'} missing; see {self.prog} --help")
        return values, unknown

    def _instead(self, name: str) -> str:
        """The hint for an option that does not exist: the most similar option, or else how to get the help text."""
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        return did_you_mean(name.replace("_", "-"), known) or f"see {self.prog} --help"

    def _explained(self, message: str) -> str:
        """A message of argparse as a sentence, with the most similar choice if a choice is invalid."""
        match = re.fullmatch(r"argument (?P<option>.+?): invalid choice: '(?P<given>.*?)' \(choose from (?P<choices>.*)\)", message)
        if match is None:
            return f"{message}; see {self.prog} --help"
        choices = re.findall(r"[\w-]+", match["choices"])
        hint = did_you_mean(match["given"], choices) or f"it is {' or '.join(choices)}"
        return f"{match['option']} cannot be {match['given']!r}; {hint}"
