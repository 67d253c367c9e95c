"""How the IR spells the types of operations: `opset1.Relu` is the layer of type `ReLU` and version `opset1`."""

from __future__ import annotations

from functools import cache

from moir.dialects import opset
from moir.dialects.opset.base import OpsetOp

RESPELLED = ("opset1.Constant", "opset1.PRelu", "opset1.Relu", "opset1.Softmax", "opset8.Softmax")
"""The operations whose classes say an `XML_TYPE`: an index for the way back, which should not import all classes."""


def layer_type(operation: type[OpsetOp]) -> str:
    """The type of the layers of an operation."""
    return operation.XML_TYPE or operation.KIND


def respelled_operations() -> list[type[OpsetOp]]:
    """The operations whose layer type is not their kind."""
    return [opset.operation(name) for name in RESPELLED]


@cache
def _kinds() -> dict[str, str]:
    return {operation.XML_TYPE: operation.KIND for operation in respelled_operations()}


def kind_of_layer_type(type_: str) -> str:
    """The kind of operation that a layer type means, the inverse of `layer_type`."""
    return _kinds().get(type_, type_)
