"""Operations on strings. Those that can be computed from the bytes are lowered; the others are refused with a hint.

A tensor of strings is unpacked into its bytes and the begin and end of each string; results are packed again.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.families import FAMILIES
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

COMPUTED = ("StringLength", "StringLower", "StringUpper", "Substr")


@tf.lowers("StringLength")
def string_length(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.StringLength(x) {unit}
    -> ends - begins of opset15.StringTensorUnpack(x); for UTF8_CHAR the number of first bytes of characters
    """
    begins, ends, symbols = op.StringTensorUnpack.results(node.operand(0))
    if node.text("unit", "BYTE") == "BYTE":
        return op.Subtract(ends, begins)
    # Bytes 10xxxxxx continue a character. The sums begin with 0, that of no bytes.
    starts = op.Convert(op.LogicalOr(op.Less(symbols, 0x80), op.GreaterEqual(symbols, 0xC0)), destination_type=si32)
    sums = op.Concat(np.zeros(1, np.int32), op.CumSum(starts, 0), axis=0)
    return op.Subtract(op.Gather(sums, ends, 0), op.Gather(sums, begins, 0))


@tf.lowers("StringLower", "StringUpper")
def changed_case(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.StringLower(x)
    -> opset15.StringTensorPack of the bytes of x, with 32 added to A to Z (StringUpper: subtracted from a to z)
    """
    if node.text("encoding", ""):
        node.fail("letters beyond ASCII have no upper and lower case here", hint="leave out the encoding, or do this before the model")
    begins, ends, symbols = op.StringTensorUnpack.results(node.operand(0))
    lowers = node.op.KIND == "StringLower"
    first, last = (ord("A"), ord("Z")) if lowers else (ord("a"), ord("z"))
    is_letter = op.LogicalAnd(op.GreaterEqual(symbols, first), op.LessEqual(symbols, last))
    changed = op.Add(symbols, 32) if lowers else op.Subtract(symbols, 32)
    return op.StringTensorPack(begins, ends, op.Select(is_letter, changed, symbols))


@tf.lowers("Substr")
def substring(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Substr(x, pos, len)
    -> opset15.StringTensorPack(begin + pos, min(begin + pos + len, end), bytes); negative pos counts from the end
    """
    if node.text("unit", "BYTE") != "BYTE":
        node.fail("characters of several bytes cannot be counted here", hint="use the unit BYTE, or do this before the model")
    begins, ends, symbols = op.StringTensorUnpack.results(node.operand(0))
    position, length = (op.convert(node.operand(index), si32) for index in (1, 2))
    from_end = op.convert(op.Less(position, 0), boolean)
    start = op.Add(op.Select(from_end, ends, begins), position)
    start = op.Minimum(op.Maximum(start, begins), ends)
    return op.StringTensorPack(start, op.Minimum(op.Add(start, length), ends), symbols)


@tf.lowers(*(kind for kind in FAMILIES["strings"].split() if kind not in COMPUTED))
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.StringSplitV2(x): refused, because the runtime does not support it."""
    node.fail(
        "the runtime does not compute this on strings",
        hint="cut the model behind this node, where the values are numbers, and compute those outside, as with OpenVINO Tokenizers",
    )
