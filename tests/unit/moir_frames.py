"""Functions of tests that take the place of moir's own and fail as these would, with a frame in a file of moir."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import moir

F = TypeVar("F", bound=Callable[..., Any])


def of_moir(function: F) -> F:
    """The function, whose frames are said to be in a file of moir: its exceptions are bugs of moir."""
    code: Any = function
    code.__code__ = code.__code__.replace(co_filename=moir.__file__)
    return function
