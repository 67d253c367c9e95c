"""The objects of a configuration: entries of layers, references to tensors, plain values.

{"class_name": "Dense", "config": {"name": "head", "units": 4}, "inbound_nodes": […]}  ->  Entry("Dense", "head", …)
{"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}           ->  Reference("x", 0, 0)
{"class_name": "function", "config": "relu6"}                                          ->  "relu6"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from moir.errors import ModelFileError
from moir.support.records import Record

Wanted = TypeVar("Wanted")

MAXIMUM_NESTING = 100
"""The largest nesting of values in a configuration."""


class Reference(Record):
    """A tensor: result `tensor` of call `node` of the layer with the name `layer`."""

    layer: str
    node: int
    tensor: int


class Slice(Record):
    """A slice of an index, as `x[start:stop:step]` has it."""

    start: object
    stop: object
    step: object

    def parts(self) -> tuple[tuple[str, object], ...]:
        """The bounds and the step by their names."""
        return (("start", self.start), ("stop", self.stop), ("step", self.step))


ELLIPSIS = "..."
"""The value that represents an ellipsis in an index."""


TYPED_OPERATIONS = frozenset(
    (
        *("Arange", "Array", "Cast", "ConvertToTensor", "Cumprod", "Cumsum", "EmptyLike", "Eye", "Full", "FullLike", "Geomspace"),
        *("Linspace", "Logspace", "MultiHot", "Nancumprod", "Nancumsum", "OneHot", "OnesLike", "Prod", "SaturateCast", "Sum", "Trace"),
        *("Tri", "View", "ZerosLike"),
    )
)
"""Functions of `keras.ops` whose configuration has an element type; no layer has one of these names."""


class Entry(Record):
    """A layer of a model.

    Args:
        class_name: the name of its class.
        name: its own name.
        module: the module of its class, empty if the file does not say it.
        registered: the name under which a custom class is registered; empty for other classes.
        config: its configuration, as in the file.
        nodes: its calls, as in the file.
        build_config: the shapes it was built with.
    """

    class_name: str
    name: str
    module: str
    registered: str
    config: Mapping[str, Any]
    nodes: tuple[Any, ...] = ()
    build_config: Mapping[str, Any] = {}

    @property
    def is_operation(self) -> bool:
        """Whether the entry is a call of a function of `keras.ops`.

        HDF5 files do not state this: there, entries without the fields that layers have, such as the element type,
        count as functions, provided that their calls have the form of Keras 3.
        """
        if self.module:
            return ".ops." in f"{self.module}."
        if not any(isinstance(each, dict) for each in self.nodes):
            return False
        has_type = "dtype" in self.config and self.class_name not in TYPED_OPERATIONS
        return "trainable" not in self.config and not has_type and self.class_name != "InputLayer" and not self.is_model

    @property
    def is_model(self) -> bool:
        """Whether this layer is a model with layers of its own."""
        return isinstance(self.config.get("layers"), list)

    @property
    def kind(self) -> str:
        """The kind of the layer's operation in the dialect."""
        if self.registered and (">" in self.registered or not self.module.startswith(("keras", "tf_keras"))):
            return self.registered
        return f"ops.{self.class_name}" if self.is_operation else self.class_name


def entry_of(value: object, what: str, location: str) -> Entry:
    """The entry that an object of a file describes. Raises ModelFileError, which calls it `what`, if it describes
    none.
    """
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} is not a JSON object; the file is damaged", location=location)
    fields = cast("dict[str, Any]", value)
    class_name: Any = fields.get("class_name")
    config: Any = fields.get("config")
    if class_name in ("Sequential", "Model", "Functional") and isinstance(config, list):
        # Sequential models of Keras 1.
        config = {"layers": cast("list[Any]", config), "name": fields.get("name") or "sequential"}
    if not isinstance(class_name, str) or not isinstance(config, dict):
        raise ModelFileError(f"{what} has no class and configuration", location=location)
    config = cast("dict[str, Any]", config)
    name: Any = fields.get("name") or cast("dict[str, Any]", config).get("name")
    nodes: Any = fields.get("inbound_nodes") or []
    built: Any = fields.get("build_config")
    return Entry(
        class_name,
        str(name or ""),
        str(fields.get("module") or ""),
        str(fields.get("registered_name") or ""),
        config,
        tuple(cast("list[Any]", nodes)) if isinstance(nodes, list) else (),
        cast("dict[str, Any]", built) if isinstance(built, dict) else {},
    )


