"""Definitions of operations that wait for their first use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, operand_def, result_def
from xdsl.traits import Commutative

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, integer_property, property_table


def defined() -> type[OpsetOp]:
    """A new class of operations, that is not used yet."""

    @deferred_definition
    class Twice(OpsetOp):
        name = "opset1.Twice"
        data = operand_def()
        count = integer_property(2)
        result = result_def()

    return Twice


def value() -> SSAValue:
    return test.TestOp(result_types=[i32]).results[0]


@pytest.mark.parametrize(
    "use",
    [
        lambda operation: operation.create(operands=[value()], result_types=[i32], properties=dict(property_table(operation).defaults)),
        lambda operation: operation.create(operands=[value()], result_types=[i32]),
        lambda operation: operation(operands=[value()], result_types=[i32]),
        lambda operation: operation.build(operands=[value()], result_types=[i32]),
    ],
    ids=["table", "create", "constructor", "build"],
)
def test_operation_of_first_use_has_accessors(use: Callable[[type[OpsetOp]], IRDLOperation]):
    operation = defined()
    op = use(operation)
    assert type(op) is operation
    assert op.data is op.operands[0]
    assert op.result is op.results[0]
    assert list(operation.get_irdl_definition().properties) == ["count"]
    assert "create" not in vars(operation)


def test_definition_of_class_that_is_asked_for_traits_is_left_to_its_first_use():
    @deferred_definition
    class Sum(OpsetOp):
        name = "opset1.Sum"

    assert not Sum.has_trait(Commutative)
    assert "create" in vars(Sum)


def test_threads_define_a_class_once():
    operation, start, seen = defined(), Barrier(8), []

    def run() -> None:
        start.wait()
        seen.append(operation.create(operands=[value()], result_types=[i32]).get_irdl_definition())

    threads = [Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(each is seen[0] for each in seen)
