"""Added tokens: the pattern that matches them, and how later operations are kept from changing them.

The first operation of a tokenizer splits off added tokens, and later operations do not change them. Added tokens that
are matched in the normalized text are split off by an operation without this effect; they get a mark in front, a
character that occurs in no text, and the patterns of later steps do not match pieces that begin with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from moir.files.json_fields import Fields
from moir.support.records import Record
from moir.tokenizers.algorithms import WHOLE
from moir.tokenizers.byte_level import characters_of
from moir.tokenizers.definition import SPACE, AddedToken, Replacement, Split, Step
from moir.tokenizers.literals import any_of
from moir.tokenizers.normalized import normalized
from moir.tokenizers.steps import refused


class TokenMatching(Record):
    """How added tokens are matched in a text.

    Args:
        added: the tokens that the first operation matches.
        every: all added tokens, with the texts that are matched.
        marked: the ids of tokens that get a mark before their text.
        before: steps before the normalizer.
        after: steps after it.
        passes_over: whether later steps have to pass over marked pieces.
    """

    added: tuple[AddedToken, ...]
    every: tuple[AddedToken, ...]
    marked: frozenset[int]
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    passes_over: bool


def token_matching(
    added: Sequence[AddedToken], normalizer: Fields | None, model: Fields, vocabulary: Mapping[str, int], byte_level: str
) -> TokenMatching:
    """How added tokens are matched in a text.

    Args:
        added: the tokens, as they are written.
        normalizer: the normalizer; None for none.
        model: the model.
        vocabulary: its tokens.
        byte_level: as in `algorithm_of`.

    Raises ConversionError if the text of a token after normalization cannot be determined.
    """
    every = [_sought(each, normalizer) for each in added]
    every = [each for each in every if each.text]
    plain, later = ([each for each in every if each.normalized == kind] for kind in (False, True))
    both = bool(plain and later)
    marked = _ambiguous(every, model, vocabulary, byte_level)
    first = [each for each in marked if not each.normalized]
    second = later if both else [each for each in marked if each.normalized]
    cuts: list[Step] = [Split(added_pattern(later))] if both else []
    return TokenMatching(
        added=tuple(plain if both else every), every=tuple(every), marked=frozenset([each.id for each in (*first, *second)]),
        before=(*_marks(first, also_added=True),), after=(*cuts, *_marks(second, also_added=not both)), passes_over=both,
    )  # fmt: skip


def _sought(token: AddedToken, normalizer: Fields | None) -> AddedToken:
    if normalizer is None:
        return token.with_fields(normalized=False)
    return token.with_fields(text=normalized(token.text, normalizer)) if token.normalized else token


def _ambiguous(added: Sequence[AddedToken], model: Fields, vocabulary: Mapping[str, int], byte_level: str) -> list[AddedToken]:
    """The added tokens whose text the algorithm could also produce from a text without that added token.

    Either another token has this text, too, as tokens of spaces in byte-level vocabularies, or normalization can turn a
    text without the added token into it, or it matches whole words only, which BPETokenizer does not check.

    Args:
        added: the added tokens.
        model: the model, of which only BPE is ambiguous.
        vocabulary: the ids of its tokens.
        byte_level: as in `algorithm_of`.
    """
    if model.text("type", "BPE") != "BPE":
        return []
    spelled = characters_of if byte_level == "bytes" else str
    return [
        each
        for each in added
        if (not byte_level and SPACE in each.text) or vocabulary.get(spelled(each.text), each.id) != each.id or each.whole_word
    ]


def _marks(tokens: Sequence[AddedToken], *, also_added: bool) -> list[Step]:
    """The replacement that puts the mark WHOLE before pieces that equal one of `tokens`; an empty list without tokens.

    It runs right after the tokens were matched, while no other piece can have their text; `also_added` as in
    `Replacement`.
    """
    if not tokens:
        return []
    return [Replacement(rf"\A{added_pattern(tokens)}\z", f"{WHOLE}$1", also_added=also_added)]


def passing_over(steps: Iterable[Step], fields: Fields) -> list[Step]:
    """The steps with patterns that do not match in pieces marked as added tokens.

    Raises ConversionError, located by `fields`, for a step that has no pattern.
    """
    passed: list[Step] = []
    for step in steps:
        if not isinstance(step, Replacement | Split):
            raise refused(fields, "normalized added tokens, and others, before characters that stand for bytes")
        keeps_matches = isinstance(step, Split) and step.keeps == "matches"
        over = rf"\A{WHOLE}[\s\S]*+" + ("" if keeps_matches else "(*SKIP)(*FAIL)")
        passed.append(step.with_fields(pattern=f"{over}|{step.pattern}"))
    return passed


def added_pattern(tokens: Iterable[AddedToken]) -> str:
    """A pattern of added tokens, the token itself in a group; empty without tokens."""
    groups: dict[tuple[bool, bool, bool], list[str]] = {}
    for each in tokens:
        if each.text:
            groups.setdefault((each.takes_space_before, each.takes_space_after, each.whole_word), []).append(each.text)
    parts: list[str] = []
    for (before, after, whole), texts in groups.items():
        inside = f"({any_of(texts)})"
        inside = rf"(?<!\w){inside}(?!\w)" if whole else inside
        parts.append((r"\s*+" if before else "") + inside + (r"\s*" if after else ""))
    return f"(?|{'|'.join(parts)})" if parts else ""
