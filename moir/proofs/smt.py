"""The solver z3, which has no types: its terms are `Any`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

z3: Any = import_module("z3")
