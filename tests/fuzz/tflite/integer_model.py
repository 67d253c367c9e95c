"""A model of TensorFlow Lite whose activations are integers: how it is converted, and which differences are rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, NoCase
from tests.fuzz.tensorflow.graph_model import GraphModel
from tests.fuzz.tflite.kernel_faults import is_undefined
from tests.fuzz.tflite.lite_model import LiteModel, interpreted, on_levels, quantizations

FORMS = ("i8", "i8 inputs", "i8 per tensor", "u8 inputs", "u8", "i16")
"""How activations are quantized. In "i8" and "i8 per tensor" inputs and outputs are floats; in "u8" weights are unsigned, too, and
ranges are those of the graph's FakeQuants, or an assumed one. Operators without a kernel of integers stay floats, except in "u8"."""

ASSUMED_RANGE = (-5.1, 4.7)
REPETITIONS = 8
MOVED_BIAS = 0.25
"""By which part of a quantum of the result the biases are moved."""
MOVED_INPUTS = 0.1
"""The part of the elements of integer inputs that are moved by 1."""
FACTOR = 1.5
"""How much larger than the differences of a few moved models another difference may be."""
CHANGED_PART = 0.02
"""The mean difference, in quanta, that is allowed where moved models have none."""
UNQUANTIZED = 256.0
"""The largest number of a result of floats without a known scale, in quanta."""


@dataclass(frozen=True)
class IntegerModel(LiteModel):
    """A model with integer activations."""

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """The operations of the graph, among them one that says that values are quantized."""
        contents = self.source.contents(inputs)
        return replace(contents, kinds=contents.kinds | {"QuantizeLinear"})

    def references(self) -> Sequence[tuple[str, Reference]]:
        """The interpreter's default kernels, its built-in ones, optimized and as references; not TensorFlow's floats."""
        return [each for each in super().references() if each[0] != "TensorFlow"]

    def is_rounded(self, inputs: Mapping[str, Array], results: Sequence[Array], expected: Sequence[Array]) -> bool:
        """Whether results differ from those of the default kernels as those of other kernels and of moved models do.

        Each integer that is rounded the other way changes others behind it, so a bound holds for an output as a whole: for its
        largest difference and for the mean one, in quanta. A moved model has biases that are off by a part of a quantum of the
        convolution's result, and every second one integer inputs of which some are off by 1.
        """
        others = list(self._results_of_changes(inputs))
        scales = quantizations(self.content)
        for index, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
            if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
                return False
            if not wanted.size:
                continue
            exact = np.nan_to_num(wanted.astype(np.float64))
            quantum = 1.0 if wanted.dtype.kind in "iu" else scales.get(self.outputs[index], (0.0, 0))[0]
            quantum = quantum or max(float(np.max(np.abs(exact))), 1e-6) / UNQUANTIZED
            spreads = [_difference(each[index], exact, quantum) for each in others]
            difference = _difference(actual, exact, quantum)
            largest, mean = (max(float(function(each)) for each in spreads) for function in (np.max, np.mean))
            if float(np.max(difference)) > 1.01 + FACTOR * largest:
                return False
            if float(np.mean(difference)) > CHANGED_PART + FACTOR * mean + 2 / wanted.size:
                return False
        return True

    def _results_of_changes(self, inputs: Mapping[str, Array]) -> Iterator[list[Array]]:
        for _, compute in self.references()[1:]:
            try:
                yield compute(inputs)
            except (ValueError, RuntimeError):
                continue
        for seed in range(REPETITIONS):
            random = np.random.default_rng(seed)
            arrays = {name: _moved(array, random) for name, array in inputs.items()} if seed % 2 else inputs
            yield interpreted(_with_moved_biases(self.content, random), arrays, tf.lite.experimental.OpResolverType.AUTO, self.outputs)


def _difference(array: Array, exact: Array, quantum: float) -> Array:
    return np.abs(np.nan_to_num(array.astype(np.float64)) - exact) / quantum


def _moved(array: Array, random: np.random.Generator) -> Array:
    if array.dtype.kind not in "iu":
        return np.asarray(array * (1 + 1.5e-6 * random.choice((-1.0, 0.0, 1.0), size=array.shape)), array.dtype)
    steps = random.choice((-1, 0, 1), p=(MOVED_INPUTS / 2, 1 - MOVED_INPUTS, MOVED_INPUTS / 2), size=array.shape)
    limits = np.iinfo(array.dtype)
    return np.clip(array.astype(np.int32) + steps, limits.min, limits.max).astype(array.dtype)


