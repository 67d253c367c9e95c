"""Operations on maps, which the operation sets do not have.

A ZipMap, which turns the scores of each row into a map from classes to scores, is removed: its output becomes the
tensor of scores.
"""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import SSAValue

from moir.dialects.moir import add_notes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

_SHOWN = 8
"""The maximum number of classes that a note names."""


@onnx.lowers("ai.onnx.ml.ZipMap")
def zip_map(
    node: LoweringNode, x: SSAValue, *, classlabels_strings: tuple[str, ...] = (), classlabels_int64s: tuple[int, ...] = ()
) -> SSAValue:
    """onnx.ai.onnx.ml.ZipMap(x) -> x, with a note"""
    labels = [str(label) for label in (classlabels_strings or classlabels_int64s)]
    shown = ", ".join(labels[:_SHOWN]) + (", …" if len(labels) > _SHOWN else "")
    add_notes(node.op, [f"left out ZipMap {node.name!r}: a tensor of scores takes the place of its maps, its columns are {shown}"])
    return x


@onnx.lowers("ai.onnx.ml.CastMap", "ai.onnx.ml.DictVectorizer")
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """onnx.ai.onnx.ml.DictVectorizer(x) and CastMap: refused, because the operation sets have no maps."""
    node.fail("its operand is a map, which the operation sets do not have", hint="make the vector of its values before the model")
