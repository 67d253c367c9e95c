"""Running models on OpenVINO Runtime and comparing results with those of a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import openvino

from moir.dialects import element_types

Array = np.ndarray[Any, Any]

PACKED: dict[str, np.dtype[Any]] = {
    "u2": np.dtype(ml_dtypes.uint2),
    "u4": np.dtype(ml_dtypes.uint4),
    "i4": np.dtype(ml_dtypes.int4),
    "f4e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
}
"""Element types of which several share a byte, and what they are in numpy, where each has a byte of its own."""


@cache
def core() -> openvino.Core:
    """The runtime. It computes in f32 and does not quantize activations of its own accord."""
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"})
    return core


@cache
def load_tokenizers() -> None:
    """Let the runtime know the operations of OpenVINO Tokenizers."""
    # The package itself would change all cores of the process.
    spec = find_spec("openvino_tokenizers")
    assert spec is not None
    assert spec.submodule_search_locations
    [library] = Path(spec.submodule_search_locations[0], "lib").glob("*openvino_tokenizers.*")
    core().add_extension(str(library))


def use_one_thread() -> None:
    """Let the runtime compute in one thread: for processes that share the cores with others of their kind."""
    core().set_property("CPU", {"INFERENCE_NUM_THREADS": 1})


def as_tensor(array: Array, type_: openvino.Type) -> openvino.Tensor:
    """An array as the runtime wants it, element types that numpy does not have included."""
    if array.dtype.kind in "OUS":
        return openvino.Tensor(np.asarray(array, dtype=np.str_))
    if array.dtype.isbuiltin == 1:
        return openvino.Tensor(np.array(array, order="C"))
    tensor = openvino.Tensor(type_, openvino.Shape(list(array.shape)))
    np.asarray(tensor.data).reshape(-1).view(np.uint8)[:] = packed(array, type_.bitwidth)
    return tensor


def packed(array: Array, bits: int) -> Array:
    """The bytes of an array; elements of less than 8 bits share one, the first of them in the lowest bits."""
    data = np.array(array, order="C").reshape(-1).view(np.uint8)
    if bits >= 8:
        return data
    count = 8 // bits
    fields = np.pad(data & (2**bits - 1), (0, -data.size % count)).reshape(-1, count).astype(np.uint16)
    return np.sum(fields << np.arange(0, 8, bits), axis=1).astype(np.uint8)


def as_array(tensor: openvino.Tensor) -> Array:
    """A result of the runtime as an array of its own element type."""
    type_ = tensor.element_type
    if type_ == openvino.Type.string:
        return np.asarray(tensor.str_data)
    shape = tuple(tensor.shape)
    if type_.to_string() in PACKED:
        return unpacked(np.array(tensor.data).view(np.uint8), type_.bitwidth, int(np.prod(shape)), PACKED[type_.to_string()]).reshape(shape)
    dtype = element_types.to_numpy(element_types.from_xml(type_.to_string()))
    data = np.array(tensor.data)
    return data if data.dtype == dtype else data.reshape(-1).view(dtype).reshape(shape)


def unpacked(data: Array, bits: int, count: int, dtype: np.dtype[Any]) -> Array:
    """The elements of less than 8 bits that share bytes, the first of them in the lowest bits."""
    fields = (data[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)) & np.uint8(2**bits - 1)
    elements = fields.reshape(-1)[:count]
    if dtype == ml_dtypes.int4:
        return ((elements.astype(np.int8) ^ 8) - 8).astype(dtype)
    return elements.view(dtype) if dtype == ml_dtypes.float4_e2m1fn else elements.astype(dtype)


def compute_in_floats() -> None:
    """Let the runtime compute quantized models in floats, in all that this process runs."""
    core().set_property("CPU", dict(IN_FLOATS))


IN_FLOATS: Mapping[str, str] = {"LP_TRANSFORMS_MODE": "NO"}
"""A property by which the CPU plugin computes quantized models in floats.

