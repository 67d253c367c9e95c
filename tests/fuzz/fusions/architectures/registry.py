"""The blocks that architectures are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.draft import Value

Append = Callable[[Language, Value], Value]
"""Appends a block to a value. Raises NoCase if it does not fit."""


@dataclass(frozen=True)
class Architecture:
    """A family of networks.

    Args:
        begin: the first layers, of a new input.
        blocks: what is repeated, with random insertions between.
        heads: how the network may end.
    """

    begin: Callable[[Language], Value]
    blocks: tuple[Append, ...]
    heads: tuple[Append, ...] = ()
