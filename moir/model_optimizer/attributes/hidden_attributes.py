"""The Python attributes of an operation that extensions do not see: their names begin with `$`."""

from __future__ import annotations

DELETED = "$deleted"
"""The Python attribute with the names of attributes that were deleted although they have a default."""

DESCRIBED_KIND = "$kind"
"""The Python attribute with the kind of a node that was made by one of Model Optimizer's own classes.

It does not change if an extension gives the node another `op`.
"""

FORMER_COUNTS = "$former_counts"
"""The Python attribute with the numbers of operands and results that a node had before, as an operation of a framework.
"""
