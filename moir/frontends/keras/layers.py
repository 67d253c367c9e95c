"""Layers: their variables as constants, and the operations of their calls.

A layer that is called twice shares its variables. TimeDistributed becomes its inner layer between operations that
merge and split the steps; SpectralNormalization becomes its inner layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.frontends.keras.builder import ModelBuilder
from moir.frontends.keras.calls import Call, calls_of
from moir.frontends.keras.configuration import Entry, attributes_of, contained, entry_of, policy_name
from moir.frontends.keras.masks import mask_arguments, pass_mask
from moir.frontends.keras.tensorflow_functions import LAYERS, renamed
from moir.frontends.keras.weights import LayerWeights

Called = Callable[[Sequence[SSAValue]], list[SSAValue]]
"""A model as a function of its inputs."""

InnerModel = Callable[[Entry, LayerWeights], Called]
"""The type of functions that build a model which is nested in another one."""


class Layer:
    """A layer of a model; its variables are constants once it is called.

    Args:
        builder: builds its operations.
        entry: its entry.
        weights: its variables.
        inner_model: builds the model if the layer is a nested model.
    """

    def __init__(self, builder: ModelBuilder, entry: Entry, weights: LayerWeights, inner_model: InnerModel) -> None:
        self.builder = builder
        self.entry = entry
        self.weights = weights
        self._inner_model = inner_model
        self._inner: Called | None = None
        self._inner_layer: Layer | None = None
        self._variables: list[tuple[str, SSAValue]] | None = None
        self._calls = 0
        self._is_distributed = False

    def calls(self) -> list[Call]:
        """The calls that the file lists. Raises ModelFileError if what it lists is not a call."""
        try:
            return calls_of(self.entry)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self.builder.error(f"its inbound nodes do not describe calls: {error}", self.entry) from error

    def called(self, arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> list[SSAValue]:
        """Build a call of the layer; return its `count` results.

        Raises ModelFileError if the configuration is invalid, or a layer that keeps its states is called twice.
        """
        entry = self.entry
        if entry.is_model:
            if self._inner is None:
                self._inner = self._inner_model(entry, self.weights)
            return self._inner([*contained(arguments, SSAValue)])
        if entry.class_name == "TimeDistributed" and "layer" in entry.config:
            return self._distributed(arguments)
        if entry.class_name == "SpectralNormalization" and "layer" in entry.config:
            # Keras saves the kernel after its division by the spectral norm.
            return self._held().called(arguments, keywords, count)
        if _is_stateful(entry.config):
            self._calls += 1
            if self._calls > 1 or self._is_distributed:
                raise self.builder.error("a layer that keeps its states is called more than once", entry, "save it with stateful=False")
        try:
            properties = attributes_of(entry.config)
        except (ValueError, KeyError, TypeError) as error:
            raise self.builder.error(f"its configuration is invalid: {error}", entry) from error
        if not entry.is_operation or entry.config.get("dtype") is not None:
            properties["dtype"] = policy_name(entry.config.get("dtype"))
        if entry.class_name in LAYERS and (call := self._function(arguments, keywords)) is not None:
            return self.builder.node(call[0], entry.name, call[1], {}, call[2], (), count)
        properties |= self._assets(properties)
        keywords = dict(keywords) | mask_arguments(self.builder, entry, arguments, keywords)
        try:
            results = self.builder.node(entry.kind, entry.name, arguments, keywords, properties, self.variables(), count)
        except TypeError as error:
            raise self.builder.error(f"its configuration is invalid: {error}", entry) from error
        if not entry.is_operation:
            pass_mask(self.builder, entry, arguments, results)
        return results

    def _function(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[str, list[Any], dict[str, Any]] | None:
        """The function of `keras.ops` that is equivalent to a layer that calls a function of TensorFlow: kind,
        arguments, attributes.

        None if there is no such function, or an attribute would be a tensor.
        """
        function = renamed(str(self.entry.config.get("function")), list(arguments), keywords)
        return None if function is None or any(True for _ in contained(function[2], SSAValue)) else function

    def variables(self) -> list[tuple[str, SSAValue]]:
        """The variables as constants, by their names."""
        if self._variables is None:
            variables = self.weights.variables(self.entry) if not self.entry.is_operation else []
            self._variables = [(name, self.builder.constant(value, f"{self.entry.name}/{name}")) for name, value in variables]
        return self._variables

    def _assets(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """The vocabulary of a lookup layer, read from a text in the archive, as an attribute; empty if the
        configuration has it.
        """
        if "vocabulary" in properties and not isinstance(properties["vocabulary"], str):
            return {}
        for path, text in self.builder.file.assets.items():
            parts = path.split("/")
            if parts[-1] == "vocabulary.txt" and (self.entry.name in parts[:-1] or len(self.builder.file.assets) == 1):
                return {"vocabulary": text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")}
        return {}

    def _distributed(self, arguments: Sequence[Any]) -> list[SSAValue]:
        """Apply the layer within a TimeDistributed to each step: merge the steps into the batch, call it, and split its
        results.

        Raises ModelFileError if it is called without a tensor.
        """
        entry, name = self.entry, self.entry.name
        data = next(contained(arguments, SSAValue), None)
        if data is None:
            raise self.builder.error("it is called without a tensor", entry)
        steps = self.builder.node("TimeDistributed", f"{name}/steps", [data], {}, {"part": "steps"})
        self._held()._is_distributed = True
        distributed = self._held().called(steps, {}, 1)
        result = self.builder.node("TimeDistributed", name, [distributed[0], data], {}, {"part": "sequence"})
        if (mask := self.builder.masks.get(data)) is not None:
            self.builder.masks[result[0]] = mask
        return result

    def _held(self) -> Layer:
        """The layer that a wrapper contains as its attribute `layer`."""
        if self._inner_layer is None:
            entry = entry_of(self.entry.config["layer"], "the layer", self.builder.location)
            self._inner_layer = Layer(self.builder, entry, self.weights.of_attribute("layer"), self._inner_model)
        return self._inner_layer


def _is_stateful(config: Mapping[str, Any]) -> bool:
    """Whether a layer, or the layer in it, keeps its states from one call to the next."""
    inner = config.get("layer")
    own: Any = cast("Mapping[str, Any]", inner).get("config") if isinstance(inner, dict) else None
    return bool(config.get("stateful") or (isinstance(own, dict) and cast("Mapping[str, Any]", own).get("stateful")))
