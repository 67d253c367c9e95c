"""Binary search for the first of several states that is wrong."""

from __future__ import annotations

from collections.abc import Callable


def first_bad(good: int, bad: int, is_good: Callable[[int], bool | None]) -> tuple[int, int]:
    """Binary search: the indices of a good state and of the next state that is bad.

    Args:
        good: the number of a good state.
        bad: the number of a bad one, which is larger.
        is_good: whether a state is good; None for a state that cannot be judged, which is skipped. Several such states
            may lie between the two that are returned.
    """
    while bad - good > 1:
        middle = (good + bad) // 2
        for candidate in sorted(range(good + 1, bad), key=lambda number: abs(number - middle)):
            verdict = is_good(candidate)
            if verdict is not None:
                break
        else:
            break
        if verdict:
            good = candidate
        else:
            bad = candidate
    return good, bad
