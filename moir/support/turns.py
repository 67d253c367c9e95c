"""Lets only one thread at a time run functions of the Python interface.

Tables of operations and lowerings are filled when they are first needed, and interned values are shared by all models.
A conversion computes in Python, which runs one thread at a time, so waiting costs no time; several processes convert at
the same time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_TURN = RLock()


def in_turn(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator for functions of the interface, of which only one thread at a time can run any.

    A function may call another one, also from an observer or an extension, but must not wait for another thread that
    calls one.
    """

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        with _TURN:
            return function(*positional, **named)

    return call
