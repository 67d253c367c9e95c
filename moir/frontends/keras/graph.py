"""The layers of a model -> the block of a model in the `keras` dialect.

    {"class_name": "Dense", "config": {"name": "head", "units": 4, "activation": "relu"}, "inbound_nodes": …}
->  %y = keras.Dense(%x, %kernel, %bias) {units = 4, activation = "relu", weight_names = ["0", "1"], name = "head"}

Operands are the tensors of the call, then the variables of the layer, whose names are `weight_names`. A call with more
than tensors in its arguments has them as `arguments` and `keyword_arguments`, where "%0" is the first operand. Nested
models are inlined; a layer that is called twice shares its variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.frameworks.keras import ELEMENTS
from moir.dialects.frameworks.structures import structure_attribute
from moir.dialects.names import tensor_names
from moir.dialects.properties import string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ModelFileError
from moir.frontends.keras.calls import Call, calls_of, tensors_of
from moir.frontends.keras.configuration import Entry, Reference, Slice, attributes_of, decoded, entry_of, policy_name
from moir.frontends.keras.masks import ATTENDING, LISTED, MASKED, MERGING, PASSING, RECURRENT
from moir.frontends.keras.model_file import ModelFile
from moir.frontends.keras.tensorflow_functions import LAYERS, renamed
from moir.frontends.keras.weights import LayerWeights
from moir.frontends.operations import Operations, declared_type

MAXIMUM_DEPTH = 32
"""How many models may be nested in each other."""

LARGEST_TENSOR_INDEX = 1 << 12


class ModelBuilder:
    """Builds the block of a model.

    Args:
        file: the file.
        location: its path, for messages.
    """

    def __init__(self, file: ModelFile, location: str) -> None:
        self.file = file
        self.location = location
        self.operations = Operations()
        self.masks: dict[SSAValue, SSAValue] = {}
        """The masks of values that have one, where these are no arguments."""
        self._names: set[str] = set()
        self._repeated: Counter[str] = Counter()

    def error(self, reason: str, entry: Entry | None = None, hint: str | None = None) -> ModelFileError:
        """The error about the file, or about a layer in it."""
        operation = None if entry is None else entry.class_name
        return ModelFileError(reason, location=self.location, operation=operation, node=None if entry is None else entry.name, hint=hint)

    def block(self) -> Block:
        """The block. Raises ModelFileError if the model has no graph, or is inconsistent."""
        entry = entry_of(self.file.config, "the model", self.location)
        if not entry.is_model:
            raise self.error(
                f"the file has no graph of the model: {entry.class_name} is a subclass whose layers only its program knows",
                hint="build it as a functional model, or export it: model.export(FOLDER) writes a SavedModel, which moir reads",
            )
        model = Model(self, entry, self.file.weights, 0)
        inputs = [self._parameter(*each) for each in model.inputs()]
        results = model.called(inputs)
        names = model.output_names(len(results))
        return Block([*self.operations.list, *(self._result(value, name) for value, name in zip(results, names, strict=True))])

    def _parameter(self, name: str, shape: Sequence[int] | None, element: Attribute) -> SSAValue:
        op = opset.operation("opset1.Parameter").create(
            result_types=[declared_type(shape, element, name)],
            attributes={"name": string_attribute(name), "tensor_names": tensor_names(name)},
        )
        self.operations.append(op)
        return op.results[0]

    def _result(self, value: SSAValue, name: str) -> Operation:
        return opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)})

    def constant(self, value: DataAttr, name: str) -> SSAValue:
        """A constant."""
        op = opset.operation("opset1.Constant").create(
            properties={"value": value},
            attributes={"name": string_attribute(name)},
            result_types=[tensor(value.shape, value.element)],
        )
        self.operations.append(op)
        return op.results[0]

    def node(
        self,
        kind: str,
        name: str,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        properties: Mapping[str, Any],
        weights: Sequence[tuple[str, SSAValue]] = (),
        count: int = 1,
    ) -> list[SSAValue]:
        """An operation with the tensors of its arguments as operands; returns its results."""
        operands: list[SSAValue] = []
        places = [self._placed(each, operands, name) for each in arguments]
        is_plain = places == [f"%{index}" for index in range(len(operands))]
        named = {key: self._placed(each, operands, name) for key, each in keywords.items()}
        given: dict[str, Attribute] = {key: structure_attribute(each) for key, each in properties.items()}
        if not is_plain:
            given["arguments"] = structure_attribute(places)
        if named:
            given["keyword_arguments"] = structure_attribute(named)
        if weights:
            given["weight_names"] = strings_attribute([each for each, _ in weights])
        unique = self._unique(name)
        op = operation_class("keras", kind).create(
            operands=[*operands, *(value for _, value in weights)],
            properties=given,
            attributes={"name": string_attribute(unique), "tensor_names": tensor_names(unique)}
            if count == 1
            else {"name": string_attribute(unique)},
            result_types=[UNKNOWN] * count,
        )
        self.operations.append(op)
        return list(op.results)

    def _unique(self, name: str) -> str:
        """A name that no other operation has: layers of nested models may be called alike, or called twice."""
        unique = name
        while unique in self._names:
            self._repeated[name] += 1
            unique = f"{name}_{self._repeated[name]}"
        self._names.add(unique)
        return unique

    def _placed(self, value: Any, operands: list[SSAValue], name: str) -> Any:
        """An argument with the numbers of operands in the places of tensors, which are added to the operands."""
        if isinstance(value, np.ndarray):
            value = self.constant(DataAttr.of(cast(Array, value)), f"{name}/constant")
        if isinstance(value, SSAValue):
            operands.append(cast("SSAValue[Attribute]", value))
            return f"%{len(operands) - 1}"
        if isinstance(value, Slice):
            return {key: self._placed(each, operands, name) for key, each in value.parts() if each is not None} | {"slice": True}
        if isinstance(value, list | tuple):
            return [self._placed(each, operands, name) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self._placed(each, operands, name) for key, each in cast("dict[str, Any]", value).items()}
        return value


class Model:
    """A model with layers: the whole one, or one within another.

    Args:
        builder: what builds its operations.
        entry: its entry.
        weights: its variables.
        depth: how many models are around it.
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
        found = weights.of_layers(self.entries, counts_inputs=self.is_functional)
        self.layers = [Layer(self, each, own) for each, own in zip(self.entries, found, strict=True)]
        self.by_name = {each.entry.name: each for each in self.layers}

    @property
    def depth(self) -> int:
        """How many models are around a layer of this one."""
        return self._depth + 1

    # Inputs and outputs

    def _tensors(self, which: str) -> list[tuple[str | None, Reference]]:
        try:
            return tensors_of(self.entry.config[which])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self.builder.error(f"its {which} are no tensors of layers", self.entry) from error

    def inputs(self) -> list[tuple[str, tuple[int, ...] | None, Attribute]]:
        """The name, shape and element type of each input."""
        if self.is_functional:
            return [self._declared(self._layer(reference).entry) for _, reference in self._tensors("input_layers")]
        first = self.entries[0] if self.entries else self.entry
        if first.class_name == "InputLayer":
            return [self._declared(first)]
        shape = first.config.get("batch_input_shape") or self.entry.config.get("build_input_shape")
        shape = shape or self.entry.build_config.get("input_shape") or first.build_config.get("input_shape")
        if shape is None and first.is_model:
            return Model(self.builder, first, first_weights(self), self.depth).inputs()
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
        found = decoded(shape)
        if not isinstance(found, list) or not all(each is None or isinstance(each, int) for each in cast("list[Any]", found)):
            raise self.builder.error(f"{shape!r} is no shape", entry)
        return tuple(-1 if each is None else each for each in cast("list[int | None]", found))

    def output_names(self, count: int) -> list[str]:
        """The names of the outputs: the keys of a dictionary, or those of layers, with numbers where they repeat."""
        if self.is_functional:
            names = [key or reference.layer for key, reference in self._outputs()]
        else:
            names = [self.entries[-1].name if self.entries else self.entry.name] * count
        seen: Counter[str] = Counter()
        found: list[str] = []
        for name in names:
            found.append(f"{name}_{seen[name]}" if seen[name] else name)
            seen[name] += 1
        return found

    # Calls

    def called(self, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        """The results of a call with the given tensors."""
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
        offsets = {name: self._offset(self.by_name[name], len(found), counts) for name, found in calls.items()}
        values: dict[tuple[str, int], list[SSAValue]] = {
            (reference.layer, reference.node): [value] for (_, reference), value in zip(declared, inputs, strict=True)
        }
        for _, reference in outputs:
            self._compute((reference.layer, reference.node), calls, offsets, counts, values)
        return [self._value(reference, values) for _, reference in outputs]

    def _result_counts(self, calls: Mapping[str, list[Call]], outputs: Sequence[Reference]) -> dict[tuple[str, int], int]:
        """How many results of each call are asked for."""
        counts: dict[tuple[str, int], int] = {}
        every = (reference for found in calls.values() for call in found for reference in call.references())
        for reference in (*every, *outputs):
            if not 0 <= reference.tensor < LARGEST_TENSOR_INDEX:
                raise self.builder.error(f"a result of {reference.layer!r} has the number {reference.tensor}", self.entry)
            place = (reference.layer, reference.node)
            counts[place] = max(counts.get(place, 1), reference.tensor + 1)
        return counts

    def _offset(self, layer: Layer, listed: int, counts: Mapping[tuple[str, int], int]) -> int:
        """The number of the first listed call. In Keras 2 the creation of a model is a call that is not listed."""
        used = [node for name, node in counts if name == layer.entry.name]
        if self.builder.file.generation >= 3 or not layer.entry.is_model or 0 in used:
            return 0
        is_built = "input_layers" in layer.entry.config or bool(layer.entry.config.get("build_input_shape"))
        return 1 if is_built or max(used, default=0) >= listed else 0

    def _outputs(self) -> list[tuple[str | None, Reference]]:
        """The outputs. In Keras 3 the calls of a functional model are counted from 1 here, and from 0 elsewhere."""
        found = self._tensors("output_layers")
        if self.builder.file.generation < 3:
            return found
        return [
            (key, reference.with_fields(node=reference.node - 1) if self._is_functional(reference) else reference)
            for key, reference in found
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
        """Build a call and those that it depends on."""
        pending, waiting = [target], set[tuple[str, int]]()
        while pending:
            place = pending[-1]
            if place in values:
                pending.pop()
                continue
            layer = self._layer(Reference(place[0], 0, 0))
            number = place[1] - offsets[place[0]]
            if not 0 <= number < len(calls[place[0]]):
                raise self.builder.error(f"there is no call {place[1]} of the layer", layer.entry)
            call = calls[place[0]][number]
            missing = [key for each in call.references() if (key := (each.layer, each.node)) not in values]
            if missing:
                if place in waiting:
                    raise self.builder.error("a layer depends on itself", layer.entry)
                waiting.add(place)
                pending += missing
                continue
            arguments = [self._resolved(each, values) for each in call.arguments]
            keywords = {name: self._resolved(each, values) for name, each in call.keywords.items()}
            values[place] = layer.called(arguments, keywords, counts.get(place, 1))

    def _value(self, reference: Reference, values: Mapping[tuple[str, int], list[SSAValue]]) -> SSAValue:
        found = values[(reference.layer, reference.node)]
        if reference.tensor >= len(found):
            raise self.builder.error(f"there is no result {reference.tensor} of the layer", self._layer(reference).entry)
        return found[reference.tensor]

    def _resolved(self, value: Any, values: Mapping[tuple[str, int], list[SSAValue]]) -> Any:
        """An argument with values in the places of references."""
        if isinstance(value, Reference):
            return self._value(value, values)
        if isinstance(value, Slice):
            return Slice(*(self._resolved(each, values) for _, each in value.parts()))
        if isinstance(value, list | tuple):
            return [self._resolved(each, values) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {name: self._resolved(each, values) for name, each in cast("dict[str, Any]", value).items()}
        return value


def first_weights(model: Model) -> LayerWeights:
    """The variables of the first layer of a model."""
    return model.layers[0].weights


class Layer:
    """A layer of a model; its variables are constants once it is called.

    Args:
        model: the model.
        entry: its entry.
        weights: its variables.
    """

    def __init__(self, model: Model, entry: Entry, weights: LayerWeights) -> None:
        self.model = model
        self.builder = model.builder
        self.entry = entry
        self.weights = weights
        self._inner: Model | None = None
        self._inner_layer: Layer | None = None
        self._variables: list[tuple[str, SSAValue]] | None = None

    def calls(self) -> list[Call]:
        """The calls that the file lists."""
        try:
            return calls_of(self.entry)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self.builder.error(f"its inbound nodes are no calls: {error}", self.entry) from error

    def called(self, arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> list[SSAValue]:
        """The results of a call."""
        entry = self.entry
        if entry.is_model:
            if self._inner is None:
                self._inner = Model(self.builder, entry, self.weights, self.model.depth)
            return self._inner.called([*values_in(arguments)])
        if entry.class_name == "TimeDistributed" and "layer" in entry.config:
            return self._distributed(arguments)
        if entry.class_name == "SpectralNormalization" and "layer" in entry.config:
            # The kernel is stored as it is after the division.
            return self._held().called(arguments, keywords, count)
        try:
            properties = attributes_of(entry.config)
        except (ValueError, KeyError, TypeError) as error:
            raise self.builder.error(f"its configuration is invalid: {error}", entry) from error
        if not entry.is_operation or entry.config.get("dtype") is not None:
            properties["dtype"] = policy_name(entry.config.get("dtype"))
        if entry.class_name in LAYERS and (call := self._function(arguments, keywords)) is not None:
            return self.builder.node(call[0], entry.name, call[1], {}, call[2], (), count)
        properties |= self._assets(properties)
        keywords = dict(keywords) | self._masks(arguments, keywords)
        try:
            results = self.builder.node(entry.kind, entry.name, arguments, keywords, properties, self.variables(), count)
        except TypeError as error:
            raise self.builder.error(f"its configuration is invalid: {error}", entry) from error
        if not entry.is_operation:
            self._pass_mask(arguments, results)
        return results

    def _function(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[str, list[Any], dict[str, Any]] | None:
        """The function of `keras.ops` that a function of TensorFlow is; None if none is the same."""
        found = renamed(str(self.entry.config.get("function")), list(arguments), keywords)
        return None if found is None or any(True for _ in values_in(found[2])) else found

    def variables(self) -> list[tuple[str, SSAValue]]:
        """The variables as constants, by their names."""
        if self._variables is None:
            found = self.weights.variables(self.entry) if not self.entry.is_operation else []
            self._variables = [(name, self.builder.constant(value, f"{self.entry.name}/{name}")) for name, value in found]
        return self._variables

    def _assets(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """The vocabulary of a lookup, which is a text of the archive unless the configuration has it."""
        if "vocabulary" in properties and not isinstance(properties["vocabulary"], str):
            return {}
        for path, text in self.builder.file.assets.items():
            parts = path.split("/")
            if parts[-1] == "vocabulary.txt" and (self.entry.name in parts[:-1] or len(self.builder.file.assets) == 1):
                return {"vocabulary": text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")}
        return {}

    def _distributed(self, arguments: Sequence[Any]) -> list[SSAValue]:
        """A layer for each step: the steps as batch, the layer, and its results as steps."""
        entry, name = self.entry, self.entry.name
        data = next(values_in(arguments), None)
        if data is None:
            raise self.builder.error("it is called without a tensor", entry)
        steps = self.builder.node("TimeDistributed", f"{name}/steps", [data], {}, {"part": "steps"})
        found = self._held().called(steps, {}, 1)
        result = self.builder.node("TimeDistributed", name, [found[0], data], {}, {"part": "sequence"})
        if (mask := self.builder.masks.get(data)) is not None:
            self.builder.masks[result[0]] = mask
        return result

    def _held(self) -> Layer:
        """The layer that is the attribute `layer` of this one."""
        if self._inner_layer is None:
            entry = entry_of(self.entry.config["layer"], "the layer", self.builder.location)
            self._inner_layer = Layer(self.model, entry, self.weights.of_attribute("layer"))
        return self._inner_layer

    # Masks

    def _masks(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The masks of the inputs as keyword arguments, where the layer asks for them."""
        if self.entry.is_operation or not self.builder.masks:
            return {}
        kind, masks = self.entry.class_name, self.builder.masks
        values = [*values_in(arguments)]
        if kind in MASKED and "mask" not in keywords and values and (mask := masks.get(values[0])) is not None:
            return {"mask": mask}
        if kind in LISTED and "mask" not in keywords and any(each in masks for each in values):
            return {"mask": [masks.get(each) for each in values[:2]]}
        if kind in ATTENDING:
            query = values[0] if values else None
            others = [next(values_in([keywords.get(name)]), None) for name in ("value", "key")]
            given = [query, values[1] if len(values) > 1 else others[0], values[2] if len(values) > 2 else others[1]]
            names = ATTENDING[kind]
            pairs = [(name, value) for name, value in zip(names, given, strict=True) if value is not None and name not in keywords]
            return {name: masks[value] for name, value in pairs if value in masks}
        return {}

    def _pass_mask(self, arguments: Sequence[Any], results: Sequence[SSAValue]) -> None:
        """Note the mask of the result of a layer."""
        entry, masks = self.entry, self.builder.masks
        values = [*values_in(arguments)]
        if entry.class_name == "Embedding" and entry.config.get("mask_zero") and values:
            masks[results[0]] = self._compared(values[0], 0, f"{entry.name}/mask")
        elif entry.class_name == "Masking" and values:
            compared = self._compared(values[0], entry.config.get("mask_value", 0.0), f"{entry.name}/differs")
            masks[results[0]] = self.builder.node("ops.Any", f"{entry.name}/mask", [compared], {}, {"axis": -1})[0]
        elif entry.class_name in RECURRENT:
            returns = entry.config.get("return_sequences")
            if entry.class_name == "Bidirectional" and isinstance(layer := entry.config.get("layer"), dict):
                returns = cast("dict[str, Any]", cast("dict[str, Any]", layer).get("config") or {}).get("return_sequences")
            if returns and values and (mask := masks.get(values[0])) is not None:
                masks[results[0]] = mask
        elif entry.class_name in MERGING and values and all(each in masks for each in values):
            mask, kind = masks[values[0]], "ops.LogicalOr" if self.builder.file.generation >= 3 else "ops.LogicalAnd"
            for each in values[1:]:
                if masks[each] is not mask:
                    mask = self.builder.node(kind, f"{entry.name}/mask", [mask, masks[each]], {}, {})[0]
            masks[results[0]] = mask
        elif entry.class_name in PASSING and values and (mask := masks.get(values[0])) is not None:
            masks[results[0]] = mask

    def _compared(self, value: SSAValue, number: float, name: str) -> SSAValue:
        return self.builder.node("ops.NotEqual", name, [value, number], {}, {})[0]


def values_in(value: Any) -> Iterator[SSAValue]:
    """The values within an argument, in order."""
    if isinstance(value, SSAValue):
        yield value
    elif isinstance(value, list | tuple):
        for each in cast("list[Any]", value):
            yield from values_in(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from values_in(each)
