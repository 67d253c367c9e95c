"""The tokenizer in the metadata of a GGUF file, as the `tokenizer.json` that the model had before.

    tokenizer.ggml.model        llama, gemma4: pairs of SentencePiece; gpt2: pairs of bytes; bert: pieces of words;
                                t5: probable pieces of SentencePiece
    tokenizer.ggml.tokens       the tokens
    tokenizer.ggml.token_type   their kinds
    tokenizer.ggml.scores       their scores: the order of the merges for llama, logarithms of probabilities for t5
    tokenizer.ggml.merges       pairs of tokens with a space between
    tokenizer.ggml.pre          how texts are cut before pairs of bytes are merged

Source: the specification of GGUF (ggml, docs/gguf.md); src/llama-vocab.cpp of llama.cpp for defaults.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from moir.files.json_fields import Fields
from moir.tokenizers.definition import SPACE, TokenizerDefinition
from moir.tokenizers.json_parts import ESCAPED_SPACES, PREFIX, Json, added, merges_of, pieces_decoder, sequence, template
from moir.tokenizers.settings import Settings
from moir.tokenizers.split_patterns import PRE_TOKENIZERS, PreTokenizer
from moir.tokenizers.steps import refused
from moir.tokenizers.tokenizer_json import definition_of

_NORMAL, _UNKNOWN, _CONTROL, _USER = range(1, 5)
"""The kinds of tokens."""

_PREFIX = "tokenizer.ggml."
_HINT = "the file is damaged: download it again, or convert with --no-tokenizers"
_NAMES = {
    "bos": ("bos_token_id",),
    "eos": ("eos_token_id",),
    "pad": ("padding_token_id",),
    "unk": ("unknown_token_id",),
    "cls": ("cls_token_id", "bos_token_id"),
    "sep": ("seperator_token_id", "separator_token_id", "eos_token_id"),
    "mask": ("mask_token_id",),
}
"""The metadata keys of special tokens, in several spellings; writers of files also spell "separator" with an e."""


class _Source:
    """The metadata of a GGUF file, as all kinds of tokenizers read it."""

    def __init__(self, metadata: Mapping[str, object], location: str) -> None:
        content = {key.removeprefix(_PREFIX): _plain(value) for key, value in metadata.items() if key.startswith(_PREFIX)}
        self.fields = Fields(content, "tokenizer.ggml", location, _HINT)
        architecture = metadata.get("general.architecture")
        self.is_gemma = isinstance(architecture, str) and architecture.startswith("gemma")
        self.kind = self.fields.text("model")
        if self.kind not in _KINDS:
            raise refused(self.fields, f"the tokenizer {self.kind[:40]!r}")
        self.tokens = self._tokens()
        self.types = self._numbers("token_type") or [_NORMAL] * len(self.tokens)
        self.scores = self._numbers("scores")
        template_text = metadata.get("tokenizer.chat_template")
        self.chat_template = template_text if isinstance(template_text, str) else ""

    def _tokens(self) -> list[str]:
        tokens = self.fields.list("tokens")
        if not tokens or not all(isinstance(each, str) for each in tokens):
            raise self.fields.error("'tokens' is not a list of texts")
        return list(tokens)

    def _numbers(self, key: str) -> Sequence[float]:
        """The 1-D array of numbers under a key, one for each token; empty if the file has none. Raises ModelFileError
        for other values.
        """
        numbers = self.fields.list(key)
        if numbers and (len(numbers) != len(self.tokens) or not all(isinstance(each, int | float) for each in numbers)):
            raise self.fields.error(f"{key!r} does not have a number for each of the {len(self.tokens)} tokens")
        return numbers

    def id_of(self, name: str) -> int | None:
        """The id of a special token; None if the file has none."""
        for key in _NAMES[name]:
            if self.fields.content.get(key) is not None:
                index = self.fields.integer(key)
                if index == (1 << 32) - 1:  # What some writers have for none.
                    return None
                if not 0 <= index < len(self.tokens):
                    raise self.fields.error(f"{key!r} is {index}, but there are {len(self.tokens)} tokens")
                return index
        return None

    def special(self, name: str, flag: str, *, default: bool) -> list[tuple[str, int]]:
        """The token that is put before or after each text, with its id, as a list of one; empty if there is none.

        Args:
            name: the name of the special token, such as `bos`.
            flag: the key in the metadata that says whether the token is added.
            default: the value if the file lacks the key.
        """
        index = self.id_of(name)
        wanted = self.fields.content.get(flag)
        if not (default if wanted is None else wanted) or index is None:
            return []
        return [(self.tokens[index], index)]

    def flag(self, key: str, *, default: bool) -> bool:
        """The boolean under a key of the metadata; `default` if the file lacks the key."""
        value = self.fields.content.get(key)
        return default if value is None else bool(value)

    def vocabulary(self) -> dict[str, int]:
        """The ids of the tokens."""
        return {token: index for index, token in enumerate(self.tokens)}

    def added(self) -> list[Json]:
        """The tokens that are matched before anything else: control tokens, user-defined tokens, and the special
        ones.
        """
        named = {index for name in _NAMES if (index := self.id_of(name)) is not None}
        return [
            added(token, index, special=kind != _USER or index in named)
            for index, (token, kind) in enumerate(zip(self.tokens, self.types, strict=True))
            if token and (kind in (_UNKNOWN, _CONTROL, _USER) or index in named)
        ]


def read_gguf(metadata: Mapping[str, object], location: str) -> TokenizerDefinition:
    """The tokenizer of a GGUF file.

    Args:
        metadata: the metadata: numbers, booleans, texts, arrays of numbers, lists of texts.
        location: the file, for messages.

    Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed.
    """
    source = _Source(metadata, location)
    kind = source.kind
    content = {"added_tokens": source.added(), **_KINDS[kind](source)}
    named = {name: source.tokens[index] for name in _NAMES if (index := source.id_of(name)) is not None}
    is_decoder = kind not in ("bert", "t5")
    settings = Settings(
        named=named, tokens=(), chat_template=source.chat_template, cleans=kind == "bert", cleans_byte_pairs=False,
        has_types=kind == "bert", pads_right=not is_decoder, truncates_right=True, longest=None,
    )  # fmt: skip
    return definition_of(Fields(content, source.fields.place, location, _HINT), settings)


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _sentence_pairs(source: _Source) -> Json:
    """The `tokenizer.json` of a BPE tokenizer of SentencePiece: the neighbours that form the token with the best score
    merge first.

    Raises ModelFileError if the file has neither merges nor scores.
    """
    has_prefix = source.flag("add_space_prefix", default=not source.is_gemma)
    if source.is_gemma:
        # Files have spaces in the tokens that are nothing but spaces, and scores that are not the order of the merges.
        is_blank = [" " in token and not token.strip(" ") for token in source.tokens]
        source.tokens = [SPACE * len(token) if blank else token for token, blank in zip(source.tokens, is_blank, strict=True)]
        source.types = [_NORMAL if blank else kind for kind, blank in zip(source.types, is_blank, strict=True)]
    ranks = range(len(source.tokens)) if source.is_gemma else [-score for score in source.scores]
    merges: Sequence[Any] = source.fields.list("merges")
    if not merges:
        if not ranks:
            raise source.fields.error("neither 'merges' nor 'scores'")
        merged = {token: rank for token, rank, kind in zip(source.tokens, ranks, source.types, strict=True) if kind in (_NORMAL, _USER)}
        merges = merges_of(merged, source.fields)
    model = {"type": "BPE", "vocab": source.vocabulary(), "merges": merges, "byte_fallback": True, "fuse_unk": True}
    unknown = source.id_of("unk")
    if unknown is not None:
        model["unk_token"] = source.tokens[unknown]
    return {
        "added_tokens": source.added(),
        "normalizer": sequence("normalizers", [*([PREFIX] if has_prefix else []), ESCAPED_SPACES]),
        "decoder": pieces_decoder(has_prefix=has_prefix),
        "model": model,
        "post_processor": template(
            source.special("bos", "add_bos_token", default=True), source.special("eos", "add_eos_token", default=False)
        ),
    }


def _gemma4(source: _Source) -> Json:
    """The `tokenizer.json` of Gemma 4: as of Gemma, with the file's merges, and no token put before a text."""
    source.is_gemma = True
    return {**_sentence_pairs(source), "post_processor": template([], source.special("eos", "add_eos_token", default=False))}


