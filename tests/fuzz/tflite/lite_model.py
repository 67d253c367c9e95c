"""A graph of TensorFlow that TensorFlow's converter makes a model of TensorFlow Lite, as the model of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, NoCase
from tests.fuzz.tensorflow.graph_model import GraphModel

FORMS = ("float", "float", "float", "float", "dynamic range", "halves", "i8")
"""What the converter makes of weights and activations; the first one more often."""

OPTIMIZED = "dynamic range", "halves", "i8"


@dataclass(frozen=True)
class LiteModel:
    """A model, with the graph that it was made of.

    Args:
        source: the graph.
        content: the file.
        form: the form of weights and activations.
    """

    source: GraphModel
    content: bytes = field(repr=False)
    form: str

    def save(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / "model.tflite"
        path.write_bytes(self.content)
        return path

    def describe(self) -> str:
        """The model in one line."""
        return f"{self.source.describe()}, {self.form}"

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """The operations of the graph."""
        return self.source.contents(inputs)

    def references(self) -> Sequence[tuple[str, Reference]]:
        """The interpreter's optimized kernels, those that are references, and TensorFlow."""
        kinds = tf.lite.experimental.OpResolverType
        names = {"optimized kernels": kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES, "reference kernels": kinds.BUILTIN_REF}
        found: list[tuple[str, Reference]] = [
            (name, lambda inputs, kind=kind: interpreted(self.content, inputs, kind, self.source.outputs)) for name, kind in names.items()
        ]
        return found if self.form in OPTIMIZED else [*found, ("TensorFlow", self.source.compute)]

    @property
    def guesses_empty_shapes(self) -> bool:
        """The interpreter computes the shapes of empty results."""
        return False

    def check(self, expected: Sequence[Array]) -> None:
        """Any result of the interpreter is right."""
        del expected


def interpreted(model: bytes, inputs: Mapping[str, Array], kind: Any, outputs: Sequence[str]) -> list[Array]:
    """The outputs of a model by the interpreter. Raises ValueError or RuntimeError if it does not compute it."""
    interpreter: Any = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=kind)
    details = interpreter.get_input_details()
    for each in details:
        if tuple(each["shape"]) != inputs[each["name"]].shape:
            interpreter.resize_tensor_input(each["index"], inputs[each["name"]].shape)
    interpreter.allocate_tensors()
    for each in details:
        interpreter.set_tensor(each["index"], inputs[each["name"]])
    interpreter.invoke()
    found = {each["name"]: interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()}
    return [found[name] for name in outputs]


def lite_case(case: Case, form: str) -> Case:
    """The case of a graph as one of TensorFlow Lite. Raises NoCase if the converter does not convert it."""
    graph = case.source
    assert isinstance(graph, GraphModel)
    if graph.complex_inputs or any(value.size == 0 for value in case.inputs.values()):
        raise NoCase("complex or empty inputs")
    if form == "i8" and any(value.dtype != np.float32 or not np.all(np.abs(value) < 1e3) for value in case.inputs.values()):
        raise NoCase("no numbers that have a range")
    needed = tf.compat.v1.graph_util.extract_sub_graph(graph.graph.as_graph_def(), list(graph.outputs))
    with graph.graph.as_default():
        ends = [[graph.graph.get_tensor_by_name(f"{name}:0") for name in names] for names in (case.inputs, graph.outputs)]
    converter: Any = tf.compat.v1.lite.TFLiteConverter(needed, *ends)
    if form in OPTIMIZED:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "halves":
        converter.target_spec.supported_types = [tf.float16]
    if form == "i8":
        converter.representative_dataset = lambda: [list(case.inputs.values())]
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    try:
        with redirect_stderr(StringIO()):
            content = converter.convert()
    except Exception as error:
        raise NoCase(str(error)) from None
    return Case(case.subject, LiteModel(graph, content, form), case.inputs, case.outputs)
