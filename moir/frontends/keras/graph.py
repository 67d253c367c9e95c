"""The layers of a model -> the block of a model in the `keras` dialect.

    {"class_name": "Dense", "config": {"name": "head", "units": 4, "activation": "relu"}, "inbound_nodes": …}
->  %y = keras.Dense(%x, %kernel, %bias) {units = 4, activation = "relu", weight_names = ["0", "1"], name = "head"}

Nested models are inlined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, Block, SSAValue

from moir.dialects.element_types import f32
from moir.dialects.frameworks.keras import ELEMENTS
from moir.frontends.keras.builder import ModelBuilder
from moir.frontends.keras.calls import Call, tensors_of
from moir.frontends.keras.configuration import Entry, Reference, Slice, decoded, entry_of, policy_name
from moir.frontends.keras.layers import Called, Layer
from moir.frontends.keras.weights import LayerWeights
from moir.frontends.operations import outputs_of

MAXIMUM_DEPTH = 32
"""The largest number of models nested in each other."""

LARGEST_TENSOR_INDEX = 1 << 12


def block_of(builder: ModelBuilder) -> Block:
    """The block of a model. Raises ModelFileError if it has no graph, or is inconsistent."""
    entry = entry_of(builder.file.config, "the model", builder.location)
    if not entry.is_model:
        raise builder.error(
            f"the file has no graph of the model: {entry.class_name} is a subclass whose layers only its program knows",
            hint="build it as a functional model, or export it: model.export(FOLDER) writes a SavedModel, which moir reads",
        )
    model = Model(builder, entry, builder.file.weights, 0)
    inputs = [builder.parameter(*each) for each in model.inputs()]
    results = model.called(inputs)
    names = model.output_names(len(results))
    operations = builder.operations.list
    return Block([*operations, *outputs_of(zip(results, names, strict=True), operations)])


class Model:
    """A model with layers: the model of the file, or one that is nested in another.

    Args:
        builder: builds its operations.
        entry: the model as a layer in the file, with its class name and configuration.
        weights: its variables.
        depth: in how many models it is nested.

    Raises ModelFileError if models are nested too deeply, or layers have calls but the model no inputs and outputs.
    """

    def __init__(self, builder: ModelBuilder, entry: Entry, weights: LayerWeights, depth: int) -> None:
        if depth > MAXIMUM_DEPTH:
            raise builder.error("models are nested too deeply", entry)
        self.builder = builder
        self.entry = entry
        self._depth = depth
        layers = cast("list[object]", entry.config["layers"])
        self.entries = [entry_of(each, f"layer {index} of {entry.name!r}", builder.location) for index, each in enumerate(layers)]
        self.is_functional = "input_layers" in entry.config and "output_layers" in entry.config
        if not self.is_functional and any(each.nodes for each in self.entries):
            raise builder.error("it has layers without inputs and outputs", entry)
        layer_weights = weights.of_layers(self.entries, counts_inputs=self.is_functional)
        self.layers = [Layer(builder, each, own, self._inner) for each, own in zip(self.entries, layer_weights, strict=True)]
        self.by_name = {each.entry.name: each for each in self.layers}

    @property
    def depth(self) -> int:
        """The number of models, this one included, in which a layer of this model is nested."""
        return self._depth + 1

    def _inner(self, entry: Entry, weights: LayerWeights) -> Called:
        """Read the layer `entry` of this model that is itself a model; returns the function that calls it."""
        return Model(self.builder, entry, weights, self.depth).called

    # Inputs and outputs

    def _tensors(self, which: str) -> list[tuple[str | None, Reference]]:
        try:
            return tensors_of(self.entry.config[which])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self.builder.error(f"its {which} do not name tensors of layers; the file is damaged", self.entry) from error

    def inputs(self) -> list[tuple[str, tuple[int, ...] | None, Attribute]]:
        """The name, shape and element type of each input; the shape is None for a dynamic rank.

        Raises ModelFileError if the file does not have the shape.
        """
        if self.is_functional:
            return [self._declared(self._layer(reference).entry) for _, reference in self._tensors("input_layers")]
        first = self.entries[0] if self.entries else self.entry
        if first.class_name == "InputLayer":
            return [self._declared(first)]
        shape = first.config.get("batch_input_shape") or self.entry.config.get("build_input_shape")
        shape = shape or self.entry.build_config.get("input_shape") or first.build_config.get("input_shape")
        if shape is None and first.is_model:
            return Model(self.builder, first, self.layers[0].weights, self.depth).inputs()
        if shape is None:
            raise self.builder.error("the shape of the input of the model is not in the file", first, "build the model before it is saved")
        return [(f"{first.name}_input", self._shape(shape, first), f32)]

    def _declared(self, entry: Entry) -> tuple[str, tuple[int, ...] | None, Attribute]:
        config = entry.config
        shape = config.get("batch_shape", config.get("batch_input_shape"))
        if shape is None and "input_shape" in config:
            shape = [None, *config["input_shape"]]
        name = policy_name(config.get("dtype"))
        element = ELEMENTS.get(name)
        if element is None:
            raise self.builder.error(f"inputs of the type {name!r} are not supported", entry)
        if config.get("sparse") or config.get("ragged"):
            kind = "sparse" if config.get("sparse") else "ragged"
            raise self.builder.error(f"its tensors are {kind}, which an IR does not have", entry, "make the input a dense tensor")
        return entry.name, None if shape is None else self._shape(shape, entry), element

    def _shape(self, shape: object, entry: Entry) -> tuple[int, ...]:
        dimensions = decoded(shape)
        if not isinstance(dimensions, list) or not all(each is None or isinstance(each, int) for each in cast("list[Any]", dimensions)):
            raise self.builder.error(f"{shape!r} is not a shape: a list of sizes, or null where a size is unknown", entry)
        return tuple(-1 if each is None else each for each in cast("list[int | None]", dimensions))

    def output_names(self, count: int) -> list[str]:
        """The names of the outputs: the keys of a dictionary, or the names of layers, with numbers appended where they
        repeat.

        `count` is the number of outputs of a model that does not list them.
        """
        if self.is_functional:
            names = [key or reference.layer for key, reference in self._outputs()]
        else:
            names = [self.entries[-1].name if self.entries else self.entry.name] * count
        seen: Counter[str] = Counter()
        outputs: list[str] = []
        for name in names:
            outputs.append(f"{name}_{seen[name]}" if seen[name] else name)
            seen[name] += 1
        return outputs

    # Calls

    def called(self, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Build the operations of a call of the model with these inputs; returns its results."""
        return self._functional(inputs) if self.is_functional else self._sequential(inputs)

    def _sequential(self, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        values = list(inputs)
        for layer in self.layers:
            if layer.entry.class_name != "InputLayer":
                values = layer.called([values[0]] if len(values) == 1 else [values], {}, 1)
        return values

    def _layer(self, reference: Reference) -> Layer:
        layer = self.by_name.get(reference.layer)
        if layer is None:
            raise self.builder.error(f"there is no layer {reference.layer!r}", self.entry)
        return layer

    def _functional(self, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        declared, outputs = self._tensors("input_layers"), self._outputs()
        if len(declared) != len(inputs):
            raise self.builder.error(f"it has {len(declared)} inputs, and is called with {len(inputs)} tensors", self.entry)
        calls = {each.entry.name: each.calls() for each in self.layers}
        counts = self._result_counts(calls, [reference for _, reference in outputs])
        offsets = {name: self._offset(self.by_name[name], len(layer_calls), counts) for name, layer_calls in calls.items()}
        values: dict[tuple[str, int], list[SSAValue]] = {
            (reference.layer, reference.node): [value] for (_, reference), value in zip(declared, inputs, strict=True)
        }
        for _, reference in outputs:
            self._compute((reference.layer, reference.node), calls, offsets, counts, values)
        return [self._value(reference, values) for _, reference in outputs]

    def _result_counts(self, calls: Mapping[str, list[Call]], outputs: Sequence[Reference]) -> dict[tuple[str, int], int]:
        """For each call (layer, index of the call), one more than the largest index of a result that other calls or
        outputs use.

        Raises ModelFileError for an index out of range.
        """
        counts: dict[tuple[str, int], int] = {}
        every = (reference for layer_calls in calls.values() for call in layer_calls for reference in call.references())
        for reference in (*every, *outputs):
            if not 0 <= reference.tensor < LARGEST_TENSOR_INDEX:
                raise self.builder.error(f"a result of {reference.layer!r} has the number {reference.tensor}", self.entry)
            call_key = (reference.layer, reference.node)
            counts[call_key] = max(counts.get(call_key, 1), reference.tensor + 1)
        return counts

    def _offset(self, layer: Layer, listed: int, counts: Mapping[tuple[str, int], int]) -> int:
        """The index of the first listed call of a layer.

        `listed` is the number of its listed calls, `counts` has the calls that are used. In Keras 2 the creation of a
        model is a call that is not listed, so that the first listed one has index 1.
        """
        used = [node for name, node in counts if name == layer.entry.name]
        if self.builder.file.generation >= 3 or not layer.entry.is_model or 0 in used:
            return 0
        is_built = "input_layers" in layer.entry.config or bool(layer.entry.config.get("build_input_shape"))
        return 1 if is_built or max(used, default=0) >= listed else 0

    def _outputs(self) -> list[tuple[str | None, Reference]]:
        """The outputs: for each its key, None if it has none, and its tensor.

        Calls of a functional model's own layers are counted from 1 in files of Keras 3, and are counted from 0 in the
        result.
        """
        tensors = self._tensors("output_layers")
        if self.builder.file.generation < 3:
            return tensors
        return [
            (key, reference.with_fields(node=reference.node - 1) if self._is_functional(reference) else reference)
            for key, reference in tensors
        ]

    def _is_functional(self, reference: Reference) -> bool:
        config = self._layer(reference).entry.config
        return "input_layers" in config and isinstance(config.get("layers"), list)

    def _compute(
        self,
        target: tuple[str, int],
        calls: Mapping[str, list[Call]],
        offsets: Mapping[str, int],
        counts: Mapping[tuple[str, int], int],
        values: dict[tuple[str, int], list[SSAValue]],
    ) -> None:
        """Build the operations of a call and of the calls that it depends on, and add their results to `values`.

        Args:
            target: the call: the name of the layer, and the index of the call.
            calls: the listed calls of each layer.
            offsets: the index of the first listed call of each layer.
            counts: the number of results of each call.
            values: the results of the calls that are built already.

        Raises ModelFileError if a call does not exist.
        """
        pending, waiting = [target], set[tuple[str, int]]()
        while pending:
            call_key = pending[-1]
            if call_key in values:
                pending.pop()
                continue
            layer = self._layer(Reference(call_key[0], 0, 0))
            number = call_key[1] - offsets[call_key[0]]
            if not 0 <= number < len(calls[call_key[0]]):
                raise self.builder.error(f"there is no call {call_key[1]} of the layer", layer.entry)
            call = calls[call_key[0]][number]
            missing = [key for each in call.references() if (key := (each.layer, each.node)) not in values]
            if missing:
                if call_key in waiting:
                    raise self.builder.error("a layer depends on itself", layer.entry)
                waiting.add(call_key)
                pending += missing
                continue
            arguments = [self._resolved(each, values) for each in call.arguments]
            keywords = {name: self._resolved(each, values) for name, each in call.keywords.items()}
            values[call_key] = layer.called(arguments, keywords, counts.get(call_key, 1))

    def _value(self, reference: Reference, values: Mapping[tuple[str, int], list[SSAValue]]) -> SSAValue:
        tensors = values[(reference.layer, reference.node)]
        if reference.tensor >= len(tensors):
            raise self.builder.error(f"there is no result {reference.tensor} of the layer", self._layer(reference).entry)
        return tensors[reference.tensor]

    def _resolved(self, value: Any, values: Mapping[tuple[str, int], list[SSAValue]]) -> Any:
        """An argument with values in place of references."""
        if isinstance(value, Reference):
            return self._value(value, values)
        if isinstance(value, Slice):
            return Slice(*(self._resolved(each, values) for _, each in value.parts()))
        if isinstance(value, list | tuple):
            return [self._resolved(each, values) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {name: self._resolved(each, values) for name, each in cast("dict[str, Any]", value).items()}
        return value
