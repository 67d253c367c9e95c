"""What a layer test is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.fuzz.case import Case
from tests.fuzz.draw import Array
from tests.fuzz.tensorflow.graph_model import GraphModel, pairs

Form = Literal["static", "dynamic"]
"""What a model says of the shapes of its inputs: everything, or their ranks."""


@dataclass(frozen=True)
class Layer:
    """A graph that is to be converted.

    Args:
        subject: the operation, layer or function it is about.
        case: makes it, with what its inputs say of their shapes. Raises NoCase if TensorFlow does not compute it.
    """

    subject: str
    case: Callable[[Form], Case]


def function_case(
    subject: str, function: Callable[..., Any], inputs: Mapping[str, Array], form: Form, fixed: Sequence[str] = (), *, lowered: bool = False
) -> Case:
    """The case of a function that may have weights.

    Args:
        subject: what it is called.
        function: takes a tensor for each input, in their order; returns a tensor or several.
        inputs: the inputs; all but the `fixed` ones have unknown dimensions in the dynamic form.
        form: what the model says of shapes.
        fixed: names of inputs whose shape is known; `name.2` is one dimension alone.
        lowered: whether control flow is that of the first version.
    """

    def dimensions(name: str, array: Array) -> list[int | None]:
        known = [form == "static" or name in fixed or f"{name}.{axis}" in fixed for axis in range(array.ndim)]
        return [size if keep else None for size, keep in zip(array.shape, known, strict=True)]

    def element(array: Array) -> Any:
        return tf.string if array.dtype.kind in "OUS" else tf.as_dtype(array.dtype)

    specs = [tf.TensorSpec(dimensions(name, array), element(array), name) for name, array in inputs.items()]
    count: list[int] = []

    def traced(*tensors: Any) -> Any:
        result = tf.nest.flatten(function(*tensors))
        count.append(len(result))
        return [tf.identity(each, name=f"out_{index}") for index, each in enumerate(result)]

    concrete = tf.function(traced, autograph=False).get_concrete_function(*specs)
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lowered)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(frozen.graph.as_graph_def(), name="")
    outputs = [f"out_{index}" for index in range(count[-1])]
    complex_inputs = frozenset(name for name in inputs if np.iscomplexobj(inputs[name]))
    text = ", ".join(f"{name}: {array.dtype}{list(array.shape)}" for name, array in inputs.items())
    # The freezing may change the order of the placeholders, which is that of the inputs of the converted model.
    places = {operation.name: place for place, operation in enumerate(graph.get_operations())}
    ordered = {name: pairs(inputs[name]) for name in sorted(inputs, key=lambda name: places.get(name, len(places)))}
    return Case(subject, GraphModel(graph, outputs, complex_inputs, f"{subject}({text})"), ordered, outputs)
