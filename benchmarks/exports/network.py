"""What the networks of the corpus are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Inputs = Sequence[Any]


@dataclass
class Network:
    """A module with its inputs.

    Args:
        module: the module, for inference.
        inputs: arguments of `forward`.
        dynamic: the dynamic shapes of `torch.export.export`; None where all are static.
        others: other inputs for the same program, of other sizes.
        keywords: keyword arguments of `forward`.
        decomposed: whether the program is exported after `run_decompositions()`, too.
        tolerance: the largest error, relative to the largest value of an output.
    """

    module: torch.nn.Module
    inputs: Inputs
    dynamic: Any = None
    others: Inputs | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    decomposed: bool = False
    tolerance: float = 1e-3


Builder = Callable[[], Network]
"""Builds a network; called after the random numbers have got a fixed seed."""


def image(height: int = 64, width: int = 96, batch: int = 1) -> torch.Tensor:
    """A random image."""
    return torch.randn(batch, 3, height, width)


def tokens(length: int, batch: int = 1, vocabulary: int = 90) -> torch.Tensor:
    """Random tokens."""
    return torch.randint(1, vocabulary, (batch, length))
