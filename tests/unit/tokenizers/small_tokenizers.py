"""Small `tokenizer.json` of each kind, as objects of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moir.tokenizers.byte_level import characters

Json = dict[str, Any]


def added(*texts: str, first: int = 0) -> list[Json]:
    """Special tokens with consecutive ids."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return [{"id": first + index, "content": text, "special": True, **flags} for index, text in enumerate(texts)]


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Tokens with their ids."""
    return {token: index for index, token in enumerate(tokens)}


def results_of(merges: Sequence[str]) -> list[str]:
    """The tokens that merges make."""
    return [merge.replace(" ", "") for merge in merges]


def template(before: Mapping[str, int], after: Mapping[str, int]) -> Json:
    """The post-processor that puts special tokens around a text."""
    first, last = ([{"SpecialToken": {"id": token, "type_id": 0}} for token in tokens] for tokens in (before, after))
    a, b = ({"Sequence": {"id": name, "type_id": index}} for index, name in enumerate("AB"))
    tokens = {token: {"id": token, "ids": [index], "tokens": [token]} for token, index in {**before, **after}.items()}
    return {"type": "TemplateProcessing", "single": [*first, a, *last], "pair": [*first, a, *last, b, *last], "special_tokens": tokens}


def tokenizer(model: Json, tokens: list[Json], **parts: Json) -> Json:
    """A whole tokenizer."""
    names = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    return {"version": "1.0", "added_tokens": tokens, **{name: parts.get(name) for name in names}, "model": model}


def byte_level() -> Json:
    """Byte-level pairs, as of GPT-2."""
    merges = ["h e", "l l", "he ll", "hell o", "\u0120 w", "\u0120w o", "r l", "\u00c3 \u00a9"]
    vocabulary = numbered(["<|end|>", *characters(), *results_of(merges)])
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return tokenizer({"type": "BPE", "vocab": vocabulary, "merges": merges}, added("<|end|>"), pre_tokenizer=level, decoder=level)


def byte_fallback(*, first_only: bool = False) -> Json:
    """Pairs of characters, with tokens for the bytes of others: as of Llama 2, or as of Mistral."""
    merges = ["\u2581 h", "\u2581h i", "a b", "\u2581 \u2581"]
    byte_tokens = [f"<0x{value:02X}>" for value in range(256)]
    vocabulary = numbered(["<unk>", "<s>", "</s>", *byte_tokens, "\u2581", *"habi", *results_of(merges)])
    model = {"type": "BPE", "vocab": vocabulary, "merges": merges, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    space = {"String": " "}, "\u2581"
    normalizer = {
        "type": "Sequence",
        "normalizers": [{"type": "Prepend", "prepend": space[1]}, {"type": "Replace", "pattern": space[0], "content": space[1]}],
    }
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    decoders = [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        *({"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
    ]
    before: Json = {"pre_tokenizer": metaspace} if first_only else {"normalizer": normalizer}
    after = {"post_processor": template({"<s>": 1}, {}), "decoder": {"type": "Sequence", "decoders": decoders}}
    return tokenizer(model, added("<unk>", "<s>", "</s>"), **before, **after)


def unigram() -> Json:
    """Probabilities of tokens, as of XLM-RoBERTa."""
    scores = {"\u2581hi": -2.0, "\u2581": -1.5, "h": -4.0, "i": -4.0, "\u2581the": -2.5, "re": -3.0, "r": -5.0, "e": -4.5,
              "\u2581\u2581": -9.0, "t": -4.0}  # fmt: skip
    model = {"type": "Unigram", "unk_id": 2, "vocab": [["<s>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], *map(list, scores.items())]}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    splitter = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    around = template({"<s>": 0}, {"</s>": 1})
    parts = {"normalizer": {"type": "NFKC"}, "pre_tokenizer": splitter, "post_processor": around, "decoder": metaspace}
    return tokenizer(model, added("<s>", "</s>", "<unk>"), **parts)


def word_pieces() -> Json:
    """Pieces of words, as of BERT."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = numbered([*special, "un", "##aff", "##able", "##s", "e", "don", "t", "'", ".", ",", "\u4e2d"])
    model = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    parts: Json = {"normalizer": normalizer, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    after = {"post_processor": template({"[CLS]": 2}, {"[SEP]": 3}), "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}}
    return tokenizer(model | {"max_input_chars_per_word": 100}, added(*special), **parts, **after)
