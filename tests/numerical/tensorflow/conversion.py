"""Converting small TensorFlow graphs and comparing what OpenVINO Runtime computes with TensorFlow's own results.

    check(lambda x: tf.raw_ops.Elu(features=x), {"x": x})

traces the function into a graph with a placeholder for each input, runs it in a session for the expected results, converts the frozen
graph and compares: floats within tolerances, all else exactly, element types always. By default it does so with static
shapes through the whole pipeline, and with unknown dimensions and unknown rank through the lowering alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openvino
import tensorflow as tf

from moir.conversion import save_model
from moir.frameworks.records import TENSORFLOW
from moir.interface import convert_model
from moir.targets.registry import OPENVINO_CPU
from tests.numerical.forms import FORMS, Form, forms_of_run
from tests.numerical.runtime import Array, arrays_by_port, compare, core, run, run_together

Build = Callable[..., Any]

LOWERING_ALONE = ",".join((*TENSORFLOW.raising, TENSORFLOW.lowering_pass, "check-lowered", *OPENVINO_CPU.every_form))
"""The passes of the framework, and the forms of the target, without those that simplify and fuse."""

Said = Mapping[str, list[int | None] | None]
"""What placeholders say of their shapes, by the names of inputs; None is nothing, not even the rank."""


def placeholder_shape(name: str, array: Array, form: Form, fixed: Sequence[str], said: Said) -> list[int | None] | None:
    """The shape a placeholder declares."""
    if name in said:
        return said[name]
    if form == "static" or name in fixed:
        return list(array.shape)
    return [None] * array.ndim if form == "dynamic" else None


def build(
    function: Build, inputs: Mapping[str, Array], *, form: Form = "static", fixed: Sequence[str] = (), said: Said | None = None
) -> tuple[tf.Graph, list[str]]:
    """The graph of a function, and the names of its outputs: `out_0`, `out_1`, …

    Args:
        function: takes a symbolic tensor for each input, by name; returns a tensor or several.
        inputs: an example of each input.
        form: what the placeholders say about shapes.
        fixed: inputs whose shape is said in any case.
        said: shapes that are said instead of what `form` says.
    """
    graph = tf.Graph()
    with graph.as_default():
        tensors = {
            name: tf.compat.v1.placeholder(
                tf.string if array.dtype.kind in "OUS" else tf.as_dtype(array.dtype),
                placeholder_shape(name, array, form, fixed, said or {}),
                name,
            )
            for name, array in inputs.items()
        }
        value = function(**tensors)
        results = tf.nest.flatten(value)
        names = [tf.identity(result, name=f"out_{index}").op.name for index, result in enumerate(results)]
    return graph, names


def expected_results(graph: tf.Graph, names: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
    """TensorFlow's results of a graph."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        result = session.run([f"{name}:0" for name in names], {f"{name}:0": array for name, array in inputs.items()})
    return [decoded(np.asarray(each)) for each in result]


def decoded(array: Array) -> Array:
    """Strings, which TensorFlow has as bytes, as text; any other array as it is."""
    if array.dtype.kind not in "OS":
        return array
    texts = np.empty(array.shape, object)
    texts.ravel()[:] = [item.decode() for item in array.ravel()]
    return texts


def convert_graph(graph: tf.Graph, directory: Path, passes: str | None = None) -> openvino.Model:
    """Convert a graph as a frozen model, write its IR into a directory and read it with the runtime."""
    source = directory / "model.pb"
    source.write_bytes(graph.as_graph_def().SerializeToString())
    save_model(convert_model(source, passes=passes), directory / "model.xml")
    return core().read_model(directory / "model.xml")


def output_indices(model: openvino.Model, names: Sequence[str]) -> list[int]:
    """The index of the output of each name."""
    return [next(index for index, output in enumerate(model.outputs) if {name, f"{name}:0"} & set(output.get_names())) for name in names]


def ordered_results(model: openvino.Model, names: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
    """Results of a model on the CPU in the order of names."""
    results = run(model, inputs)
    return [results[index] for index in output_indices(model, names)]


def check(
    function: Build,
    inputs: Mapping[str, Array],
    *,
    rtol: float = 1e-4,
    atol: float = 1e-5,
    expected: Sequence[Array] | None = None,
    forms: Sequence[Form] = FORMS,
    fixed: Sequence[str] = (),
    said: Said | None = None,
    operations: int | None = None,
) -> None:
    """Convert the graph of a function and compare its results with TensorFlow's, for several statements about the shapes of its inputs.

    Args:
        function, inputs, fixed, said: as of `build`.
        rtol, atol: tolerances for floats.
        expected: what should come out, if it is not what TensorFlow computes.
        forms: what the model says about the shapes.
        operations: the most operations the IR may have for the static form, without Parameters, Constants and Results,
            and without an Identity, which tells an output from an input or from another output.
    """
    static = build(function, inputs)
    if expected is None:
        expected = expected_results(*static, inputs)
    models: list[openvino.Model] = []
    indices: list[list[int]] = []
    for form in forms_of_run(forms):
        graph, names = static if form == "static" and not said else build(function, inputs, form=form, fixed=fixed, said=said)
        with TemporaryDirectory() as directory:
            converted = convert_graph(graph, Path(directory), None if form == "static" else LOWERING_ALONE)
        if form == "static" and operations is not None:
            kinds = [op.get_type_name() for op in converted.get_ordered_ops()]
            assert len([kind for kind in kinds if kind not in ("Parameter", "Constant", "Result", "Identity")]) <= operations, kinds
        models.append(converted)
        indices.append(output_indices(converted, names))
    for results, order in zip(run_together(models, [arrays_by_port(model, inputs) for model in models]), indices, strict=True):
        compare([results[index] for index in order], expected, rtol, atol)
