"""Modules in opset dialects on OpenVINO Runtime, on the CPU and in f32, in memory."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects import element_types, opset
from moir.dialects.memory_map import Array
from moir.dialects.properties import string_attribute
from moir.emit.in_memory import to_openvino
from moir.errors import ExecutionError
from moir.execution.ports import only_model
from moir.execution.runner import Runner
from moir.execution.values import named_values

if TYPE_CHECKING:
    import openvino

CONFIGURATION = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
"""The settings of the runtime by which it computes in f32 and does not quantize activations by itself."""


def is_installed() -> bool:
    """Whether OpenVINO Runtime is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("openvino") is not None


class OpenVinoRunner(Runner):
    """Runs a module. Its weights are in the memory of the runtime while it runs, and longer only if the runner `keeps`.

    Args:
        module: a module in opset dialects.
    """

    def __init__(self, module: ModuleOp) -> None:
        super().__init__(module)
        self.title = title()

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        values = named_values(only_model(self.module).block)
        wanted = {name: values[name] for name in tensors if name in values}
        arrays = self.interface.in_order(inputs)
        compiled = self.kept(tuple(wanted), lambda: CompiledModule(self.module, [array.ndim for array in arrays], list(wanted.values())))
        results, inner = compiled.run(arrays)
        outputs = {port.name: result for port, result in zip(self.interface.outputs, results, strict=True)}
        return dict(zip(wanted, inner, strict=True)) | outputs


def title() -> str:
    """The name and the version of the runtime. Raises ExecutionError if it is not installed."""
    return f"OpenVINO Runtime {_openvino().__version__.partition('-')[0]}"


def run_module(module: ModuleOp, inputs: Sequence[Array], values: Sequence[SSAValue] = ()) -> tuple[list[Array], list[Array]]:
    """Run a module once.

    Args:
        module: a module in opset dialects; it is not changed.
        inputs: an array for each input, in order.
        values: values of the model's block that are wanted besides the outputs.

    Returns the outputs in order, and the wanted values. Raises ExecutionError if the runtime is missing or fails, and
    EmissionError for a module that IR cannot represent.
    """
    return CompiledModule(module, [array.ndim for array in inputs], values).run(inputs)


class CompiledModule:
    """A module that the runtime has compiled.

    Args:
        module: a module in opset dialects; it is not changed.
        ranks: the ranks of the inputs, for those whose rank is dynamic.
        values: values of the model's block that are wanted besides the outputs.

    Raises ExecutionError if the runtime is missing or refuses the model, and EmissionError for a module that IR cannot
    represent.
    """

    def __init__(self, module: ModuleOp, ranks: Sequence[int], values: Sequence[SSAValue] = ()) -> None:
        openvino = _openvino()
        self._count, written = _with_results(module, values)
        self._model = to_openvino(written)
        with _failures():
            self._compiled = openvino.Core().compile_model(_with_ranks(self._model, ranks), "CPU", CONFIGURATION)

    def run(self, inputs: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """The outputs in order, and the wanted values, for an array for each input. Raises ExecutionError."""
        with _failures():
            request = self._compiled.create_infer_request()
            for index, (port, array) in enumerate(zip(self._model.inputs, inputs, strict=True)):
                request.set_input_tensor(index, as_tensor(array, port.get_element_type()))
            request.infer()
            results = [as_array(request.get_output_tensor(index)) for index in range(len(self._model.outputs))]
        return results[: self._count], results[self._count :]


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ExecutionError(f"OpenVINO Runtime cannot run the model: {_reason(error)}") from error


def _with_results(module: ModuleOp, values: Sequence[SSAValue]) -> tuple[int, ModuleOp]:
    """The number of outputs of a module, and a copy of the module with `values` as additional outputs."""
    model = only_model(module)
    count = sum(op.name == "opset1.Result" for op in model.block.ops)
    if not values:
        return count, module
    copies: dict[SSAValue, SSAValue] = {}
    copy = module.clone(copies)
    block = only_model(copy).block
    for index, value in enumerate(values):
        name = string_attribute(f"tensor {index} of {len(values)}")
        block.add_op(opset.operation("opset1.Result").create(operands=[copies[value]], attributes={"name": name}))
    return count, copy


def _with_ranks(model: openvino.Model, ranks: Sequence[int]) -> openvino.Model:
    """`model` after its inputs of dynamic rank got the ranks `ranks`, because the plugin needs known ranks."""
    openvino = _openvino()
    shapes = {
        port: openvino.PartialShape([-1] * rank)
        for port, rank in zip(model.inputs, ranks, strict=True)
        if port.get_partial_shape().rank.is_dynamic
    }
    if shapes:
        model.reshape(shapes)
    return model


def as_tensor(array: Array, type_: openvino.Type) -> openvino.Tensor:
    """An array as a tensor of the runtime with an element type; strings and types that numpy does not have are
    possible, too.
    """
    openvino = _openvino()
    if type_ == openvino.Type.string:
        return openvino.Tensor(np.asarray(array, dtype=np.str_))
    dtype = element_types.to_numpy(element_types.from_xml(type_.to_string())) if type_ != openvino.Type.dynamic else array.dtype
    # numpy has two types of 64-bit integers, which are equal; the runtime knows one of them.
    array = np.array(array, dtype=dtype, order="C").view(dtype)
    if dtype.isbuiltin == 1:
        return openvino.Tensor(array)
    tensor = openvino.Tensor(type_, openvino.Shape(list(array.shape)))
    np.asarray(tensor.data).reshape(-1).view(np.uint8)[:] = array.reshape(-1).view(np.uint8)
    return tensor


def as_array(tensor: openvino.Tensor) -> Array:
    """A tensor of the runtime as an array of its own element type; elements of less than 8 bits stay packed in
    bytes.
    """
    type_ = tensor.element_type
    if type_ == _openvino().Type.string:
        return np.asarray(tensor.str_data, dtype=object)
    dtype = element_types.to_numpy(element_types.from_xml(type_.to_string()))
    data = np.array(tensor.data)
    return data if data.dtype == dtype or type_.bitwidth < 8 else data.reshape(-1).view(dtype).reshape(tuple(tensor.shape))


def _openvino() -> Any:
    try:
        import openvino
    except ImportError as error:
        raise ExecutionError("OpenVINO Runtime is not installed", hint="install moir[run], or the package openvino") from error
    return openvino


def _reason(error: RuntimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
