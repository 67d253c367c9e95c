"""Traits of the kinds of a framework: facts about an operation, by its kind, that stages other than the lowering need.

    @aten.lowers("swapdims.default", traits=(VIEW,))
    kinds_with("aten", VIEW)  ->  {"swapdims.default", …}

The registration of a kind states its traits. `python -m scripts.lowering_index` writes them to `trait_index.py`, so
that a stage needs no table of lowerings to ask.
"""

from __future__ import annotations

from functools import cache

ELEMENTWISE = "elementwise"
"""Each element of the result depends only on the elements at its index in the operands, which are broadcast."""

VIEW = "view"
"""The results share memory with the first operand."""

WHOLE_VIEW = "whole view"
"""A view that contains the whole tensor in its shape."""

RESHAPED_VIEW = "reshaped view"
"""A view with all elements of the tensor in the same order."""

REPEATED_VIEW = "repeated view"
"""A view in which an element may occur several times, so that the effect of a write to it is undefined."""

VIEWS = (VIEW, WHOLE_VIEW, RESHAPED_VIEW, REPEATED_VIEW)
"""The traits of kinds whose results are views; a kind has at most one of them."""

MAY_COPY = "may copy"
"""The result is a view or a copy, depending on strides and element types."""

FORWARDS = "forwards"
"""The result is the first operand."""

BRANCHES = "branches"
"""Control flow with a condition or an index as first operand, and branches that take the other operands."""

SAYS_LAYOUT = "says layout"
"""An attribute says the layout of the data.

If transformations of extensions see layouts, such operations are not lowered before the layout change.
"""


@cache
def kinds_with(dialect: str, *traits: str) -> frozenset[str]:
    """The kinds of a dialect that have one of the traits; empty for a dialect without registered traits."""
    from moir.frameworks.trait_index import INDEX

    kinds = INDEX.get(dialect, {})
    return frozenset(kind for trait in traits for kind in kinds.get(trait, "").split())
