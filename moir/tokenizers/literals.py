"""Patterns of PCRE2 for literal texts: a quoted text, one of many texts, one of a set of characters."""

from __future__ import annotations

from collections.abc import Iterable

_SPECIAL = frozenset("\\^$.[|()?*+{}-]&~# ")
_DEEPEST = 200
"""Nesting of groups below the 250 that PCRE2 allows."""


def quoted(text: str) -> str:
    """A pattern that matches a text."""
    return "".join([_quoted(character) for character in text])


def replacement_text(text: str) -> str:
    """The replacement string of RegexReplace that inserts `text` literally. Raises ValueError for texts that cannot be
    escaped.
    """
    # The operation takes a backslash before a digit for a group, too.
    if any(text[index] == "\\" and text[index + 1].isdigit() for index in range(len(text) - 1)):
        raise ValueError(f"the replacement {text!r} has a backslash before a digit")
    return text.replace("$", "$$")


def _quoted(character: str) -> str:
    if character in _SPECIAL:
        return f"\\{character}"
    return character if character.isprintable() else f"\\x{{{ord(character):x}}}"


def character_set(characters: Iterable[str], *, inverted: bool = False) -> str:
    """A regular expression for one of some characters, or with `inverted` for any other character."""
    codes = sorted(set(map(ord, characters)))
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    parts = [_code(first) if first == last else f"{_code(first)}-{_code(last)}" for first, last in ranges]
    if not parts:
        return r"[\s\S]" if inverted else r"(?!)"
    return f"[{'^' if inverted else ''}{''.join(parts)}]"


def _code(code: int) -> str:
    character = chr(code)
    return character if character.isalnum() and character.isascii() else f"\\x{{{code:x}}}"


class _Node:
    """A node of the tree of texts."""

    __slots__ = ("children", "is_end")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.is_end = False


def any_of(texts: Iterable[str]) -> str:
    """A pattern that matches the longest of some texts, none of them empty.

    Common prefixes are written once, so that matching compares a few characters instead of thousands of texts;
    characters with equal continuations form a set: `<unused0>`, …, `<unused99>` are `<unused\\d(?:\\d>|>)`.
    """
    root = _Node()
    deepest = 0
    for text in texts:
        node = root
        for character in text:
            node = node.children.setdefault(character, _Node())
        node.is_end = True
        deepest = max(deepest, len(text))
    if not root.children:
        return "(?!)"
    return _alternatives(root, 0) if deepest < _DEEPEST else "|".join(map(quoted, sorted(_texts_of(root), key=len, reverse=True)))


def _texts_of(root: _Node) -> list[str]:
    texts: list[str] = []
    pending = [("", root)]
    while pending:
        text, node = pending.pop()
        if node.is_end:
            texts.append(text)
        pending.extend((text + character, child) for character, child in node.children.items())
    return texts


def _alternatives(node: _Node, depth: int) -> str:
    """A greedy regular expression for what may follow a node of the trie; empty at a leaf.

    `depth` is the number of characters before the node.
    """
    by_continuation: dict[str, list[str]] = {}
    for character, child in node.children.items():
        by_continuation.setdefault(_continuation(child, depth + 1), []).append(character)
    parts = [
        (quoted(characters[0]) if len(characters) == 1 else character_set(characters)) + continuation
        for continuation, characters in by_continuation.items()
    ]
    return "|".join(parts)


def _continuation(node: _Node, depth: int) -> str:
    if not node.children:
        return ""
    inner = _alternatives(node, depth)
    if node.is_end:
        return f"(?:{inner})?"
    return inner if len(node.children) == 1 else f"(?:{inner})"
