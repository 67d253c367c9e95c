"""Normalizers and pre-tokenizers of `tokenizer.json` as steps."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from moir.errors import ConversionError
from moir.files.json_fields import Fields
from moir.tokenizers.byte_level import GPT2_PATTERN
from moir.tokenizers.character_maps import lowercase_map
from moir.tokenizers.definition import BytesAsCharacters, CharacterMap, NormalForm, Replacement, Split, Step
from moir.tokenizers.literals import quoted, replacement_text
from moir.tokenizers.regular_expressions import WORD_CHARACTERS, UnknownExpression, translated

CHINESE = (
    r"[\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B920}-\x{2CEAF}"
    r"\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]"
)
PUNCTUATION = r"[\p{P}$+<=>^`|~]"
_REMOVED_BY_NMT = r"[\x01-\x08\x0B\x0E-\x1F\x7F\x{8F}\x{9F}]"
_SPACES_OF_NMT = r"[\x09\x0A\x0C\x0D\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"
START = "\ufdd3"
"""A character that occurs in no text; it is put before a text whose beginning a later step has to recognize."""


def refused(fields: Fields, what: str) -> ConversionError:
    """The error that a part of `tokenizer.json`, `what`, has no equivalent among the operations of OpenVINO Tokenizers;
    `fields` is its JSON.
    """
    return ConversionError(f"{fields.place}: {what} has no counterpart in OpenVINO Tokenizers", location=fields.location,
                           hint="convert with --no-tokenizers, and tokenize in your program")  # fmt: skip


def pattern_of(fields: Fields) -> str:
    """The pattern of {"String": …}, quoted, or {"Regex": …}, translated to PCRE2.

    Raises ModelFileError for no text, ConversionError for a regular expression that cannot be translated.
    """
    kind, text = fields.fields("pattern").only()
    if not isinstance(text, str) or not text:
        raise fields.error("the pattern is not a text")
    if kind == "String":
        return quoted(text)
    try:
        return translated(text)
    except UnknownExpression as error:
        raise refused(fields, f"the regular expression {text[:60]!r} ({error})") from None


def normalizer_steps(fields: Fields) -> list[Step]:
    """The steps of a normalizer."""
    kind = fields.text("type")
    if kind == "Sequence":
        return [step for each in fields.objects("normalizers") for step in normalizer_steps(each)]
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return [NormalForm(kind.lower())]
    if kind == "Lowercase":
        return [CharacterMap(lowercase_map())]
    if kind == "StripAccents":
        return [Replacement(r"\p{M}", "")]
    if kind == "Prepend":
        return [Replacement(r"^(?=[\s\S])", rewrite(fields, fields.text("prepend")), everywhere=False)]
    if kind == "Strip":
        ends = [(r"\A\s+", "strip_left"), (r"\s+\z", "strip_right")]
        return [Replacement(pattern, "") for pattern, key in ends if fields.content.get(key)]
    if kind == "Replace":
        return [Replacement(pattern_of(fields), rewrite(fields, fields.text("content")))]
    if kind == "Nmt":
        return [Replacement(_REMOVED_BY_NMT, ""), Replacement(_SPACES_OF_NMT, " ")]
    if kind == "Precompiled":
        return [CharacterMap(_character_map(fields))]
    if kind == "BertNormalizer":
        return _bert_steps(fields)
    raise refused(fields, f"the normalizer {kind}")


def _character_map(fields: Fields) -> bytes:
    """The bytes of SentencePiece's character map in a Precompiled normalizer. Raises ModelFileError if it is
    damaged.
    """
    try:
        content = base64.b64decode(fields.text("precompiled_charsmap"), validate=True)
    except ValueError:
        raise fields.error("'precompiled_charsmap' is not base64") from None
    size = int.from_bytes(content[:4], "little")
    if len(content) < 8 or size % 4 or not 0 < size <= len(content) - 4:
        raise fields.error("'precompiled_charsmap' is damaged")
    return content


def rewrite(fields: Fields, text: str) -> str:
    """`text` of the file as replacement string of a regular expression. Raises ConversionError if it is too long."""
    if len(text.encode()) > 4:
        raise refused(fields, f"the replacement {text[:40]!r}, which is longer than the operation allows")
    try:
        return replacement_text(text)
    except ValueError as error:
        raise fields.error(str(error)) from None


def _bert_steps(fields: Fields) -> list[Step]:
    steps: list[Step] = []
    lowers = bool(fields.content.get("lowercase", True))
    if fields.content.get("clean_text", True):
        steps += [Replacement(r"(?![\t\n\r])\p{C}|\x{FFFD}", ""), Replacement(r"\s", " ")]
    if fields.content.get("handle_chinese_chars", True):
        steps.append(Replacement(f"({CHINESE})", " $1 "))
    strips = fields.content.get("strip_accents")
    if lowers if strips is None else strips:
        steps += [NormalForm("nfd"), Replacement(r"\p{Mn}", "")]
    if lowers:
        steps.append(CharacterMap(lowercase_map()))
    return steps


def pre_tokenizer_steps(fields: Fields) -> list[Step]:
    """The steps of a pre-tokenizer; a step after ByteLevel sees the characters that stand for bytes."""
    steps: list[Step] = []
    kinds = list(fields.objects("pretokenizers")) if fields.text("type") == "Sequence" else [fields]
    for index, each in enumerate(kinds):
        own = _pre_tokenizer(each)
        steps += own
        if has_start(own) and any(before.text("type") != "WhitespaceSplit" for before in kinds[:index]):
            raise refused(each, "Metaspace with prepend_scheme first after other pre-tokenizers than WhitespaceSplit")
        if each.text("type") == "ByteLevel" and index < len(kinds) - 1:
            steps.append(BytesAsCharacters())
    return steps


def has_start(steps: Sequence[Step]) -> bool:
    """Whether any step looks for START, so that START has to be put before the text."""
    return any(isinstance(step, Replacement) and START in step.pattern for step in steps)


def metaspace(fields: Fields) -> str:
    """The character that Metaspace writes for a space."""
    mark = fields.text("replacement", "\u2581")
    if len(mark) != 1:
        raise fields.error(f"the replacement {mark[:40]!r} is not a character")
    return mark


def prepend_scheme(fields: Fields) -> str:
    """To which texts Metaspace prepends its character: "always", "first" or "never"; old files have a flag."""
    scheme = fields.text("prepend_scheme", "never" if fields.content.get("add_prefix_space") is False else "always")
    if scheme not in ("always", "first", "never"):
        raise fields.error(f"the prepend_scheme {scheme!r} is not known")
    return scheme


def _pre_tokenizer(fields: Fields) -> list[Step]:
    kind = fields.text("type")
    if kind == "ByteLevel":
        prefix = [Replacement(r"^(?! )(?=[\s\S])", " ", everywhere=False)] if fields.content.get("add_prefix_space") else []
        return [*prefix, *([Split(GPT2_PATTERN)] if fields.content.get("use_regex", True) else [])]
    if kind == "Split":
        return [_split(pattern_of(fields), fields.text("behavior"), bool(fields.content.get("invert")), fields)]
    if kind == "Digits":
        return [Split(r"\p{N}" if fields.content.get("individual_digits") else r"\p{N}+")]
    if kind == "Punctuation":
        return [_split(PUNCTUATION, fields.text("behavior", "Isolated"), False, fields)]
    if kind == "Whitespace":
        joined = rf"{WORD_CHARACTERS}\x{{200C}}\x{{200D}}"
        return [Split(rf"[{joined}]+|[^{joined}\s]+", "matches")]
    if kind == "WhitespaceSplit":
        return [Split(r"\s+", "others")]
    if kind == "BertPreTokenizer":
        return [Split(r"\s+", "others"), Split(PUNCTUATION)]
    if kind == "Metaspace":
        mark = metaspace(fields)
        scheme = prepend_scheme(fields)
        steps: list[Step] = [Replacement(" ", rewrite(fields, mark))]
        if scheme == "first":
            steps += [Replacement(rf"\A{START}(?:(?={quoted(mark)})|\z)", ""), Replacement(rf"\A{START}", rewrite(fields, mark))]
        elif scheme == "always":
            steps.append(Replacement(rf"\A(?!{quoted(mark)})(?=[\s\S])", rewrite(fields, mark), everywhere=False))
        return [*steps, *([_split(quoted(mark), "MergedWithNext", False, fields)] if fields.content.get("split", True) else [])]
    raise refused(fields, f"the pre-tokenizer {kind}")


def _split(pattern: str, behavior: str, inverted: bool, fields: Fields) -> Split:
    before, after = rf"[\s\S]*?(?:{pattern})", rf"(?:{pattern})(?:(?!{pattern})[\s\S])*+"
    forms = {
        "Isolated": Split(pattern),
        "Removed": Split(pattern, "matches" if inverted else "others"),
        "Contiguous": Split(f"(?:(?>{pattern}))++"),
        "MergedWithPrevious": Split(after if inverted else before),
        "MergedWithNext": Split(before if inverted else after),
    }
    if behavior not in forms:
        raise refused(fields, f"the behavior {behavior!r}")
    return forms[behavior]
