"""The reference of the commands, made of their argument parsers."""

from __future__ import annotations

from argparse import Action, ArgumentParser
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import Any, cast

from moir.tools.convert import argument_parsers

HEAD = """# Commands

The options of the commands, made of their argument parsers. The exit status of each is 0 if it is done, 1 if the model
cannot be read, converted or written, 2 if the command line is wrong, 130 if it was interrupted, and 141 if the reader of
its output closed the pipe, as `head` does.
"""

_WIDTH = 100


def _usage(parser: ArgumentParser) -> str:
    formatter = cast(Any, parser.formatter_class)(prog=parser.prog, width=_WIDTH)
    formatter.add_usage(parser.usage, cast(Any, parser)._actions, cast(Any, parser)._mutually_exclusive_groups)
    return formatter.format_help().strip()


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _invocation(parser: ArgumentParser, action: Action) -> str:
    """How an argument is written: each of its names, with its value."""
    formatter = cast(Any, parser)._get_formatter()
    default = action.dest.upper() if action.option_strings else action.dest
    value = "" if action.nargs == 0 else formatter._format_args(action, default)
    names = [f"{option} {value}".strip() for option in action.option_strings] or [value]
    return ", ".join(f"`{name}`" for name in names)


def _rows(parser: ArgumentParser, actions: Sequence[Action]) -> Iterator[str]:
    formatter = cast(Any, parser)._get_formatter()
    for action in actions:
        if action.help != "==SUPPRESS==":
            yield f"| {_cell(_invocation(parser, action))} | {_cell(formatter._expand_help(action) if action.help else '')} |"


def section(name: str, parser: ArgumentParser) -> str:
    """The section of a command: what it is for, its usage, a table for each group of arguments."""
    parts = [f"## {name}", parser.description or "", f"```text\n{_usage(parser)}\n```"]
    for group in cast(Any, parser)._action_groups:
        rows = list(_rows(parser, group._group_actions))
        if rows:
            table = ["| argument | meaning |", "| --- | --- |", *rows]
            title = group.title or "arguments"
            parts += [f"**{title[0].upper()}{title[1:]}**", "\n".join(table)]
    parts.append(dedent(parser.epilog or ""))
    return "\n\n".join(part for part in parts if part)


def document() -> str:
    """The text of the page."""
    return "\n\n".join([HEAD.strip(), *(section(name, parser) for name, parser in argument_parsers().items())]) + "\n"
