"""The inputs that Model Optimizer's nodes had where ONNX's older operation sets have attributes.

onnx.Slice(%x) {starts, ends}  ->  onnx.Slice(%x, %starts, %ends, %axes, %steps)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.view import NormalInputs


def _integers(op: Operation, name: str) -> Any:
    attribute = op.properties.get(name)
    return None if attribute is None else np.array(value_of(attribute), dtype=np.int64)


def _axes(op: Operation) -> list[Any] | None:
    axes = _integers(op, "axes")
    return None if axes is None or len(op.operands) > 1 else [axes]


def _slice(op: Operation) -> list[Any] | None:
    starts, ends = _integers(op, "starts"), _integers(op, "ends")
    if starts is None or ends is None or len(op.operands) > 1:
        return None
    axes = _integers(op, "axes")
    return [starts, ends, np.arange(len(starts)) if axes is None else axes, np.ones_like(starts)]


def _clip(op: Operation) -> list[Any] | None:
    if len(op.operands) > 1 or not {"min", "max"} & op.properties.keys():
        return None
    limits = np.finfo(np.float32)
    given = {name: op.properties.get(name) for name in ("min", "max")}
    defaults = {"min": float(limits.min), "max": float(limits.max)}
    return [np.float32(defaults[name] if value is None else value_of(value)) for name, value in given.items()]


def _count(op: Operation) -> list[Any] | None:
    given = op.properties.get("k")
    return None if given is None or len(op.operands) > 1 else [np.array([value_of(given)], dtype=np.int64)]


_REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")

NORMAL_INPUTS = {
    **{kind: NormalInputs(kind, _axes, ("axes",)) for kind in (*_REDUCTIONS, "Squeeze")},
    "Unsqueeze": NormalInputs("Unsqueeze", _axes, ("axes",), is_distinct=True),
    "Clip": NormalInputs("Clamp", _clip, ("min", "max"), is_distinct=True),
    "Slice": NormalInputs("Slice", _slice, ("axes", "starts", "ends"), is_distinct=True),
    "TopK": NormalInputs("TopK", _count, ("k",)),
}
"""Kind -> the inputs that replace its attributes."""
