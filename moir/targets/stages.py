"""The stages of the forms of a target, in the order in which they run."""

from __future__ import annotations

PREFERRED = "preferred"
"""The stage of forms for operations that the target executes or loads faster."""

CORRECT = "correct"
"""The stage of forms for operations that the target executes correctly."""

TYPES = "types"
"""The stage of forms for element types, also those of operations that other forms build."""

FUSED = "fused"
"""The stage of forms for compositions that the target executes as one operation; it sees the results of the stages
before.
"""

STATES = "states"
"""The stage of forms for states, after values were made states of the model."""

MARKED = "marked"
"""The stage of forms for marked operations, after operations were marked to be kept in their precision."""

REFUSED = "refused"
"""The stage of refusals: checks for operations that the target does not execute in any form. They change nothing."""

STAGES = (PREFERRED, CORRECT, TYPES, FUSED, STATES, MARKED)
"""The stages of forms; refusals run after them."""
