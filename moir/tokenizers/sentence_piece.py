"""`tokenizer.model`: the tokenizer of SentencePiece, as the `tokenizer.json` that the model's class makes of it.

The file has the normalization of texts and the pieces. The ids of the pieces, and the tokens that are put around a
text, depend on the class that `tokenizer_config.json` names.

Source: sentencepiece_model.proto of SentencePiece 0.2.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.files.json_fields import Fields
from moir.files.protobuf.message_table import MessageTable
from moir.files.reading import read_whole
from moir.support import tables
from moir.support.records import Record
from moir.tokenizers.algorithms import unreachable
from moir.tokenizers.definition import SPACE, TokenizerDefinition, Unigram
from moir.tokenizers.json_parts import ESCAPED_SPACES, PREFIX, Json, added, merges_of, pieces_decoder, sequence, template
from moir.tokenizers.settings import HINT, LARGEST_FILE, Settings, read_settings, read_token_settings
from moir.tokenizers.steps import refused
from moir.tokenizers.tokenizer_json import definition_of

FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
"""The names of files of SentencePiece, in the order in which they are looked for."""

MESSAGES = MessageTable(
    "sentencepiece",
    """
ModelProto: 1 pieces *Piece, 2 trainer_spec Trainer, 3 normalizer_spec Normalizer
Piece: 1 piece string, 2 score float, 3 type int32
Trainer: 3 model_type int32, 24 treat_whitespace_as_suffix bool, 35 byte_fallback bool, 40 unk_id int32, 41 bos_id int32,
    42 eos_id int32, 43 pad_id int32
Normalizer: 2 precompiled_charsmap bytes, 3 add_dummy_prefix bool, 4 remove_extra_whitespaces bool, 5 escape_whitespaces bool
""",
    {},
    strict=False,
)
_NORMAL, _UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = range(1, 7)
"""Kinds of pieces."""

_UNIGRAM, _PAIRS = 1, 2
"""Kinds of models."""

_IDS = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}
"""The default ids of special pieces, for files without them."""


class _Class(Record):
    """What a class of tokenizers adds to its file.

    Args:
        shift: whether the first three pieces are replaced by the four of fairseq, and `<mask>` is the last one.
        first, last: the names of the tokens before and after a text.
        extra: the number of tokens `<extra_id_0>`, … between: how often the last token stands between two texts.
        strips: whether white space is removed at both ends of a text, and before all words.
        special: pieces of users that are left out of decoded texts.
    """

    shift: bool = False
    first: str = ""
    last: str = ""
    extra: int = 0
    between: int = 1
    strips: bool = False
    special: frozenset[str] = frozenset()


_CLASSES: Mapping[str, _Class] = tables.by_word(
    {
        "GemmaTokenizer": _Class(first="bos", special=frozenset(("<start_of_turn>", "<end_of_turn>"))),
        "T5Tokenizer": _Class(last="eos", extra=100, strips=True),
        "XLMRobertaTokenizer": _Class(shift=True, first="bos", last="eos", between=2, strips=True),
    }
)
"""Tokenizer classes with their own settings; all other BPE classes are read like Llama's."""

_SHIFTED = (("<s>", 0.0, _CONTROL), ("<pad>", 0.0, _CONTROL), ("</s>", 0.0, _CONTROL), ("<unk>", 0.0, _UNKNOWN))
_SHIFTED_IDS = {"bos": 0, "pad": 1, "eos": 2, "unk": 3}


