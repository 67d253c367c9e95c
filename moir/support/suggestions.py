"""The existing names that are nearest to a name that does not exist, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

_COUNT = 3
_SIMILARITY = 0.6
_MARGIN = 0.12


def nearest(name: str, known: Iterable[str], *, similarity: float = _SIMILARITY) -> list[str]:
    """The names that are most similar to `name`, at most three, the most similar first; case is ignored.

    A name that is much less similar than the first one is left out.

    Args:
        name: a name that does not exist.
        known: the names that exist.
        similarity: the least similarity of a name, between 0 and 1, see `difflib.SequenceMatcher.ratio`.
    """
    from difflib import SequenceMatcher, get_close_matches

    spellings: dict[str, list[str]] = {}
    for each in sorted(set(known)):
        spellings.setdefault(each.casefold(), []).append(each)
    folded = name.casefold()
    matches = get_close_matches(folded, spellings, _COUNT, similarity)
    ratios = {each: SequenceMatcher(None, each, folded).ratio() for each in matches}
    return [spelling for each in matches if ratios[each] > ratios[matches[0]] - _MARGIN for spelling in spellings[each]][:_COUNT]


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None, *, similarity: float = _SIMILARITY) -> str | None:
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
