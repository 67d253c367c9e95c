"""Facts about ONNX's operations from their definitions."""

from __future__ import annotations

from functools import cache

from moir.dialects.framework import FrameworkOp
from moir.model_optimizer.frameworks.onnx.names import onnx_version

MOST_INPUTS = 1 << 16
"""A number that is larger than the number of inputs of any operation; it stands for no limit."""


def attributes_of(op: FrameworkOp) -> frozenset[str] | None:
    """The attributes of an operation in its version; None for operations of other domains."""
    return None if "." in op.KIND else _attributes_of(op.KIND, onnx_version(op))


@cache
def _attributes_of(kind: str, version: int) -> frozenset[str] | None:
    from onnx import defs

    try:
        return frozenset(defs.get_schema(kind, min(version, defs.onnx_opset_version())).attributes)
    except defs.SchemaError:
        return None


def most_inputs(kind: str) -> int:
    """The largest number of inputs of a kind in the newest operation set; no limit for kinds of other domains."""
    from onnx import defs

    try:
        return defs.get_schema(kind).max_input
    except defs.SchemaError:
        return MOST_INPUTS
