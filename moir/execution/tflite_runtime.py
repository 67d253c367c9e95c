"""TensorFlow Lite models in TensorFlow's interpreter.

The outputs are those of the kernels that users get by default, XNNPACK's. Inner tensors are asked of the built-in
kernels, since XNNPACK does not keep them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError
from moir.execution.runner import FrameworkRunner
from moir.frontends.tflite.flatbuffer import ModelFile
from moir.frontends.tflite.signatures import chosen_signature


class LiteRunner(FrameworkRunner):
    """Runs a signature of a model, or its first subgraph. Inner quantized tensors are the numbers they stand for."""

    PACKAGE = "tensorflow"

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"the interpreter of TensorFlow {_tensorflow().__version__}"

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        lite = _tensorflow().lite
        try:
            with warnings.catch_warnings():
                # A warning of TensorFlow says that the interpreter will be a package of its own.
                warnings.simplefilter("ignore")
                kernels = lite.experimental.OpResolverType
                interpreter = lite.Interpreter(
                    str(self.path),
                    experimental_op_resolver_type=kernels.BUILTIN_WITHOUT_DEFAULT_DELEGATES if tensors else kernels.AUTO,
                    experimental_preserve_all_tensors=bool(tensors),
                )
            signature = self.reading.get("signature")
            compute = self._signature if signature is not None else self._first_subgraph
            return compute(interpreter, inputs, tensors)
        except (ValueError, RuntimeError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = lines[0] if lines else type(error).__name__
            raise ExecutionError(f"the interpreter cannot run the model: {reason}", location=str(self.path)) from error

    def _first_subgraph(self, interpreter: Any, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        # The frontend keeps the order of inputs and outputs.
        places = interpreter.get_input_details()
        for port, place in zip(self.interface.inputs, places, strict=True):
            array = inputs[port.name]
            if list(place["shape"]) != list(array.shape):
                interpreter.resize_tensor_input(place["index"], array.shape)
        interpreter.allocate_tensors()
        for port, place in zip(self.interface.inputs, places, strict=True):
            array = inputs[port.name]
            interpreter.set_tensor(place["index"], array if array.dtype.kind in "OUS" else array.astype(place["dtype"], copy=False))
        interpreter.invoke()
        results = zip(self.interface.outputs, interpreter.get_output_details(), strict=True)
        found = {port.name: interpreter.get_tensor(place["index"]) for port, place in results}
        return _with_inner_tensors(interpreter, 0, found, tensors)

    def _signature(self, interpreter: Any, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        name = str(self.reading["signature"])
        runner = interpreter.get_signature_runner(name)
        given = {
            key: array if array.dtype.kind in "OUS" else array.astype(place["dtype"], copy=False)
            for key, place in runner.get_input_details().items()
            for array in (inputs[key],)
        }
        subgraph = chosen_signature(ModelFile(self.path), name).subgraph
        return _with_inner_tensors(interpreter, subgraph, runner(**given), tensors)


def _with_inner_tensors(interpreter: Any, subgraph: int, found: dict[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
    """The outputs, and the tensors of other names that are asked for."""
    wanted = set(tensors) - found.keys()
    for each in interpreter.get_tensor_details(subgraph) if wanted else ():
        if each["name"] not in wanted:
            continue
        try:
            found[each["name"]] = _numbers(interpreter.get_tensor(each["index"], subgraph), each["quantization_parameters"])
        except ValueError:
            # A tensor that no operator computed.
            continue
    return found


def _numbers(array: Array, quantization: Mapping[str, Any]) -> Array:
    """The dequantized elements of a quantized tensor; any other tensor unchanged."""
    scales, zeros = quantization["scales"], quantization["zero_points"]
    if array.dtype.kind not in "iu" or array.dtype.itemsize > 2 or not len(scales):
        return array
    if len(scales) > 1:
        shape = [1] * array.ndim
        shape[quantization["quantized_dimension"]] = -1
        scales, zeros = scales.reshape(shape), zeros.reshape(shape)
    return ((array.astype(np.float32) - zeros) * scales).astype(np.float32)


def _tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return import_module(LiteRunner.PACKAGE)
