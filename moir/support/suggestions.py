"""The existing names that are nearest to a name that does not exist, for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

_COUNT = 3
_COMPARED = 12
_SIMILARITY = 0.5
_MARGIN = 0.12
_LETTERS_PER_MISTAKE = 3
_LETTERS_OF_TWO_MISTAKES = 4
_PART = r"[^\W_]+"


def nearest(name: str, known: Iterable[str], *, similarity: float | None = None) -> list[str]:
    """The names that are most similar to `name`, at most three, the most similar first; case is ignored.

    A name that is much less similar than the first one is left out.

    Args:
        name: a name that does not exist.
        known: the names that exist.
        similarity: the least similarity of a name, between 0 and 1, see `difflib.SequenceMatcher.ratio`; None for names
            whose edit distance to `name` is small, see `_is_near`, whose words contain those of `name`, or whose words
            are the last ones of `name`.
    """
    from difflib import SequenceMatcher, get_close_matches

    spellings: dict[str, list[str]] = {}
    for each in sorted(set(known)):
        spellings.setdefault(each.casefold(), []).append(each)
    folded = name.casefold()
    if similarity is None:
        matches = [each for each in get_close_matches(folded, spellings, _COMPARED, _SIMILARITY) if _is_near(folded, each)]
    else:
        matches = get_close_matches(folded, spellings, _COUNT, similarity)
    ratios = {each: SequenceMatcher(None, each, folded).ratio() for each in matches}
    return [spelling for each in matches if ratios[each] > ratios[matches[0]] - _MARGIN for spelling in spellings[each]][:_COUNT]


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None, *, similarity: float | None = None) -> str | None:
    """The hint of an error about a name that does not exist: "did you mean a, b or c?".

    Args:
        name: a name that does not exist.
        known: the names that exist.
        otherwise: the hint if no name is similar.
        similarity: as in `nearest`.
    """
    names = nearest(name, known, similarity=similarity)
    return f"did you mean {alternatives(names)}?" if names else otherwise


def alternatives(names: Iterable[str]) -> str:
    """Names as a clause: "a", "a or b", "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _is_near(missing: str, existing: str) -> bool:
    """Whether the name `existing` may be what `missing`, a name that does not exist, was meant to be.

    That is so if their edit distance is at most a third of the length of the shorter one (at least 1, and 2 from four
    letters on), if the words of `missing` are successive words of `existing` ("serving" of "serving_default"), or if
    `missing` ends in the words of `existing` ("loop/out" in "out"). Words are runs of letters and digits.
    """
    given, parts = re.findall(_PART, missing), re.findall(_PART, existing)
    if given and any(parts[start : start + len(given)] == given for start in range(len(parts))):
        return True
    if parts and given[-len(parts) :] == parts:
        return True
    length = min(len(missing), len(existing))
    return _distance(missing, existing) <= max(1 if length < _LETTERS_OF_TWO_MISTAKES else 2, length // _LETTERS_PER_MISTAKE)


def _distance(name: str, other: str) -> int:
    """The number of letters to insert, delete, replace or swap with their neighbours that make one name the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(name, 1):
        before, above, row = row, before, [i]
        for j, own in enumerate(other, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != own)))
            if i > 1 and j > 1 and letter == other[j - 2] and name[i - 2] == own:
                row[j] = min(row[j], above[j - 2] + 1)
    return row[-1]
