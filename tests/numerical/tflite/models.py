"""Models of TensorFlow Lite that TensorFlow's converter writes, and what its interpreter computes of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.dialects.memory_map import Array

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore", message=".*tf.lite.Interpreter is deprecated.*")

Outputs = dict[str, Any]


def converted(
    function: Callable[..., Outputs],
    inputs: Mapping[str, Array],
    *,
    unknown: Sequence[str] = (),
    samples: Sequence[Mapping[str, Array]] = (),
    **options: Any,
) -> bytes:
    """The model of a function of tensors, whose results have names.

    Args:
        function: the function.
        inputs: values of the types and shapes of its inputs.
        unknown: the inputs whose first dimension is unknown.
        samples: inputs by which the converter finds the ranges of quantized tensors.
        options: attributes of the converter.
    """
    tf: Any = import_module("tensorflow")
    specs = {
        name: tf.TensorSpec([None, *value.shape[1:]] if name in unknown else value.shape, value.dtype, name=name)
        for name, value in inputs.items()
    }

    class Model(tf.Module):
        @tf.function(input_signature=list(specs.values()), autograph=False)
        def __call__(self, *given: Any) -> Outputs:
            return function(**dict(zip(specs, given, strict=True)))

    model: Any = Model()
    converter: Any = tf.lite.TFLiteConverter.from_concrete_functions([model.__call__.get_concrete_function()], model)
    for name, value in options.items():
        setattr(converter, name, value)
    if samples:
        converter.representative_dataset = lambda: [dict(each) for each in samples]
    return converter.convert()


def runner_of(model: bytes) -> Any:
    """The signature of a model, which the interpreter computes without delegates."""
    tf: Any = import_module("tensorflow")
    resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=resolver).get_signature_runner()


def signature_inputs(model: bytes, inputs: Mapping[str, Array]) -> list[tuple[str, Array, Mapping[str, Any]]]:
    """The inputs of a model: the name, a value, and the details that the interpreter reports."""
    return [(name, inputs[name], details) for name, details in runner_of(model).get_input_details().items()]


def interpreted(model: bytes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a model by the names of its signature."""
    return runner_of(model)(**inputs)


def kinds(path: Path) -> set[str]:
    """The kinds of operators in a file."""
    from moir.frontends.tflite.flatbuffer import ModelFile

    return {kind for kind, _ in ModelFile(path).operators}


def results_of(path: Path, inputs: Sequence[Array]) -> list[Array]:
    """What the interpreter, without delegates, computes of a file."""
    tf: Any = import_module("tensorflow")
    resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(str(path), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for place, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(place["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(place["index"]) for place in interpreter.get_output_details()]
