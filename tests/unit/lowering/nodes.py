"""Nodes for tests of handlers, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from moir.dialects.framework import operation_class
from moir.dialects.moir import NoneOp
from moir.dialects.properties import attribute_of
from moir.dialects.shapes import tensor
from moir.lowering.binder import LoweringNode


def node_of(*, operands: Sequence[str | None] = (), **attributes: Any) -> LoweringNode:
    """A node with operands of a given number, absent where there is None, and attributes."""
    source = operation_class("onnx", "Source")
    values: list[SSAValue] = [
        (NoneOp.of() if name is None else source.create(result_types=[tensor((2,), f32)])).results[0] for name in operands
    ]
    op = operation_class("onnx", "Tested").create(
        operands=values, properties={name: attribute_of(value) for name, value in attributes.items()}
    )
    return LoweringNode(op, 1, cast(Any, None))
