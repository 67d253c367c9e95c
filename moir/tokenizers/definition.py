"""The definition of a tokenizer, independent of its file format: steps on texts, a vocabulary, and a template of ids.

    text -> added tokens apart -> steps -> algorithm -> ids -> truncation -> template -> padding
    ids  -> texts of the tokens -> replacements -> text

A step is a record that is one operation of the tokenizer. Patterns are in the syntax of PCRE2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from moir.dialects.data import Array
from moir.support.records import Record

FIRST_TEXT, SECOND_TEXT = -1, -2
"""The elements of a template that stand for the ids of the first and of the second text."""

SPACE = "\u2581"
"""The character by which SentencePiece represents a space."""


class Replacement(Record):
    """Replaces matches of a pattern by a text, in which `$1` is the first group.

    Args:
        pattern: the pattern.
        text: the text.
        everywhere: whether all matches are replaced, or the first one.
        also_added: whether it also applies to added tokens, which other steps leave alone.
    """

    pattern: str
    text: str
    everywhere: bool = True
    also_added: bool = False


class NormalForm(Record):
    """A Unicode normalization form: nfc, nfd, nfkc or nfkd."""

    form: str


class CharacterMap(Record):
    """Replaces the longest known sequences of bytes, from the left, by others (`moir.tokenizers.character_maps`)."""

    content: bytes


class Split(Record):
    """Cuts each piece of a text before and after each match of a pattern.

    Args:
        pattern: the pattern, which does not match an empty text.
        keeps: which of the pieces stay: "all", "others" (not the matches), or "matches".
    """

    pattern: str
    keeps: str = "all"


class BytesAsCharacters(Record):
    """Replaces each byte by the character that stands for it in byte-level vocabularies."""


Step: TypeAlias = Replacement | NormalForm | CharacterMap | Split | BytesAsCharacters


class AddedToken(Record):
    """A token that is recognized in the text before anything else.

    Args:
        text: its text.
        id: its id.
        special: whether it is left out of decoded texts.
        normalized: whether it is matched in the normalized text, after normalizing its own text.
        takes_space_before: whether white space before it belongs to it.
        takes_space_after: whether white space after it belongs to it.
        whole_word: whether it is only recognized between characters that are not of words.
    """

    text: str
    id: int
    special: bool = False
    normalized: bool = False
    takes_space_before: bool = False
    takes_space_after: bool = False
    whole_word: bool = False


class BytePairs(Record):
    """Pairs of neighbouring symbols are merged, the earliest pair of the list first (Sennrich et al., 2016).

    Args:
        vocabulary: the text of each token; tokens that are no result of a merge are symbols. A text is divided into the
            longest symbols, from the left, before merging.
        merges: the pairs.
        others: further texts of tokens, with their ids.
        end_of_word: what is appended to each piece.
    """

    vocabulary: Sequence[bytes]
    merges: Sequence[tuple[bytes, bytes]]
    others: Sequence[tuple[bytes, int]] = ()
    end_of_word: str = ""


class Unigram(Record):
    """The most probable segmentation (Kudo, 2018).

    Args:
        vocabulary: the text of each token.
        scores: the logarithm of its probability, f32.
        unknown: the id for characters without a token.
    """

    vocabulary: Sequence[bytes]
    scores: Array
    unknown: int


class WordPieces(Record):
    """The longest tokens from the left; `continuation` precedes tokens that do not begin a word (Wu et al., 2016).

    A word with a part that has no token becomes the token `unknown`.
    """

    vocabulary: Sequence[bytes]
    unknown: int
    continuation: str


class Words(Record):
    """Each piece is one token; a piece that is not in the vocabulary becomes `unknown`."""

    vocabulary: Sequence[bytes]
    unknown: int


Algorithm: TypeAlias = BytePairs | Unigram | WordPieces | Words


class Template(Record):
    """The ids around one text, or two.

    Args:
        ids: ids, with FIRST_TEXT or SECOND_TEXT in place of the ids of a text.
        types: the type of each of them, for models that distinguish the two texts.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]


class Decoding(Record):
    """How ids become a text.

    Args:
        texts: the bytes of each token in the decoded text.
        special: the ids that are left out unless they are asked for.
        replacements: replacements in the joined text.
    """

    texts: Sequence[bytes]
    special: Sequence[int]
    replacements: tuple[Replacement, ...] = ()


class TokenizerDefinition(Record):
    """A tokenizer and its detokenizer.

    Args:
        location: the file, for messages.
        added: the added tokens.
        normalization: steps before normalized added tokens are looked for.
        pre_tokenization: steps after it.
        prefix: what is put before a text that is not empty and does not begin with an added token, before all else.
        algorithm: how pieces become ids.
        single: the template of a text.
        pair: the template of two texts; None if there is none.
        decoding: how ids become a text.
        has_types: whether the model takes the types of the tokens.
        pads_right: whether shorter texts are padded on the right.
        truncates_right: whether longer texts are cut on the right.
        longest: the number of tokens to which truncation shortens a text, those of the template included.
        bos, eos, pad: the ids of these tokens; None for none.
        chat_template: the template of conversations; empty for none.
        post_processor: the text of the post-processor in `tokenizer.json`; empty for none.
    """

    location: str
    added: tuple[AddedToken, ...]
    normalization: tuple[Step, ...]
    pre_tokenization: tuple[Step, ...]
    prefix: str
    algorithm: Algorithm
    single: Template
    pair: Template | None
    decoding: Decoding
    has_types: bool = False
    pads_right: bool = True
    truncates_right: bool = True
    longest: int = 1 << 30
    bos: int | None = None
    eos: int | None = None
    pad: int | None = None
    chat_template: str = ""
    post_processor: str = ""
