"""The solver z3, which has no types: its terms are `Any`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

z3: Any = import_module("z3")

z3.ArithRef.__floordiv__ = z3.ArithRef.__truediv__
"""The quotient of sizes, which z3 rounds down, as `evaluate` of an operation writes it."""
