"""What the runtime computes depends on the processor: its features, and tests that need some of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest


@cache
def processor_features() -> frozenset[str]:
    """The features of the processor, by their names in Linux; empty on other systems."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), []))


NEEDS_WIDE_REGISTERS = pytest.mark.skipif(
    "avx512bw" not in processor_features(),
    reason="without AVX-512, the runtime has too few registers for long chains of operations on elements, and does not compile them",
)


def has_wide_sums() -> bool:
    """Whether the runtime adds products of 8-bit integers in 32 bits."""
    return not processor_features().isdisjoint(("avx512_vnni", "avx_vnni"))


NEEDS_WIDE_SUMS = pytest.mark.skipif(
    not has_wide_sums(),
    reason="without VNNI, the runtime adds products of 8-bit integers in 16 bits, which overflow",
)
