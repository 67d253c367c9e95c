"""The types of handlers: functions that build the values that replace the results of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

Replacement: TypeAlias = SSAValue | Sequence[SSAValue | None]
"""The values that a handler returns for a node's results, None for a result without uses.

A single None in place of the sequence leaves the operation unchanged.
"""

BoundHandler: TypeAlias = Callable[[LoweringNode, OpBuilder], "Replacement | None"]
"""A handler as a function of a node and a builder."""
