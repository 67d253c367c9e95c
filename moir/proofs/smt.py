"""The solver z3, which has no types: its terms are `Any`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

z3: Any = import_module("z3")

z3.ArithRef.__floordiv__ = z3.ArithRef.__truediv__
"""The quotient of sizes, which z3 rounds down, as `evaluate` of an operation writes it."""

STEPS, MOST_WAITING = 3000, 4
"""The steps of z3 that count as a millisecond, and how many times as long as that it may take on a busy machine."""


def limited_solver(milliseconds: int) -> Any:
    """A solver that answers "unknown" after a time for each question, which is counted in steps of z3: the answer does
    not depend on what else the machine does.
    """
    solver = z3.Solver()
    solver.set("rlimit", milliseconds * STEPS)
    solver.set("timeout", milliseconds * MOST_WAITING)
    return solver
