"""The short description of a module."""

from __future__ import annotations

from copy import deepcopy
from io import StringIO
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.printer import Printer

import moir
from moir.dialects.context import MoirContext
from moir.dialects.module import Module
from moir.pipeline import load_pass
from tests.unit.small_models import loop_model, matmul_model, save

TEXT = """
builtin.module {
  moir.model @classifier {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %1 = opset1.Exp(%0) {name = "exp"} : tensor<?x4xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %3 = opset1.Add(%1, %2) {name = "add"} : tensor<?x4xf32>
    %4 = onnx.Odd(%3) {name = "odd"} : tensor<*xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}
"""


def parse(text: str) -> ModuleOp:
    return Parser(MoirContext(), text).parse_module()


def test_repr_says_inputs_outputs_and_kinds() -> None:
    assert repr(parse(TEXT)) == ("<module classifier(x: f32[?,4]) -> (y: f32[...], z: f32[?,4]); 3 operations: 1 Exp, 1 Add, 1 Odd>")


def test_str_is_the_text() -> None:
    module = parse(TEXT)
    assert str(module).split() == TEXT.split()
    assert f"{module}".count("opset1.Exp") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("builtin.module {}", "<module 0 operations>"),
        ("builtin.module { moir.model @m {} }", "<module m() -> (); 0 operations>"),
        ('builtin.module { moir.model @m { %0 = opset1.Parameter() {name = "x"} : tensor<2xcomplex<f32>> } }', "complex<f32>"),
        ("builtin.module { moir.model @a {} moir.model @b {} }", "<module a() -> (); b() -> (); 0 operations>"),
        (f"builtin.module {{ moir.model @{'m' * 500} {{}} }}", "mmm…() -> (); 0 operations>"),
        ("builtin.module { moir.model @m { %0 = opset1.Parameter() : tensor<f32> } }", "m(: f32[])"),
    ],
)
def test_other_modules(text: str, expected: str) -> None:
    assert expected in repr(parse(text))


def test_long_lists_are_cut() -> None:
    ports = "".join(f'%{i} = opset1.Parameter() {{name = "x{i}"}} : tensor<{i}xf32>\n' for i in range(9))
    assert repr(parse(f"builtin.module {{ moir.model @m {{ {ports} }} }}")) == (
        "<module m(x0: f32[0], x1: f32[1], x2: f32[2], x3: f32[3] and 5 more) -> (); 0 operations>"
    )


def test_what_is_read_converted_copied_and_parsed_is_one(tmp_path: Path) -> None:
    path = save(loop_model(), tmp_path / "m.onnx")
    read, converted = moir.read_model(path), moir.convert_model(path)
    printed = StringIO()
    Printer(printed).print_op(converted)
    for module in (read, converted, converted.clone(), parse(printed.getvalue())):
        assert isinstance(module, Module)
        assert isinstance(module, ModuleOp)
        assert len(repr(module)) < 400
    assert "Shape" in repr(read)
    assert repr(parse(printed.getvalue())) == repr(converted.clone()) == repr(converted)
    assert converted.is_structurally_equivalent(converted.clone())
    assert type(deepcopy(Module([]))) is Module


def test_passes_and_generic_text_take_it() -> None:
    module = parse(TEXT)
    PassPipeline((load_pass("fold-constants")(),)).apply(MoirContext(), module)
    module.verify()
    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert generic.getvalue().startswith('"builtin.module"')
    assert repr(parse(generic.getvalue())) == repr(module)


def test_attributes_and_name_of_a_module_are_kept() -> None:
    text = "builtin.module @outer attributes {a = 1 : i32} { moir.model @m { } }"
    assert str(parse(text)).startswith("builtin.module @outer attributes {a = 1 : i32} {\n  moir.model @m {")


def test_a_node_without_name_and_an_unknown_kind(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Odd", ["x"], ["y"], domain="mine")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    module = moir.read_model(save(helper.make_model(graph, opset_imports=imports, ir_version=9), tmp_path / "m.onnx"))
    assert "1 operation: 1 mine.Odd" in repr(module)
    assert "MatMul" in repr(moir.convert_model(save(matmul_model(), tmp_path / "n.onnx")))
