"""The argument parser of the tools: a mistake is one line that names the nearest option, and raises UsageError."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from moir.errors import UsageError
from moir.suggestions import did_you_mean

FORMER_OPTIONS: dict[str, str] = {
    **dict.fromkeys(
        ("--input_model", "--input-model", "-m", "-w", "--saved_model_dir", "--input_meta_graph", "--input_proto"),
        "the model is the first argument, without an option",
    ),
    **dict.fromkeys(("--output_model", "--output_dir", "--model_name", "--output-dir", "--model-name"), "say -o FOLDER, or -o PATH.xml"),
    **dict.fromkeys(
        ("--framework", "--use_legacy_frontend", "--use_new_frontend"), "leave it out: the framework is recognized from the file"
    ),
    "--input_checkpoint": "give the graph as the first argument, and its values with --checkpoint",
    "--saved_model_tags": "say --saved-model-tags",
    "--data_type": "say --compress-to-fp16 for half precision; nothing is needed for single precision",
    "--extension": "say --extensions",
    "--log_level": "say --verbose, or --silent",
    "--disable_nhwc_to_nchw": "say --layout-change=none",
}
"""Options of Model Optimizer and `ovc` that have another form here: what to say instead."""


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser without abbreviations of options, whose errors are `UsageError`s with the nearest names."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with the message."""
        raise UsageError(self._explained(message))

    @property
    def arguments(self) -> list[argparse.Action]:
        """All arguments, positional ones and options, in the order of the help text."""
        return list(self._actions)

    def parsed(self, arguments: Sequence[str] | None = None) -> argparse.Namespace:
        """The values of a command line, by default of this process. Raises UsageError for a mistake."""
        # Unknown options first: that the model is missing, say, may be a consequence of a wrong option.
        values, unknown = self._known(arguments)
        wrong = next((each for each in unknown if each.startswith("-") and each != "-"), None)
        if wrong is not None:
            name = wrong.partition("=")[0]
            raise UsageError(f"there is no option {name}; {self._instead(name)}")
        if unknown:
            raise UsageError(f"the argument {unknown[0]!r} is one too many; see {self.prog} --help")
        return values

    def _known(self, arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
        """The values of the known arguments, and the unknown ones. Raises UsageError if an argument is missing."""
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
            names = " and ".join(str(action.metavar or action.dest) for action in missing)
            raise UsageError(f"{names} {'is' if len(missing) == 1 else 'are'} missing; see {self.prog} --help")
        return values, unknown

    def _instead(self, name: str) -> str:
        """What to say in place of an option that does not exist."""
        if name in FORMER_OPTIONS:
            return FORMER_OPTIONS[name]
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        return did_you_mean(name.replace("_", "-"), known) or f"see {self.prog} --help"

    def _explained(self, message: str) -> str:
        """A message of argparse as a sentence with the nearest choice."""
        match = re.fullmatch(r"argument (?P<option>.+?): invalid choice: '(?P<given>.*?)' \(choose from (?P<choices>.*)\)", message)
        if match is None:
            return f"{message}; see {self.prog} --help"
        choices = re.findall(r"[\w-]+", match["choices"])
        hint = did_you_mean(match["given"], choices) or f"it is {' or '.join(choices)}"
        return f"{match['option']} cannot be {match['given']!r}; {hint}"
