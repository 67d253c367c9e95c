"""The solver z3. Its package has no type annotations, so terms are `Any`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

z3: Any = import_module("z3")

z3.ArithRef.__floordiv__ = z3.ArithRef.__truediv__
"""The quotient of sizes, which z3 rounds down, as `evaluate` of an operation writes it."""

STEPS, MOST_WAITING = 3000, 4
"""The number of z3's steps per millisecond, and by which factor a question may exceed its time on a busy machine."""


def limited_solver(milliseconds: int) -> Any:
    """A solver that answers "unknown" after a time for each question.

    The time is counted in steps of z3, so that answers do not depend on the load of the machine.
    """
    solver = z3.Solver()
    solver.set("rlimit", milliseconds * STEPS)
    solver.set("timeout", milliseconds * MOST_WAITING)
    return solver
