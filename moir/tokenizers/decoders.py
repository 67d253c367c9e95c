"""Decoders of `tokenizer.json`: the text of each token, and replacements in the joined text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from moir.frontends.json_fields import Fields
from moir.tokenizers.byte_level import bytes_of
from moir.tokenizers.definition import Decoding, Replacement
from moir.tokenizers.literals import quoted, replacement_text
from moir.tokenizers.steps import refused

_CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"),
            (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))  # fmt: skip


def decoding_of(decoder: Fields | None, tokens: Sequence[str], special: Sequence[int]) -> Decoding:
    """The decoding by a decoder; without one tokens are joined by spaces."""
    texts, after, joined = list(tokens), list[Replacement](), False
    kinds = [] if decoder is None else list(decoder.objects("decoders")) if decoder.text("type") == "Sequence" else [decoder]
    for each in kinds:
        kind = each.text("type")
        if kind == "Fuse":
            joined = True
        elif kind == "Strip":
            content = quoted(each.text("content", " "))
            after += [Replacement(rf"\A(?:{content}){{1,{count}}}", "") for count in [each.integer("start", 0)] if count]
            after += [Replacement(rf"(?:{content}){{1,{count}}}\z", "") for count in [each.integer("stop", 0)] if count]
            if not joined:
                raise refused(each, "Strip before Fuse")
        elif kind == "Replace":
            name, pattern = each.fields("pattern").only()
            if name != "String" or not isinstance(pattern, str):
                raise refused(each, "Replace with a regular expression in a decoder")
            content = each.text("content")
            if joined:
                after.append(Replacement(quoted(pattern), replacement_text(content)))
            else:
                texts = [text.replace(pattern, content) for text in texts]
        elif joined:
            raise refused(each, f"the decoder {kind} after the tokens are joined")
        elif kind == "ByteLevel":
            texts = [_text(text, bytes_of(text)) for text in texts]
            joined = True
        elif kind == "ByteFallback":
            texts = [_text(text, bytes([int(text[3:5], 16)])) if re.fullmatch(r"<0x[0-9A-Fa-f]{2}>", text) else text for text in texts]
        elif kind == "Metaspace":
            texts = [text.replace(each.text("replacement", "\u2581"), " ") for text in texts]
            if each.text("prepend_scheme", "always") != "never":
                after.append(Replacement(r"\A ", ""))
        elif kind == "WordPiece":
            prefix, cleans = each.text("prefix", "##"), bool(each.content.get("cleanup", True))
            texts = [text.removeprefix(prefix) if text.startswith(prefix) else " " + text for text in texts]
            texts = [_cleaned(text) for text in texts] if cleans else texts
            after.append(Replacement(r"\A ", ""))
        else:
            raise refused(each, f"the decoder {kind}")
    if decoder is None:
        texts, after = [" " + text for text in texts], [Replacement(r"\A ", "")]
    return Decoding([text.encode("utf-8", "surrogateescape") for text in texts], tuple(special), tuple(after))


def _text(text: str, content: bytes | None) -> str:
    return text if content is None else content.decode("utf-8", "surrogateescape")


def _cleaned(text: str) -> str:
    for pattern, content in _CLEANED:
        text = text.replace(pattern, content)
    return text
