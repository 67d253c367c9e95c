"""What is in a model, what of it cannot be converted, and what notebooks show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import ArgumentError, ConversionError, ModelFileError, UsageError
from moir.inspection.drawing import MAXIMUM_OPERATIONS, drawing
from moir.inspection.node_list import NodeList
from moir.inspection.records import InspectedPort, Inspection, Neighbour, NodeInspection, Obstacle, Subgraph
from moir.tools.convert import main
from tests.unit.small_models import loop_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    onnx.save(loop_model(), path)
    return path


def custom(tmp_path: Path) -> Path:
    """Nodes of kinds that ONNX does not have, one in a branch, and one that a definition of the model expands."""
    branch = helper.make_graph(
        [helper.make_node("Inner", ["x"], ["b"], name="inner", domain="com.example")],
        "b",
        [],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT, [2])],
    )
    function = helper.make_function(
        "com.example", "Twice", ["v"], ["w"], [helper.make_node("Add", ["v", "v"], ["w"])], [helper.make_opsetid("", 17)]
    )
    graph = helper.make_graph(
        [
            helper.make_node("Outer", ["x"], ["o"], name="outer", domain="com.example"),
            helper.make_node("Twice", ["x"], ["t"], name="twice", domain="com.example"),
            helper.make_node("If", ["c"], ["y"], name="if", then_branch=branch, else_branch=branch),
            helper.make_node("SwiGLU", ["x", "x"], ["g"], name="glu"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("o", "t", "y")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=9), tmp_path / "custom.onnx")
    return tmp_path / "custom.onnx"


def test_long_metadata_are_shortened_in_tables(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    text = "\n".join(chr(0x4E00 + index) for index in range(18000))
    helper.set_model_props(model, {"character": text, "author": "somebody"})
    onnx.save(model, tmp_path / "long.onnx")
    actual = moir.inspect(tmp_path / "long.onnx")
    assert isinstance(actual, Inspection)
    assert max(map(len, str(actual).splitlines())) < 300
    assert "(35,999 characters, --json prints all)" in str(actual)
    assert "somebody" in str(actual)
    assert actual.to_dict()["metadata"]["metadata"]["character"] == text


def test_interface_operations_weights_bodies_and_metadata(model: Path) -> None:
    actual = moir.inspect(model)
    assert isinstance(actual, Inspection)
    assert (actual.name, actual.format) == ("ein Modell", "ONNX")
    assert actual.inputs == (InspectedPort("x", "f32", ("n", "4"), None),)
    assert [(each.name, each.shape) for each in actual.outputs] == [("y", "[?,8]"), ("all", "[3,?,8]")]
    counts = {each.name: each.count for each in actual.operations}
    assert counts["onnx.MatMul"] == 3
    assert "opset1.Constant" not in counts
    assert actual.is_convertible
    assert actual.weights[0].element == "f32"
    assert actual.weight_bytes == sum(each.bytes for each in actual.weights)
    assert actual.largest_weights[0].name == "outer_weight"
    (body,) = actual.subgraphs
    assert body == Subgraph("loop", "onnx.Loop", "body", body.operations, 3, 3)
    assert actual.metadata["opset_import"] == {"ai.onnx": 17}
    assert "conversion_parameters" not in actual.metadata
    assert json.loads(json.dumps(actual.to_dict()))["inputs"][0]["dimensions"] == ["n", "4"]


def test_what_cannot_be_converted_is_what_a_conversion_refuses(tmp_path: Path) -> None:
    path = custom(tmp_path)
    actual = moir.inspect(path)
    refused = {each.operation: each for each in actual.obstacles}
    assert refused["onnx.com.example.Outer"] == Obstacle("onnx.com.example.Outer", ("outer",), None)
    assert refused["onnx.com.example.Inner"].nodes == ("inner", "inner")
    assert {each.name for each in actual.operations if not each.convertible} == {each for each in refused if refused[each].reason is None}
    assert not any("Twice" in each for each in refused)
    with pytest.raises(ConversionError) as error:
        moir.convert_model(path)
    assert all(kind in str(error.value) for kind in refused)
    assert "cannot be converted" in str(actual)
    assert "color: #c00" in actual._repr_html_()


def test_an_extension_makes_a_kind_convertible(tmp_path: Path) -> None:
    lowering = tmp_path / "mine" / "front" / "onnx"
    lowering.mkdir(parents=True)
    (lowering / "outer.py").write_text(
        "from moir.lowering.onnx.table import onnx\n\n\n"
        '@onnx.lowers("com.example.Outer", "com.example.Inner")\n'
        "def outer(node, op):\n    return op.Relu(node.operand(0))\n"
    )
    path = custom(tmp_path)
    kinds = {each.operation for each in moir.inspect(path, extensions=str(tmp_path / "mine")).obstacles}
    assert not any("com.example" in kind for kind in kinds)
    assert any("com.example" in each.operation for each in moir.inspect(path).obstacles)


def test_a_node_that_a_lowering_refuses(parse: Any) -> None:
    actual = moir.inspect(
        parse(
            """
            %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
            %a = onnx.Elu(%x) {alpha = "a", name = "bad"} : tensor<*x!moir.dynamic>
            %b = onnx.Elu(%x) {name = "good"} : tensor<*x!moir.dynamic>
            opset1.Result(%a) opset1.Result(%b)
            """
        )
    )
    (obstacle,) = actual.obstacles
    assert (obstacle.operation, obstacle.nodes) == ("onnx.Elu", ("bad",))
    assert obstacle.reason is not None
    assert "alpha" in obstacle.reason
    assert actual.operations[0].convertible
    assert not actual.is_convertible


def test_a_node_and_its_neighbours(model: Path) -> None:
    (actual,) = moir.inspect(model, node="sigmoid")
    assert isinstance(actual, NodeInspection)
    assert actual.operation == "onnx.Sigmoid"
    assert actual.operands[0].producer == Neighbour("乘", "onnx.MatMul", 0)
    assert actual.results[0].users == (Neighbour("swish", "onnx.Mul", 1),)
    assert actual.sources == ()
    # By the name of a tensor, and in a body.
    assert moir.inspect(model, node="s") == (actual,)
    (step,) = moir.inspect(model, node="step")
    assert step.around == "loop"
    (swish,) = moir.inspect(moir.convert_model(model), node="swish")
    assert swish.sources == ("onnx.Mul 'swish'", "onnx.Sigmoid 'sigmoid'")
    assert "<td>opset4.Swish</td>" in swish._repr_html_()
    with pytest.raises(UsageError, match="there is no node or tensor 'sigmoit'; did you mean sigmoid"):
        moir.inspect(model, node="sigmoit")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("sigm", ["sigmoid"]),  # a part of a name
        ("SIG*", ["sigmoid"]),
        ("s?gmoid", ["sigmoid"]),
        ("onnx.Sigmoid", ["sigmoid"]),  # a kind
        ("s", ["sigmoid", "swish", "step"]),  # the names of nodes and tensors
    ],
)
def test_the_nodes_that_a_pattern_selects(model: Path, pattern: str, expected: list[str]) -> None:
    actual = moir.inspect(model, nodes=pattern)
    assert isinstance(actual, NodeList)
    assert set(expected) <= {each.node for each in actual.nodes}
    assert len(actual.nodes) == len(expected) or pattern == "s"
    (sigmoid,) = (each for each in actual.nodes if each.node == "sigmoid")
    assert (sigmoid.operation, sigmoid.convertible) == ("onnx.Sigmoid", True)
    assert sigmoid.tensors[0].names == ("s",)


def test_all_nodes_as_a_table_and_as_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    total = sum(each.count for each in moir.inspect(model).operations)
    assert main(["inspect", str(model), "--nodes"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"nodes: {total}"
    assert len(printed) == total + 2
    assert any(line.split()[0] == "step" for line in printed)  # in the body of a loop
    assert main(["inspect", str(custom(tmp_path)), "--nodes", "com.example*", "--json"]) == 0
    outer, *_ = json.loads(capsys.readouterr().out)["nodes"]
    assert (outer["node"], outer["convertible"]) == ("outer", False)


def test_a_pattern_without_a_match(model: Path) -> None:
    with pytest.raises(UsageError, match="no node, tensor or kind of operation is like 'sigmoit'; did you mean Sigmoid or sigmoid"):
        moir.inspect(model, nodes="sigmoit")
    with pytest.raises(UsageError, match="leave out --node or --nodes"):
        moir.inspect(model, nodes="*", node="sigmoid")


def test_dumps_ir_and_models_in_memory_are_inspected_too(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(model), "-o", str(tmp_path), "--silent", "--dump-ir", str(tmp_path / "dumps")]) == 0
    read = moir.inspect(tmp_path / "dumps" / "000-import.mlir")
    assert read.format == "text of a module"
    assert read.operations == moir.inspect(model).operations
    assert moir.inspect(tmp_path / "m.xml").format == "OpenVINO IR"
    assert moir.inspect(loop_model()).operations == read.operations
    assert main(["inspect", str(tmp_path / "m.xml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["obstacles"] == []


def test_mistakes(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="neither a path"):
        moir.inspect(3)
    with pytest.raises(ArgumentError):
        moir.inspect(model, noode="x")
    (tmp_path / "m.mlir").write_text("moir.model @m { %x = }", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"m\.mlir:1"):
        moir.inspect(tmp_path / "m.mlir")
    (tmp_path / "latin.mlir").write_bytes(b"moir.model @\xe4")
    with pytest.raises(ModelFileError, match="UTF-8"):
        moir.inspect(tmp_path / "latin.mlir")


def test_a_module_in_a_notebook_shows_its_graph(model: Path, parse: Any) -> None:
    module: Any = moir.convert_model(model)
    html = module._repr_html_()
    assert html.startswith("<p>&lt;module ein Modell(")
    graph = ElementTree.fromstring(html[html.index("<svg") :])
    names = [title.text for title in graph.iter("{http://www.w3.org/2000/svg}title")]
    assert "opset4.Swish swish" in names
    assert not any("Constant" in (name or "") for name in names)
    drawn = sum(1 for op in module.body.block.first_op.block.ops if op.operands or op.name == "opset1.Parameter")
    assert len(names) == drawn
    chain = "".join(f"%v{index + 1} = opset1.Abs(%v{index}) : tensor<2xf32> " for index in range(MAXIMUM_OPERATIONS))
    assert drawing(parse(f"%v0 = opset1.Parameter() : tensor<2xf32> {chain}")) == "<p>A graph of 151 operations is not drawn here.</p>"


def test_names_do_not_reach_the_terminal_or_the_page_as_they_are(parse: Any) -> None:
    module = parse('%x = opset1.Parameter() {name = "<b>\\1b[31m"} : tensor<2xf32> opset1.Result(%x)')
    actual = moir.inspect(module)
    assert "\x1b" not in str(actual)
    assert "&lt;b&gt;\\x1b[31m" in actual._repr_html_()
    assert "<b>" not in drawing(module)


def test_tables_on_a_terminal() -> None:
    from io import StringIO

    from moir.inspection.tables import Table
    from moir.tools.terminal import print_tables

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    print_tables([Table("numbers", ("name", "value"), (("[bold]a", "1"), ("b\x1b", "2")), frozenset((1,)))], stream)
    assert "[bold]a" in stream.getvalue()
    assert "b\\x1b" in stream.getvalue()


def test_a_model_that_a_framework_refuses_as_a_whole(parse: Any) -> None:
    actual = moir.inspect(
        parse(
            """
            %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
            %c = tf.Complex(%x, %x) {name = "c"} : tensor<2xcomplex<f32>>
            %a = tf.Relu6(%c) {name = "bad", T = complex<f32>} : tensor<2xcomplex<f32>>
            %r = tf.Real(%a) {name = "r"} : tensor<*x!moir.dynamic>
            opset1.Result(%r)
            """
        )
    )
    assert not actual.is_convertible
    assert actual.reason is not None
    assert "complex" in actual.reason