def _byte_pairs(source: _Source) -> Json:
    name = source.fields.text("pre", "default")
    if name not in PRE_TOKENIZERS:
        raise refused(source.fields, f"the pre-tokenizer {name[:40]!r}")
    splitter: PreTokenizer = PRE_TOKENIZERS[name]
    if not source.fields.list("merges"):
        raise source.fields.error("'merges' is missing")
    splits: list[Json] = [{"type": "Split", "pattern": {"Regex": each}, "behavior": "Isolated"} for each in splitter.patterns]
    level: Json = {"type": "ByteLevel", "add_prefix_space": source.flag("add_space_prefix", default=False), "use_regex": False}
    parts = [level, *splits] if level["add_prefix_space"] else [*splits, level]
    ending = source.special("eos", "add_eos_token", default=False) or source.special("sep", "add_sep_token", default=False)
    return {
        "normalizer": {"type": splitter.form} if splitter.form else None,
        "pre_tokenizer": sequence("pretokenizers", parts),
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": source.vocabulary(), "merges": source.fields.list("merges"), "ignore_merges": splitter.whole},
        "post_processor": template(source.special("bos", "add_bos_token", default=splitter.begins), ending),
    }


def _word_pieces(source: _Source) -> Json:
    """The `tokenizer.json` of WordPiece. Files mark the tokens that begin a word; here `##` stands before the
    others.
    """
    source.tokens = [_word_piece(token, kind) for token, kind in zip(source.tokens, source.types, strict=True)]
    lowers = source.flag("normalizer.lowercase", default=True)
    unknown = source.id_of("unk")
    return {
        "added_tokens": source.added(),
        "normalizer": {
            "type": "BertNormalizer",
            "lowercase": lowers,
            "strip_accents": source.flag("normalizer.strip_accents", default=lowers),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "vocab": source.vocabulary(),
            "unk_token": "[UNK]" if unknown is None else source.tokens[unknown],
        },
        "post_processor": template(
            source.special("cls", "add_bos_token", default=True), source.special("sep", "add_eos_token", default=True)
        ),
    }


