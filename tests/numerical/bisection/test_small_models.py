"""`moir.bisect` on small models: the plugin at fault, references, models that the plugin refuses, other tolerances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import moir
from moir.bisection.search import first_bad
from moir.errors import ConversionError, ExecutionError, UsageError
from tests.numerical.bisection.faults import shape_value, wrong_default


class Strict(ModulePass):
    """A pass that does not work with a wrong model."""

    name = "strict"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise ConversionError("a product has other dimensions")


def saved(path: Path, nodes: list[onnx.NodeProto], shape: list[int | str], element: int = TensorProto.FLOAT, **weights: object) -> Path:
    """A model with an input `x` and an output `y` of one type."""
    ports = [helper.make_tensor_value_info(name, element, shape) for name in ("x", "y")]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "small", ports[:1], ports[1:], initializer=initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_the_plugin_divides_integers_in_f32(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "w"], ["sum"]), helper.make_node("Div", ["sum", "d"], ["y"], name="quotient")]
    path = saved(tmp_path / "m.onnx", nodes, [3], TensorProto.INT32, w=np.array(1, np.int32), d=np.array(3, np.int32))
    # Quotients of multiples of 3, near 2³¹, are rounded to f32 before the fraction is cut off.
    x = np.array([2**31 - 9, 2**31 - 12, 2**31 - 15], np.int32)
    verdict = moir.bisect(path, inputs={"x": x})
    assert verdict.kind == "plugin"
    assert verdict.plugin is not None
    assert "opset1.Divide" in verdict.plugin
    assert verdict.reduced is not None
    assert verdict.reduced.candidate.operations <= 2


def test_the_sum_of_a_product_and_a_number_for_each_channel_is_right(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Add", ["product", "b"], ["y"])]
    random = np.random.default_rng(0)
    weights = {"w": random.normal(size=(6, 6)).astype(np.float32), "b": random.normal(size=(1, 4, 1, 1)).astype(np.float32)}
    path = saved(tmp_path / "m.onnx", nodes, ["n", 4, 6, 6], **weights)
    # The plugin refuses the product and the sum as they are; a form separates them.
    verdict = moir.bisect(path)
    assert verdict.kind == "none"
    assert not any("cannot be run" in note for note in verdict.notes)


def reshaped_by_its_shape(path: Path) -> Path:
    """A model whose Reshape has a target computed of the shape of its data."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["rows"]),
        helper.make_node("Concat", ["rows", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"], name="flat"),
        helper.make_node("MatMul", ["flat", "w"], ["product"], name="product"),
        helper.make_node("Reshape", ["product", "back"], ["y"], name="y"),
    ]
    weights = {"first": np.array([0]), "rest": np.array([12]), "back": np.array([-1, 3, 4]), "w": np.eye(12, dtype=np.float32)}
    return saved(path, nodes, ["n", 3, 4], **weights)


def test_a_pass_after_the_wrong_one_raises_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = reshaped_by_its_shape(tmp_path / "m.onnx")
    assert moir.bisect(path).kind == "none"
    shape_value(monkeypatch)
    verdict = moir.bisect(path, inputs={"x": np.ones((2, 3, 4), np.float32)}, passes=["default", Strict()])
    assert verdict.kind == "pass"
    assert verdict.stage is not None
    assert verdict.stage.endswith("simplify-reshape")
    assert verdict.rewrite is not None
    assert verdict.rewrite.pattern == "ConstantTarget"
    assert any("strict: a product has other dimensions" in note for note in verdict.notes)


def test_outputs_wrong_from_the_beginning_do_not_hide_a_wrong_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = reshaped_by_its_shape(tmp_path / "m.onnx")
    model = onnx.load(path)
    model.graph.node.append(helper.make_node("Relu", ["x"], ["z"], name="z"))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 3, 4]))
    onnx.save(model, path)
    x = np.ones((2, 3, 4), np.float32)
    reference = {"y": x, "z": x + 1}
    assert moir.bisect(path, inputs={"x": x}, reference=reference).kind == "lowering"
    shape_value(monkeypatch)
    verdict = moir.bisect(path, inputs={"x": x}, reference=reference)
    assert verdict.kind == "pass"
    assert verdict.stage is not None
    assert verdict.stage.endswith("simplify-reshape")
    assert any("wrong in the first state: z" in note for note in verdict.notes)


def test_a_given_reference_and_a_tolerance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "m.onnx", [helper.make_node("LeakyRelu", ["x"], ["y"], name="leaky")], [4])
    x = np.array([-1, -0.5, 1, 2], np.float32)
    expected = np.where(x < 0, x * np.float32(0.01), x)
    assert moir.bisect(path, inputs={"x": x}, reference={"y": expected}).kind == "none"
    assert moir.bisect(path, inputs={"x": x}, reference={"y": expected + 1}).kind == "lowering"
    wrong_default(monkeypatch)
    assert moir.bisect(path, inputs={"x": x}, reference={"y": expected}).kind == "lowering"
    assert moir.bisect(path, inputs={"x": x}, reference={"y": expected}, tolerance=0.1).kind == "none"
    with pytest.raises(ExecutionError, match="the reference has none of the outputs"):
        moir.bisect(path, inputs={"x": x}, reference={"z": x, "zz": x})
    with pytest.raises(UsageError, match="there is no array for the input"):
        moir.bisect(path, inputs={"a": x, "b": x})


def test_a_module_without_runtime_of_its_own_is_compared_with_itself(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", [helper.make_node("LeakyRelu", ["x"], ["y"], name="leaky")], [4])
    verdict = moir.bisect(moir.read_model(path))
    assert verdict.kind == "none"
    assert verdict.reference == "the model as it was read, on OpenVINO Runtime"


@pytest.mark.parametrize(
    ("judged", "expected"),
    [("gggbbb", (2, 3)), ("gb", (0, 1)), ("g???bb", (0, 4)), ("gg?b?b", (1, 3)), ("g?g?bb", (2, 4))],
)
def test_the_first_bad_state(judged: str, expected: tuple[int, int]) -> None:
    assert first_bad(0, len(judged) - 1, lambda number: {"g": True, "b": False, "?": None}[judged[number]]) == expected


@pytest.mark.parametrize(("codes", "tolerance"), [("int8", 0.06), ("int4:64:1", 0.5)])
def test_compressed_weights_have_a_tolerance_of_their_own(codes: str, tolerance: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(64, 64)).astype(np.float32) / 8 for _ in range(3)]
    names = ["x", "h0", "h1", "y"]
    nodes = [helper.make_node("MatMul", [names[index], f"w{index}"], [names[index + 1]]) for index in range(3)]
    saved(tmp_path / "deep.onnx", nodes, [2, 64], **{f"w{index}": array for index, array in enumerate(weights)})
    verdict = moir.bisect(tmp_path / "deep.onnx", compress_weights=codes)
    assert verdict.sentence == "the converted model agrees with the reference"
    difference = verdict.outputs["y"]
    assert 1e-3 < difference.error < difference.limit == tolerance