Processors without VNNI add products of integers of 8 bits in pairs that saturate at 16 bits, so that the results of
convolutions are far off: comparisons that are about the IR do without.
"""


def prepared(
    model: openvino.Model, inputs: Mapping[str, Array], properties: Mapping[str, str] = MappingProxyType({})
) -> openvino.CompiledModel:
    """A model compiled for the CPU, which wants to know ranks: unknown ones become those of the inputs."""
    set_ranks(model, arrays_by_port(model, inputs))
    return core().compile_model(model, "CPU", dict(properties))


def set_ranks(model: openvino.Model, inputs: Sequence[Array]) -> None:
    """Gives the inputs of a model whose rank is dynamic that of their arrays."""
    ranks = {
        index: openvino.PartialShape([-1] * array.ndim)
        for index, (port, array) in enumerate(zip(model.inputs, inputs, strict=True))
        if port.get_partial_shape().rank.is_dynamic
    }
    if ranks:
        model.reshape(ranks)


def arrays_by_port(model: openvino.Model, inputs: Mapping[str, Array]) -> list[Array]:
    """The arrays of the inputs of a model, of arrays by the name of the Parameter."""
    return [inputs[port.get_node().get_friendly_name()] for port in model.inputs]


def infer(model: openvino.Model, compiled: openvino.CompiledModel, inputs: Mapping[str, Array]) -> list[Array]:
    """Results of a compiled model, in the order of its outputs."""
    return infer_arrays(model, compiled, arrays_by_port(model, inputs))


def infer_arrays(model: openvino.Model, compiled: openvino.CompiledModel, inputs: Sequence[Array]) -> list[Array]:
    """Results of a compiled model, in the order of its outputs, for an array for each of its inputs."""
    request = compiled.create_infer_request()
    for index, (port, array) in enumerate(zip(model.inputs, inputs, strict=True)):
        # By its index: a port that is input and output at once is not found.
        request.set_input_tensor(index, as_tensor(array, port.get_element_type()))
    request.infer()
    return [as_array(request.get_output_tensor(index)) for index in range(len(model.outputs))]


def run(model: openvino.Model, inputs: Mapping[str, Array], properties: Mapping[str, str] = MappingProxyType({})) -> list[Array]:
    """Results of a model on the CPU, compiled with properties of the plugin."""
    return infer(model, prepared(model, inputs, properties), inputs)


def run_together(models: Sequence[openvino.Model], inputs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Results of several models on the CPU.

    Their graphs are compiled as one model, since a compilation takes 12 ms for the smallest. Models with states, and those
    that the runtime refuses as one, are compiled each for itself, so that an error is that of one of them.

    Args:
        models: the models.
        inputs: an array for each input of each model.
    """
    for model, arrays in zip(models, inputs, strict=True):
        set_ranks(model, arrays)
    if len(models) > 1 and not any(model.get_sinks() for model in models):
        results = [result for model in models for result in model.get_results()]
        parameters = [parameter for model in models for parameter in model.get_parameters()]
        whole = openvino.Model(results, parameters, "together")
        with suppress(RuntimeError):
            values = iter(infer_arrays(whole, core().compile_model(whole, "CPU"), [array for arrays in inputs for array in arrays]))
            return [[next(values) for _ in model.outputs] for model in models]
    return [infer_arrays(model, core().compile_model(model, "CPU"), arrays) for model, arrays in zip(models, inputs, strict=True)]


def compare(results: Sequence[Array], expected: Sequence[Array], rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Fail unless results are what is expected: shapes, element types and values."""
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        if wanted.dtype.kind in "OUS":
            assert [str(item) for item in result.ravel()] == [str(item) for item in wanted.ravel()]
            continue
        assert result.dtype == wanted.dtype
        if wanted.dtype.kind in "fV":
            np.testing.assert_allclose(result.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(result, wanted)
