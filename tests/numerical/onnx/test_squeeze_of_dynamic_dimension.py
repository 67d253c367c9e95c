"""A user converts TorchScript exports with `x.squeeze(k)` of an unknown size, and the IR loads and computes the same.

The exporter writes If(size == 1) with a Squeeze in one branch and an Identity in the other, of different ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import expected_results, node
from tests.numerical.runtime import Array, compare, core, run

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Shape = Sequence[int | str] | None


def info(name: str, shape: Shape, element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def number(name: str, value: object) -> onnx.NodeProto:
    return node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.asarray(value)))


def squeezed(x: str, y: str, axis: int) -> list[onnx.NodeProto]:
    """What the exporter writes for `y = x.squeeze(axis)`."""
    then = helper.make_graph([number(f"{y}_axes", [axis]), node("Squeeze", [x, f"{y}_axes"], [f"{y}_t"])], "t", [], [info(f"{y}_t", None)])
    other = helper.make_graph([node("Identity", [x], [f"{y}_e"])], "e", [], [info(f"{y}_e", None)])
    return [
        number(f"{y}_axis", axis),
        number(f"{y}_one", 1),
        node("Shape", [x], [f"{y}_shape"]),
        node("Gather", [f"{y}_shape", f"{y}_axis"], [f"{y}_size"], axis=0),
        node("Equal", [f"{y}_size", f"{y}_one"], [f"{y}_is_one"]),
        node("If", [f"{y}_is_one"], [y], name=f"{y}_If", then_branch=then, else_branch=other),
    ]


def model(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> onnx.ModelProto:
    values = [info(name, shape, INT64 if name == "rate" else FLOAT) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "g", values, [info(name, shape) for name, shape in outputs.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(source: onnx.ModelProto, inputs: Mapping[str, Array], folder: Path, notes: int | None = None, shapes: str | None = None) -> None:
    """Convert a model with unknown sizes; the IR loads as it is, and computes what ONNX Runtime does."""
    onnx.save(source, folder / "m.onnx")
    module = moir.convert_model(folder / "m.onnx", input=shapes)
    moir.save_model(module, folder / "m.xml")
    core().compile_model(folder / "m.xml", "CPU")
    compare(run(core().read_model(folder / "m.xml"), inputs), expected_results(source, inputs, "onnxruntime"))
    [converted] = models_of(module)
    actual = converted.attributes.get(ModuleLevel.NOTES)
    assert notes is None or len([] if actual is None else value_of(actual)) == notes


WEIGHTS = np.random.default_rng(0).uniform(-0.5, 0.5, (1, 12, 4)).astype(np.float32)
RECURRENT = [number("w", WEIGHTS), number("r", WEIGHTS[:, :, :3])]
READERS: dict[str, tuple[list[onnx.NodeProto], Shape]] = {
    "recurrent": (
        [number("first", [0]), node("Unsqueeze", ["q", "first"], ["u"]), *RECURRENT, node("LSTM", ["u", "w", "r"], ["y"], hidden_size=3)],
        None,
    ),
    "declared": ([number("v", WEIGHTS[0, :4]), node("MatMul", ["q", "v"], ["m"]), node("Relu", ["m"], ["y"])], ["b", 4]),
    "declared after a sum": ([number("v", WEIGHTS[0, 0]), node("Add", ["q", "v"], ["m"]), node("Tanh", ["m"], ["y"])], ["b", 4]),
    "permuted": ([node("Sigmoid", ["q"], ["m"]), node("Transpose", ["m"], ["y"], perm=[1, 0])], None),
    "matrix product": ([number("v", WEIGHTS[0, :4]), node("Gemm", ["q", "v"], ["y"])], None),
    "reduced": ([node("ReduceMean", ["q"], ["y"], axes=[1], keepdims=0)], ["b"]),
    "joined": ([number("v", WEIGHTS[0, :2]), node("Concat", ["q", "v"], ["y"], axis=0)], None),
    "nothing": ([node("Exp", ["q"], ["y"])], None),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("axis", [1, -2])
def test_the_reader_decides(tmp_path: Path, name: str, axis: int) -> None:
    nodes, declared = READERS[name]
    source = model([*squeezed("x", "q", axis), *nodes], {"x": ["b", "n", 4]}, {"y": declared})
    check(source, {"x": np.random.default_rng(1).uniform(-1, 1, (2, 1, 4)).astype(np.float32)}, tmp_path, notes=1)


def test_the_reader_needs_the_dimension(tmp_path: Path) -> None:
    """A convolution reads three dimensions: the size is never 1 where the model runs."""
    convolution = [number("v", WEIGHTS[0, :, :, None]), node("Conv", ["q", "v"], ["y"])]
    source = model([*squeezed("x", "q", 1), *convolution], {"x": ["b", "n", "k"]}, {"y": None})
    check(source, {"x": np.random.default_rng(1).uniform(-1, 1, (2, 4, 5)).astype(np.float32)}, tmp_path, notes=1)


def test_a_graph_of_another_if_reads_it(tmp_path: Path) -> None:
    """Both the result of a branch, and what branches capture, have the rank that is needed outside."""
    inner = [*squeezed("q", "p", 0), node("Neg", ["p"], ["t"])]
    then = helper.make_graph(inner, "t", [], [info("t", None)])
    other = helper.make_graph([number("a", [0]), node("ReduceSum", ["q", "a"], ["e"], keepdims=0)], "e", [], [info("e", None)])
    choice = [
        number("k", 8),
        node("Equal", ["rate", "k"], ["c"]),
        node("If", ["c"], ["m"], name="top", then_branch=then, else_branch=other),
    ]
    last = [number("v", WEIGHTS[0, :4]), node("MatMul", ["m", "v"], ["y"])]
    source = model([node("Abs", ["x"], ["q"]), *choice, *last], {"x": ["n", "b", 4], "rate": []}, {"y": ["b", 4]})
    x = np.random.default_rng(1).uniform(-1, 1, (1, 3, 4)).astype(np.float32)
    for rate in (8, 16):
        check(source, {"x": x, "rate": np.array(rate)}, tmp_path)


def two_rates() -> onnx.ModelProto:
    """Each branch has a convolution with another stride, whose length 1 is removed for an LSTM."""

    def branch(p: str, stride: int) -> onnx.GraphProto:
        nodes = [
            number(f"{p}v", WEIGHTS[0, :, :, None].reshape(4, 4, 3)),
            node("Conv", ["x", f"{p}v"], [f"{p}c"], strides=[stride]),
            *squeezed(f"{p}c", f"{p}q", -1),
            number(f"{p}first", [0]),
            node("Unsqueeze", [f"{p}q", f"{p}first"], [f"{p}u"]),
            node("LSTM", [f"{p}u", "w", "r"], ["", f"{p}h"], hidden_size=3),
        ]
        return helper.make_graph(nodes, p, [], [info(f"{p}h", None)])

    equal = [number("k", 16000), node("Equal", ["rate", "k"], ["c"])]
    choice = node("If", ["c"], ["y"], name="top", then_branch=branch("a", 4), else_branch=branch("z", 1))
    return model([*RECURRENT, *equal, choice], {"x": ["b", 4, "n"], "rate": []}, {"y": None})


def test_branches_of_other_lengths(tmp_path: Path) -> None:
    x = np.random.default_rng(1).uniform(-1, 1, (2, 4, 3)).astype(np.float32)
    check(two_rates(), {"x": x, "rate": np.array(16000)}, tmp_path)


def test_a_branch_that_cannot_run_is_left_out(tmp_path: Path) -> None:
    """With six samples, the convolution of one branch leaves one, and that of the other four, which no LSTM takes."""
    x = np.random.default_rng(1).uniform(-1, 1, (2, 4, 6)).astype(np.float32)
    check(two_rates(), {"x": x, "rate": np.array(16000)}, tmp_path, notes=1, shapes="x[2,4,6],rate[]")


def test_the_error_of_a_branch_that_is_taken(tmp_path: Path) -> None:
    onnx.save(two_rates(), tmp_path / "m.onnx")
    with pytest.raises(ConversionError, match=r"operand 0 has 4 dimensions, not 3"):
        moir.convert_model(tmp_path / "m.onnx", input="x[2,4,6],rate->8000")


def test_inference_fails_where_the_assumption_does(tmp_path: Path) -> None:
    source = model([*squeezed("x", "q", 1), node("Exp", ["q"], ["y"])], {"x": ["b", "n", 4]}, {"y": None})
    check(source, {"x": np.ones((2, 1, 4), np.float32)}, tmp_path)
    with pytest.raises(RuntimeError):
        core().compile_model(tmp_path / "m.xml", "CPU")({"x": np.ones((2, 3, 4), np.float32)})
