"""A graph of TensorFlow that TensorFlow's converter makes a model of TensorFlow Lite, as the model of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, NoCase
from tests.fuzz.tensorflow.graph_model import GraphModel, pairs
from tests.fuzz.tflite.kernel_faults import is_undefined

FORMS = ("float", "float", "float", "float", "dynamic range", "halves", "i8")
"""What the converter makes of weights and activations; the first one more often."""

MOST_QUANTIZED = 3
"""The most operators of a model with integers of 8 bits: each rounds, here and in the interpreter in its own manner."""

OPTIMIZED = "dynamic range", "halves", "i8"


@dataclass(frozen=True)
class LiteModel:
    """A model, with the graph that it was made of.

    Args:
        source: the graph.
        content: the file.
        form: the form of weights and activations.
        outputs: the names of its outputs, which are those of inputs where nothing is computed.
    """

    source: GraphModel
    content: bytes = field(repr=False)
    form: str
    outputs: Sequence[str]

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
        """The interpreter's default kernels, its built-in ones, optimized and as references, and TensorFlow."""
        kinds = tf.lite.experimental.OpResolverType
        names = {
            "default kernels": kinds.AUTO,
            "optimized kernels": kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            "reference kernels": kinds.BUILTIN_REF,
        }
        results: list[tuple[str, Reference]] = [
            (name, lambda inputs, kind=kind: interpreted(self.content, inputs, kind, self.outputs)) for name, kind in names.items()
        ]
        return results if self.form == "i8" else [*results, ("TensorFlow", self.source.compute)]

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
    results = {each["name"]: interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()}
    return [pairs(results[name]) for name in outputs]


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
    names = [each["name"] for each in tf.lite.Interpreter(model_content=content).get_output_details()]
    outputs = list(graph.outputs) if set(names) >= set(graph.outputs) else names
    if len(outputs) != len(graph.outputs):
        raise NoCase("an output stands for several")
    if form == "i8" and operator_count(content) > MOST_QUANTIZED:
        raise NoCase("so many operators round that results differ by more than a step")
    levels = quantizations(content)
    inputs = {name: on_levels(value, levels[name]) if name in levels else value for name, value in case.inputs.items()}
    try:
        interpreted(content, inputs, tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, outputs)
    except (ValueError, RuntimeError, KeyError) as error:
        raise NoCase(str(error)) from None
    if operator_count(content) > 1 and any(value.dtype.kind == "f" and np.isinf(value).any() for value in inputs.values()):
        raise NoCase("kernels limit infinities on the way")
    try:
        graph.compute(inputs)
    except tf.errors.InvalidArgumentError as error:
        raise NoCase(str(error)) from None
    except Exception:
        # TensorFlow lacks a kernel.
        pass
    if is_undefined(content, inputs):
        raise NoCase("a kernel computes something undefined")
    return Case(
        case.subject,
        LiteModel(graph, content, form, outputs),
        inputs,
        outputs,
        [levels[name][0] if name in levels else 0.0 for name in outputs],
        limits_infinities=True,
    )


def operator_count(content: bytes) -> int:
    """The number of operators of a model but those at its inputs and outputs that quantize."""
    schema: Any = import_module("tensorflow.lite.python.schema_py_generated")
    model = schema.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    codes = [model.OperatorCodes(graph.Operators(index).OpcodeIndex()) for index in range(graph.OperatorsLength())]
    kinds = [max(code.BuiltinCode(), code.DeprecatedBuiltinCode()) for code in codes]
    return sum(kind not in (schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE) for kind in kinds)


def on_levels(value: Array, how: tuple[float, int]) -> Array:
    """Numbers as near as possible that stand for integers of 8 bits, so that nobody has to round them."""
    scale, zero = how
    integers = np.clip(np.round(value / np.float32(scale)) + zero, -128, 127)
    return ((integers - zero) * np.float32(scale)).astype(value.dtype)


def quantizations(content: bytes) -> dict[str, tuple[float, int]]:
    """The scale and the zero point of each tensor of floats that is quantized, or made of quantized ones, by its name."""
    schema: Any = import_module("tensorflow.lite.python.schema_py_generated")
    model = schema.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    results: dict[str, tuple[float, int]] = {}
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        code = model.OperatorCodes(operator.OpcodeIndex())
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        if kind not in (schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE):
            continue
        floats, integers = graph.Tensors(operator.Inputs(0)), graph.Tensors(operator.Outputs(0))
        if kind == schema.BuiltinOperator.DEQUANTIZE:
            floats, integers = integers, floats
        how = integers.Quantization()
        if floats.Type() == schema.TensorType.FLOAT32 and integers.Type() == schema.TensorType.INT8 and how.ScaleLength() == 1:
            results[floats.Name().decode()] = float(how.Scale(0)), int(how.ZeroPoint(0))
    return results
