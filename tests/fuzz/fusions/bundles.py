"""Several models as one: most of the time of a small model goes to the number of passes, here and in the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import onnx

from tests.fuzz.comparison import values_differ
from tests.fuzz.draw import Array
from tests.fuzz.fusions.judging import Model, is_rounded, quantizes
from tests.fuzz.onnx_model import OnnxModel

LARGEST_BUNDLE = 16
"""The most graphs of a bundle."""


@dataclass(frozen=True)
class Bundle:
    """Models whose graphs stand beside each other in one model.

    Args:
        parts: the models.
        whole: the model with all graphs; its names have the index of their part as a prefix.
    """

    parts: Sequence[Model]
    whole: Model

    def results_of_parts(self, results: Sequence[Array]) -> Iterator[Sequence[Array]]:
        """The results of each part, of those of the whole model."""
        start = 0
        for part in self.parts:
            yield results[start : start + len(part.outputs)]
            start += len(part.outputs)

    def differing(self, results: Sequence[Array]) -> list[int]:
        """The indices of the parts whose results differ from the expected ones by more than rounding."""
        return [
            index
            for index, (part, actual) in enumerate(zip(self.parts, self.results_of_parts(results), strict=True))
            if values_differ(part.outputs, actual, part.expected) and not is_rounded(part, actual)
        ]


def bundle(parts: Sequence[Model]) -> Bundle:
    """A bundle of models of ONNX of the same operator set."""
    whole = onnx.ModelProto()
    whole.CopyFrom(parts[0].proto)
    whole.graph.Clear()
    whole.graph.name = "bundle"
    for index, part in enumerate(parts):
        whole.graph.MergeFrom(renamed(part.proto.graph, f"g{index}_"))
    inputs = {f"g{index}_{name}": array for index, part in enumerate(parts) for name, array in part.inputs.items()}
    outputs = [f"g{index}_{name}" for index, part in enumerate(parts) for name in part.outputs]
    return Bundle(parts, Model(OnnxModel(whole, {}), inputs, outputs, [array for part in parts for array in part.expected]))


def renamed(graph: onnx.GraphProto, prefix: str) -> onnx.GraphProto:
    """A graph in which the names of values, nodes and dimensions have a prefix, those of bodies included."""
    result = onnx.GraphProto()
    result.CopyFrom(graph)
    _rename(result, prefix)
    result.ClearField("name")
    return result


def _rename(graph: onnx.GraphProto, prefix: str) -> None:
    for each in (*graph.input, *graph.output, *graph.value_info):
        each.name = prefix + each.name
        for dimension in each.type.tensor_type.shape.dim:
            if dimension.dim_param:
                dimension.dim_param = prefix + dimension.dim_param
    for tensor in graph.initializer:
        tensor.name = prefix + tensor.name
    for node in graph.node:
        node.name = prefix + node.name
        for names in (node.input, node.output):
            names[:] = [prefix + name if name else "" for name in names]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, prefix)


def alike(models: Iterable[tuple[int, Model, str]]) -> Iterator[list[int]]:
    """The indices of models that may be bundled: of the same switches and, since one FakeQuantize changes what the plugin does
    with a whole model, all quantized or none.

    Args:
        models: index, model and switches.
    """
    keys = sorted((switches, quantizes(model), index) for index, model, switches in models)
    for _, group in groupby(keys, key=lambda each: each[:2]):
        indices = [index for *_, index in group]
        for start in range(0, len(indices), LARGEST_BUNDLE):
            yield indices[start : start + LARGEST_BUNDLE]
