"""Small graphs: around the pattern of each pass, with near misses that must not be rewritten, and with control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from importlib import import_module

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.sketch import CONTROL_FLOW, PATTERNS, Pattern, Sketch

REWRITTEN = ("activations", "normalizations", "products", "movements", "shapes", "cells")
"""Files of patterns of passes."""

BODIES = ("loops", "branches", "scans", "sequences")
"""Files of patterns of control flow."""


def small_graph(draw: Draw, only: str) -> Case:
    """A graph around the pattern of one pass."""
    return _drawn(draw, only, REWRITTEN, PATTERNS)


def control_flow(draw: Draw, only: str) -> Case:
    """A graph with bodies, sequences or optional values."""
    return _drawn(draw, only, BODIES, CONTROL_FLOW)


def _drawn(draw: Draw, only: str, families: Sequence[str], table: Mapping[str, Pattern]) -> Case:
    for family in families:
        import_module(f"tests.fuzz.patterns.{family}")
    name = draw.subject([name for name in table if fnmatch(name, only)])
    sketch = Sketch(draw)
    return sketch.case(name, table[name](sketch))
