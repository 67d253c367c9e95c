"""The inputs that nodes had in Model Optimizer: attributes of ONNX's older operation sets as inputs, and their order.

    %y = onnx.Sqrt(%x)                     ->  %y = onnx.Pow(%x, %half)             asked for as Pow
    %y = onnx.Slice(%x) {starts, ends}     ->  %y = onnx.Slice(%x, %starts, %ends)  asked for as Slice
    %y = onnx.ReduceMean(%x) {axes = [1]}  ->  %y = onnx.ReduceMean(%x, %axes)      whose input 1 is asked for

An extension that asks for nodes by the name of the normal form expects the inputs of it. Nodes that are asked for by
another name (`AttributedSlice`, `Sqrt`), or not at all, stay as they are. Where the forms have one name, what asks for
the source of such an input, or has it in a pattern, gets it.

Behind the front phase, what is asked for as Slice has the order of ONNX, where opset8.Slice has the steps before the
axes; what is asked for by its type stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from moir.dialects.framework import NEWEST_VERSION, operation_class
from moir.dialects.opset.slicing import Slice
from moir.dialects.properties import value_of
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes, recast
from moir.model_optimizer.block.sentinels import DISCONNECTED
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.creation import create_operation

Inputs = Callable[[Operation], "list[Any] | None"]
"""Function of an operation: the values of its inputs behind the first, None for one that is left out; or None if it has
its normal form already."""


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

_ONNX: Mapping[str, tuple[str, Inputs]] = {
    **{f"onnx.{kind}": (kind, _axes) for kind in (*_REDUCTIONS, "Squeeze", "Unsqueeze")},
    "onnx.Clip": ("Clamp", _clip),
    "onnx.Slice": ("Slice", _slice),
    "onnx.TopK": ("TopK", _count),
}
"""Operation -> the name it is asked for by, and the function that says its inputs."""

_POWERS: Mapping[str, float] = {"onnx.Sqrt": 0.5, "tf.Sqrt": 0.5, "tf.Rsqrt": -0.5, "tf.Square": 2.0}
"""Operation -> its exponent, if it is asked for as `Pow`."""


_DISTINCT = frozenset(("onnx.Clip", "onnx.Slice", "onnx.Unsqueeze"))
"""The operations whose form of Model Optimizer without these inputs had another name."""


def normalise(graph: BlockView, op: Operation, name: str | None = None) -> bool:
    """Give an operation of a framework the inputs of its normal form; returns whether it changed.

    Args:
        graph: the graph, in the front phase.
        op: the operation.
        name: the name it is asked for by, which then stands for the normal form; None if its inputs are asked for.
    """
    if name == "Pow" and op.name in _POWERS:
        dialect = op.name.partition(".")[0]
        _connect(graph, op, {1: np.float32(_POWERS[op.name])})
        recast(op, operation_class(dialect, "Pow"))
        graph.operand_counts.pop(op, None)
        graph.forget_operations()
        return True
    asked, inputs = _ONNX.get(op.name, (None, None))
    if inputs is None or (name is not None and (asked != name or op.name not in _DISTINCT)) or (values := inputs(op)) is None:
        return False
    # What the extractor gave stays readable as an attribute.
    kept = {key: value for key, value in OperationAttributes(graph, op).items() if key in ("axis", "squeeze_dims", "k")}
    _connect(graph, op, dict(enumerate(values, 1)))
    for attribute in ("axes", "starts", "ends", "min", "max", "k"):
        op.properties.pop(attribute, None)
    for key, value in kept.items():
        if not (key == "axis" and "axis" in op.properties):
            OperationAttributes(graph, op).set_hidden(key, value)
    op.attributes[NEWEST_VERSION] = UnitAttr()
    graph.operand_counts.pop(op, None)
    graph.forget_operations()
    return True


def restore_slice(graph: BlockView, op: Operation) -> None:
    """Turn a slice of the operation set into Model Optimizer's.

    %y = opset8.Slice(%x, %start, %stop, %step, %axes)  ->  %y = mo.Slice(%x, %start, %stop, %axes, %step)
    """
    if not isinstance(op, Slice):
        return
    data, start, stop, step, *axes = op.operands
    OperationAttributes(graph, op).make_mo_operation({"op": "Slice", "type": None, "version": "experimental"})
    op.operands = [data, start, stop, *(axes or [graph.sentinel(DISCONNECTED)]), step]


def _connect(graph: BlockView, op: Operation, values: Mapping[int, Any]) -> None:
    for number, value in values.items():
        constant = create_operation(graph, {"op": "Const", "name": f"{graph.id_of(op)}/input_{number}", "value": value})
        graph.set_operand(op, number, constant.results[0])
