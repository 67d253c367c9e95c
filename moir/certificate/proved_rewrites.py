"""Which rewrites that touched a piece are proved, from the committed table of proofs; no solver is needed for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moir.proofs.table import NOT_PROVED, RESULTS

FOLDING = "fold-constants"
"""The pass that evaluates operations on constants by `evaluate`, which is an operation's meaning in proofs, too."""


def is_proved(rewrite: str) -> bool:
    """Whether `moir prove` has shown that a rewrite does not change results (over the reals, if it is of floats).

    Args:
        rewrite: its pass and pattern, as `pass: pattern`; the pass alone stands for all of its patterns.
    """
    name, _, pattern = rewrite.partition(": ")
    if name == FOLDING:
        return True
    left = [rule for rule, _ in NOT_PROVED.get(name, ())]
    return name in RESULTS and (pattern not in left if pattern else not left)


def unproved(rewrites: Iterable[str]) -> Sequence[str]:
    """Those among some rewrites that are not proved."""
    return [each for each in rewrites if not is_proved(each)]