BIASED = frozenset(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"))


def _with_moved_biases(content: bytes, random: np.random.Generator) -> bytes:
    """A model whose integer biases are off by a part of a quantum of the result, upwards or downwards."""
    schema: Any = import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = import_module("flatbuffers")
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    moved: set[int] = set()
    for graph in model.subgraphs:
        for operator in graph.operators:
            code = model.operatorCodes[operator.opcodeIndex]
            if names[max(code.builtinCode, code.deprecatedBuiltinCode)] not in BIASED:
                continue
            bias: Any = graph.tensors[operator.inputs[-1]]
            result: Any = graph.tensors[operator.outputs[0]]
            dtype = {schema.TensorType.INT32: np.int32, schema.TensorType.INT64: np.int64}.get(bias.type)
            is_scaled = bias.quantization is not None and bias.quantization.scale is not None and result.quantization is not None
            data = model.buffers[bias.buffer].data
            if dtype is None or not is_scaled or data is None or bias.buffer in moved:
                continue
            moved.add(bias.buffer)
            step = MOVED_BIAS * float(result.quantization.scale[0]) / np.asarray(bias.quantization.scale, np.float64)
            array = np.frombuffer(bytes(data), dtype).astype(np.float64)
            array = np.round(array + step * random.choice((-1.0, 1.0), size=array.shape))
            limits = np.iinfo(np.int32)
            model.buffers[bias.buffer].data = np.frombuffer(np.clip(array, limits.min, limits.max).astype(dtype).tobytes(), np.uint8)
    builder = flatbuffers.Builder(len(content))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def integer_case(case: Case, form: str) -> Case:
    """The case of a graph as a model with integer activations.

    Args:
        case: a graph of TensorFlow.
        form: one of FORMS.

    Raises NoCase if the converter does not convert it, or the interpreter does not compute what it writes.
    """
    graph = case.source
    assert isinstance(graph, GraphModel)
    content = _converted(graph, case.inputs, form)
    kind = tf.lite.experimental.OpResolverType.AUTO
    details: Mapping[str, Any] = {each["name"]: each for each in tf.lite.Interpreter(model_content=content).get_input_details()}
    names = [each["name"] for each in tf.lite.Interpreter(model_content=content).get_output_details()]
    if set(details) != set(case.inputs) or set(names) != set(graph.outputs):
        raise NoCase("other inputs or outputs")
    scales = quantizations(content)
    inputs = {name: _input(array, details[name], scales.get(name)) for name, array in case.inputs.items()}
    try:
        interpreted(content, inputs, kind, list(graph.outputs))
    except (ValueError, RuntimeError) as error:
        raise NoCase(str(error)) from None
    if is_undefined(content, inputs):
        raise NoCase("a kernel computes something undefined")
    return Case(case.subject, IntegerModel(graph, content, form, list(graph.outputs)), inputs, list(graph.outputs))


def _input(array: Array, details: Mapping[str, Any], levels: tuple[float, int] | None) -> Array:
    """An input of the type of the file, on levels of the quantization."""
    dtype = np.dtype(details["dtype"])
    if dtype.kind == "f":
        return on_levels(array, levels) if levels else array
    scale, zero = details["quantization"]
    limits = np.iinfo(dtype)
    return np.clip(np.round(array / np.float32(scale)) + zero, limits.min, limits.max).astype(dtype)


def _converted(graph: GraphModel, inputs: Mapping[str, Array], form: str) -> bytes:
    needed = tf.compat.v1.graph_util.extract_sub_graph(graph.graph.as_graph_def(), list(graph.outputs))
    with graph.graph.as_default():
        ends = [[graph.graph.get_tensor_by_name(f"{name}:0") for name in names] for names in (inputs, graph.outputs)]
    converter: Any = tf.compat.v1.lite.TFLiteConverter(needed, *ends)
    kinds = tf.lite.OpsSet
    if form == "u8":
        converter.inference_type = converter.inference_input_type = converter.inference_output_type = tf.uint8
        converter.quantized_input_stats = dict.fromkeys(inputs, (128.0, 40.0))
        converter.default_ranges_stats = ASSUMED_RANGE
    else:
        integers = kinds.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 if form == "i16" else kinds.TFLITE_BUILTINS_INT8
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.target_spec.supported_ops = [integers, kinds.TFLITE_BUILTINS]
        samples = [[array * factor for array in inputs.values()] for factor in (np.float32(1), np.float32(0.7))]
        converter.representative_dataset = lambda: samples
        converter._experimental_disable_per_channel = form == "i8 per tensor"
    if form.endswith(" inputs"):
        converter.inference_input_type = converter.inference_output_type = tf.int8 if form.startswith("i8") else tf.uint8
    try:
        with redirect_stderr(StringIO()):
            return converter.convert()
    except Exception as error:
        raise NoCase(str(error)) from None
