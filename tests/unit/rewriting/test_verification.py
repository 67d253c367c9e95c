"""Verification of what changed since a snapshot."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from moir.dialects.context import MoirContext
from moir.dialects.moir import ModelOp, models_of
from moir.dialects.opset import operation
from moir.dialects.properties import string_attribute
from moir.rewriting.verification import Snapshot, verify_module

TEXT = """
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %a = opset8.Softmax(%x) {name = "a"} : tensor<2x4xf32>
    %b = opset1.Relu(%a) {name = "b"} : tensor<2x4xf32>
    opset1.Result(%b) {name = "r"}
  }
}
"""


def parsed() -> tuple[ModuleOp, list[Operation]]:
    module = Parser(MoirContext(), TEXT).parse_module()
    return module, list(models_of(module)[0].block.ops)


def test_nothing_changed() -> None:
    module, operations = parsed()
    before = Snapshot(module)
    assert not any(before.has_changed(op) for op in operations)
    verify_module(module, before=before)


def test_a_property_changed() -> None:
    module, operations = parsed()
    before = Snapshot(module)
    operations[1].properties["axis"] = string_attribute("last")
    assert [before.has_changed(op) for op in operations] == [False, True, False, False]
    with pytest.raises(VerifyException, match=r"after this: opset8.Softmax 'a': .*not a property of kind int"):
        verify_module(module, "this", before)


def test_what_was_wrong_before_is_not_looked_at_again() -> None:
    module, operations = parsed()
    operations[1].properties["axis"] = string_attribute("last")
    verify_module(module, before=Snapshot(module))


def test_the_order_is_always_checked() -> None:
    module, operations = parsed()
    before = Snapshot(module)
    softmax = operations[1]
    block = softmax.parent
    assert block is not None
    softmax.detach()
    block.add_op(softmax)
    with pytest.raises(VerifyException, match=r"opset1.Relu 'b': operand 0 is not defined before it"):
        verify_module(module, before=before)


def test_an_operand_was_erased() -> None:
    module, operations = parsed()
    before = Snapshot(module)
    operations[1].detach()
    operations[1].erase(safe_erase=False)
    with pytest.raises(VerifyException, match=r"opset1\.Relu"):
        verify_module(module, before=before)


def test_a_value_from_around_a_body() -> None:
    module, operations = parsed()
    around = Block(arg_types=[operations[1].results[0].type])
    operations[2].operands[0] = around.args[0]
    with pytest.raises(VerifyException, match=r"opset1\.Relu 'b': operand 0 is an argument of another block"):
        verify_module(module)


def test_a_body_that_uses_a_result_from_around_it() -> None:
    module, operations = parsed()
    inner = operation("opset1.Result").create(operands=[operations[1].results[0]])
    models_of(module)[0].block.add_op(ModelOp.of("inner", Block([inner])))
    with pytest.raises(VerifyException, match=r"opset1\.Result: operand 0 is not defined before it in its block"):
        verify_module(module)
