"""TensorFlow Lite models in TensorFlow's interpreter.

The outputs are those of the kernels that users get by default, XNNPACK's. Inner tensors are asked of the built-in
kernels, since XNNPACK does not keep them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError
from moir.execution.runner import FrameworkRunner
from moir.frontends.tflite.containers import opened_model
from moir.frontends.tflite.signatures import chosen_signature


class LiteRunner(FrameworkRunner):
    """Runs a signature of a model, or its first subgraph. Inner tensors that are quantized are returned dequantized."""

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
                file, signature = opened_model(self.path, cast("str | None", self.reading.get("signature")))
                source = {"model_content": bytes(file.mapped)} if file.is_part else {"model_path": str(self.path)}
                interpreter = lite.Interpreter(
                    **source,
                    experimental_op_resolver_type=kernels.BUILTIN_WITHOUT_DEFAULT_DELEGATES if tensors else kernels.AUTO,
                    experimental_preserve_all_tensors=bool(tensors),
                )
            if signature is None:
                return self._first_subgraph(interpreter, inputs, tensors)
            return self._signature(interpreter, chosen_signature(file, signature).subgraph, signature, inputs, tensors)
        except (ValueError, RuntimeError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = lines[0] if lines else type(error).__name__
            raise ExecutionError(f"the interpreter cannot run the model: {reason}", location=str(self.path)) from error

    def _first_subgraph(self, interpreter: Any, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        # The frontend keeps the order of inputs and outputs.
        details = interpreter.get_input_details()
        for port, detail in zip(self.interface.inputs, details, strict=True):
            array = inputs[port.name]
            if list(detail["shape"]) != list(array.shape):
                interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        for port, detail in zip(self.interface.inputs, details, strict=True):
            array = inputs[port.name]
            interpreter.set_tensor(detail["index"], array if array.dtype.kind in "OUS" else array.astype(detail["dtype"], copy=False))
        interpreter.invoke()
        results = zip(self.interface.outputs, interpreter.get_output_details(), strict=True)
        arrays = {port.name: interpreter.get_tensor(detail["index"]) for port, detail in results}
        return _with_inner_tensors(interpreter, 0, arrays, tensors)

    def _signature(
        self, interpreter: Any, subgraph: int, name: str, inputs: Mapping[str, Array], tensors: Sequence[str]
    ) -> dict[str, Array]:
        runner = interpreter.get_signature_runner(name)
        feed = {
            key: array if array.dtype.kind in "OUS" else array.astype(detail["dtype"], copy=False)
            for key, detail in runner.get_input_details().items()
            for array in (inputs[key],)
        }
        return _with_inner_tensors(interpreter, subgraph, runner(**feed), tensors)


def _with_inner_tensors(interpreter: Any, subgraph: int, outputs: dict[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
    """The outputs of a subgraph, and those of `tensors` that are inner tensors, read from the interpreter."""
    wanted = set(tensors) - outputs.keys()
    for each in interpreter.get_tensor_details(subgraph) if wanted else ():
        if each["name"] not in wanted:
            continue
        try:
            outputs[each["name"]] = _numbers(interpreter.get_tensor(each["index"], subgraph), each["quantization_parameters"])
        except ValueError:
            # A tensor that no operator computed.
            continue
    return outputs


def _numbers(array: Array, quantization: Mapping[str, Any]) -> Array:
    """The dequantized elements of a tensor of integers, by its scales and zero points in `quantization`.

    A tensor of another type, or without scales, is returned unchanged.
    """
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
