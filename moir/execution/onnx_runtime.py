"""ONNX models on ONNX Runtime, without its optimizations; inner tensors as further outputs.

If a message occurs twice, protobuf merges its fields. So outputs are added by appending bytes to those of the file:
the model is not parsed, and `onnx` is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError
from moir.execution.onnx_weights import LARGE_WEIGHTS, bytes_of_weights, with_weights_in_file
from moir.execution.runner import FrameworkRunner
from moir.files.protobuf.wire import length_field

_GRAPH, _OUTPUT, _NAME = 7, 12, 1
"""Numbers of the fields: the graph of a ModelProto, the outputs of a GraphProto, the name of a ValueInfoProto."""

_EXTERNAL = "session.model_external_initializers_file_folder_path"
_NO_PACKING = "session.disable_prepacking"
_SPINNING = "session.intra_op.allow_spinning"
"""Whether idle threads wait by looking again and again, which only pays for many runs."""


class OnnxRunner(FrameworkRunner):
    """Runs the file of an ONNX model, in single precision and on the CPU."""

    PACKAGE = "onnxruntime"

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"ONNX Runtime {_package().__version__}"

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        session = self.kept(tuple(tensors), lambda: self._session(tensors))
        given: set[str] = {each.name for each in session.get_inputs()}
        feed = {name: _array(inputs[port.name]) for port in self.interface.inputs for name in port.names[:1] if name in given}
        names: list[str] = [each.name for each in session.get_outputs()]
        try:
            results: list[Any] = session.run(names, feed)
        except Exception as error:  # its exceptions have no base class of their own
            raise ExecutionError(f"ONNX Runtime cannot run the model: {_reason(error)}", location=str(self.path)) from error
        # Sequences and maps are not arrays.
        return {name: result for name, result in zip(names, results, strict=True) if isinstance(result, np.ndarray)}

    def _session(self, tensors: Sequence[str]) -> Any:
        """A session of ONNX Runtime with the inner tensors `tensors` as further outputs; those that the runtime does
        not know are left out.
        """
        onnxruntime = _package()
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        options.add_session_config_entry(_SPINNING, "0")
        options.add_session_config_entry(_EXTERNAL, str(self.path.parent.resolve()))
        is_mapped = not self.keeps and bytes_of_weights(self.module) >= LARGE_WEIGHTS
        if is_mapped:
            # Packed weights would be a copy of all of them, which does not pay for one run.
            options.add_session_config_entry(_NO_PACKING, "1")
        outputs = {port.name for port in self.interface.outputs}
        wanted = [name for name in dict.fromkeys(tensors) if name not in outputs]
        while True:
            whole = with_weights_in_file(self.path) if is_mapped else self.path.read_bytes() if wanted else b""
            model: Any = _with_outputs(whole, wanted) if whole else str(self.path)
            try:
                return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            except Exception as error:
                absent = [name for name in wanted if f"'{name}'" in str(error) or f"({name})" in str(error) or f" {name} " in str(error)]
                if not absent:
                    raise ExecutionError(f"ONNX Runtime refuses the model: {_reason(error)}", location=str(self.path)) from error
                wanted = [name for name in wanted if name not in absent]


def _package() -> Any:
    return import_module(OnnxRunner.PACKAGE)


def _with_outputs(model: bytes, names: Iterable[str]) -> bytes:
    """The bytes of an ONNX model with the tensors `names` as additional graph outputs."""
    return model + length_field(_GRAPH, b"".join(length_field(_OUTPUT, length_field(_NAME, name.encode())) for name in names))


def _array(array: Array) -> Array:
    return np.asarray(array, dtype=object) if array.dtype.kind in "US" else array


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else "no reason given"
