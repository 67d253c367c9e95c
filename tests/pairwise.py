"""Which combinations of parameters a test runs for: all pairs of values, or all combinations.

A fault that shows for some combination of many parameters nearly always shows for two of its values (Kuhn, Wallace and
Gallo, "Software Fault Interactions and Implications for Software Testing", IEEE TSE 30(6), 2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations


def covering(rows: Sequence[Mapping[str, Hashable]]) -> list[int]:
    """The indices of rows that have between them every pair of values that a row has, in ascending order.

    Rows with a pair that no other row has are chosen, and then greedily the first of those with the most pairs that no
    chosen row has. Of rows with one or two columns that are all different, all are chosen.

    Args:
        rows: values by the names of columns, the same columns in each.
    """
    pairs = [{*combinations(sorted(row.items(), key=_name), min(2, len(row)))} for row in rows]
    counts = Counter(pair for each in pairs for pair in each)
    chosen = [index for index, each in enumerate(pairs) if any(counts[pair] == 1 for pair in each)]
    missing = counts.keys() - {pair for index in chosen for pair in pairs[index]}
    while missing:
        best = max(range(len(rows)), key=lambda index: len(pairs[index] & missing))
        chosen.append(best)
        missing -= pairs[best]
    return sorted(chosen)


def _name(cell: tuple[str, Hashable]) -> str:
    return cell[0]
