"""A definition of a tokenizer as two modules: texts to ids, and ids to texts.

The last operations have the form that OpenVINO GenAI recognizes: a constant for each special token before or after the
result of Truncate, whose limit is selected by the variable `truncation`.
"""

from __future__ import annotations

import json

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
from moir.tokenizers.chain import BYTES, LIST, Pieces, token_ids
from moir.tokenizers.definition import FIRST_TEXT, TokenizerDefinition

_UNLIMITED = (1 << 31) - 65


def tokenizer_module(definition: TokenizerDefinition) -> ModuleOp:
    """The module of a tokenizer: string[?] -> input_ids, (token_type_ids,) attention_mask, i64[?, ?]."""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    module, model = _module(definition, "tokenizer", block)
    ids = token_ids(op, definition, _parameter(op, tensor((-1,), string), "texts"))
    added = len(definition.single.ids) - 1
    off = op.constant(np.array(False))
    enabled = op["opset6.ReadValue"](off, variable_id="truncation", variable_type=boolean, variable_shape="")
    limit = op.Select(enabled, np.array(max(min(definition.longest, _UNLIMITED) - added, 0), np.int32), np.array(_UNLIMITED, np.int32))
    side, mode = (
        op.constant(np.frombuffer(text, np.uint8), ui8) for text in (b"right" if definition.truncates_right else b"left", b"longest_first")
    )
    cut = operation(op, "Truncate", [*ids, limit, side, mode], {"m_num_inputs": "1"}, [LIST] * 3)
    segments: list[SSAValue] = []
    for each in definition.single.ids:
        if each == FIRST_TEXT:
            segments.extend(cut)
        else:
            segments.extend(op.constant(np.array(value, np.int32)) for value in (0, 1, [each]))
    types = op.constant(np.array(definition.single.types, np.int32))
    joined = operation(op, "CombineSegments", [*segments, types], {}, [LIST] * 6)
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
    """The module of a detokenizer: i64[?, ?] -> string_output: string[?]."""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    module, _ = _module(definition, "detokenizer", block)
    ids = op.Convert(_parameter(op, tensor((-1, -1), si64), "ids"), destination_type=si32)
    decoding = definition.decoding
    special = op.constant(np.array(decoding.special, np.int32), si32)
    operands = [ids, *constant_texts(op, decoding.texts), special]
    first, last, begins, ends, symbols = operation(op, "VocabDecoder", operands, {"skip_tokens": ""}, [LIST] * 4 + [BYTES])
    symbols.owner.attributes["name"] = string_attribute("VocabDecoder")  # type: ignore[union-attr]
    begins, ends = operation(op, "FuzeRagged", [first, last, begins, ends], {}, [LIST] * 2)
    texts = operation(op, "UTF8Validate", [begins, ends, symbols], {"replace_mode": "true"}, [LIST, LIST, BYTES])
    pieces = Pieces(op, [], texts)
    for step in decoding.replacements:
        pieces.apply(step)
    _output(op, op.StringTensorPack(*pieces.texts), "string_output")
    return module


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