def policy_name(value: object) -> str:
    """The name of a policy of element types, such as `mixed_float16`, from its name or its configuration; float32
    without one.

    A policy of a quantized layer has a name such as `int8_from_float32`.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return "float32"
    fields = cast("dict[str, Any]", value)
    inner_config: Any = fields.get("config")
    config = cast("dict[str, Any]", inner_config if isinstance(inner_config, dict) else {})
    if "mode" in config:
        return f"{config['mode']}_from_{policy_name(config.get('source_name') or 'float32')}"
    return str(config.get("name") or "float32")


def decoded(value: object, depth: int = 0) -> Any:
    """A value of a configuration. Raises ValueError if the value is nested too deeply, or Keras has no such value."""
    if depth > MAXIMUM_NESTING:
        raise ValueError("it is nested too deeply")
    if isinstance(value, list):
        return [decoded(each, depth + 1) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    name = fields.get("class_name")
    config = fields.get("config")
    held = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    if name == "__keras_tensor__":
        layer, node, tensor = held["keras_history"]
        return Reference(str(layer), int(node), int(tensor))
    if name == "__tuple__":
        return [decoded(each, depth + 1) for each in fields.get("items", ())]
    if name == "__slice__":
        return Slice(*(decoded(held.get(each), depth + 1) for each in ("start", "stop", "step")))
    if name == "__ellipsis__":
        return ELLIPSIS
    if name in ("__tensor__", "__numpy__"):
        return np.asarray(held["value"], dtype=np.dtype(str(held["dtype"])))
    if name == "__lambda__":
        return "a function as bytecode"
    if name == "function":
        return str(cast(object, config))
    if name in ("DTypePolicy", "QuantizedDTypePolicy", "Policy", "Int4DTypePolicy", "GPTQDTypePolicy", "QuantizedFloat8DTypePolicy"):
        return policy_name(fields)
    return {str(key): decoded(each, depth + 1) for key, each in fields.items() if key not in _UNUSED}


_UNUSED = frozenset(("registered_name", "build_config", "compile_config", "shared_object_id", "module"))
"""Fields of objects in a file that do not affect the computation."""

_TRAINING = ("_initializer", "_regularizer", "_constraint")
"""Suffixes of the names of configuration entries that only training uses."""

_IGNORED = frozenset(("name", "trainable", "dtype", "batch_input_shape", "batch_shape", "seed", "quantization_config", "input_length"))
"""Configuration entries that do not become attributes of an operation."""


def attributes_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a configuration that affect the computation of a layer, without those that are None."""
    attributes: dict[str, Any] = {}
    for name, value in config.items():
        if value is None or name in _IGNORED or name.endswith(_TRAINING):
            continue
        attributes[name] = inner(decoded(value))
    return attributes


def contained(value: Any, wanted: type[Wanted]) -> Iterator[Wanted]:
    """The objects of the class `wanted` within nested lists and dictionaries, in order."""
    if isinstance(value, wanted):
        yield value
    elif isinstance(value, list | tuple):
        for each in cast("list[Any]", value):
            yield from contained(each, wanted)
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from contained(each, wanted)


def inner(value: Any) -> Any:
    """A configuration as plain lists, dictionaries and values, without objects that only training uses."""
    if isinstance(value, list):
        return [inner(each) for each in cast("list[Any]", value)]
    if isinstance(value, np.ndarray):
        return cast("list[Any]", value.tolist())
    if isinstance(value, Reference | Slice):
        return str(value)
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {
        name: inner(each)
        for name, each in fields.items()
        if not name.endswith(_TRAINING) and name not in ("trainable", "seed", "quantization_config")
    }
