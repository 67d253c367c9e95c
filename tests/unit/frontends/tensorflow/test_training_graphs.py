"""The outputs of graphs that train a model, in what `tf.gradients` and optimizers write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.frontends.tensorflow.graph import GraphImporter
from moir.frontends.tensorflow.tensors import TensorReader
from tests.unit.frontends.tensorflow.samples import (
    FLOAT,
    Shape,
    constant,
    graph,
    imported,
    names,
    node,
    notes,
    operations,
    placeholder,
)

MODEL = [
    placeholder("x"),
    placeholder("t"),
    node("w", "VarHandleOp", dtype=FLOAT, shape=Shape([2, 2])),
    node("read", "ReadVariableOp", "w", dtype=FLOAT),
    node("z", "MatMul", "x read"),
    node("y", "Sigmoid", "z"),
    node("sub", "Sub", "y t"),
    node("square", "Square", "sub"),
    constant("axes", [0, 1], np.int32),
    node("loss", "Mean", "square axes"),
]


def gradients(scope: str) -> list[Any]:
    """The gradients of MODEL: those of the labels, and of the parameter."""
    return [
        constant(f"{scope}/ones", 1),
        node(f"{scope}/loss_grad/Tile", "Tile", f"{scope}/ones axes"),
        node(f"{scope}/square_grad/Mul", "Mul", f"sub {scope}/loss_grad/Tile"),
        node(f"{scope}/sub_grad/Shape", "Shape", "t"),
        node(f"{scope}/sub_grad/Neg", "Neg", f"{scope}/square_grad/Mul"),
        node(f"{scope}/z_grad/MatMul", "MatMul", f"x {scope}/square_grad/Mul", transpose_a=True),
    ]


def step(gradient: str) -> list[Any]:
    return [constant("rate", 0.1), node("step", "ResourceApplyGradientDescent", f"w rate {gradient}")]


@pytest.mark.parametrize("scope", ["gradients", "train/gradients", "Adam/gradients_1", "anything"])
def test_predictions_are_outputs(scope: str) -> None:
    module = imported(graph(*MODEL, *gradients(scope), *step(f"{scope}/z_grad/MatMul")))
    assert names(module, "opset1.Result") == ["y"]
    assert names(module, "opset1.Parameter") == ["x"]
    [note] = [each for each in notes(module) if "trains" in each]
    assert note.endswith("the outputs: y; for others: moir model.pb --output NAME, of loss")


def test_gradients_are_known_by_their_kinds() -> None:
    renamed = [
        node("a", "Shape", "t"),
        node("b", "BroadcastGradientArgs", "a a"),
        node("c", "Sum", "sub b"),
        node("d", "MatMul", "x c", transpose_a=True),
    ]
    assert names(imported(graph(*MODEL, *renamed, *step("d"))), "opset1.Result") == ["y"]


def test_summaries_and_metrics_are_no_outputs() -> None:
    metrics = [
        node("right", "Equal", "y t"),
        node("norm", "L2Loss", "read"),
        node("sparsity", "Mean", "y axes"),
        node("summary", "ScalarSummary", "axes sparsity"),
    ]
    module = imported(graph(*MODEL, *metrics, *gradients("gradients"), *step("gradients/z_grad/MatMul")))
    assert names(module, "opset1.Result") == ["y"]


def test_the_step_may_be_an_assignment() -> None:
    steps = [node("new", "Sub", "read gradients/z_grad/MatMul"), node("step", "AssignVariableOp", "w new")]
    assert names(imported(graph(*MODEL, *gradients("gradients"), *steps)), "opset1.Result") == ["y"]


def test_a_result_that_nobody_uses_comes_first() -> None:
    nodes = [*MODEL, node("class", "ArgMax", "y rank"), constant("rank", 1, np.int32)]
    module = imported(graph(*nodes, *gradients("gradients"), *step("gradients/z_grad/MatMul")))
    assert names(module, "opset1.Result") == ["class"]


def test_gradients_are_outputs_where_nothing_trains() -> None:
    """A model may compute the gradient of its result, as saliency maps do."""
    module = imported(graph(*MODEL[:6], node("g/y_grad/Mul", "Mul", "y y")))
    assert names(module, "opset1.Result") == ["g/y_grad/Mul"]


def test_names_with_many_scopes() -> None:
    deep = "/".join(["s"] * 20_000)
    module = imported(graph(placeholder("x"), node(f"{deep}_grad/y", "Relu", "x")))
    assert names(module, "opset1.Result") == [f"{deep}_grad/y"]


def test_outputs_that_the_user_names_are_imported() -> None:
    path = Path("model.pb")
    content = graph(*MODEL, *gradients("gradients"), *step("gradients/z_grad/MatMul"))
    module = GraphImporter(path, content, TensorReader(path)).module("model", wanted=[("loss", 0), ("step", 0), ("absent", 0)])
    assert names(module, "opset1.Result") == ["y", "loss"]
    assert [name_of(op) for op in operations(module) if isinstance(op, Parameter)] == ["x", "t"]


def test_shapes_that_old_versions_infer() -> None:
    """Versions up to 1.3 write the shape of a placeholder in another attribute only."""
    nodes = [placeholder("x", ()), placeholder("s", ()), placeholder("u", ())]
    for each, shape in zip(nodes, ([-1, 8], [], None), strict=True):
        each.attr["_output_shapes"].CopyFrom(node("n", "N", shapes=[Shape(shape)]).attr["shapes"])
    module = imported(graph(*nodes, node("y", "Strange", "x s u"), producer=21))
    assert [str(op.results[0].type) for op in operations(module, "opset1.Parameter")] == ["tensor<?x8xf32>", "tensor<f32>", "tensor<*xf32>"]
