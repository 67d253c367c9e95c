"""Ranges for random inputs for which arbitrary values make no sense: masks, and the order of beams.

A random mask masks whole rows of an attention, as padding does: their probabilities mean nothing, and differ with each
precision. Random indices of beams are not in a batch of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from moir.execution.integer_ranges import Ranges
from moir.execution.ports import TensorPort

RANGES_OF_SUFFIXES: Mapping[str, tuple[int, int]] = MappingProxyType({"mask": (1, 1), "beam_idx": (0, 0)})
"""The lowest and the highest value of an input of integers or booleans, by the end of its name."""


def ranges_by_name(ports: Sequence[TensorPort]) -> Ranges:
    """The ranges that follow from the names of inputs, by the first name of each."""
    return {
        port.name: limits
        for port in ports
        if port.dtype is not None and port.dtype.kind in "iub"
        for suffix, limits in RANGES_OF_SUFFIXES.items()
        if any(name.lower().endswith(suffix) for name in port.names)
    }
