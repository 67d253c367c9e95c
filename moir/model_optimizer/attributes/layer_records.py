"""The attribute `IE` of Model Optimizer's nodes, which says which attributes of a node are written to the IR."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from moir.dialects.data import DataAttr


def opset_record(op: Operation) -> list[Any]:
    """The attribute `IE` of an operation of an operation set: its properties are written to the IR."""
    return layer_record([name for name, value in op.properties.items() if not isinstance(value, DataAttr)])


def _id_of(node: Any) -> str:
    return node.id


def layer_record(records: list[Any]) -> list[Any]:
    """The attribute `IE`, in Model Optimizer's form, for records of attributes that are written to the IR."""
    return [("layer", [("id", _id_of), "name", "type", "version"], [("data", records, []), "@ports", "@consts"])]
