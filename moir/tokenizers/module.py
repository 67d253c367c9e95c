"""A definition of a tokenizer as two modules: texts to ids, and ids to texts.

The ends of the chain have the form that OpenVINO GenAI looks for: constants of special tokens one by one around the
result of Truncate, whose limit is selected by the variable `truncation`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.element_types import boolean, si32, si64, string, ui8
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.names import tensor_names
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.errors import ConversionError
from moir.expansions.strings.texts import constant_texts
from moir.expansions.strings.tokenizers import VERSION, operation
from moir.rewriting.builder import OpBuilder
from moir.tokenizers.added_tokens import added_pattern
from moir.tokenizers.definition import (
    FIRST_TEXT,
    BytePairs,
    CharacterMap,
    NormalForm,
    Replacement,
    Split,
    Step,
    TokenizerDefinition,
    Unigram,
    WordPieces,
)

_LIST, _BYTES, _FLAGS = tensor((-1,), si32), tensor((-1,), ui8), tensor((-1,), boolean)
_UNLIMITED = (1 << 31) - 65


class _Pieces:
    """Pieces of texts: which of them belong to each text, their begins and ends, bytes, and whether each is a token."""

    def __init__(self, op: OpBuilder, ragged: Sequence[SSAValue], texts: Sequence[SSAValue], flags: SSAValue | None = None) -> None:
        self.op = op
        self.ragged: list[SSAValue] = list(ragged)
        self.texts: list[SSAValue] = list(texts)
        self.flags: SSAValue | None = flags

    def _bytes(self, text: str) -> SSAValue:
        return self.op.constant(np.frombuffer(text.encode(), np.uint8), ui8)

    def normalize(self, kind: str, operands: Sequence[SSAValue], attributes: dict[str, str], *, all_pieces: bool = False) -> None:
        """Change the text of the pieces."""
        flags = [] if self.flags is None or all_pieces else [self.flags]
        results = operation(
            self.op, kind, [*self.texts, *flags, *operands], attributes, [_LIST, _LIST, _BYTES, *([_FLAGS] if flags else [])]
        )
        self.texts = list(results[:3])
        if flags:
            self.flags = results[3]

    def split(self, kind: str, pattern: str, attributes: dict[str, str]) -> None:
        """Cut the pieces by a pattern."""
        flags = [] if self.flags is None else [self.flags]
        has_flags = kind == "SpecialTokensSplit" or bool(flags)
        results = operation(
            self.op,
            kind,
            [*self.ragged, *self.texts, *flags, self._bytes(pattern)],
            attributes,
            [_LIST] * 4 + [_BYTES] + ([_FLAGS] if has_flags else []),
        )
        self.ragged, self.texts = list(results[:2]), list(results[2:5])
        self.flags = results[5] if has_flags else None

    def apply(self, step: Step) -> None:
        """Apply a step."""
        if isinstance(step, Replacement):
            attributes = {"global_replace": "true" if step.everywhere else "false"}
            operands = [self._bytes(step.pattern), self._bytes(step.text)]
            self.normalize("RegexNormalization", operands, attributes, all_pieces=step.also_added)
        elif isinstance(step, NormalForm | CharacterMap):
            names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces", "case_fold", "nmt")
            form = step.form if isinstance(step, NormalForm) else ""
            content = [self.op.constant(np.frombuffer(step.content, np.uint8), ui8)] if isinstance(step, CharacterMap) else []
            self.normalize("CharsMapNormalization", content, dict.fromkeys(names, "false") | {"normalization_form": form})
        elif isinstance(step, Split):
            self.split(
                "RegexSplit",
                step.pattern,
                {
                    "behaviour": "isolate" if step.keeps == "all" else "remove",
                    "invert": "true" if step.keeps == "matches" else "false",
                    "max_splits": "-1",
                },
            )
        else:
            flags = [] if self.flags is None else [self.flags]
            results = operation(
                self.op,
                "BytesToChars",
                [*self.ragged, *self.texts, *flags],
                {},
                [_LIST] * 4 + [_BYTES] + ([_FLAGS] if flags else []),
            )
            self.ragged, self.texts = list(results[:2]), list(results[2:5])
            self.flags = results[5] if flags else None


def tokenizer_module(definition: TokenizerDefinition) -> ModuleOp:
    """string[?] -> input_ids, (token_type_ids,) attention_mask, i64[?, ?]"""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    module, model = _module(definition, "tokenizer", block)
    begins, ends, symbols = op.StringTensorUnpack.results(_parameter(op, tensor((-1,), string), "texts"))
    count = op.Gather(op.ShapeOf(begins, output_type=si64), 0, 0)
    ragged = [op.Range(0, count, 1, output_type=si32), op.Range(1, op.Add(count, 1), 1, output_type=si32)]
    pieces = _Pieces(op, ragged, [begins, ends, symbols])
    plain, later = (added_pattern([each for each in definition.added if each.normalized == kind]) for kind in (False, True))
    if definition.prefix:
        others = "".join([f"(?!{pattern})" for pattern in (plain, later) if pattern])
        pieces.apply(Replacement(rf"\A{others}(?=[\s\S])", definition.prefix, everywhere=False))
    if plain:
        pieces.split("SpecialTokensSplit", plain, {})
    for step in definition.normalization:
        pieces.apply(step)
    if later:
        pieces.split("SpecialTokensSplit", later, {})
    for step in definition.pre_tokenization:
        pieces.apply(step)
    ids = _algorithm(op, definition, pieces)
    added = len(definition.single.ids) - 1
    off = op.constant(np.array(False))
    enabled = op["opset6.ReadValue"](off, variable_id="truncation", variable_type=boolean, variable_shape="")
    limit = op.Select(enabled, np.array(max(min(definition.longest, _UNLIMITED) - added, 0), np.int32), np.array(_UNLIMITED, np.int32))
    side, mode = (
        op.constant(np.frombuffer(text, np.uint8), ui8) for text in (b"right" if definition.truncates_right else b"left", b"longest_first")
    )
    cut = operation(op, "Truncate", [*ids, limit, side, mode], {"m_num_inputs": "1"}, [_LIST] * 3)
    segments: list[SSAValue] = []
    for each in definition.single.ids:
        if each == FIRST_TEXT:
            segments.extend(cut)
        else:
            segments.extend(op.constant(np.array(value, np.int32)) for value in (0, 1, [each]))
    types = op.constant(np.array(definition.single.types, np.int32))
    joined = operation(op, "CombineSegments", [*segments, types], {}, [_LIST] * 6)
    width = op.ReduceMax(op.Subtract(joined[1], joined[0]), np.array(0, np.int32), keep_dims=False)
    padding = {"pad_right": "true" if definition.pads_right else "false", "m_pad_max_length": "false"}
    dense = [tensor((-1, -1), si32), tensor((-1, -1), boolean)]
    tokens, mask = operation(
        op, "RaggedToDense", [*joined[:3], width, op.constant(np.array(definition.pad or 0, np.int32))], padding, dense
    )
    _output(op, op.Convert(tokens, destination_type=si64), "input_ids")
    if definition.has_types:
        kinds, _ = operation(op, "RaggedToDense", [*joined[3:], width, op.constant(np.array(0, np.int32))], padding, dense)
        _output(op, op.Convert(kinds, destination_type=si64), "token_type_ids")
    _output(op, op.Convert(op.Convert(mask, destination_type=si32), destination_type=si64), "attention_mask")
    op["opset6.Assign"](enabled, variable_id="truncation")
    del model
    return module


def detokenizer_module(definition: TokenizerDefinition) -> ModuleOp:
    """i64[?, ?] -> string_output: string[?]"""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    module, _ = _module(definition, "detokenizer", block)
    ids = op.Convert(_parameter(op, tensor((-1, -1), si64), "ids"), destination_type=si32)
    decoding = definition.decoding
    special = op.constant(np.array(decoding.special, np.int32), si32)
    operands = [ids, *constant_texts(op, decoding.texts), special]
    first, last, begins, ends, symbols = operation(op, "VocabDecoder", operands, {"skip_tokens": ""}, [_LIST] * 4 + [_BYTES])
    symbols.owner.attributes["name"] = string_attribute("VocabDecoder")  # type: ignore[union-attr]
    begins, ends = operation(op, "FuzeRagged", [first, last, begins, ends], {}, [_LIST] * 2)
    texts = operation(op, "UTF8Validate", [begins, ends, symbols], {"replace_mode": "true"}, [_LIST, _LIST, _BYTES])
    pieces = _Pieces(op, [], texts)
    for step in decoding.replacements:
        pieces.apply(step)
    _output(op, op.StringTensorPack(*pieces.texts), "string_output")
    return module


def _algorithm(op: OpBuilder, definition: TokenizerDefinition, pieces: _Pieces) -> Sequence[SSAValue]:
    algorithm = definition.algorithm
    operands = [*pieces.ragged, *pieces.texts, *constant_texts(op, algorithm.vocabulary)]
    ids = [_LIST] * 3
    if isinstance(algorithm, BytePairs):
        lists = ([pair[0] for pair in algorithm.merges], [pair[1] for pair in algorithm.merges], [each[0] for each in algorithm.others])
        attributes = {
            "unk_token": "",
            "fuse_unk": "false",
            "suffix_indicator": "",
            "end_suffix": algorithm.end_of_word,
            "byte_fallback": "false",
            "cache_capacity": str(max(20000, len(algorithm.vocabulary) // 5)),
        }
        constants = [value for texts in lists for value in constant_texts(op, texts)]
        others = op.constant(np.array([each[1] for each in algorithm.others], np.int32), si32)
        return operation(op, "BPETokenizer", [*operands, *constants, others], attributes, ids)
    if isinstance(algorithm, Unigram):
        attributes = {"byte_fallback": "false", "unk_token_id": str(algorithm.unknown), "fuse_unk": "true", "min_score": "0"}
        return operation(op, "UnigramTokenizer", [*operands, op.constant(algorithm.scores)], attributes, ids)
    if isinstance(algorithm, WordPieces):
        attributes = {"suffix_indicator": algorithm.continuation, "max_bytes_per_word": str((1 << 31) - 1)}
        return operation(op, "WordpieceTokenizer", [*operands, op.constant(np.array(algorithm.unknown, np.int32))], attributes, ids)
    values = op.constant(np.arange(len(algorithm.vocabulary), dtype=np.int32))
    unknown = op.constant(np.array(algorithm.unknown, np.int32))
    words = operation(op, "VocabEncoder", [*operands[2:], values, unknown], {}, [_LIST])
    return [*pieces.ragged, *words]


def _module(definition: TokenizerDefinition, name: str, block: Block) -> tuple[ModuleOp, ModelOp]:
    if not definition.decoding.texts:
        raise ConversionError("the vocabulary is empty", location=definition.location, hint="convert with --no-tokenizers")
    entries = {
        "openvino_tokenizers_version": VERSION,
        "add_special_tokens": "True",
        "skip_special_tokens": "True",
        "with_detokenizer": "True",
        "tokenizer_output_type": "i64",
        "detokenizer_input_type": "i64",
        "number_of_inputs": "1",
        "utf8_replace_mode": "replace",
    }
    for key, value in (("bos", definition.bos), ("eos", definition.eos), ("pad", definition.pad)):
        if value is not None:
            entries[f"{key}_token_id"] = str(value)
    if definition.chat_template:
        entries["chat_template"] = definition.chat_template
    if definition.post_processor:
        entries["original_post_processor_template"] = definition.post_processor
    templates = {"single": definition.single, "pair": definition.pair}
    written = {key: {"ids": list(each.ids), "type_ids": list(each.types)} for key, each in templates.items() if each is not None}
    entries["processed_post_processor_template"] = json.dumps(written)
    information = DictionaryAttr({key: string_attribute(value) for key, value in entries.items()})
    model = ModelOp.of(name, block, {ModuleLevel.RUNTIME_INFO: information})
    return ModuleOp([model]), model


def _parameter(op: OpBuilder, type_: object, name: str) -> SSAValue:
    parameter = opset.operation("opset1.Parameter").create(result_types=[type_])  # type: ignore[list-item]
    parameter.attributes["name"] = string_attribute(name)
    op.insert(parameter)
    return parameter.results[0]


def _output(op: OpBuilder, value: SSAValue, name: str) -> None:
    owner = value.owner
    owner.attributes["tensor_names"] = tensor_names(name)  # type: ignore[union-attr]
    result = opset.operation("opset1.Result").create(operands=[value])
    result.attributes["name"] = string_attribute(name)
    op.insert(result)
