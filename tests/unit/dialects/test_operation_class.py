"""`isinstance` of operations asks for base classes only."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import ModelOp, NoneOp
from moir.dialects.operation_class import OperationClass
from moir.dialects.opset import operation
from moir.dialects.opset.interfaces.operation import OpsetOp


@pytest.mark.parametrize("base", [OpsetOp, FrameworkOp, ModelOp, NoneOp])
def test_operations_have_the_metaclass(base: type[Operation]) -> None:
    assert type(base) is OperationClass


def test_instances_are_those_of_the_class_and_its_subclasses() -> None:
    op = NoneOp.of()
    assert isinstance(op, NoneOp)
    assert isinstance(op, Operation)
    assert not isinstance(op, OpsetOp)
    relu = operation("opset1.Relu")
    assert issubclass(relu, OpsetOp)
    assert isinstance(relu.create(operands=[op.result], result_types=[op.result.type]), OpsetOp)
    assert not issubclass(relu, FrameworkOp)
