"""Completion of command lines: scripts for bash, zsh and fish, made from the argument parsers of the tools.

    source <(moir --completion bash)
    source <(moir --completion zsh)
    moir --completion fish | source

The first word is a command or a file. shtab 1.13, a library for completion, completes only one of the two.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from moir.tools.argument_parser import ArgumentParser

_PASS_METAVARS = frozenset(("PASS", "PIPELINE"))


@dataclass(frozen=True)
class Option:
    """An option of a command line.

    Args:
        spellings: `-o`, `--output`.
        help: the help text.
        has_value: whether an argument follows.
        values: the possible values; empty for a file or any other text.
    """

    spellings: tuple[str, ...]
    help: str
    has_value: bool
    values: tuple[str, ...]


@dataclass(frozen=True)
class CommandLine:
    """The options of a tool, and those of each of its commands."""

    options: tuple[Option, ...]
    commands: Mapping[str, tuple[Option, ...]]


def command_lines(parsers: Mapping[str, ArgumentParser]) -> dict[str, CommandLine]:
    """The command lines of tools by their names.

    Args:
        parsers: the parsers of the tools and of their commands, whose names begin with that of the tool.
    """
    options = {name: tuple(_options(parser)) for name, parser in parsers.items()}
    tools = [name for name in options if " " not in name]
    return {
        tool: CommandLine(options[tool], {name.removeprefix(f"{tool} "): options[name] for name in options if name.startswith(f"{tool} ")})
        for tool in tools
    }


def _options(parser: ArgumentParser) -> Iterator[Option]:
    from moir.pipeline import pass_names

    for action in parser.arguments:
        if action.option_strings and action.help != argparse.SUPPRESS:
            values = tuple(map(str, action.choices or ()))
            if not values and action.metavar in _PASS_METAVARS:
                values = tuple(pass_names())
            has_value = action.nargs != 0
            yield Option(tuple(action.option_strings), (action.help or "").replace("%%", "%"), has_value, values)


def script(shell: str, parsers: Mapping[str, ArgumentParser]) -> str:
    """The script for a shell that completes the command lines of tools.

    Args:
        shell: `bash`, `zsh` or `fish`.
        parsers: see `command_lines`.
    """
    writer = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "".join(writer(tool, line) for tool, line in command_lines(parsers).items())


def _words(options: tuple[Option, ...]) -> str:
    return " ".join(spelling for option in options for spelling in option.spellings)


def _function(tool: str) -> str:
    return f"_{tool.replace('-', '_')}"


def _bash(tool: str, line: CommandLine) -> str:
    every = (*line.options, *(option for options in line.commands.values() for option in options))
    values = {spelling: option for option in every for spelling in option.spellings if option.has_value}
    cases = "".join(
        f'        {spelling}) COMPREPLY=($(compgen {_bash_values(option)} -- "$word")); return ;;\n' for spelling, option in values.items()
    )
    commands = "".join(f"        {name}) words={_single_quoted(_words(options))} ;;\n" for name, options in line.commands.items())
    return f"""{_function(tool)}() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words
    # bash makes a word of the equals sign of --option=value.
    [[ $word == = ]] && word=
    [[ $previous == = ]] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    case "$previous" in
{cases}    esac
    case "${{COMP_WORDS[1]}}" in
{commands}        *) words={_single_quoted(_words(line.options))} ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
        (( COMP_CWORD == 1 )) && COMPREPLY+=($(compgen -W {_single_quoted(" ".join(line.commands))} -- "$word"))
    fi
}}
complete -o filenames -F {_function(tool)} {tool}
"""


def _bash_values(option: Option) -> str:
    return f"-W {_single_quoted(' '.join(option.values))}" if option.values else "-f"


def _zsh(tool: str, line: CommandLine) -> str:
    commands = "".join(
        f"        {name})\n            shift words; (( CURRENT-- ))\n{_zsh_arguments(options, 12)}            return ;;\n"
        for name, options in line.commands.items()
    )
    names = " ".join(line.commands)
    return f"""{_function(tool)}() {{
    case "${{words[2]}}" in
{commands}    esac
    (( CURRENT == 2 )) && [[ $PREFIX != -* ]] && compadd -- {names}
{_zsh_arguments(line.options, 4)}}}
compdef {_function(tool)} {tool}
"""


def _zsh_arguments(options: tuple[Option, ...], indentation: int) -> str:
    specifications: list[str] = []
    for option in options:
        help = option.help.translate(str.maketrans({"[": "(", "]": ")", ":": " -"}))
        for spelling in option.spellings:
            value = ""
            if option.has_value:
                value = f":value:({' '.join(option.values)})" if option.values else ":value:_files"
            sign = "=" if option.has_value and spelling.startswith("--") else ""
            specifications.append(_single_quoted(f"{spelling}{sign}[{help}]{value}"))
    joined = f" \\\n{' ' * (indentation + 4)}".join(("_arguments", *specifications, "'*:file:_files'"))
    return f"{' ' * indentation}{joined}\n"


def _fish(tool: str, line: CommandLine) -> str:
    rows = [f"complete -c {tool} -n __fish_use_subcommand -a {_single_quoted(name)}" for name in line.commands]
    for name, options in (("", line.options), *line.commands.items()):
        known = " ".join(line.commands)
        condition = f"__fish_seen_subcommand_from {name}" if name else f"not __fish_seen_subcommand_from {known}" if known else ""
        for option in options:
            parts = [f"complete -c {tool}", *((f"-n {_single_quoted(condition)}",) if condition else ())]
            for spelling in option.spellings:
                parts.append(f"-l {spelling[2:]}" if spelling.startswith("--") else f"-{'s' if len(spelling) == 2 else 'o'} {spelling[1:]}")
            parts.append(f"-d {_single_quoted(option.help)}")
            if option.has_value:
                parts.append(f"-x -a {_single_quoted(' '.join(option.values))}" if option.values else "-r -F")
            rows.append(" ".join(parts))
    return "\n".join(rows) + "\n"


def _single_quoted(text: str) -> str:
    """A text as one word of a shell, in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"
