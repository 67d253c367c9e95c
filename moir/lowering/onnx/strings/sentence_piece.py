"""The SentencePiece tokenizer of onnxruntime-extensions, as the chain of operations of OpenVINO Tokenizers.

    %ids, %indices = onnx.ai.onnx.contrib.SentencepieceTokenizer(%texts, 0, 1.0, true, true, false) {model}
->  %begins, %ends, %all = the chain of `moir.tokenizers.chain`; extension.CombineSegments with the ids around a text

Source: the documentation of custom operators of onnxruntime-extensions, and its version 0.15.2.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32, si64
from moir.expansions.strings.tokenizers import check_permitted, operation
from moir.files.json_fields import Fields
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.tokenizers.chain import LIST, token_ids
from moir.tokenizers.sentence_piece import read_model

_OPTIONS = ("nbest_size", "alpha", "add_bos", "add_eos", "reverse", "fairseq")
"""The names of the operands after the texts."""


@onnx.lowers("ai.onnx.contrib.SentencepieceTokenizer")
def sentence_piece_tokenizer(
    node: LoweringNode, op: OpBuilder, texts: SSAValue, *_: SSAValue | None, model: object
) -> list[SSAValue | None]:
    """onnx.ai.onnx.contrib.SentencepieceTokenizer(texts [N], …) -> ids, i32 [all], and where those of each text begin,
    i64 [N + 1]

    Declines sampling (nbest_size), reversed ids, those of fairseq, and the result of indices in the text.
    """
    check_permitted(op, "its vocabulary is searched", "cut the model after this node with --input")
    if node.is_used(2):
        node.fail("its indices in the text are not computed", hint="leave out this result")
    options = [_option(node, index, name) for index, name in enumerate(_OPTIONS, 1)]
    if options[0] not in (0, 1) or options[4] or options[5]:
        node.fail("it samples segmentations, reverses ids or has those of fairseq", hint="give nbest_size 0, and reverse and fairseq false")
    definition = read_model(_bytes_of(model), Fields({}, "model", node.name, "write the model of the tokenizer again"))
    segments = list(token_ids(op, definition, op.Reshape(texts, [-1], special_zero=False)))
    for is_added, name in ((options[2], "bos"), (options[3], "eos")):
        index = getattr(definition, name)
        if is_added and index is None:
            node.fail(f"it adds the token {name}, which its model does not have")
        if is_added:
            around = [op.constant(np.array(value, np.int32)) for value in (0, 1, [index])]
            segments = [*around, *segments] if name == "bos" else [*segments, *around]
    if len(segments) > 3:
        types = op.constant(np.zeros(len(segments) // 3, np.int32))
        segments = list(operation(op, "CombineSegments", [*segments, types], {}, [LIST] * 6)[:3])
    begins, ends, ids = segments
    counts = op.CumSum(op.convert(op.Subtract(ends, begins), si64), op.constant(0))
    indices = op.Concat(op.constant([0]), counts, axis=0)
    return [op.convert(ids, si32), indices, None][: node.result_count]


def _bytes_of(attribute: object) -> bytes:
    """The bytes of a string attribute, which is a data attribute if it is not valid UTF-8."""
    return attribute.array.tobytes() if isinstance(attribute, DataAttr) else str(attribute).encode()


def _option(node: LoweringNode, index: int, name: str) -> float | bool:
    """The value of operand `index`, a constant of one element; false if it is absent.

    Raises ConversionError, with the name of the option, if it is not constant.
    """
    if node.optional(index) is None:
        return False
    value = node.constant(index)
    if value is None or value.size != 1:
        node.fail(f"its {name} is computed", hint="make it an initializer")
    return value.item()
