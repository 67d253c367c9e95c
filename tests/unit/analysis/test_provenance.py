"""Provenance: the nodes of the framework from which operations come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.analysis.provenance import Source, all_sources, described, origin, sources
from moir.dialects.locations import MAXIMUM_SOURCES
from moir.dialects.moir import all_blocks
from moir.frameworks import FRAMEWORKS
from moir.lowering.driver import lower
from tests.unit.small_models import ONES, loop_model


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> ModuleOp:
    path = tmp_path_factory.mktemp("loop") / "m.onnx"
    onnx.save(loop_model(), path)
    return moir.convert_model(path)


def of_kind(module: ModuleOp, kind: str) -> list[Any]:
    return [op for block in all_blocks(module) for op in block.ops if op.name.partition(".")[2] == kind]


def test_every_operation_is_traced_to_nodes(looped: ModuleOp) -> None:
    actual = all_sources(looped)
    assert len(actual) == sum(1 for block in all_blocks(looped) for _ in block.ops)
    assert all(actual.values())
    # An operation in a body, too.
    (shift,) = (op for op in of_kind(looped, "Add") if op.parent is not of_kind(looped, "Loop")[0].parent)
    assert sources(shift) == (Source("shift", "onnx.Add"),)


def test_a_fusion_comes_from_all_nodes_it_replaces(looped: ModuleOp) -> None:
    (swish,) = of_kind(looped, "Swish")
    assert set(sources(swish)) == {Source("swish", "onnx.Mul"), Source("sigmoid", "onnx.Sigmoid")}
    assert str(sources(swish)[0]) == "onnx.Mul 'swish'"
    assert origin(swish) == "onnx.Mul 'swish', onnx.Sigmoid 'sigmoid'"


def test_a_batch_normalization_that_is_folded_is_in_the_convolution(tmp_path: Path) -> None:
    weights = {name: numpy_helper.from_array(ONES[0], name) for name in ("scale", "bias", "mean", "variance")}
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "filters"], ["a"], name="conv"),
            helper.make_node("BatchNormalization", ["a", *weights], ["y"], name="norm"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 4, 4])],
        [*weights.values(), numpy_helper.from_array(ONES.reshape(8, 8, 1, 1) * 2, "filters")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    module = moir.convert_model(tmp_path / "m.onnx", compress_to_fp16=True)
    (convolution,) = of_kind(module, "Convolution")
    expected = {Source("conv", "onnx.Conv"), Source("norm", "onnx.BatchNormalization"), Source("filters", "opset1.Constant")}
    assert expected <= set(sources(convolution))
    # The weights, and the Convert that restores them from half precision.
    assert expected <= set(sources(convolution.operands[1].owner))
    assert expected <= set(sources(convolution.operands[1].owner.operands[0].owner))


def test_what_has_no_location_is_traced_to_its_users_then_operands_then_the_operation_around_it(parse: Any) -> None:
    module = parse(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = opset1.Abs(%x) : tensor<2xf32>
        %b = opset1.Exp(%a) {name = "b"} : tensor<2xf32> loc("n"("tf.Exp"))
        %c = opset1.Tanh(%b) : tensor<2xf32>
        opset1.Result(%c)
        """
    )
    actual = {op.name.partition(".")[2]: each for op, each in all_sources(module).items()}
    assert actual["Parameter"] == (Source("x", "opset1.Parameter"),)
    assert actual["Abs"] == actual["Exp"] == actual["Tanh"] == actual["Result"] == (Source("n", "tf.Exp"),)
    # An error says what is certain only.
    assert origin(of_kind(module, "Exp")[0]) == "tf.Exp 'n'"
    assert origin(of_kind(module, "Abs")[0]) is None
    assert origin(of_kind(module, "Parameter")[0]) is None


def test_what_was_read_stays_its_own_source_if_it_takes_the_place_of_another_node(parse: Any) -> None:
    module = parse(
        """
        %w = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "w"} : tensor<2xf32>
        %i = onnx.Identity(%w) {name = "read"} : tensor<*x!moir.dynamic>
        opset1.Result(%i) {name = "y"}
        """
    )
    lower(module, FRAMEWORKS["onnx"])
    assert sources(of_kind(module, "Constant")[0]) == (Source("w", "opset1.Constant"),)


def test_nothing_is_traced_where_nothing_has_a_name(parse: Any) -> None:
    module = parse("%x = opset1.Parameter() : tensor<2xf32> opset1.Result(%x)")
    assert set(all_sources(module).values()) == {()}
    assert origin(of_kind(module, "Result")[0]) is None


def test_a_constant_that_many_share_has_a_bounded_number_of_nodes(tmp_path: Path) -> None:
    nodes = [helper.make_node("Clip", ["x", "low"], [f"y{index}"], name=f"clip{index}") for index in range(40)]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [2]) for node in nodes],
        [numpy_helper.from_array(ONES[0, 0], "low")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    module = moir.convert_model(tmp_path / "m.onnx")
    (maximum,) = of_kind(module, "Maximum")
    assert len(sources(maximum)) == MAXIMUM_SOURCES
    assert described(sources(maximum)).endswith("… 32 in all")


def test_a_node_of_a_text_is_a_place_or_a_name(parse: Any) -> None:
    module = parse('%x = opset1.Parameter() : tensor<2xf32> loc(callsite("a" at "b.py":2:3)) opset1.Result(%x) loc("b.py":1:2)')
    assert sources(of_kind(module, "Result")[0]) == (Source("b.py:1:2", ""),)
    assert str(sources(of_kind(module, "Parameter")[0])[0]) == '(callsite("a" at "b.py":2:3))'
