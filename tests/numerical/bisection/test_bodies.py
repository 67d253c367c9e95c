"""Loops and branches by the definitions of what is in their bodies, and bisections of models with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

import moir
from moir.bisection import state_execution
from moir.dialects.memory_map import Array
from moir.execution import openvino_runtime
from moir.execution.comparison import with_infinities_of
from moir.execution.ports import only_model
from moir.lowering.onnx.table import onnx as lowerings
from tests.unit.small_models import loop_model

LOOP = """
moir.model @loop {{
  %x = opset1.Parameter() {{name = "x"}} : tensor<{shape}xf32>
  %count = opset1.Parameter() {{name = "count"}} : tensor<si64>
  %go = opset1.Parameter() {{name = "go"}} : tensor<i1>
  %last, %all = opset5.Loop(%count, %go, %x, %x) {{inputs = [#moir.port<iteration>, #moir.port<2 back 1>, #moir.port<3>],
      outputs = [#moir.port<1>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], condition = 0}} ({{
    %i = opset1.Parameter() : tensor<si64>
    %state = opset1.Parameter() : tensor<{shape}xf32>
    %fixed = opset1.Parameter() : tensor<{shape}xf32>
    %sum = opset1.Add(%state, %fixed) : tensor<{shape}xf32>
    %f = opset1.Convert(%i) {{destination_type = f32}} : tensor<f32>
    %next = opset1.Multiply(%sum, %f) : tensor<{shape}xf32>
    %limit = opset1.Constant() {{value = #moir.data<tensor<si64>, [3]>}} : tensor<si64>
    %again = opset1.Less(%i, %limit) : tensor<i1>
    opset1.Result(%again)
    opset1.Result(%next)
  }}) : tensor<{shape}xf32>, tensor<?x3xf32>
  opset1.Result(%last) {{name = "last"}}
  opset1.Result(%all) {{name = "all"}}
}}
"""


def both(path: Path, inputs: Mapping[str, Array], **options: Any) -> list[dict[str, Array]]:
    """The results of a model by the definitions, and by the runtime."""
    return [moir.run(path, inputs, runtime=runtime, **options) for runtime in ("definitions", "openvino")]


def agree(results: Sequence[Mapping[str, Array]]) -> None:
    defined, computed = results
    assert defined.keys() == computed.keys()
    for name, array in defined.items():
        np.testing.assert_allclose(array, computed[name], rtol=1e-5, atol=1e-6)
        assert array.dtype == computed[name].dtype


@pytest.mark.parametrize(("count", "go"), [(2, True), (10, True), (-1, True), (3, False), (0, True)])
def test_loops(tmp_path: Path, count: int, go: bool) -> None:
    path = tmp_path / "loop.mlir"
    path.write_text(LOOP.format(shape="1x3"))
    inputs = {"x": np.array([[1, 2, 3]], np.float32), "count": np.array(count), "go": np.array(go)}
    defined, computed = both(path, inputs)
    agree([{"last": defined["last"]}, {"last": computed["last"]}])
    assert defined["all"].shape == ((min(count, 4) if count >= 0 else 4) if go else 0, 3)
    if go and count:
        agree([defined, computed])


ITERATOR = """
moir.model @iterator {{
  %x = opset1.Parameter() {{name = "x"}} : tensor<2x6xf32>
  %zero = opset1.Constant() {{value = #moir.data<tensor<2x{part}xf32>, [{zeros}]>}} : tensor<2x{part}xf32>
  %last, %all = opset1.TensorIterator(%x, %zero) {{
      inputs = [#moir.port<0 axis 1 from {first} to {last} stride {stride} part {part}>, #moir.port<1 back 0>],
      outputs = [#moir.port<0>, #moir.port<0 axis 1 from {first} to {last} stride {stride} part {part}>]}} ({{
    %slice = opset1.Parameter() : tensor<2x{part}xf32>
    %state = opset1.Parameter() : tensor<2x{part}xf32>
    %half = opset1.Multiply(%state, %state) : tensor<2x{part}xf32>
    %next = opset1.Add(%half, %slice) : tensor<2x{part}xf32>
    opset1.Result(%next)
  }}) : tensor<2x{part}xf32>, tensor<2x6xf32>
  opset1.Result(%last) {{name = "last"}}
  opset1.Result(%all) {{name = "all"}}
}}
"""


@pytest.mark.parametrize(("first", "last", "stride", "part"), [(0, -1, 1, 1), (-1, 0, -1, 1), (0, -1, 2, 2), (-1, 0, -2, 2)])
def test_iterators(tmp_path: Path, first: int, last: int, stride: int, part: int) -> None:
    path = tmp_path / "iterator.mlir"
    path.write_text(ITERATOR.format(first=first, last=last, stride=stride, part=part, zeros=", ".join(["0.0"] * 2 * part)))
    agree(both(path, {"x": np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32)}))


@pytest.mark.parametrize("condition", [True, False])
def test_branches(tmp_path: Path, condition: bool) -> None:
    def branch(kind: str) -> onnx.GraphProto:
        result = helper.make_tensor_value_info(kind, TensorProto.FLOAT, [2])
        return helper.make_graph([helper.make_node(kind, ["x"], [kind])], kind, [], [result])

    graph = helper.make_graph(
        [helper.make_node("If", ["c"], ["y"], then_branch=branch("Abs"), else_branch=branch("Neg"))],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    path = tmp_path / "branches.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    agree(both(path, {"x": np.array([-1, 2], np.float32), "c": np.array(condition)}))


def test_a_loop_that_the_plugin_computes_wrongly_is_no_fault_of_its_lowering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_module = openvino_runtime.run_module

    def with_wrong_loops(module: ModuleOp, inputs: Sequence[Array], values: Sequence[SSAValue] = ()) -> tuple[list[Array], list[Array]]:
        """Loops have results that are 1 too large."""
        outputs, inner = run_module(module, inputs, values)
        ports = [op.operands[0] for op in module.walk() if op.name == "opset1.Result" and op.parent is only_model(module).block]
        results = ((value, array) for value, array in zip([*ports, *values], [*outputs, *inner], strict=True))
        wrong = [
            array + 1 if isinstance(value.owner, Operation) and value.owner.name == "opset5.Loop" else array for value, array in results
        ]
        return wrong[: len(outputs)], wrong[len(outputs) :]

    for place in (openvino_runtime, state_execution):
        monkeypatch.setattr(place, "run_module", with_wrong_loops)
    onnx.save(loop_model(), tmp_path / "model.onnx")
    verdict = moir.bisect(tmp_path / "model.onnx", reduce=False)
    assert verdict.kind == "plugin"
    assert verdict.plugin is not None
    assert "opset5.Loop" in verdict.plugin


def test_masks_of_infinite_and_of_largest_numbers_are_the_same() -> None:
    expected = np.array([-np.inf, 1, np.inf, np.nan], np.float32)
    actual = np.array([-65504, 1, 3.4e38, np.nan], np.float32)
    np.testing.assert_array_equal(with_infinities_of(expected, actual), expected)
    other = np.array([65504, 1, 3.0, np.nan], np.float32)
    np.testing.assert_array_equal(with_infinities_of(expected, other), other)


def test_a_bisection_goes_past_a_mask(tmp_path: Path) -> None:
    """The first tensor is a mask whose infinite elements have become the largest numbers; the fault is behind it."""
    nodes = [
        helper.make_node("Where", ["c", "x", "low"], ["masked"], name="mask"),
        helper.make_node("Cast", ["masked"], ["cast"], name="cast", to=TensorProto.FLOAT),
        helper.make_node("Softmax", ["cast"], ["soft"], name="soft"),
        helper.make_node("Round", ["soft"], ["y"], name="round"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 40]), helper.make_tensor_value_info("c", TensorProto.BOOL, [1, 40])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 40])],
        initializer=[numpy_helper.from_array(np.array(-np.inf, np.float32), "low")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "mask.onnx")
    inputs = {"x": np.linspace(0, 30, 40, dtype=np.float32)[None], "c": np.arange(40)[None] % 2 == 0}
    with lowerings.extended():
        lowerings.lowers("Round")(lambda node, op: op.Ceiling(node.operand(0)))
        lowerings.lowers("Cast")(lambda node, op: op.Maximum(node.operand(0), -3.0e38))
        verdict = moir.bisect(tmp_path / "mask.onnx", inputs=inputs, reduce=False)
    assert verdict.node is not None
    assert "onnx.Round" in verdict.node
