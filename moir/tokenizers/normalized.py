"""The text of an added token after a normalizer of `tokenizer.json`."""

from __future__ import annotations

import re
import unicodedata

from moir.files.json_fields import Fields
from moir.tokenizers.steps import refused


def normalized(text: str, normalizer: Fields) -> str:
    """The text of an added token after normalization. Raises ConversionError if it cannot be determined."""
    kind = normalizer.text("type")
    if kind == "Sequence":
        for each in normalizer.objects("normalizers"):
            text = normalized(text, each)
        return text
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return unicodedata.normalize(kind, text)
    if kind == "Lowercase":
        return text.lower()
    if kind == "Prepend":
        return normalizer.text("prepend") + text if text else text
    if kind == "Strip":
        text = text.lstrip() if normalizer.content.get("strip_left") else text
        return text.rstrip() if normalizer.content.get("strip_right") else text
    if kind == "Replace":
        return _replaced(text, normalizer)
    if kind == "StripAccents":
        return "".join([each for each in text if not unicodedata.category(each).startswith("M")])
    if kind in ("BertNormalizer", "Precompiled", "Nmt") and text.isascii() and text.isprintable():
        return text.lower() if kind == "BertNormalizer" and normalizer.content.get("lowercase", True) else text
    raise refused(normalizer, f"the normalized added token {text[:40]!r}")


def _replaced(text: str, normalizer: Fields) -> str:
    kind, pattern = normalizer.fields("pattern").only()
    if kind == "String" and isinstance(pattern, str) and pattern:
        return text.replace(pattern, normalizer.text("content"))
    # Spaces and sets of single characters mean the same here; others may not, or may take a long time.
    if kind == "Regex" and isinstance(pattern, str) and re.fullmatch(r" (\+|\{\d,\})", pattern):
        return re.sub(pattern, lambda _: normalizer.text("content"), text)
    raise refused(normalizer, f"the normalized added token {text[:40]!r}")
