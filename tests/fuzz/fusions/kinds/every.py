"""Kinds of operations and of compositions that runtimes fuse; importing the package registers all of them."""

from tests.fuzz.fusions.kinds import bodies, compositions, elementwise, movements, products, quantizing, reductions, windows
from tests.fuzz.fusions.kinds.registry import KINDS, Kind

__all__ = ["KINDS", "Kind", "bodies", "compositions", "elementwise", "movements", "products", "quantizing", "reductions", "windows"]
