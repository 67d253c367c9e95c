"""The stages of the forms of a target, in the order in which they run."""

from __future__ import annotations

PREFERRED = "preferred"
"""Operations that the target executes or loads faster."""

CORRECT = "correct"
"""Operations that the target executes correctly."""

TYPES = "types"
"""Element types, also of operations that other forms build."""

FUSED = "fused"
"""Compositions, as the other forms leave them, that the target executes as one operation."""

STATES = "states"
"""States, once values were made states of the model."""

MARKED = "marked"
"""Operations with marks, once those that are kept in their precision are marked."""

REFUSED = "refused"
"""Operations that the target does not execute in any form: checks, which change nothing."""

STAGES = (PREFERRED, CORRECT, TYPES, FUSED, STATES, MARKED)
"""The stages of forms; refusals run after them."""
