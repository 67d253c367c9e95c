"""Passes do the same for an axis whether it is counted from the beginning or from the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.parser import Parser

from moir import conversion
from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.context import MoirContext
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import rank_of
from moir.options import ConversionOptions
from moir.pipeline.text import Pipeline
from moir.rewriting.builder import OpBuilder

LIT = Path(__file__).parents[2] / "filecheck"
FOLDERS = [
    *(LIT / "passes" / name for name in ("canonicalize", "fold", "fuse", "interface", "layout", "state")),
    LIT / "targets" / "openvino_cpu",
]

OTHERWISE = frozenset(("Interpolate", "DFT", "IDFT", "RDFT", "IRDFT"))
"""Kinds whose axes are never negative, or counted from the end of other dimensions."""

OF_THE_RESULT = frozenset(("Unsqueeze", "OneHot"))
"""Kinds whose axes are those of the result."""

PIPELINE = re.compile(r"""RUN: moir-opt %s -p (?P<quote>['"]?)(?P<text>[^'"\s]+)(?P=quote)( --split-input-file| --verify-each)* \|""")


def axes_of(module: ModuleOp) -> Iterator[tuple[OpsetOp, int | str, int]]:
    """The operations along constant axes: each with the index of the operand or the name of the property, and the rank."""
    for op in module.walk():
        if not isinstance(op, OpsetOp) or op.KIND in OTHERWISE:
            continue
        rank = rank_of(op.results[0] if op.KIND in OF_THE_RESULT else op.operands[0]) if op.operands else None
        if not rank:
            continue
        for index, (name, _) in enumerate(op.get_irdl_definition().operands):
            if name in ("axes", "axis") and index < len(op.operands) and constant_of(op.operands[index]) is not None:
                yield op, index, rank
        if isinstance(op.properties.get("axis"), IntegerAttr):
            yield op, "axis", rank


def count_from_the_other_end(op: OpsetOp, key: int | str, rank: int) -> None:
    """Change the sign of constant axes."""
    if isinstance(key, str):
        attribute = op.properties[key]
        axis = value_of(attribute)
        assert isinstance(attribute, IntegerAttr)
        op.properties[key] = IntegerAttr(axis + rank if axis < 0 else axis - rank, attribute.type)
        return
    axes, block = constant_of(op.operands[key]), op.parent
    assert axes is not None
    assert block is not None
    changed = np.where(axes < 0, axes + rank, axes - rank).astype(axes.dtype)
    op.operands[key] = OpBuilder(KnownValues(), block, op).constant(changed)


def kinds_after(module: ModuleOp, pipeline: str) -> Counter[str]:
    """How often each operation occurs after some passes, constants left out."""
    conversion.run(module, Pipeline.parse(pipeline).passes("onnx", ConversionOptions()))
    return Counter(op.name for op in module.walk() if op.name != "opset1.Constant")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_axis_may_be_counted_from_either_end(folder: Path) -> None:
    """In each model of the lit tests, one axis after the other."""
    compared, differing = 0, list[str]()
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        pipeline = PIPELINE.search(text)
        if pipeline is None:
            continue
        for part in text.split("// -----"):
            module = Parser(MoirContext(), part).parse_module()
            count = len(list(axes_of(module)))
            expected = kinds_after(module.clone(), pipeline["text"]) if count else Counter[str]()
            for number in range(count):
                other = module.clone()
                op, key, rank = list(axes_of(other))[number]
                name = op.name
                count_from_the_other_end(op, key, rank)
                compared += 1
                if kinds_after(other, pipeline["text"]) != expected:
                    differing.append(f"{path.name}: {name} {key}")
    assert not differing
    assert compared
