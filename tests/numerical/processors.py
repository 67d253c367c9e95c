"""What the runtime computes depends on the processor: its features, and tests that need some of them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

LIMITS: dict[str, tuple[str, ...]] = {
    "AVX2": ("avx512", "avx_vnni", "amx"),
    "AVX2_VNNI": ("avx512", "amx"),
    "AVX512_CORE": ("avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx"),
    "AVX512_CORE_VNNI": ("avx512_bf16", "avx512_fp16", "amx"),
    "AVX512_CORE_BF16": ("avx512_fp16", "amx"),
}
"""Values of ONEDNN_MAX_CPU_ISA, and the beginnings of the features that the runtime then does without."""


@cache
def processor_features() -> frozenset[str]:
    """The features of the processor that the runtime uses, by their names in Linux; empty on other systems."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    result = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), [])
    unused = LIMITS.get(os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper(), ())
    return frozenset(each for each in result if not each.startswith(unused or ("-",)))


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