class _Source:
    """A file of SentencePiece, and the settings beside it.

    Args:
        content: the content of the file.
        fields: its location, for messages.
        settings: the content of `tokenizer_config.json`.
    """

    def __init__(self, content: bytes, fields: Fields, settings: Fields) -> None:
        self.settings = settings
        self.fields = fields
        model = self._read(content)
        self.normalizer, trainer = model.normalizer_spec, model.trainer_spec
        self.kind = trainer.model_type if trainer.HasField("model_type") else _UNIGRAM
        self.has_bytes = trainer.byte_fallback
        if trainer.treat_whitespace_as_suffix:
            raise refused(self.fields, "SentencePiece's treat_whitespace_as_suffix")
        if not self.flag("escape_whitespaces"):
            raise refused(self.fields, "SentencePiece without escape_whitespaces")
        self.pieces = [(each.piece, each.score, each.type if each.HasField("type") else _NORMAL) for each in model.pieces]
        if not self.pieces or not all(isinstance(piece, str) for piece, _, _ in self.pieces):
            raise self.fields.error("there are no pieces, or some are not UTF-8")
        ids = {name: getattr(trainer, name) if trainer.HasField(name) else default for name, default in _IDS.items()}
        self.ids = {name.removesuffix("_id"): index for name, index in ids.items() if 0 <= index < len(self.pieces)}

    def _read(self, content: bytes) -> Any:
        try:
            return MESSAGES.reader("ModelProto").FromString(content)
        except ValueError as error:
            reason = f"not a model of SentencePiece: {error}"
            raise ModelFileError(reason, location=self.fields.location, hint=self.fields.hint) from None

    def flag(self, name: str) -> bool:
        """A boolean of the normalizer; true if the file does not have it."""
        return getattr(self.normalizer, name) if self.normalizer.HasField(name) else True

    def chosen(self, key: str, *, default: bool) -> bool:
        """A boolean of `tokenizer_config.json`; the default if its key is missing or null."""
        value = self.settings.content.get(key)
        return default if value is None else bool(value)

    @property
    def has_prefix(self) -> bool:
        """Whether there is a mark before each text."""
        return self.flag("add_dummy_prefix") and self.chosen("add_prefix_space", default=True)

    def shift(self) -> None:
        """Replace the first three pieces by the four of fairseq and their ids, and append `<mask>`."""
        self.pieces = [*_SHIFTED, *self.pieces[3:], ("<mask>", 0.0, _CONTROL)]
        self.ids = dict(_SHIFTED_IDS)

    def normalizers(self, *, strips: bool) -> list[Json]:
        """The normalizers of the file, without the one that puts a mark before a text.

        Args:
            strips: whether a pre-tokenizer removes white space anyway.
        """
        parts: list[Json] = []
        if characters := self.normalizer.precompiled_charsmap:
            parts.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(characters).decode()})
        if self.flag("remove_extra_whitespaces") and not strips:
            ends, runs = ({"Regex": pattern} for pattern in (r"\A +| +\z", " {2,}"))
            parts += [{"type": "Replace", "pattern": ends, "content": ""}, {"type": "Replace", "pattern": runs, "content": " "}]
        return parts


def read_pieces(path: Path) -> TokenizerDefinition:
    """The tokenizer in a file of SentencePiece, with the settings beside it.

    Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed.
    """
    settings, fields = read_settings(path.parent), read_token_settings(path.parent)
    name = fields.text("tokenizer_class", "").removesuffix("Fast")
    source = _Source(read_whole(path, "a tokenizer", LARGEST_FILE), Fields({}, path.name, str(path), HINT), fields)
    kind = _CLASSES.get(name, _Class(first="bos"))
    if source.kind != _PAIRS and not (source.kind == _UNIGRAM and name in _CLASSES):
        what = f"the tokenizer class {name[:40]!r}" if source.kind == _UNIGRAM else f"SentencePiece's model_type {source.kind}"
        raise refused(source.fields, what)
    if kind.shift:
        source.shift()
    source.pieces += [(f"<extra_id_{index}>", 0.0, _CONTROL) for index in range(kind.extra - 1, -1, -1)]
    named = {name: source.pieces[index][0] for name, index in source.ids.items()} | dict(settings.named)
    content = {
        **(_pairs(source) if source.kind == _PAIRS else _probable(source, kind)),
        "added_tokens": _added(source, {*named.values(), *kind.special}),
        "post_processor": _template(source, kind, named, {each.text: each.id for each in settings.tokens if each.id >= 0}),
    }
    return definition_of(Fields(content, path.name, str(path), HINT), settings.with_fields(named=named))


