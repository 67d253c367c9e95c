"""The byte-pair tokenizers of onnxruntime-extensions, as the chain of operations of OpenVINO Tokenizers.

    %ids, %mask = onnx.ai.onnx.contrib.GPT2Tokenizer(%texts) {vocab, merges, padding_length}
->  %begins, %ends, %all = the chain of `moir.tokenizers.chain`; %ids, %mask = extension.RaggedToDense(…)

Source: the documentation of custom operators of onnxruntime-extensions, and its version 0.15.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import tensor
from moir.expansions.strings.tokenizers import check_permitted, operation
from moir.files.json_fields import Fields
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record
from moir.tokenizers.chain import LIST, token_ids
from moir.tokenizers.definition import TokenizerDefinition
from moir.tokenizers.json_parts import Json, added
from moir.tokenizers.settings import Settings
from moir.tokenizers.tokenizer_json import definition_of

END_OF_TEXT = "<|endoftext|>"
"""The only special token that GPT-2's tokenizer recognizes in a text."""

BEGIN, END, PAD, UNKNOWN = "<s>", "</s>", "<pad>", "<unk>"
"""The special tokens that RoBERTa's tokenizer recognizes in a text."""

_SETTINGS = Settings(
    named={}, tokens=(), chat_template="", cleans=False, cleans_byte_pairs=False, has_types=False, pads_right=True,
    truncates_right=True, longest=None,
)  # fmt: skip


class BytePairTokenizer(Record):
    """A tokenizer, and the special tokens that it recognizes in a text, each with its id."""

    definition: TokenizerDefinition
    special: Mapping[str, int]


def byte_pairs(node: LoweringNode, vocab: str, merges: str, special: Sequence[str]) -> BytePairTokenizer:
    """The tokenizer of a vocabulary in JSON and of merges, one on a line.

    Args:
        node: the node.
        vocab: the vocabulary.
        merges: the merges.
        special: the special tokens that are recognized in a text, if the vocabulary has them.

    Raises ConversionError if they are damaged or cannot be expressed.
    """
    try:
        parsed = json.loads(vocab)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        node.fail("its vocabulary is not an object in JSON")
    vocabulary = cast("dict[str, Any]", parsed)
    pairs = [line.split(" ") for line in merges.splitlines() if line and not line.startswith("#version")]
    if any(len(pair) != 2 for pair in pairs):
        node.fail("a line of its merges is not of two tokens")
    ids = {token: index for token in special if isinstance(index := vocabulary.get(token), int)}
    content: Json = {
        "model": {"type": "BPE", "vocab": vocabulary, "merges": pairs},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [added(token, index, special=True) for token, index in ids.items()],
    }
    fields = Fields(content, "", node.name, "write the vocabulary and the merges of the tokenizer")
    return BytePairTokenizer(definition_of(fields, _SETTINGS), ids)


def _padded(node: LoweringNode, op: OpBuilder, segments: Sequence[SSAValue], pad: int, padding_length: int) -> list[SSAValue | None]:
    """The ids of texts as a matrix, and its mask, both i64 [N, longest], or [N, padding_length] if that is above 0.

    Args:
        node: the node.
        op: the builder.
        segments: the begins and ends of each text's ids, and all ids.
        pad: the id after those of a shorter text.
        padding_length: the number of ids to which texts are padded and cut.
    """
    begins, ends, ids = segments
    if padding_length > 0:
        ends = op.Minimum(ends, op.Add(begins, np.array(padding_length, np.int32)))
        width = op.constant(np.array(padding_length, np.int32))
    else:
        width = op.ReduceMax(op.Subtract(ends, begins), np.array(0, np.int32), keep_dims=False)
    types = [tensor((-1, -1), si32), tensor((-1, -1), boolean)]
    attributes = {"pad_right": "true", "m_pad_max_length": "false"}
    tokens, mask = operation(op, "RaggedToDense", [begins, ends, ids, width, op.constant(np.array(pad, np.int32))], attributes, types)
    return [op.convert(tokens, si64), op.convert(op.convert(mask, si32), si64), None][: node.result_count]


def _checked(node: LoweringNode, op: OpBuilder, texts: SSAValue) -> SSAValue:
    """The texts as a 1-D tensor.

    Raises ConversionError if the options exclude OpenVINO Tokenizers, or if the result with offsets is used.
    """
    check_permitted(op, "its vocabulary is searched", "cut the model after this node with --input")
    if node.is_used(2):
        node.fail("its offsets in the text are not computed", hint="leave out this result")
    return op.Reshape(texts, [-1], special_zero=False)


@onnx.lowers("ai.onnx.contrib.GPT2Tokenizer")
def gpt2_tokenizer(
    node: LoweringNode, op: OpBuilder, texts: SSAValue, *, vocab: str, merges: str, padding_length: int = -1
) -> list[SSAValue | None]:
    """onnx.ai.onnx.contrib.GPT2Tokenizer(texts [N]) -> ids and mask, i64 [N, longest], padded with 0

    With `padding_length` all texts have as many ids. Declines the result of offsets.
    """
    listed = _checked(node, op, texts)
    tokenizer = byte_pairs(node, vocab, merges, (END_OF_TEXT,))
    return _padded(node, op, token_ids(op, tokenizer.definition, listed), 0, padding_length)


@onnx.lowers("ai.onnx.contrib.RobertaTokenizer")
def roberta_tokenizer(
    node: LoweringNode, op: OpBuilder, texts: SSAValue, *, vocab: str, merges: str, padding_length: int = -1
) -> list[SSAValue | None]:
    """onnx.ai.onnx.contrib.RobertaTokenizer(texts [N]) -> ids between those of <s> and </s> and mask, i64 [N, longest]

    A fixed length cuts the ids with these tokens among them; the package then shifts the rows of the texts after it.
    """
    listed = _checked(node, op, texts)
    tokenizer = byte_pairs(node, vocab, merges, (BEGIN, END, PAD, UNKNOWN))
    if missing := [token for token in (BEGIN, END, PAD) if token not in tokenizer.special]:
        node.fail(f"its vocabulary does not have the token {missing[0]}")
    around = [[op.constant(np.array(value, np.int32)) for value in (0, 1, [tokenizer.special[token]])] for token in (BEGIN, END)]
    segments = [*around[0], *token_ids(op, tokenizer.definition, listed), *around[1]]
    combined = operation(op, "CombineSegments", [*segments, op.constant(np.zeros(3, np.int32))], {}, [LIST] * 6)[:3]
    return _padded(node, op, combined, tokenizer.special[PAD], padding_length)
