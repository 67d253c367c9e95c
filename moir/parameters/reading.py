"""The parameters of the readers of models, made of the options in the records of the frameworks."""

from __future__ import annotations

from functools import cache
from typing import Any

from moir.frameworks import ReaderOption, readable
from moir.parameters.kinds import FILE, LIST, TEXT, or_none
from moir.parameters.parameter import Parameter


def reading_parameters() -> tuple[Parameter[Any], ...]:
    """The parameters of the readers of all frameworks; None is the default of each."""
    return tuple(_parameter(option, framework.title) for framework in readable() for option in framework.options)


@cache
def _parameter(option: ReaderOption, title: str) -> Parameter[Any]:
    kind = or_none(LIST) if option.is_list else or_none(FILE) if option.is_path else or_none(TEXT)
    return Parameter(option.name, kind, None, option.help, option.metavar, option.flag, option.former, group=title)
