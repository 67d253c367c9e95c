"""Nodes of the `detection` dialect: heads of detection networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import new_node
from moir.frameworks import DETECTION


def head_of(op: object) -> str:
    """The kind of a head of a detection network; an empty string for any other operation."""
    return op.KIND if isinstance(op, FrameworkOp) and op.dialect_name() == DETECTION.dialect else ""


def new_head(
    kind: str, operands: Sequence[SSAValue], properties: Mapping[str, Any], *, results: int = 1, name: str | None = None
) -> FrameworkOp:
    """A new node of the `detection` dialect with `results` results, which is not in a block yet."""
    return new_node(kind, operands, properties, results=results, name=name, dialect=DETECTION.dialect)
