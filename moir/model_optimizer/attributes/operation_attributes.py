"""The attributes of an operation node: a mapping over the name, properties and Python attributes of an operation.

A property is read and written under its name in the IR or the framework, and under the name that Model Optimizer's
extractors used. Every other attribute an extension sets (a function, an array) is one of the Python attributes in
`node_attributes`. Setting another `op` or `type` turns an operation of a framework or an operation set into one of the
`mo` dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import is_element_type
from moir.dialects.extension import ExtensionOp
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, operation_class
from moir.dialects.inference import infer_operation, set_type
from moir.dialects.names import FRAMEWORK_OPERATION, name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.attributes.computed_attributes import COMPUTED, TYPED
from moir.model_optimizer.attributes.describing_attributes import FIXED_IN_SETS, describing_names, extracted_attributes
from moir.model_optimizer.attributes.hidden_attributes import DELETED, DESCRIBED_KIND, FORMER_COUNTS
from moir.model_optimizer.attributes.layer_records import layer_record, opset_record
from moir.model_optimizer.attributes.missing_attributes import MissingAttributeError
from moir.model_optimizer.block.making_places import note_place
from moir.model_optimizer.block.operation_names import (
    FRONT_TYPES,
    body_names,
    body_of,
    class_type,
    is_mo_operation,
    op_names,
)
from moir.model_optimizer.block.recasting import recast
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.extracted import Extracted
from moir.model_optimizer.frameworks.lookup import original_of, view_of, view_of_operation
from moir.model_optimizer.values.python_values import (
    attribute_value,
    constant_array,
    element_type,
    property_value,
    python_value,
)
from moir.model_optimizer.values.shapes import EditableShape, type_shape


def _infer_by_definition(node: Any) -> None:
    """The attribute `infer` of a node of an operation set.

    It does nothing, because type inference gives the shapes of results.
    """
    infer_operation(node.ir_operation, node.graph.known)


def same_value(value: Any, other: Any) -> bool:
    """Whether two values of an attribute are equal; arrays are equal to lists."""
    a, b = np.asarray(value), np.asarray(other)
    return a.shape == b.shape and bool(np.all(a == b))


_REPLACE = "replace the node by one of another operation, made by its class in mo.ops with this attribute"


class OperationAttributes(MutableMapping[str, Any]):
    """The attributes of the node of an operation."""

    __slots__ = ("entries", "graph", "op")

    def __init__(self, graph: BlockView, op: Operation) -> None:
        self.graph = graph
        self.op = op
        self.entries: Mapping[str, Any] = python_entries(op)

    def __getitem__(self, key: str) -> Any:
        if key in self.entries and not key.startswith("$"):
            return self.entries[key]
        reader = self._reader(key)
        if reader is None:
            raise MissingAttributeError(
                f"node {self.graph.id_of(self.op)!r} ({op_names(self.op, self.entries)[0]}) has no attribute {key!r}"
            )
        if key == "shape" and isinstance(self.op, Parameter) and (shape := shape_of(self.op.results[0])) is not None:
            return EditableShape(shape, lambda changed: self._set_type("shape", changed))
        return reader()

    def _reader(self, key: str) -> Callable[[], Any] | None:
        """The function that reads an attribute from the operation; None if the operation does not have it."""
        op = self.op
        if key in self.entries.get(DELETED, ()):
            return None
        if key == "id":
            return lambda: self.graph.id_of(op)
        if key == "name":
            return lambda: name_of(op) or self.graph.id_of(op)
        if (message := self._messages().get(key)) is not None:
            return message
        if key == "infer" and isinstance(op, OpsetOp) and self.graph.stage != "front":
            return lambda: _infer_by_definition
        if key == "need_shape_inference":
            return (lambda: True) if op in self.graph.changed_operations else None
        reader = TYPED.get(type(op), {}).get(key) or COMPUTED.get(key)
        if reader is not None:
            return lambda: reader(op)
        if (extracted := self._extracted(key)) is not None:
            value = self._extract(extracted)
            return None if value is None else lambda: value
        if key in op.properties:
            return lambda: python_value(op.properties[key])
        if op.regions:
            names = body_names(op)
            if key == "sub_graphs":
                return lambda: names
            if key in names:
                return lambda: self.graph.view(body_of(op, key))
        return None

    def _messages(self) -> dict[str, Callable[[], Any]]:
        """The attributes that are messages of the model file (`pb`, …), each with the function that makes it."""
        op = self.op
        if isinstance(op, Constant):
            of_constant = view_of(self.graph.graph["fw"]).constant_message
            return {} if of_constant is None else {"pb": lambda: of_constant(op)}
        if isinstance(op, OpsetOp):
            # Its properties are no longer those of the message.
            return {}
        dialect, kind = original_of(op)
        return {name: partial(make, kind, op) for name, make in view_of(dialect).messages.items()}

    def _extracted(self, key: str) -> Extracted | None:
        return extracted_attributes(self.op).get(key)

    def _extract(self, extracted: Extracted) -> Any:
        if extracted.of is not None:
            return extracted.of(self.op)
        attribute = self.op.properties.get(extracted.source)
        value = extracted.default if attribute is None else python_value(attribute)
        return value if value is None or extracted.form is None else extracted.form(value)

    def _fail(self, reason: str, hint: str | None = None) -> NoReturn:
        raise ConversionError(reason, operation=self.op.name, node=name_of(self.op), hint=hint)

    def __setitem__(self, key: str, value: Any) -> None:
        op = self.op
        if key == "id":
            raise ConversionError("the id of a node cannot be changed", node=self.graph.id_of(op), hint="change its name")
        if key == "name":
            op.attributes["name"] = string_attribute(str(value))
            self.graph.forget_names()
        elif key == "need_shape_inference":
            (self.graph.touch if value else self.graph.changed_operations.discard)(op)
        elif key in ("op", "type", "version") and self._own(key) != value:
            self._set_identity(key, value)
        elif key in TYPED.get(type(op), {}):
            self._set_type(key, value)
        elif not self._set_property(key, value):
            if self._is_describing(key) and not same_value(self.get(key), value):
                self._check_effect(key)
            self._store({**self.entries, key: value})
            if isinstance(op, ExtensionOp):
                self.graph.touch(op)
            elif view_of_operation(op).leaves_out_defaults and (attribute := attribute_value(value)) is not None:
                op.properties[key] = attribute

    def _is_describing(self, key: str) -> bool:
        """Whether an attribute determines what the operation computes; any other attribute is the extension's own."""
        op = self.op
        if isinstance(op, OpsetOp):
            return key in FIXED_IN_SETS and self._extracted(key) is not None
        return isinstance(op, FrameworkOp) and not is_mo_operation(op) and key in describing_names(type(op))

    def _check_effect(self, key: str) -> None:
        """Make sure that an attribute that determines the computation has an effect, if the operation has no such
        property.

        An operation of a framework becomes the operation of the `mo` dialect that has the attribute. Raises
        ConversionError if there is none.
        """
        op = self.op
        if isinstance(op, OpsetOp):
            self._fail(f"its attribute {key} cannot be set: it follows from what the operation is", _REPLACE)
        if not isinstance(op, FrameworkOp) or not self._can_be_described():
            self._fail(f"its attribute {key} cannot be set: {op.name} has it in another form", _REPLACE)
        note_place(op)
        identity, names = self._identity(), describing_names(type(op))
        # Types without a version that no current operation set has belong to the first one.
        version = "opset1" if identity["type"] in FRONT_TYPES.values() else identity["version"]
        self.make_mo_operation({**identity, "version": version})
        self._store({**self.entries, "IE": layer_record(sorted(names))})

    def _can_be_described(self) -> bool:
        """Whether the attributes with Model Optimizer's names fully determine what a framework's operation
        computes.
        """
        op = self.op
        if not view_of_operation(op).attributes_are_complete:
            return False
        is_known = class_type(type(op)) is not None
        return bool(extracted_attributes(op)) or (is_known and all(is_element_type(value) for value in op.properties.values()))

    def _own(self, key: str) -> Any:
        return self.entries.get(key, COMPUTED[key](self.op))

    def _set_identity(self, key: str, value: Any) -> None:
        if not is_mo_operation(self.op):
            # A new `op` alone is only another name: the function of a known node of a framework follows from its kind.
            is_name = key == "op" and class_type(type(self.op)) is not None
            if isinstance(self.op, FrameworkOp) and (key == "version" or is_name):
                self._store({**self.entries, key: value})
                return self.graph.forget_operations()
            self.make_mo_operation({**self._identity(), key: value})
            return None
        if key == "op":
            recast(self.op, operation_class(MODEL_OPTIMIZER, str(value)))
        # A change of type or version makes it an operation of another class, so the record of its class is dropped.
        kept = {name: entry for name, entry in self.entries.items() if key == "op" or name != DESCRIBED_KIND}
        self._store({**kept, key: value})
        return self.graph.forget_operations()

    def _identity(self) -> dict[str, Any]:
        return {key: self._own(key) for key in ("op", "type", "version")}

    def make_mo_operation(self, identity: Mapping[str, Any]) -> None:
        """Turn the operation into an operation of the `mo` dialect with the same attributes and another identity.

        `identity` has `op`, `type` and `version`.
        """
        op = self.op
        not_own = {*COMPUTED, *self._messages(), "id", "name", "need_shape_inference"}
        own = {key: self[key] for key in self if key not in not_own}
        for key in body_names(op) if op.regions else ():
            own.pop(key, None)
        if isinstance(op, FrameworkOp):
            if not is_mo_operation(op):
                own[FORMER_COUNTS] = [len(op.operands), len(op.results)]
            op.attributes.setdefault(FRAMEWORK_OPERATION, string_attribute(op.name))
        else:
            own.setdefault("IE", opset_record(op))
            op.properties.clear()
        recast(op, operation_class(MODEL_OPTIMIZER, str(identity["op"])))
        self._store({**own, **identity})
        self.graph.touch(op)
        self.graph.forget_operations()

    def _set_type(self, key: str, value: Any) -> None:
        op = self.op
        result = op.results[0]
        if isinstance(op, Parameter):
            shape = type_shape(value) if key == "shape" else shape_of(result)
            set_type(result, tensor(shape, element_type(value) if key == "data_type" else element_of(result)))
        elif key != "shape" and isinstance(data := op.properties["value"], DataAttr):
            array = constant_array(value) if key == "value" else data.array.astype(np.dtype(value))
            try:
                op.properties["value"] = changed = DataAttr.of(array)
            except KeyError:
                self._fail(f"a constant cannot have values of type {array.dtype}")
            set_type(result, tensor(changed.shape, changed.element))
        self.graph.touch_consumers(result)

    def _set_property(self, key: str, value: Any) -> bool:
        """Set a property of the operation; False if it does not exist, or the IR has no attribute for the value."""
        op = self.op
        if is_mo_operation(op) or key in self.entries:
            return False
        extracted = self._extracted(key)
        if extracted is not None and extracted.write is not None:
            changes = extracted.write(op, value)
        elif extracted is None or extracted.source:
            name = key if extracted is None else extracted.source
            if not self._is_property(name, is_extracted=extracted is not None):
                return False
            changes = {name: value if extracted is None or extracted.back is None else extracted.back(value)}
        else:
            return False
        for name, each in changes.items():
            attribute = self._property(name, key, each)
            if attribute is None:
                return False
            op.properties[name] = attribute
        self._undelete(key)
        self.graph.touch(op)
        return True

    def _is_property(self, name: str, *, is_extracted: bool) -> bool:
        """Whether an attribute of this name belongs to the operation set or the framework, so that it has an effect.

        For an operation without definition, the known attributes are those in the model or in a table (`is_extracted`).
        """
        op = self.op
        if isinstance(op, OpsetOp):
            return name in property_table(type(op)).specs
        if name in op.properties:
            return True
        schema = view_of_operation(op).schema
        known = schema(op) if schema is not None and isinstance(op, FrameworkOp) else None
        return is_extracted if known is None else name in known

    def _property(self, name: str, key: str, value: Any) -> Attribute | None:
        """The property for a value that is set as the attribute `key`; None if the IR has no form for it."""
        if not isinstance(self.op, OpsetOp):
            former = self.op.properties.get(name)
            if isinstance(value, np.ndarray) and cast("Array", value).size == 1 and isinstance(former, IntegerAttr | FloatAttr):
                # A number that an extension made a list stays a number.
                value = cast("Array", value).item()
            read = view_of_operation(self.op).value_of_text
            if isinstance(value, str) and read is not None:
                value = value if (value_read := read(value)) is None else value_read
            return attribute_value(value)
        try:
            return property_value(property_table(type(self.op)).specs[name].kind, value)
        except ValueError as error:
            self._fail(f"its attribute {key} cannot be {value!r}: {error}")

    def _undelete(self, key: str) -> None:
        deleted = self.entries.get(DELETED, frozenset[str]())
        if key in deleted:
            self._store({**self.entries, DELETED: deleted - {key}})

    def _store(self, entries: Mapping[str, Any]) -> None:
        set_python_entries(self.op, entries)
        self.entries = python_entries(self.op)

    def __delitem__(self, key: str) -> None:
        if key in self.entries and not key.startswith("$"):
            self._store({name: value for name, value in self.entries.items() if name != key})
            if view_of_operation(self.op).leaves_out_defaults:
                self.op.properties.pop(key, None)
            return
        if self._reader(key) is None:
            raise MissingAttributeError(f"node {self.graph.id_of(self.op)!r} has no attribute {key!r}")
        if key == "need_shape_inference":
            self.graph.changed_operations.discard(self.op)
            return
        if key in COMPUTED or key in ("id", "name") or key in TYPED.get(type(self.op), {}):
            self._fail(f"its attribute {key} cannot be deleted")
        extracted = self._extracted(key)
        for name in {key, extracted.source if extracted is not None else key}:
            self.op.properties.pop(name, None)
        if self._reader(key) is not None:
            self._store({**self.entries, DELETED: self.entries.get(DELETED, frozenset[str]()) | {key}})
        self.graph.touch(self.op)

    def __iter__(self) -> Iterator[str]:
        keys = [
            "id",
            "name",
            *self._messages(),
            *COMPUTED,
            *TYPED.get(type(self.op), ()),
            *extracted_attributes(self.op),
            *self.op.properties,
        ]
        if self.op.regions:
            keys += ["sub_graphs", *body_names(self.op)]
        for key in dict.fromkeys((*keys, "need_shape_inference", *self.entries)):
            if not key.startswith("$") and key in self:
                yield key

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        return (key in self.entries and not key.startswith("$")) or self._reader(key) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def hidden(self, key: str, default: Any = None) -> Any:
        """A Python attribute that extensions do not see: its name begins with `$`."""
        return self.entries.get(key, default)

    def set_hidden(self, key: str, value: Any) -> None:
        """Set a Python attribute that extensions do not see, or remove it with None."""
        entries = {name: old for name, old in self.entries.items() if name != key}
        self._store(entries if value is None else {**entries, key: value})
