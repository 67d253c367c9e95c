"""The table of lowerings."""

from __future__ import annotations

import subprocess
import sys

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.table import LoweringTable
from moir.rewriting.builder import OpBuilder


def test_one_family_is_loaded_for_a_kind() -> None:
    code = (
        "import sys; from moir.lowering.onnx.table import onnx; assert onnx.handler('Elu', 17);"
        "print(sorted(m for m in sys.modules if m.startswith('moir.lowering.onnx.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "lowering.onnx.activation" in loaded
    assert "lowering.onnx.recurrent" not in loaded


def test_a_later_handler_goes_in_front_of_a_built_in_one() -> None:
    table = LoweringTable("onnx")
    first, second = (lambda node, _: node.operand(0)), (lambda node, _: node.operand(1))
    table.lowers("Elu")(first)
    table.lowers("Elu")(second)
    assert table.handler("Elu", 17) is second


def test_the_newest_handler_that_is_not_too_new_is_taken() -> None:
    table = LoweringTable("onnx")
    old, new = (lambda node, _: node.operand(0)), (lambda node, _: node.operand(1))
    table.lowers("Kind", since=1)(old)
    table.lowers("Kind", since=13)(new)
    assert table.handler("Kind", 12) is old
    assert table.handler("Kind", 13) is new
    assert table.handler("Other", 13) is None


def test_handlers_of_extensions_go_first_and_are_forgotten() -> None:
    table = LoweringTable("onnx")

    def built_in(node: LoweringNode, op: OpBuilder) -> SSAValue:
        return op.Relu(node.operand(0))

    def added(node: LoweringNode, op: OpBuilder) -> SSAValue:
        return op.Exp(node.operand(0))

    built_in.__module__ = "moir.lowering.onnx.activation"
    table.lowers("Kind", since=9)(built_in)
    with table.extended():
        table.lowers("Kind", "Other")(added)
        table.lowers("Late")(built_in)
        assert table.handler("Kind", 17) is added
        assert table.since("Kind") == [1, 9]
        with table.extended():
            assert table.handler("Other", 1) is added
        assert list(table.kinds()) == ["Kind", "Late", "Other"]
    assert table.handler("Kind", 17) is built_in
    assert table.handler("Other", 1) is None
    # A family of moir that is imported while an extension is open stays.
    assert table.handler("Late", 1) is built_in
