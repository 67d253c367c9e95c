"""The composites of StableHLO that have lowerings of their own."""

from __future__ import annotations

KNOWN_COMPOSITES = frozenset(
    (
        *("chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan", "chlo.atanh", "chlo.bessel_i1e", "chlo.conj", "chlo.cosh"),
        *("chlo.digamma", "chlo.polygamma", "chlo.zeta"),
        *("chlo.erf", "chlo.erfc", "chlo.erf_inv", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf", "chlo.lgamma", "chlo.mulhi"),
        *("chlo.next_after", "chlo.sinh", "chlo.square", "chlo.tan", "chlo.top_k"),
    )
)
"""Composites that are lowered as operations; any other one is replaced by its decomposition."""