def read_model(content: bytes, fields: Fields) -> TokenizerDefinition:
    """The tokenizer of a SentencePiece model, as the library applies it: control pieces are neither matched in texts
    nor put around them.

    Args:
        content: the content of the file.
        fields: its location, for messages.

    Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed.
    """
    source = _Source(content, fields, Fields({}, fields.place, fields.location, fields.hint))
    if source.kind not in (_UNIGRAM, _PAIRS):
        raise refused(source.fields, f"SentencePiece's model_type {source.kind}")
    parts = _pairs(source) if source.kind == _PAIRS else _probable(source, _Class())
    of_users = [added(piece, index, special=False) for index, (piece, _, type_) in enumerate(source.pieces) if type_ == _USER]
    settings = Settings(
        named={name: source.pieces[index][0] for name, index in source.ids.items()}, tokens=(), chat_template="", cleans=False,
        cleans_byte_pairs=False, has_types=False, pads_right=True, truncates_right=True, longest=None,
    )  # fmt: skip
    definition = definition_of(Fields({**parts, "added_tokens": of_users}, fields.place, fields.location, fields.hint), settings)
    algorithm = definition.algorithm
    if not isinstance(algorithm, Unigram):
        return definition
    never = {index for index, (_, _, type_) in enumerate(source.pieces) if type_ in (_UNKNOWN, _CONTROL, _UNUSED)}
    texts = [unreachable(index) if index in never else text for index, text in enumerate(algorithm.vocabulary)]
    return definition.with_fields(algorithm=algorithm.with_fields(vocabulary=texts))


def _pairs(source: _Source) -> Json:
    has_prefix = source.has_prefix
    is_first = has_prefix and not source.chosen("legacy", default=True)
    ranks = {piece: -score for piece, score, type_ in source.pieces if type_ == _NORMAL}
    normalizers = [*source.normalizers(strips=False), *([PREFIX] if has_prefix and not is_first else []), ESCAPED_SPACES]
    first: Json = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first", "split": False}
    model: Json = {"type": "BPE", "vocab": _vocabulary(source.pieces), "merges": merges_of(ranks, source.fields), "fuse_unk": True,
                   "byte_fallback": source.has_bytes}  # fmt: skip
    if "unk" in source.ids:
        model["unk_token"] = source.pieces[source.ids["unk"]][0]
    return {
        "normalizer": sequence("normalizers", normalizers[:-1] if is_first else normalizers),
        "pre_tokenizer": first if is_first else None,
        "decoder": pieces_decoder(has_prefix=has_prefix),
        "model": model,
    }


def _probable(source: _Source, kind: _Class) -> Json:
    metaspace: Json = {"type": "Metaspace", "replacement": SPACE,
                       "prepend_scheme": "always" if source.has_prefix else "never"}  # fmt: skip
    splitters = [{"type": "WhitespaceSplit"}, metaspace] if kind.strips else [metaspace]
    decoders = [{"type": "ByteFallback"}, metaspace] if source.has_bytes else [metaspace]
    if "unk" not in source.ids:
        raise source.fields.error("there is no piece for unknown characters")
    return {
        "normalizer": sequence("normalizers", source.normalizers(strips=kind.strips)),
        "pre_tokenizer": sequence("pretokenizers", splitters),
        "decoder": sequence("decoders", decoders),
        "model": {
            "type": "Unigram",
            "vocab": [[piece, score] for piece, score, _ in source.pieces],
            "unk_id": source.ids["unk"],
            "byte_fallback": source.has_bytes,
        },
    }


def _vocabulary(pieces: Sequence[tuple[str, float, int]]) -> dict[str, int]:
    return {piece: index for index, (piece, _, _) in enumerate(pieces)}


def _added(source: _Source, special: set[str]) -> list[Json]:
    """The pieces that are never part of other pieces: control pieces, user-defined pieces, and those in `special`.

    Pieces with marks of spaces are matched in the normalized text.
    """
    finds_marks = source.kind == _PAIRS and not source.has_prefix
    return [
        added(piece, index, special=type_ != _USER or piece in special)
        | {"lstrip": piece == "<mask>", "normalized": finds_marks and SPACE in piece}
        for index, (piece, _, type_) in enumerate(source.pieces)
        if piece and (type_ in (_UNKNOWN, _CONTROL, _USER) or piece in special)
    ]


def _template(source: _Source, kind: _Class, named: Mapping[str, str], others: Mapping[str, int]) -> Json:
    """The tokens around a text: those of the class, unless the settings say otherwise.

    Args:
        source: the file.
        kind: the class.
        named: the special tokens.
        others: the ids of tokens that the settings have.
    """
    ids = {**_vocabulary(source.pieces), **others}
    ends: list[list[tuple[str, int]]] = []
    for name, own in (("bos", kind.first), ("eos", kind.last)):
        token = named.get(name, "")
        wanted = source.chosen(f"add_{name}_token", default=bool(own))
        ends.append([(token, ids[token])] if wanted and token in ids else [])
    return template(*ends, between=kind.between)
