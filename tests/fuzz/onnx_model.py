"""ONNX models as the sources of cases."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.fuzz.case import Contents, Reference
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.reference_faults import (
    evaluator_changes_strings,
    evaluator_is_wrong,
    evaluator_misses_values,
    evaluator_rounds,
    leaves_gaps,
    passes_over_first_elements,
    runtime_is_wrong,
    turns_backward_slices,
    windows_exceed,
    without_wider_types,
)

# Let ONNX Runtime load models of the newest operator set, which it says it does not know completely.
os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

WINDOWED = frozenset({"AveragePool", "Conv", "ConvInteger", "LpPool", "MaxPool", "QLinearConv"})
GLOBAL = frozenset({"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"})

LARGEST = 200_000
"""Elements of the largest result that is compared."""


class OnnxModel:
    """A model of ONNX.

    Args:
        proto: the model.
        shapes: of the values of its inputs, of which the model may say less.
    """

    def __init__(self, proto: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
        self.proto = proto
        self.shapes = shapes

    def save(self, folder: Path) -> Path:
        path = folder / "model.onnx"
        path.write_bytes(self.proto.SerializeToString())
        return path

    def describe(self) -> str:
        graph = self.proto.graph
        inputs = ", ".join(f"{value.name}: {_type_text(value)}" for value in graph.input)
        constants = ", ".join(f"{each.name} = {_tensor_text(each)}" for each in graph.initializer)
        nodes = "; ".join(_node_text(node) for node in graph.node)
        return f"opset {self.proto.opset_import[0].version}: ({inputs}) [{constants}] {nodes}".replace("\n", " ")[:1500]

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        graph = self.proto.graph
        values = {each.name: numpy_helper.to_array(each) for each in graph.initializer} | dict(inputs)
        first = graph.node[0]
        single = (first.op_type, [values[name] for name in first.input if name in values]) if len(graph.node) == 1 else None
        known = all(value.type.tensor_type.HasField("shape") for value in graph.input)
        return Contents(frozenset(_kinds(graph.node)), [*values.values()], known, single)

    def references(self) -> Sequence[tuple[str, Reference]]:
        return [("onnxruntime", self._runtime), ("onnx.reference", self._evaluator)]

    def _runtime(self, inputs: Mapping[str, Array]) -> list[Array]:
        from tests.numerical.onnx.conversion import expected_results

        try:
            results = expected_results(self.proto, inputs, "onnxruntime")
        except Exception:
            older = without_wider_types(self.proto)
            if older is None:
                raise
            results = expected_results(older, inputs, "onnxruntime")
        results = self._typed(results)
        if runtime_is_wrong(self.proto, self._arrays(inputs), results) or turns_backward_slices(self.proto.graph, self._values(inputs)):
            raise NoCase("ONNX Runtime is wrong")
        self._check_windows(inputs, results)
        return results

    def _check_windows(self, inputs: Mapping[str, Array], results: Sequence[Array]) -> None:
        """Raise NoCase if a window is larger than the padded data, or the data has no elements: ONNX defines no result."""
        kinds = {node.op_type for node in self.proto.graph.node}
        if kinds & WINDOWED and leaves_gaps(self.proto):
            raise NoCase("windows with gaps between them")
        if kinds & WINDOWED and (any(0 in result.shape[2:] for result in results) or windows_exceed(self.proto, self._arrays(inputs)[:1])):
            raise NoCase("a window that fits nowhere")
        if kinds & {"MaxPool", "ConvTranspose"} and any(0 in array.shape[2:] for array in self._arrays(inputs)[:1]):
            raise NoCase("images without elements")
        if kinds & GLOBAL and any(0 in array.shape[2:] for array in inputs.values()):
            raise NoCase("nothing to be pooled")

    def _typed(self, results: list[Array]) -> list[Array]:
        """Results of ONNX Runtime, of which 8-bit floats come as u8, in their own types."""
        if not any(result.dtype == np.uint8 for result in results) or not {"Cast", "CastLike", "QuantizeLinear"} & set(
            _kinds(self.proto.graph.node)
        ):
            return results
        types = [value.type.tensor_type.elem_type for value in self.inferred]
        wanted = [helper.tensor_dtype_to_np_dtype(each) if each else np.dtype(np.uint8) for each in types]
        return [
            result.view(type_) if result.dtype == np.uint8 and type_.name.startswith("float8") else result
            for result, type_ in zip(results, wanted, strict=True)
        ]

    def _values(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The values of inputs and constants by their names."""
        return {each.name: numpy_helper.to_array(each) for each in self.proto.graph.initializer} | dict(inputs)

    def _arrays(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The values of inputs and constants, those of the first node first, in the order of its operands."""
        values = self._values(inputs)
        order = {name: index for index, name in enumerate(self.proto.graph.node[0].input)}
        return [values[name] for name in sorted(values, key=lambda name: order.get(name, len(order)))]

    def _evaluator(self, inputs: Mapping[str, Array]) -> list[Array]:
        from tests.numerical.onnx.conversion import expected_results

        if evaluator_is_wrong(self.proto) or passes_over_first_elements(self.proto.graph, self._values(inputs)):
            raise NoCase("the reference is wrong")
        arrays = self._arrays(inputs)
        if evaluator_changes_strings(self.proto, [str(each) for array in arrays if array.dtype.kind in "OU" for each in array.ravel()]):
            raise NoCase("the reference is wrong about strings")
        if evaluator_rounds(self.proto, [array.dtype.itemsize for array in arrays]):
            raise NoCase("the reference computes in 16 bits")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = expected_results(self.proto, inputs, "onnx")
        if evaluator_misses_values(self.proto, results):
            raise NoCase("the reference misses values")
        self.check(results)
        self._check_windows(inputs, results)
        return results

    @cached_property
    def inferred(self) -> list[onnx.ValueInfoProto]:
        """The outputs with the types that ONNX infers from the shapes of the values. Raises NoCase if the model is not legal."""
        static = onnx.ModelProto()
        static.CopyFrom(self.proto)
        for value in static.graph.input:
            value.type.tensor_type.ClearField("shape")
            value.type.tensor_type.shape.dim.extend([onnx.TensorShapeProto.Dimension(dim_value=size) for size in self.shapes[value.name]])
        try:
            static = onnx.shape_inference.infer_shapes(static, strict_mode=True, data_prop=True)
            # The checker wants types and shapes of all outputs, which are not inferred for all operations.
            if all(value.type.tensor_type.HasField("shape") for value in static.graph.output):
                onnx.checker.check_model(static)
        except Exception as error:
            raise NoCase(f"not legal: {error}") from error
        return list(static.graph.output)

    @property
    def guesses_empty_shapes(self) -> bool:
        """Whether only the first dimension of an empty result means something: nothing says what a loop without a run stacks."""
        return any(node.op_type == "Loop" for node in self.proto.graph.node)

    def check(self, expected: Sequence[Array]) -> None:
        for value, result in zip(self.inferred, expected, strict=True):
            if result.size > LARGEST:
                raise NoCase("too large")
            if result.dtype.kind == "O" and not all(isinstance(each, str) for each in result.ravel()):
                raise NoCase("a result with elements that are no strings")
            type_ = value.type.tensor_type
            if type_.elem_type and helper.tensor_dtype_to_np_dtype(type_.elem_type) != result.dtype and result.dtype.kind not in "OUS":
                raise NoCase(f"a result of {result.dtype} where ONNX infers {TensorProto.DataType.Name(type_.elem_type)}")
            if type_.HasField("shape"):
                sizes = [each.dim_value if each.HasField("dim_value") else None for each in type_.shape.dim]
                if len(sizes) != result.ndim or any(
                    size is not None and size != actual for size, actual in zip(sizes, result.shape, strict=True)
                ):
                    raise NoCase(f"a result of shape {result.shape} where ONNX infers {sizes}")


def _type_text(value: onnx.ValueInfoProto) -> str:
    type_ = value.type.tensor_type
    name = TensorProto.DataType.Name(type_.elem_type).lower()
    if not type_.HasField("shape"):
        return f"{name}[*]"
    return f"{name}[{','.join(each.dim_param or str(each.dim_value) for each in type_.shape.dim)}]"


def _tensor_text(tensor: TensorProto) -> str:
    array = numpy_helper.to_array(tensor)
    text = np.array2string(array, threshold=8, separator=",").replace("\n", "") if array.size <= 8 else "…"
    return f"{array.dtype}{list(array.shape)} {text}"


def _node_text(node: onnx.NodeProto) -> str:
    attributes = ", ".join(f"{each.name}={_attribute_text(each)}" for each in node.attribute)
    return f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)}{'; ' if attributes else ''}{attributes})"


def _attribute_text(attribute: onnx.AttributeProto) -> str:
    value: Any = helper.get_attribute_value(attribute)
    if isinstance(value, onnx.GraphProto):
        return "{" + "; ".join(_node_text(node) for node in value.node) + "}"
    return _tensor_text(value) if isinstance(value, TensorProto) else str(value)


def declare_input(draw: Draw, name: str, array: Array, form: str, shared: dict[int, str]) -> onnx.ValueInfoProto:
    """A graph input for an array, of whose shape as much is said as a form wants: "static", "symbolic", "mixed" or "rank".

    Args:
        shared: symbols that stand for a size, which several inputs may have.
    """
    shape: list[int | str] | None
    if form == "static":
        shape = list(array.shape)
    elif form == "rank":
        shape = None
    else:
        shape = []
        for axis, size in enumerate(array.shape):
            if form == "mixed" and draw.chance(0.5):
                shape.append(size)
            elif size in shared and draw.chance(0.3):
                shape.append(shared[size])
            else:
                shape.append(f"{name}_{axis}")
                shared.setdefault(size, f"{name}_{axis}")
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)


FORMS = ("static",) * 4 + ("symbolic",) * 3 + ("mixed", "rank")


def assemble(
    draw: Draw,
    nodes: Sequence[onnx.NodeProto],
    operands: Mapping[str, Array],
    outputs: Sequence[str],
    opsets: Mapping[str, int],
    constant: float = 0.4,
    data: Sequence[str] = (),
) -> tuple[OnnxModel, dict[str, Array]]:
    """A model of nodes, and its inputs.

    Args:
        operands: what the nodes read: each becomes an input, or an initializer with the probability `constant`.
        outputs: names of the outputs.
        opsets: version of each domain.
        data: operands that are inputs in any case.
    """
    form, shared = draw.one_of(FORMS), dict[int, str]()
    inputs: dict[str, Array] = {}
    declared: list[onnx.ValueInfoProto] = []
    initializers: list[TensorProto] = []
    for name, array in operands.items():
        if name in data or not draw.chance(constant):
            inputs[name] = array
            declared.append(declare_input(draw, name, array, form, shared))
        else:
            initializers.append(numpy_helper.from_array(array, name))
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "case", declared, results, initializers)
    newest = opsets.get("", 1)
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    # ONNX Runtime reads no newer form of the file than that of its own release.
    proto = helper.make_model(graph, opset_imports=imports, ir_version=10 if newest <= 22 else 11 if newest <= 23 else 13)
    model = OnnxModel(proto, {name: array.shape for name, array in inputs.items()})
    if draw.chance(DECLARED):
        declare_outputs(model)
    return model, inputs


DECLARED = 0.7
"""Probability that a model says the types and ranks of its outputs, as exporters do."""


def declare_outputs(model: OnnxModel) -> None:
    """Say types and ranks of outputs in a model, where ONNX infers them."""
    try:
        inferred = model.inferred
    except NoCase:
        return
    for value, known in zip(model.proto.graph.output, inferred, strict=True):
        value.type.CopyFrom(known.type)
        for dimension in value.type.tensor_type.shape.dim:
            dimension.Clear()


def _kinds(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    for node in nodes:
        yield node.op_type
        for attribute in node.attribute:
            yield from _kinds(attribute.g.node)
