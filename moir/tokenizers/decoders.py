"""Decoders of `tokenizer.json`: the text of each token, and replacements in the joined text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from moir.files.json_fields import Fields
from moir.tokenizers.byte_level import bytes_of
from moir.tokenizers.definition import Decoding, Replacement
from moir.tokenizers.literals import quoted
from moir.tokenizers.steps import START, metaspace, prepend_scheme, refused, rewrite

_CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"),
            (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))  # fmt: skip

END = "\ufdd4"
"""A noncharacter after a token whose leading spaces are removed at the start of a text; START is before that token."""
_MOST_RUNS = 16
_MOST_REPEATED, _MOST_CHARACTERS = 1 << 16, 1 << 28

CLEANING = (Replacement(" ([.?!,])", "$1"), Replacement(" ' ", "'"), Replacement(" (n't|'m|'s|'ve|'re)", "$1"))
"""The replacements in a decoded text that `clean_up_tokenization_spaces` of `tokenizer_config.json` asks for."""


def decoding_of(decoder: Fields | None, tokens: Sequence[str], special: Sequence[int], *, cleans: bool) -> Decoding:
    """The decoding by a decoder; without a decoder, tokens are joined by spaces.

    Args:
        decoder: the decoder; None for none.
        tokens: the tokens.
        special: the ids that are left out unless they are asked for.
        cleans: whether spaces before punctuation and English contractions are removed at the end.
    """
    texts: list[str] = list(tokens)
    after: list[Replacement] = []
    joined = False
    kinds = [] if decoder is None else list(decoder.objects("decoders")) if decoder.text("type") == "Sequence" else [decoder]
    for each in kinds:
        kind = each.text("type")
        if kind == "Fuse":
            joined = True
        elif kind == "Strip":
            content = quoted(each.text("content", " "))
            start, stop = each.integer("start", 0), each.integer("stop", 0)
            if not (content and 0 <= start < _MOST_REPEATED and 0 <= stop < _MOST_REPEATED):
                raise each.error("the text to strip is empty, or the number of times is out of range")
            after += [Replacement(rf"\A(?:{content}){{1,{start}}}", "")] if start else []
            after += [Replacement(rf"(?:{content}){{1,{stop}}}\z", "")] if stop else []
            if not joined:
                raise refused(each, "Strip before Fuse")
        elif kind == "Replace":
            name, pattern = each.fields("pattern").only()
            if name != "String" or not isinstance(pattern, str) or not pattern:
                raise refused(each, "Replace with something else than a text in a decoder")
            content = each.text("content")
            if joined:
                after.append(Replacement(quoted(pattern), rewrite(each, content)))
            else:
                if len(content) * sum([text.count(pattern) for text in texts]) > _MOST_CHARACTERS:
                    raise each.error("the texts of the tokens become too long")
                texts = [text.replace(pattern, content) for text in texts]
        elif joined:
            raise refused(each, f"the decoder {kind} after the tokens are joined")
        elif kind == "ByteLevel":
            texts = [_text(text, bytes_of(text)) for text in texts]
            joined = True
        elif kind == "ByteFallback":
            texts = [_text(text, bytes([int(text[3:5], 16)])) if re.fullmatch(r"<0x[0-9A-Fa-f]{2}>", text) else text for text in texts]
        elif kind == "Metaspace":
            mark = metaspace(each)
            if prepend_scheme(each) == "never":
                texts = [text.replace(mark, " ") for text in texts]
            else:
                texts, replacements = _spaced(texts, mark, each)
                after += replacements
        elif kind == "WordPiece":
            prefix, cleans_tokens = each.text("prefix", "##"), bool(each.content.get("cleanup", True))
            continues = bool(prefix) and any(text.startswith(prefix) for text in texts)
            texts = [START + text.removeprefix(prefix) if prefix and text.startswith(prefix) else " " + text for text in texts]
            texts = [_cleaned(text) for text in texts] if cleans_tokens else texts
            after.append(Replacement(r"\A ", ""))
            if continues:  # The first token keeps its prefix.
                after += [Replacement(rf"\A{START}", rewrite(each, prefix)), Replacement(START, "")]
        else:
            raise refused(each, f"the decoder {kind}")
    if decoder is None:
        texts, after = [" " + text for text in texts], [Replacement(r"\A ", "")]
    if cleans:
        after += CLEANING
    return Decoding([text.encode("utf-8", "surrogateescape") for text in texts], tuple(special), tuple(after))


def _spaced(texts: Sequence[str], mark: str, fields: Fields) -> tuple[list[str], list[Replacement]]:
    """Replace `mark` by spaces in the texts of tokens; returns them, and replacements that strip the first token's
    spaces.

    Tokens of which more than one space would be stripped are enclosed in characters that occur in no text. Raises
    ConversionError for a token with the mark in too many places.
    """
    runs = [len(re.findall(f"(?:{re.escape(mark)})+", text)) for text in texts]
    is_plain = [
        not count or (count == 1 and text.startswith(mark) and text.count(mark) == 1) for text, count in zip(texts, runs, strict=True)
    ]
    most = max([count for count, plain in zip(runs, is_plain, strict=True) if not plain], default=0)
    if most > _MOST_RUNS:
        raise refused(fields, f"a token with {mark!r} in more than {_MOST_RUNS} places")
    spaced = [
        text.replace(mark, " ") if plain else f"{START}{text.replace(mark, ' ')}{END}" for text, plain in zip(texts, is_plain, strict=True)
    ]
    first = Replacement(rf"\A({START}[^ {END}]*+) ++", "$1")
    marks = [Replacement(f"[{START}{END}]", "")] if most else []
    return spaced, [*[first] * most, Replacement(r"\A ", ""), *marks]


def _text(text: str, content: bytes | None) -> str:
    return text if content is None else content.decode("utf-8", "surrogateescape")


def _cleaned(text: str) -> str:
    for pattern, content in _CLEANED:
        text = text.replace(pattern, content)
    return text
