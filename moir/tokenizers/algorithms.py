"""Models of `tokenizer.json` as algorithms, whose vocabularies have what the operations may match and nothing else.

Tokens that the algorithm of the library never makes get a text that is in no text, since the operations take any token
that is no result of a merge for a symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from moir.frontends.json_fields import Fields
from moir.tokenizers.byte_level import bytes_of
from moir.tokenizers.definition import AddedToken, Algorithm, BytePairs, Replacement, Step, Unigram, WordPieces, Words
from moir.tokenizers.literals import any_of, character_set
from moir.tokenizers.steps import refused

WHOLE, UNKNOWN = "\ufdd1", "\ufdd2"
"""Characters that are in no text: before a piece that is one token, and for characters without a token."""
LARGEST_ID = 1 << 22


def listed(texts: Iterable[tuple[int, bytes]], fields: Fields) -> list[bytes]:
    """Texts by ids; ids without a text have one that is in no text."""
    by_id = dict(texts)
    largest = max(by_id, default=-1)
    if largest >= LARGEST_ID or min(by_id, default=0) < 0 or largest > 4 * len(by_id) + 65536:
        raise fields.error("ids that are negative or too large")
    return [by_id.get(index, unreachable(index)) for index in range(largest + 1)]


def unreachable(index: int) -> bytes:
    """A text that is not UTF-8, another one for each id."""
    return b"\xff" + str(index).encode()


def algorithm_of(
    fields: Fields, vocabulary: Mapping[str, int], added: Sequence[AddedToken], byte_level: str
) -> tuple[Algorithm, list[Step]]:
    """The algorithm, and the steps before it. `byte_level` is "bytes", "characters" or empty."""
    kind = fields.text("type", "BPE")
    contents = [(each.id, each.text.encode()) for each in added]
    plain = [(index, token.encode()) for token, index in vocabulary.items()]
    if kind == "BPE":
        return _byte_pairs(fields, vocabulary, added, byte_level)
    if kind == "WordPiece":
        unknown = _unknown(fields, vocabulary)
        limit = min(fields.integer("max_input_chars_per_word", 100), 60000)
        steps: list[Step] = [Replacement(rf"\A[\s\S]{{{limit + 1},}}\z", UNKNOWN)]
        return WordPieces(listed([*plain, *contents], fields), unknown, fields.text("continuing_subword_prefix", "##")), steps
    if kind == "WordLevel":
        return Words(listed([*plain, *contents], fields), _unknown(fields, vocabulary)), []
    if kind == "Unigram":
        if fields.content.get("byte_fallback"):
            raise refused(fields, "Unigram with byte_fallback")
        texts = listed([*plain, *contents], fields)
        scores = np.zeros(len(texts), np.float32)
        for index, pair in enumerate(fields.list("vocab")):
            scores[index] = pair[1]
        return Unigram(texts, scores, fields.integer("unk_id")), []
    raise refused(fields, f"the model {kind}")


def _unknown(fields: Fields, vocabulary: Mapping[str, int]) -> int:
    token = fields.text("unk_token", "[UNK]")
    if token not in vocabulary:
        raise fields.error(f"the token for unknown words {token!r} is not in the vocabulary")
    return vocabulary[token]


def _byte_pairs(
    fields: Fields, vocabulary: Mapping[str, int], added: Sequence[AddedToken], byte_level: str
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
    reachable = {token for token in vocabulary if len(token) == 1}
    kept: list[tuple[str, str]] = []
    for left, right in merges:
        if left + right not in vocabulary:
            raise fields.error(f"the merge of {left!r} and {right!r} is not in the vocabulary")
    size = -1
    while size != len(reachable):
        size = len(reachable)
        kept = [(left, right) for left, right in merges if left in reachable and right in reachable]
        reachable.update([left + right for left, right in kept])
    entries = {vocabulary[token]: encode(token) for token in reachable}
    steps: list[Step] = []
    others = {each.text.encode(): each.id for each in added}
    if fields.content.get("byte_fallback"):
        present = set(entries.values())
        fallback = {value: vocabulary.get(f"<0x{value:02X}>") for value in range(256)}
        if all(each is not None for each in fallback.values()):
            entries |= {index: bytes([value]) for value, index in fallback.items() if index is not None and bytes([value]) not in present}
        elif any(each is not None for each in fallback.values()):
            raise refused(fields, "byte_fallback with some of the 256 bytes")
    unknown = fields.content.get("unk_token")
    if unknown is not None and not fields.content.get("byte_fallback") and not byte_level:
        if unknown not in vocabulary:
            raise fields.error(f"the token {unknown!r} is not in the vocabulary")
        alphabet = character_set([*[token for token in reachable if len(token) == 1], WHOLE], inverted=True)
        steps.append(Replacement(alphabet + ("+" if fields.content.get("fuse_unk") else ""), UNKNOWN))
        others[UNKNOWN.encode()] = vocabulary[unknown]
    if fields.content.get("ignore_merges"):
        ranks = {pair: rank for rank, pair in enumerate(kept)}
        special = {each.text for each in added}
        missed = [token for token in vocabulary if len(token) > 1 and token not in special and merged(token, ranks) != 1]
        texts = [(token, encode(token)) for token in missed]
        whole = [(token, text.decode()) for token, text in texts if _is_text(text)]
        if whole:
            steps.append(Replacement(rf"\A({any_of(text for _, text in whole)})\z", f"{WHOLE}$1"))
            others |= {(WHOLE + text).encode(): vocabulary[token] for token, text in whole}
    texts = listed([*entries.items(), *[(i, unreachable(i)) for i in vocabulary.values() if i not in entries]], fields)
    return BytePairs(texts, [(encode(left), encode(right)) for left, right in kept], list(others.items())), steps


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pair(merge: Any, fields: Fields) -> tuple[str, str]:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(each, str) for each in parts):
        raise fields.error(f"{str(merge)[:60]!r} is not a merge")
    return parts[0], parts[1]


def merged(token: str, ranks: Mapping[tuple[str, str], int]) -> int:
    """The number of symbols that are left of a token after all merges."""
    symbols = list(token)
    while len(symbols) > 1:
        found = [(rank, at) for at, pair in enumerate(zip(symbols, symbols[1:], strict=False)) if (rank := ranks.get(pair)) is not None]
        if not found:
            break
        at = min(found)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    return len(symbols)
