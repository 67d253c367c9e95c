"""The spelling of types in the IR."""

from __future__ import annotations

import pytest

from moir.dialects import opset
from moir.dialects.xml import RESPELLED, kind_of_layer_type, layer_type


def test_the_index_of_respelled_operations_is_complete() -> None:
    assert {name for name in opset.names() if opset.operation(name).XML_TYPE} == set(RESPELLED)


@pytest.mark.parametrize(("name", "type_"), [("opset1.Relu", "ReLU"), ("opset1.Constant", "Const"), ("opset8.Gather", "Gather")])
def test_there_and_back(name: str, type_: str) -> None:
    operation = opset.operation(name)
    assert layer_type(operation) == type_
    assert kind_of_layer_type(type_) == operation.KIND
