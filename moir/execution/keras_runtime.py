"""Keras files in Keras, with the backend that it is set to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError
from moir.execution.runner import FrameworkRunner


class KerasRunner(FrameworkRunner):
    """Runs a model of a Keras file. Inner tensors are the results of layers that are called once."""

    PACKAGE = "keras"

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        keras = _keras()
        return f"Keras {keras.__version__} with {keras.backend.backend()}"

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        keras = _keras()
        try:
            model = self.kept("model", lambda: keras.saving.load_model(str(self.path), compile=False))
            return self._values(keras, model, inputs, tensors)
        except Exception as error:
            # Keras raises errors of many kinds, those of its backends among them.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = lines[0][:300] if lines else type(error).__name__
            raise ExecutionError(f"Keras cannot run the model: {reason}", location=str(self.path)) from error

    def _values(self, keras: Any, model: Any, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        given = keras.tree.flatten(model.input)
        # The input of a Sequential model without an InputLayer has a name of its own in the file.
        names = [port.name for port in self.interface.inputs]
        own = [each.name for each in given]
        order = own if set(own) == set(names) else names
        arrays = [keras.ops.convert_to_tensor(inputs[name]) for name in order]
        results: Any = model(keras.tree.pack_sequence_as(model.input, arrays), training=False)
        listed: list[Any] = (
            [results[port.name] for port in self.interface.outputs] if isinstance(results, dict) else keras.tree.flatten(results)
        )
        output_arrays = {port.name: _array(keras, value) for port, value in zip(self.interface.outputs, listed, strict=True)}
        inner = {layer.name: layer.output for layer in model.layers if layer.name in tensors and _has_one_result(layer)}
        if inner:
            values: list[Any] = keras.tree.flatten(keras.Model(given, list(inner.values()))(arrays, training=False))
            output_arrays |= {name: _array(keras, value) for name, value in zip(inner, values, strict=True)}
        return output_arrays


def _has_one_result(layer: Any) -> bool:
    try:
        return hasattr(layer.output, "shape") and len(layer._inbound_nodes) == 1
    except (AttributeError, ValueError):
        # It is never called.
        return False


def _array(keras: Any, value: Any) -> Array:
    array = np.asarray(keras.ops.convert_to_numpy(value))
    return array if array.dtype.kind != "V" and array.dtype.name != "bfloat16" else array.astype(np.float32)


def _keras() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return import_module(KerasRunner.PACKAGE)
