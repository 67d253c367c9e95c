"""Parts of a `tokenizer.json` for tokenizers from other files, so that all definitions are made from that format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from moir.files.json_fields import Fields
from moir.tokenizers.definition import SPACE

Json: TypeAlias = dict[str, Any]

ESCAPED_SPACES: Json = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
PREFIX: Json = {"type": "Prepend", "prepend": SPACE}
"""The normalizer that puts SentencePiece's mark of a space before a text."""

_LARGEST_WORK = 1 << 28


def added(text: str, index: int, *, special: bool) -> Json:
    """An added token with the id `index` that is looked for in the text as it is; `special` ones are not decoded."""
    return {"content": text, "id": index, "special": special, "normalized": False}


def sequence(kind: str, parts: Sequence[Json]) -> Json | None:
    """Several normalizers, pre-tokenizers, … combined as the type Sequence under the key `kind`; None for an empty
    list.
    """
    return {"type": "Sequence", kind: list(parts)} if parts else None


def template(before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]], between: int = 1) -> Json:
    """The post-processor that puts tokens, with their ids, around a text.

    A pair of texts a, b becomes: before, a, `between` times `after`, b, after.
    """
    first, last = ([{"SpecialToken": {"id": text, "type_id": 0}} for text, _ in tokens] for tokens in (before, after))
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    tokens = {text: {"ids": [index]} for text, index in (*before, *after)}
    return {"type": "TemplateProcessing", "single": [*first, a, *last], "pair": [*first, a, *last * between, b, *last],
            "special_tokens": tokens}  # fmt: skip


def pieces_decoder(*, has_prefix: bool) -> Json:
    """The decoder of SentencePiece's tokens: marks are spaces, tokens of bytes are bytes.

    Args:
        has_prefix: whether the mark before a text is removed.
    """
    marks: Json = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
    first: list[Json] = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if has_prefix else []
    return {"type": "Sequence", "decoders": [marks, {"type": "ByteFallback"}, {"type": "Fuse"}, *first]}


def merges_of(ranks: Mapping[str, float], fields: Fields) -> list[list[str]]:
    """The merges that produce the tokens of a vocabulary from shorter tokens, lowest ranks first.

    SentencePiece merges the two neighbours whose text together is the best token. So each division of a token into two
    tokens of the vocabulary is a merge.

    Args:
        ranks: a rank for each token that may be merged or be a result.
        fields: where the vocabulary is from, for messages.

    Raises ModelFileError if tokens are so long that this would take minutes.
    """
    if sum([len(token) ** 2 for token in ranks]) > _LARGEST_WORK:
        raise fields.error("tokens that are too long")
    ranked: list[tuple[float, int, int, str, str]] = []
    for token, rank in ranks.items():
        for at in range(1, len(token)):
            left, right = token[:at], token[at:]
            if left in ranks and right in ranks:
                ranked.append((rank, -len(left), -len(right), left, right))
    return [[left, right] for *_, left, right in sorted(ranked)]
