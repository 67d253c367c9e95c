"""Runs TensorFlow models in TensorFlow, on the CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError
from moir.execution.ports import TensorPort
from moir.execution.runner import FrameworkRunner
from moir.files.recognition import beside
from moir.frontends.tensorflow.reading import format_of
from moir.frontends.tensorflow.wire_schema import META_GRAPH_FORMAT, SAVED_MODEL_FORMAT


class TensorFlowRunner(FrameworkRunner):
    """Runs a graph in a session, or the signature of a SavedModel.

    Inner tensors of a SavedModel are those of its function with all calls inlined.
    """

    PACKAGE = "tensorflow"

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"TensorFlow {_tensorflow().__version__}"

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        path = self.path if self.path.exists() else beside(self.path, ".meta")
        format = SAVED_MODEL_FORMAT if path.is_dir() else format_of(path)
        try:
            if format is SAVED_MODEL_FORMAT:
                return self._signature(path if path.is_dir() else path.parent, inputs, tensors)
            return self._graph(path, inputs, tensors, is_meta_graph=format is META_GRAPH_FORMAT)
        except ExecutionError:
            raise
        except Exception as error:  # TensorFlow raises exceptions of many classes
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = lines[0] if lines else type(error).__name__
            raise ExecutionError(f"TensorFlow cannot run the model: {reason}", location=str(self.path)) from error

    def _graph(self, path: Path, inputs: Mapping[str, Array], tensors: Sequence[str], *, is_meta_graph: bool) -> dict[str, Array]:
        tf = _tensorflow()
        v1 = tf.compat.v1
        with tf.Graph().as_default() as graph:
            saver = None
            message: Any = v1.MetaGraphDef() if is_meta_graph else v1.GraphDef()
            _parse(path, message)
            if is_meta_graph:
                saver = v1.train.import_meta_graph(message, clear_devices=True)
            else:
                tf.graph_util.import_graph_def(message, name="")
            checkpoint = self.reading.get("checkpoint")
            prefix = str(checkpoint) if checkpoint is not None else str(path).removesuffix(".meta")
            with v1.Session(graph=graph) as session:
                if saver is not None:
                    saver.restore(session, prefix)
                elif checkpoint is not None:
                    _restore(session, graph, prefix)
                return self._fetched(session, graph, inputs, tensors)

    def _fetched(self, session: Any, graph: Any, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        fetches = {port.name: tensor for port in self.interface.outputs if (tensor := _tensor(graph, port.names)) is not None}
        fetches |= {name: tensor for name in tensors if name not in fetches and (tensor := _tensor(graph, [name])) is not None}
        feed: dict[Any, Array] = {}
        for port in self.interface.inputs:
            tensor = _tensor(graph, port.names)
            if tensor is not None:
                feed[tensor] = _array(inputs[port.name], tensor.dtype)
        return {name: np.asarray(array) for name, array in session.run(fetches, feed).items()}

    def _signature(self, path: Path, inputs: Mapping[str, Array], tensors: Sequence[str]) -> dict[str, Array]:
        tf = _tensorflow()
        tags = self.reading.get("tags")
        loaded = self.kept(
            "model", lambda: tf.saved_model.load(str(path), tags=None if tags is None else list(cast("Sequence[str]", tags)))
        )
        signatures = loaded.signatures
        name = self.reading.get("signature") or ("serving_default" if "serving_default" in signatures else next(iter(signatures), None))
        if name not in signatures:
            raise ExecutionError("the SavedModel has no signature that TensorFlow could call", location=str(path))
        function = signatures[name]
        signature = function.structured_input_signature[1]
        feed = {key: tf.constant(_array(self._of(key, inputs), spec.dtype), spec.dtype) for key, spec in signature.items()}
        arrays = {key: value.numpy() for key, value in function(**feed).items()}
        outputs = {port.name: arrays[key] for port in self.interface.outputs for key in port.names if key in arrays}
        return (self._inner(function, feed, tensors) if tensors else {}) | outputs

    def _of(self, key: str, inputs: Mapping[str, Array]) -> Array:
        port: TensorPort | None = next((port for port in self.interface.inputs if key in port.names), None)
        if port is None:
            raise ExecutionError(f"the signature has an input {key!r}, which the converted model does not have", location=str(self.path))
        return inputs[port.name]

    def _inner(self, function: Any, feed: Mapping[str, Any], tensors: Sequence[str]) -> dict[str, Array]:
        constants: Any = import_module("tensorflow.python.framework.convert_to_constants")
        frozen = constants.convert_variables_to_constants_v2(function, lower_control_flow=False, aggressive_inlining=True)
        graph = frozen.graph
        wanted = {name: tensor for name in tensors if (tensor := _tensor(graph, [name])) is not None and "float" in tensor.dtype.name}
        arguments = {each.name.partition(":")[0]: each for each in frozen.inputs}
        pruned = frozen.prune([arguments[key] for key in feed if key in arguments], list(wanted.values()))
        values = pruned(*[feed[key] for key in feed if key in arguments])
        return {name: value.numpy() for name, value in zip(wanted, values, strict=True)}


def _tensor(graph: Any, names: Sequence[str]) -> Any:
    """The first tensor of a graph that has one of `names`, where a name without a port means output 0; None if none
    exists.
    """
    for name in names:
        try:
            return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
        except (KeyError, ValueError):
            continue
    return None


def _parse(path: Path, message: Any) -> None:
    data = path.read_bytes()
    if data[:1] in b"\n\x08\x12\x22" and b"\0" in data:
        message.ParseFromString(data)
        return
    from google.protobuf import text_format

    try:
        text_format.Parse(data.decode(), message)
    except (UnicodeDecodeError, text_format.ParseError):
        message.ParseFromString(data)


def _restore(session: Any, graph: Any, prefix: str) -> None:
    """Set the variables of a graph without a saver, in a session, to the values of the checkpoint at `prefix`, by their
    names.
    """
    tf = _tensorflow()
    reader = tf.train.load_checkpoint(prefix)
    for op in graph.get_operations():
        name = op.get_attr("shared_name").decode() or op.name if op.type == "VarHandleOp" else op.name
        if not reader.has_tensor(name):
            continue
        value = reader.get_tensor(name)
        if op.type == "VarHandleOp":
            with graph.as_default():
                session.run(tf.raw_ops.AssignVariableOp(resource=op.outputs[0], value=value))
        elif op.type in ("VariableV2", "Variable"):
            with graph.as_default():
                session.run(tf.raw_ops.Assign(ref=op.outputs[0], value=value, validate_shape=False))


def _array(array: Array, dtype: Any) -> Array:
    return array if array.dtype.kind in "OUS" else array.astype(dtype.as_numpy_dtype, copy=False)


def _tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Optimizations that change the order of additions would show as differences.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    return import_module(TensorFlowRunner.PACKAGE)
