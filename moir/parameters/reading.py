"""The parameters of the readers of models, made from the options in the records of the frameworks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from moir.frameworks import readable
from moir.frameworks.record import Framework, ReaderOption
from moir.parameters.arguments import Expected
from moir.parameters.kinds import FILE, LIST, TEXT, or_none
from moir.parameters.parameter import Parameter


def reading_parameters(frameworks: Iterable[Framework] | None = None) -> tuple[Parameter[Any], ...]:
    """The parameters of the readers of frameworks, by default of all; None is the default of each.

    An option that several frameworks have is one parameter.
    """
    titles: dict[ReaderOption, list[str]] = {}
    for framework in readable(frameworks):
        for option in framework.options:
            titles.setdefault(option, []).append(framework.title)
    return tuple(_parameter(option, " and ".join(listed)) for option, listed in titles.items())


def expected_of_readers(frameworks: Iterable[Framework] | None = None) -> dict[str, Expected]:
    """The notation that each keyword of the readers accepts, by keyword; by default for all frameworks."""
    return {each.name: each.kind.expected for each in reading_parameters(frameworks)}


@cache
def _parameter(option: ReaderOption, title: str) -> Parameter[Any]:
    kind = or_none(LIST) if option.is_list else or_none(FILE) if option.is_path else or_none(TEXT)
    return Parameter(option.name, kind, None, option.help, option.metavar, option.flag, option.former, group=title)
