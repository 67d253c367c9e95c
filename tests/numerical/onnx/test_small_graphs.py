"""Graphs of a few nodes through the whole pipeline, each the smallest that showed a fault, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.forms import FORMS, Form
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.onnx.node_case import normal_numbers
from tests.numerical.runtime import Array, compare, core, infer, prepared

real = normal_numbers(np.random.default_rng(17))


@dataclass(frozen=True)
class Graph:
    """A graph with its inputs.

    Args:
        nodes: its nodes; the last one has the output, and so have those of `outputs`.
        forms: what the model says about the shapes of its inputs.
        threads: how many threads the runtime may use; 0 for all.
    """

    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    outputs: Sequence[str] | None = None
    forms: Sequence[Form] = FORMS
    opset: int = 21
    threads: int = 0


PRODUCT = node("MatMul", ["x", "y"], ["p"])
SWISH = [node("Mul", ["x", "c"], ["s"]), node("Sigmoid", ["s"], ["g"]), node("Mul", ["x", "g"], ["y"])]
STRIDED: dict[str, Any] = {"strides": [2, 2], "pads": [1, 0, 1, 1]}

GRAPHS: dict[str, Graph] = {
    "constants after a product with one summand": Graph(
        [PRODUCT, node("Add", ["p", "c"], ["s"]), node("Sigmoid", ["s"], ["z"])], {"x": real(2, 1), "y": real(1, 2)}, {"c": real(2)}
    ),
    "constants after a product of one row": Graph(
        [PRODUCT, node("Relu", ["p"], ["s"]), node("Mul", ["s", "c"], ["z"])], {"x": real(1, 2), "y": real(2, 3)}, {"c": real(1, 3)}
    ),
    "constants after a product with a transposed operand": Graph(
        [node("Gemm", ["x", "y"], ["p"], transB=1), node("PRelu", ["p", "c"], ["z"])],
        {"x": real(2, 3), "y": real(4, 3)},
        {"c": real(1, 4)},
        forms=["static", "dynamic"],
    ),
    "products with matrices of one element, with one thread": Graph(
        [PRODUCT, node("MatMul", ["p", "w"], ["q"]), node("MatMul", ["q", "w"], ["z"])],
        {"x": real(3, 1)},
        {"y": real(1, 1), "w": real(1, 1)},
        threads=1,
    ),
    "a list and a matrix of one element": Graph([node("MatMul", ["x", "y"], ["z"])], {"x": real(1)}, {"y": real(1, 1)}),
    **{
        f"a padded kernel of one element after {kind}": Graph(
            [node(kind, ["x"], ["r"]), node("Conv", ["r", "w"], ["z"], **STRIDED)], {"x": real(1, 2, 5, 4)}, {"w": real(3, 2, 1, 1)}
        )
        for kind in ("Relu", "Neg")
    },
    "a padded kernel of one element of a sequence": Graph(
        [node("Add", ["x", "c"], ["s"]), node("Conv", ["s", "w", "b"], ["z"], strides=[2], pads=[1, 0])],
        {"x": real(1, 2, 3)},
        {"c": real(2, 1), "w": real(2, 2, 1), "b": real(2)},
    ),
    **{
        f"a product of {count} matrices with several constant ones": Graph(
            [PRODUCT], {"x": real(*shape)}, {"y": real(*several)}, forms=["static", "dynamic"]
        )
        for count, shape, several in (
            (1, (1, 2, 5), (3, 5, 2)),
            (3, (3, 2, 5), (3, 5, 2)),
            (2, (2, 1, 2, 5), (3, 5, 2)),
            (4, (1, 2, 5), (2, 3, 5, 2)),
        )
    },
    "a product of several matrices and constant ones without elements": Graph(
        [PRODUCT], {"x": real(2, 3, 4, 0)}, {"y": real(2, 3, 0, 2)}, forms=["static", "dynamic"]
    ),
    "a factor of an empty product": Graph([PRODUCT, node("Mul", ["p", "c"], ["z"])], {"x": real(4, 0)}, {"y": real(0), "c": real(1, 4)}),
    "a product of a list and a factor": Graph(
        [PRODUCT, node("Mul", ["p", "c"], ["q"]), node("Add", ["q", "q"], ["z"])], {"x": real(4, 2)}, {"y": real(2), "c": real(1)}
    ),
    **{
        f"Swish of {kind} beta": Graph(
            [node("Mul", ["x", "b"], ["p"]), node("Sigmoid", ["p"], ["s"]), node("Mul", ["x", "s"], ["z"])],
            {"x": real(2, 3), **inputs},
            constants,
            outputs=["p", "z"],
            forms=["static", "dynamic"],
        )
        for kind, inputs, constants in (("a computed", {"b": real(1, 1)}, {}), ("a constant", {}, {"b": real(1)}))
    },
    **{
        f"{kind} with NaN": Graph(
            [node(kind, ["x", "n"], ["p"]), node("Min", ["p", "six"], ["z"])], {"x": real(2, 3)}, constants, forms=["static", "dynamic"]
        )
        for kind in ("Add", "Max", "Mul")
        for constants in ({"n": np.full((1,), np.nan, np.float32), "six": np.array(6, np.float32)},)
    },
    "Max and Min with constants of a higher rank": Graph(
        [node("Max", ["x", "low"], ["m"]), node("Min", ["m", "high"], ["y"])],
        {"x": real(5)},
        {"low": np.full((1, 1), -0.5, np.float32), "high": np.array(0.5, np.float32)},
        forms=["static", "dynamic"],
    ),
    "SoftPlus with a constant of a higher rank": Graph(
        [node("Exp", ["x"], ["e"]), node("Add", ["e", "one"], ["s"]), node("Log", ["s"], ["y"])],
        {"x": real(4)},
        {"one": np.ones((1, 1, 1), np.float32)},
        forms=["static", "dynamic"],
    ),
    "Split into uneven parts of dynamic size": Graph(
        [node("Split", ["x"], ["a", "b", "c"], axis=0, num_outputs=3), node("Concat", ["c", "a", "b"], ["y"], axis=0)],
        {"x": real(7, 2)},
        forms=["static", "dynamic"],
    ),
    "a product with a constant vector, and a factor": Graph(
        [node("MatMul", ["x", "v"], ["p"]), node("Add", ["p", "b"], ["s"]), node("Mul", ["s", "f"], ["y"])],
        {"x": real(2, 5, 3)},
        {"v": np.array([0.5, -1, 2], np.float32), "b": np.array([1.5], np.float32), "f": np.array(0.25, np.float32)},
        forms=["static", "dynamic"],
    ),
    # Equal factors count as one in the plugin, which then loses the elements that they add.
    **{
        f"Swish with factors {factors} of {shape}": Graph(
            SWISH, {"x": real(*shape)}, {"c": np.array(factors, np.float32)[:, None, None]}, forms=[form]
        )
        for factors, shape, form in (
            ((2, 2, 2), (2, 4), "rank"),
            ((2, 3, 2), (2, 4), "rank"),
            ((1, 1), (4, 1, 3, 2), "dynamic"),
            ((2, 2), (4, 2, 3, 2), "static"),
        )
    },
    "Swish with a computed factor of more dimensions": Graph(
        [
            node("Mul", ["x", "c"], ["s"]),
            node("Neg", ["s"], ["n"]),
            node("Exp", ["n"], ["e"]),
            node("Add", ["o", "e"], ["d"]),
            node("Div", ["x", "d"], ["y"]),
        ],
        {"x": real(4), "c": np.array([[1.5]], np.float32)},
        {"o": np.array(1, np.float32)},
        forms=["static"],
    ),
    "Einsum that repeats a label of one element": Graph(
        [node("Einsum", ["w", "x"], ["z"], equation="ahg,aeg->hea")], {"x": real(4, 2, 3)}, {"w": real(4, 5, 1)}
    ),
}


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, graph in GRAPHS.items() for form in graph.forms])
def test_graph(name: str, form: Form, tmp_path: Path) -> None:
    graph = GRAPHS[name]
    given: dict[str, Any] = {"constants": graph.constants, "outputs": graph.outputs, "opset": graph.opset}
    expected = expected_results(build(graph.nodes, graph.inputs, **given), graph.inputs, "onnxruntime")
    onnx.save(build(graph.nodes, graph.inputs, form=form, **given), tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    model = core().read_model(tmp_path / "model.xml")
    prepared(model, graph.inputs)
    compiled = core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": graph.threads} if graph.threads else {})
    compare(infer(model, compiled, graph.inputs), expected, 1e-4, 1e-4)


@pytest.mark.parametrize("form", ["dynamic", "rank"])
@pytest.mark.parametrize("kind", ["Concat", "Slice", "Gather"])
def test_a_computed_list_of_unknown_length_that_decides_about_the_rank(kind: str, form: Form, tmp_path: Path) -> None:
    nodes = {
        "Concat": node("Concat", ["n", "one"], ["target"], axis=0),
        "Slice": node("Slice", ["sizes", "n", "end"], ["target"]),
        "Gather": node("Gather", ["sizes", "n"], ["target"], axis=0),
    }
    constants = {"one": np.array([-1]), "end": np.array([2])}
    used = {name: constants[name] for name in nodes[kind].input if name in constants}
    inputs = {"x": real(2, 3), "n": np.array([1])}
    graph = [node("Shape", ["x"], ["sizes"]), nodes[kind], node("Reshape", ["x", "target"], ["y"])]
    onnx.save(build(graph, inputs, constants=used, form=form, fixed=["n"] if kind == "Slice" else []), tmp_path / "model.onnx")
    with pytest.raises(ConversionError, match=r"and so .*the rank of the result"):
        moir.convert_model(tmp_path / "model.onnx")
