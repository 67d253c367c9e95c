"""The models of `tokenizer.json` (BPE, WordPiece, …), with vocabularies restricted to what the operations may match.

Tokens that the library's algorithm never produces get a placeholder that occurs in no text, since the operations treat
any token that is not the result of a merge as a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from moir.files.json_fields import Fields
from moir.tokenizers.byte_level import bytes_of
from moir.tokenizers.character_maps import character_map
from moir.tokenizers.definition import (
    AddedToken,
    Algorithm,
    BytePairs,
    CharacterMap,
    Replacement,
    Step,
    Unigram,
    WordPieces,
    Words,
)
from moir.tokenizers.literals import any_of, character_set
from moir.tokenizers.steps import refused

WHOLE, UNKNOWN = "\ufdd1", "\ufdd2"
"""Noncharacters, which no text contains: the mark before a piece that is one token, and the character for unknown ones.
"""
LARGEST_ID = 1 << 22
_LARGEST_WORK = 1 << 28
_BYTE_TOKEN = re.compile(rb"<0x[0-9A-F]{2}>")
_FIRST_BYTE = 0x10FE00
"""The first of the private-use characters that stand for bytes."""


def texts_by_id(texts: Iterable[tuple[int, bytes]], fields: Fields) -> list[bytes]:
    """The texts of tokens in the order of ids; an id without a text gets a placeholder that matches nothing.

    Raises as `count_of`.
    """
    by_id = dict(texts)
    return [by_id.get(index, unreachable(index)) for index in range(count_of(by_id, fields))]


def count_of(ids: Collection[int], fields: Fields) -> int:
    """The size of a vocabulary with these ids: the largest one plus 1, 0 without ids.

    Raises ModelFileError if some are negative, or the largest one is much larger than their number.
    """
    largest = max(ids, default=-1)
    if largest >= LARGEST_ID or min(ids, default=0) < 0 or largest > 4 * len(ids) + 65536:
        raise fields.error("ids that are negative or too large")
    return largest + 1


def unreachable(index: int) -> bytes:
    """A placeholder for the token with the id `index`, which nothing may match: bytes that are not UTF-8, distinct for
    each id.
    """
    return b"\xff" + str(index).encode()


def algorithm_of(
    fields: Fields, vocabulary: Mapping[str, int], added: Sequence[AddedToken], byte_level: str, marked: Collection[int] = ()
) -> tuple[Algorithm, list[Step]]:
    """The algorithm of a model, and the steps before it.

    Args:
        fields: the model.
        vocabulary: its tokens.
        added: the added tokens, with the texts that are matched.
        byte_level: "bytes" if texts are bytes, "characters" if they are the characters that stand for bytes, else
            empty.
        marked: the ids of added tokens that have WHOLE before their text.
    """
    kind = fields.text("type", "BPE")
    contents = [(each.id, ((WHOLE if each.id in marked else "") + each.text).encode()) for each in added]
    plain = [(index, token.encode()) for token, index in vocabulary.items()]
    if kind == "BPE":
        return _byte_pairs(fields, vocabulary, contents, byte_level)
    if kind == "WordPiece":
        unknown = _unknown(fields, vocabulary)
        limit = min(fields.integer("max_input_chars_per_word", 100), 60000)
        if limit < 0:
            raise fields.error("'max_input_chars_per_word' is negative")
        steps: list[Step] = [Replacement(rf"\A[\s\S]{{{limit + 1},}}\z", UNKNOWN)]
        return WordPieces(texts_by_id([*plain, *contents], fields), unknown, fields.text("continuing_subword_prefix", "##")), steps
    if kind == "WordLevel":
        return Words(texts_by_id([*plain, *contents], fields), _unknown(fields, vocabulary)), []
    if kind == "Unigram":
        return _probable_pieces(fields, [*plain, *contents], {each.id for each in added})
    raise refused(fields, f"the model {kind}")


def _probable_pieces(fields: Fields, tokens: Sequence[tuple[int, bytes]], added: Collection[int]) -> tuple[Unigram, list[Step]]:
    texts = texts_by_id(tokens, fields)
    scores = np.zeros(len(texts), np.float32)
    for index, pair in enumerate(fields.list("vocab")):
        if not abs(pair[1]) < 1e30:
            raise fields.error(f"the score of the token {index} is not a finite number")
        scores[index] = pair[1]
    unknown = fields.integer("unk_id")
    if not 0 <= unknown < len(texts):
        raise fields.error(f"the id {unknown} for unknown characters is out of range")
    if not fields.content.get("byte_fallback"):
        return Unigram(texts, scores, unknown), []
    return Unigram(texts, scores, unknown), _bytes_of_unknown(fields, texts, {*added, unknown})


def _bytes_of_unknown(fields: Fields, texts: list[bytes], others: Collection[int]) -> list[Step]:
    """The step that replaces a character without a token by characters that stand for its bytes; the tokens of bytes
    get these as texts.

    The Unigram operation knows characters only. The characters that stand for bytes have no token of their own, so if a
    text contains them, they are replaced, too.

    Args:
        fields: the model, for messages.
        texts: the texts of the tokens, which are changed.
        others: the ids of tokens that texts do not become.
    """
    bytes_ids = {index: int(text[3:5], 16) for index, text in enumerate(texts) if _BYTE_TOKEN.fullmatch(text)}
    if len(bytes_ids) != 256:
        raise refused(fields, "byte_fallback without a token for each of the 256 bytes")
    pieces = [text.decode() for index, text in enumerate(texts) if index not in bytes_ids and index not in others and text[:1] != b"\xff"]
    alphabet = {text for text in pieces if len(text) == 1}
    if not alphabet.issuperset("".join(pieces)):
        raise refused(fields, "byte_fallback with tokens of characters that are no tokens")
    for index, value in bytes_ids.items():
        texts[index] = chr(_FIRST_BYTE + value).encode()
    written = {bytes([value]): chr(_FIRST_BYTE + value).encode() for value in range(1, 256)}
    return [CharacterMap(character_map(written | {text.encode(): text.encode() for text in alphabet}))]


def _unknown(fields: Fields, vocabulary: Mapping[str, int]) -> int:
    token = fields.text("unk_token", "[UNK]")
    if token not in vocabulary:
        raise fields.error(f"the token for unknown words {token!r} is not in the vocabulary")
    return vocabulary[token]


def _byte_pairs(
    fields: Fields, vocabulary: Mapping[str, int], added: Sequence[tuple[int, bytes]], byte_level: str
) -> tuple[BytePairs, list[Step]]:
    if fields.content.get("continuing_subword_prefix"):
        raise refused(fields, "continuing_subword_prefix")
    if fields.content.get("dropout"):
        raise refused(fields, "dropout")
    ending = fields.text("end_of_word_suffix", "")
    if ending:
        raise refused(fields, "end_of_word_suffix")
    encode: Callable[[str], bytes] = (lambda token: bytes_of(token) or token.encode()) if byte_level == "bytes" else str.encode
    merges = [_pair(each, fields) for each in fields.list("merges")]
    for left, right in merges:
        if left + right not in vocabulary:
            raise fields.error(f"the merge of {left!r} and {right!r} is not in the vocabulary")
    reachable = _reachable(vocabulary, merges)
    kept = [(left, right) for left, right in merges if left in reachable and right in reachable]
    entries = {vocabulary[token]: encode(token) for token in reachable}
    steps: list[Step] = []
    others = {text: index for index, text in added}
    if fields.content.get("byte_fallback"):
        present = set(entries.values())
        fallback = {value: vocabulary.get(f"<0x{value:02X}>") for value in range(256)}
        if all(each is not None for each in fallback.values()):
            entries |= {index: bytes([value]) for value, index in fallback.items() if index is not None and bytes([value]) not in present}
        elif any(each is not None for each in fallback.values()):
            raise refused(fields, "byte_fallback with some of the 256 bytes")
    unknown = fields.text("unk_token", "")
    if unknown and not fields.content.get("byte_fallback") and not byte_level:
        if unknown not in vocabulary:
            raise fields.error(f"the token {unknown!r} is not in the vocabulary")
        alphabet = character_set([*[token for token in reachable if len(token) == 1], WHOLE], inverted=True)
        steps.append(Replacement(alphabet + ("+" if fields.content.get("fuse_unk") else ""), UNKNOWN))
        others[UNKNOWN.encode()] = vocabulary[unknown]
    if fields.content.get("ignore_merges"):
        ranks = {pair: rank for rank, pair in enumerate(kept)}
        special = {token for token in vocabulary if token.encode() in others}
        if sum([len(token) ** 2 for token in vocabulary if token not in special]) > _LARGEST_WORK:
            raise refused(fields, "ignore_merges with tokens that are so long")
        missed = [token for token in vocabulary if len(token) > 1 and token not in special and merged(token, ranks) != 1]
        texts = [(token, encode(token)) for token in missed]
        whole = [(token, text.decode()) for token, text in texts if _is_text(text)]
        if whole:
            steps.append(Replacement(rf"\A({any_of(text for _, text in whole)})\z", f"{WHOLE}$1"))
            others |= {(WHOLE + text).encode(): vocabulary[token] for token, text in whole}
    texts = texts_by_id([*entries.items(), *[(i, unreachable(i)) for i in vocabulary.values() if i not in entries]], fields)
    return BytePairs(texts, [(encode(left), encode(right)) for left, right in kept], list(others.items())), steps


def _reachable(vocabulary: Iterable[str], merges: Sequence[tuple[str, str]]) -> set[str]:
    """The tokens that are a single character, or the result of a merge of such tokens, whatever the order of the
    merges.
    """
    waiting: dict[str, list[int]] = {}
    missing = [2] * len(merges)
    for index, pair in enumerate(merges):
        for part in pair:
            waiting.setdefault(part, []).append(index)
    reachable = {token for token in vocabulary if len(token) == 1}
    pending = list(reachable)
    while pending:
        for index in waiting.get(pending.pop(), ()):
            missing[index] -= 1
            result = "".join(merges[index])
            if not missing[index] and result not in reachable:
                reachable.add(result)
                pending.append(result)
    return reachable


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pair(merge: Any, fields: Fields) -> tuple[str, str]:
    parts: Any = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(parts, list) or [type(each) for each in cast("list[Any]", parts)] != [str, str]:
        raise fields.error(f"{str(merge)[:60]!r} is not a merge")
    return cast("str", parts[0]), cast("str", parts[1])


def merged(token: str, ranks: Mapping[tuple[str, str], int]) -> int:
    """The number of symbols that remain after applying all merges of byte-pair encoding to a token."""
    symbols = list(token)
    while len(symbols) > 1:
        candidates = [(rank, at) for at, pair in enumerate(pairwise(symbols)) if (rank := ranks.get(pair)) is not None]
        if not candidates:
            break
        at = min(candidates)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    return len(symbols)
