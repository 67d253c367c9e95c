"""The generic form is text of MLIR: what its parsers accept, beyond what ours does.

The rules are those that MLIR's own parser (jaxlib 0.10) and the one of Netron 9.3 were seen to insist on.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from moir.tools.opt import main
from tests.unit.small_models import loop_model, save

STRINGS = ["plain", 'a "quoted" \\ word', "größe", "line\nbreak", "\t\x0b\x7f", "a]>)}"]

TEXT = """
moir.model @"a name / with \\22marks\\22" attributes {opset_import = {ai.onnx = 13, "com.acme-x" = 1}, metadata = {"a key" = "größe"}} {
  %x = opset1.Parameter() {name = "größe \\22a\\22", tensor_names = ["x:0"]} : tensor<?x4xf32>
  %n = opset1.Constant() {value = #moir.data<tensor<3xf32>, [0x7FC00000, 0x7F800000, -1.0e30]>} : tensor<3xf32>
  %u = opset1.Constant() {value = #moir.data<tensor<2xui4>, [33]>} : tensor<2xui4>
  %c = opset1.Clamp(%x) {min = -inf, max = 1.0e40} : tensor<?x4xf32>
  %d = onnx.com.acme.Odd(%c) {alpha = nan, "odd name" = 1, none = [], mixed = ["a", 1, [2]]} : tensor<*x!moir.dynamic>
  %m = moir.none
  %k = tf.Foo(%d, %m) <{name = "prop"}> {name = "attr"} : tensor<*xf32>
  opset1.Result(%k) {name = "r"}
}
"""


def printed(path: Path, *options: str) -> str:
    with redirect_stdout(io.StringIO()) as output:
        assert main([str(path), *options]) == 0
    return output.getvalue()


def model_with_strings(path: Path) -> Path:
    strings = numpy_helper.from_array(np.array(STRINGS, dtype=object), "strings")
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 4])
    z = helper.make_tensor_value_info("z", onnx.TensorProto.STRING, [len(STRINGS)])
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="größe"), helper.make_node("Identity", ["strings"], ["z"])]
    graph = helper.make_graph(nodes, "g", [x], [y, z], [strings])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {"": "no name", "größe": "ü", "with space": "w"})
    return save(model, path)


@pytest.fixture(params=["text", "loop", "strings"])
def generic(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The generic form with locations, and the ordinary form, of one module."""
    path = tmp_path / "m.mlir"
    match request.param:
        case "text":
            path.write_text(TEXT, encoding="utf-8")
        case "loop":
            path = save(loop_model(), tmp_path / "m.onnx")
        case _:
            path = model_with_strings(tmp_path / "m.onnx")
    weights = ["--weights-file", str(tmp_path / "w.bin")]
    first = printed(path, "--print-op-generic", "--print-debuginfo", *weights)
    # Read from a copy: the side file of an input is not replaced.
    (tmp_path / "g.mlir").write_text(first, encoding="utf-8")
    return first, str(tmp_path / "g.mlir")


def test_it_is_ascii_without_control_characters(generic: tuple[str, str]) -> None:
    # Netron counts bytes of a string as characters; MLIR ends a string at a vertical tab.
    assert generic[0].isascii()
    assert set(re.findall(r"[^\x20-\x7e]", generic[0])) <= {"\n"}


def test_strings_have_no_backslash_but_for_numbers_and_itself(generic: tuple[str, str]) -> None:
    for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', generic[0]):
        assert re.fullmatch(r"(?:[^\\]|\\[0-9A-F]{2}|\\\\)*", literal), literal


def test_no_attribute_has_an_empty_name(generic: tuple[str, str]) -> None:
    assert not re.search(r'[{,] *"" *=', generic[0])


def test_names_are_bare_or_strings(generic: tuple[str, str]) -> None:
    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"', '""', generic[0])
    for name in re.findall(r"[{,] *([^\s%{},=<>\[\]()]+) = ", without_strings):
        assert name == '""' or re.fullmatch(r"[A-Za-z_][\w$.]*", name), name


def test_floats_have_a_point_or_are_bits(generic: tuple[str, str]) -> None:
    assert not re.search(r"[=\[,] *-?(?:inf|nan)\b", generic[0])
    assert not re.search(r"[=\[, ]-?\d+[eE]", generic[0])


def test_it_is_read_back(generic: tuple[str, str], tmp_path: Path) -> None:
    text, path = generic
    assert printed(Path(path), "--print-op-generic", "--print-debuginfo", "--weights-file", str(tmp_path / "second.bin")) == text.replace(
        '"w.bin"', '"second.bin"'
    )


def test_the_own_operator_set_of_onnx_has_its_long_name(tmp_path: Path) -> None:
    assert "opset_import = {ai.onnx = 17 : i64}" in printed(model_with_strings(tmp_path / "m.onnx"))


@pytest.mark.parametrize("name", ['""', "ai.onnx"])
def test_both_names_of_that_operator_set_are_read(tmp_path: Path, name: str) -> None:
    """Softmax works along one axis since version 13 and on a matrix before it."""
    text = """moir.model @m attributes {opset_import = {NAME = VERSION}} {
      %x = opset1.Parameter() : tensor<2x3x4xf32>
      %y = onnx.Softmax(%x) {axis = 1} : tensor<2x3x4xf32>
    }"""
    outputs: list[str] = []
    for version in ("11", "13"):
        (tmp_path / "m.mlir").write_text(text.replace("NAME", name).replace("VERSION", version))
        outputs.append(printed(tmp_path / "m.mlir", "-p", "lower-onnx"))
    assert "Reshape" in outputs[0]
    assert "Reshape" not in outputs[1]
