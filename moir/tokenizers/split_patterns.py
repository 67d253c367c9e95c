r"""Pre-tokenizers of byte-level vocabularies by the names that GGUF files have for them.

Each is a list of patterns: the text is cut before and after each match of the first pattern, then each of the parts in
the same way by the next pattern. Source: the names and patterns of llama.cpp (src/llama-vocab.cpp).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moir.support import tables
from moir.support.records import Record
from moir.tokenizers.byte_level import GPT2_PATTERN

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s+(?!\S)|\s+"
_LINES = rf"\s*[\r\n]+|{_SPACES}"
_CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_ASIAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_CASED = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d"
    "\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5"
    "\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d"
    "\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134"
    "\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
"""Letters with a case, as the vocabulary of DeepSeek LLM lists them."""


def _words(digits: str, letters: str = r"\p{L}", others: str = r"\s\p{L}\p{N}") -> str:
    """The pattern whose alternatives match a contraction, a word with the character before it, digits, symbols, or
    white space.

    Args:
        digits: the pattern of a run of digits.
        letters: the pattern of a letter in a word.
        others: the characters, within a set, that are not symbols.
    """
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?{letters}+|{digits}| ?[^{others}]+[\r\n]*|{_LINES}"


def _cased_words(digits: str, ending: str) -> str:
    """The pattern of `_words`, except that words are also cut between a lower-case letter and a capital one.

    Args:
        digits: the pattern of a run of digits.
        ending: the pattern of a contraction after a word.
    """
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    first = r"[^\r\n\p{L}\p{N}]?"
    return rf"{first}{upper}*{lower}+{ending}|{first}{upper}+{lower}*{ending}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}"


_PUNCTUATED = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|""" + _LINES
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_O200K = _cased_words(r"\p{N}{1,3}", f"{_CONTRACTIONS}?")


class PreTokenizer(Record):
    """How texts are cut before byte pairs are merged.

    Args:
        patterns: the patterns, in order.
        form: the Unicode normalization form of the text; empty for none.
        whole: whether a part of the text that is a token as a whole becomes this token without merging.
        begins: whether the token for the beginning is before each text, unless the file says otherwise.
    """

    patterns: Sequence[str]
    form: str = ""
    whole: bool = False
    begins: bool = False


PRE_TOKENIZERS: Mapping[str, PreTokenizer] = tables.by_word(
    {
        "default": PreTokenizer([r"[\p{P}\$\+<=>\^~\|]+", GPT2_PATTERN, r"\p{N}+", "[0-9][0-9][0-9]"]),
        "gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum exaone4 jais "
        "trillion granite-docling": PreTokenizer([GPT2_PATTERN]),
        "olmo mpt modern-bert": PreTokenizer([GPT2_PATTERN], "NFC"),
        "starcoder refact smollm codeshell exaone minerva-7b mellum2": PreTokenizer([r"\p{N}", GPT2_PATTERN]),
        "command-r": PreTokenizer([r"\p{N}", GPT2_PATTERN], "NFC"),
        "falcon": PreTokenizer([r"[\p{P}\$\+<=>\^~\|`]+", GPT2_PATTERN, "[0-9][0-9][0-9]"]),
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": PreTokenizer(
            [_words(r"\p{N}{1,3}")], whole=True, begins=True
        ),
        "dbrx smaug-bpe chatglm-bpe": PreTokenizer([_words(r"\p{N}{1,3}")]),
        "glm4 glm5": PreTokenizer([_words(r"\p{N}{1,3}")], whole=True),
        "minicpm5": PreTokenizer([r"\p{N}{1,3}", _words(r"\p{N}+")], whole=True),
        "qwen2 megrez kormo f2llmv2": PreTokenizer([_words(r"\p{N}")], "NFC"),
        "deepseek-r1-qwen stablelm2 hunyuan solar-open grok-2": PreTokenizer([_words(r"\p{N}")]),
        "qwen35": PreTokenizer([_words(r"\p{N}", r"[\p{L}\p{M}]", r"\s\p{L}\p{M}\p{N}")], "NFC"),
        "seed-coder": PreTokenizer([rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_LINES}"]),
        "bailingmoe bailingmoe2 llada-moe": PreTokenizer(
            [rf"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{{L}}\p{{N}}]?+\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]++[\r\n]*|\s*[\r\n]|{_SPACES}"]
        ),
        "exaone-moe": PreTokenizer(
            [
                rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
                rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|\s*[\r\n]|{_SPACES}"
            ]
        ),
        "tekken": PreTokenizer([_cased_words(r"\p{N}", "")], whole=True, begins=True),
        "gpt-4o llama4 kanana2 talkie minimax-m2": PreTokenizer([_O200K]),
        "tiny_aya cohere2moe": PreTokenizer([r"\d{1,3}(?=(?:\d{3})*\b)", _O200K]),
        "deepseek-llm": PreTokenizer(
            [
                *(r"[\r\n]", rf"\s?[{_CASED}]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$", _ASIAN),
                r"\p{N}+",
            ]
        ),
        "deepseek-coder": PreTokenizer([r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _ASIAN, r"\p{N}"]),
        "deepseek-v3 hunyuan-dense joyai-llm hy_v4": PreTokenizer([r"\p{N}{1,3}", _CJK, _PUNCTUATED]),
        "bloom poro-chat gpt3-finnish": PreTokenizer([_BLOOM]),
        "viking": PreTokenizer([_BLOOM, r"\p{N}"]),
    }
)
"""The pre-tokenizers by `tokenizer.ggml.pre`."""