def _word_piece(token: str, kind: float) -> str:
    """A WordPiece token from GGUF in BERT's spelling: `##` before pieces that do not begin a word.

    Control, unknown and user-defined tokens, which `kind` tells, and texts in brackets are unchanged.
    """
    if kind in (_UNKNOWN, _CONTROL, _USER) or (token[:1] == "[" and token[-1:] == "]"):
        return token
    return token[1:] if token[:1] == SPACE and token != SPACE else f"##{token}"


def _probable_pieces(source: _Source) -> Json:
    if not source.scores:
        raise source.fields.error("'scores' is missing")
    unknown = source.id_of("unk")
    written = source.fields.list("precompiled_charsmap")
    if not all(isinstance(each, int) for each in written):
        raise source.fields.error("'precompiled_charsmap' is not a list of bytes")
    characters = bytes([each & 0xFF for each in written])
    normalizers: list[Json] = []
    if characters:
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(characters).decode()})
    if source.flag("remove_extra_whitespaces", default=False):
        normalizers += [{"type": "Strip", "strip_left": True, "strip_right": True},
                        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]  # fmt: skip
    scheme = "always" if source.flag("add_space_prefix", default=True) else "never"
    metaspace: Json = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme}
    return {
        "normalizer": sequence("normalizers", normalizers),
        "pre_tokenizer": metaspace,
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "vocab": [[token, score] for token, score in zip(source.tokens, source.scores, strict=True)],
            "unk_id": 2 if unknown is None else unknown,
        },
        "post_processor": template(
            source.special("bos", "add_bos_token", default=False), source.special("eos", "add_eos_token", default=True)
        ),
    }


_KINDS: Mapping[str, Callable[[_Source], Json]] = {
    "llama": _sentence_pairs,
    "gemma4": _gemma4,
    "gpt2": _byte_pairs,
    "bert": _word_pieces,
    "t5": _probable_pieces,
}
"""For each value of `tokenizer.ggml.model`, the function that builds the `tokenizer.json`."""
