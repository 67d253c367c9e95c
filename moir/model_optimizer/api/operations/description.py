"""The description of one of Model Optimizer's operations, and the class that is made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from moir.dialects.opset.interfaces.properties import property_table
from moir.model_optimizer.api.operations.axes import say_axes
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.attributes.layer_records import layer_record
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.xml_records import Record
from moir.model_optimizer.lowering.operation import infer_as, infer_by_lowering
from moir.model_optimizer.lowering.result_types import BuiltInInference
from moir.model_optimizer.lowering.versions import standard_operation


@dataclass(frozen=True)
class Description:
    """An operation.

    Args:
        type: type in the IR; None for an operation that exists only in Model Optimizer.
        version: operation set of that type.
        inputs: number of input ports.
        outputs: number of output ports.
        op: `op` of its nodes; by default the name of the class.
        defaults: attributes that a node has by default.
        records: the attributes that are written to the IR; by default the properties of the operation of the operation
            set.
        members: further members of the class, e.g. functions that extensions call.
    """

    type: str | None = None
    version: str | None = None
    inputs: int | None = 1
    outputs: int = 1
    op: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    records: Sequence[Record] | None = None
    counted: str | None = None
    """The attribute whose entries correspond to the outputs."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attribute -> the version of an operation that has this attribute and no explicit version."""
    members: Mapping[str, Any] = field(default_factory=dict[str, Any])
    typed_by_op: bool = False
    """Whether the `type` of a derived class is its `op`."""
    is_base: bool = False
    """Whether the class is only a base class, so that derived classes define `op`."""
    infers_as: str | None = None
    """The class whose inference gives the result types for nodes of a derived class; by default the class itself."""
    keeps_values: bool = True
    """Whether values are computed for a node of a derived class whose inputs are constants."""
    complete: Callable[[GraphNode], None] | None = None
    """A function that sets the attributes that Model Optimizer's `infer` would set on nodes of derived classes; None
    for none.
    """


class StandardOp(Op):
    """Base of the operations Model Optimizer had: `StandardOp(graph, attrs)`.

    A class of a user that is derived from one has its records of attributes, ports and `infer`. It becomes another
    operation by its arguments to `__init__`, or by its class attributes `op_type` and `version`.
    """

    enabled = False

    DESCRIPTION: ClassVar[Description] = Description()

    op_type: ClassVar[str | None] = None
    """The type of a derived class that passes no type to `__init__`."""

    version: ClassVar[str | None] = None
    """The version of a derived class that passes no version to `__init__`."""

    def __init__(self, graph: Graph, attrs: Mapping[str, Any] | None = None, further: Mapping[str, Any] | None = None) -> None:
        description = self.DESCRIPTION
        is_subclass = "DESCRIPTION" not in type(self).__dict__
        defaults: dict[str, Any] = {
            "type": self._own_type() if is_subclass else description.type,
            "version": (self.version if is_subclass else None) or description.version or "experimental",
            "infer": type(self).infer if is_subclass or isinstance(type(self).infer, BuiltInInference) else infer_by_lowering,
            "out_ports_count": description.outputs,
            # Lists are copied: an extension may change the list of one node.
            **deepcopy(dict(description.defaults)),
        }
        if is_subclass and "operation" in defaults:
            defaults["operation"] = getattr(self, "operation", None) or defaults["operation"]
        if description.inputs is not None:
            defaults["in_ports_count"] = description.inputs
        given = {**(attrs or {}), **(further or {})}
        if description.counted is not None and (counted := given.get(description.counted)) is not None:
            defaults["out_ports_count"] = int(counted) if np.ndim(counted) == 0 else len(counted)
        version = next((each for name, each in description.versions.items() if given.get(name) is not None), None)
        if version is not None:
            defaults["version"] = version
        if not is_subclass and given.get("type", description.type) in (description.type, self.op):
            defaults[DESCRIBED_KIND] = self.op
        super().__init__(graph, {**defaults, **(attrs or {})}, further)

    def _own_type(self) -> str | None:
        """The `type` of a derived class that passes none to `__init__`; None if the operation exists only in Model
        Optimizer.
        """
        if self.op_type is not None:
            return self.op_type
        return self.op if self.DESCRIPTION.typed_by_op or self.DESCRIPTION.is_base else self.DESCRIPTION.type

    def backend_attrs(self) -> list[Any]:
        """The items of `backend_attrs` in the description; by default one for each property of the operation."""
        description = self.DESCRIPTION
        if description.records is not None:
            return list(description.records)
        if description.type is None:
            return []
        operation = standard_operation(description.type, description.version)
        names = list(property_table(operation).specs) if operation is not None else []
        # In an attribute of a node there is no hyphen.
        return [(name, name.replace("-", "_")) if "-" in name else name for name in names]

    infer: ClassVar[Callable[[GraphNode], None]] = infer_by_lowering
    """The function that sets shapes, values and types of the results of a node."""

    type_infer: ClassVar[Callable[[GraphNode], None]] = infer_by_lowering.set_element_types
    """The function that sets the element types of the results of a node."""


def class_of(name: str, description: Description) -> type[StandardOp]:
    """The class of operations that a description describes."""
    members: dict[str, Any] = {
        "op": None if description.is_base else description.op or name,
        "DESCRIPTION": description,
        "__module__": "moir.model_optimizer.api.operations",
        **description.members,
    }
    members["__doc__"] = f"{description.version}.{description.type}" if description.type else f"Model Optimizer's {description.op or name}."
    made = type(name, (StandardOp,), members)
    if "infer" not in members:
        keeps_values = description.keeps_values and description.infers_as is None
        inferred = infer_as(partial(_identity, made), keeps_values=keeps_values, complete=partial(_complete, made))
        made.infer, made.type_infer = inferred, inferred.set_element_types
    return made


def _complete(operation: type[StandardOp], node: GraphNode) -> None:
    """Set on a node of a user's class the attributes that the `infer` of the built-in class `operation` set on its
    nodes.
    """
    description = operation.DESCRIPTION
    if description.complete is not None:
        description.complete(node)
    say_axes(node, description.infers_as or operation.op or "")


def inferred_as(op: str, *, keeps_values: bool = False) -> BuiltInInference:
    """The `infer` for nodes of a user's class that infers them as Model Optimizer's operation `op`.

    `keeps_values` says whether they also get the values that the operation computes from constants.
    """
    return infer_as(lambda: _identity(Op.get_op_class_by_name(op)), keeps_values=keeps_values, complete=lambda node: say_axes(node, op))


def _identity(operation: type[Op]) -> Mapping[str, Any]:
    """The attributes of a node of the operation that identify it: `op`, `type`, `version` and the items `IE`.

    They are those of the operation in the description's `infers_as`, if there is one.
    """
    named = operation.DESCRIPTION.infers_as if issubclass(operation, StandardOp) else None
    described = (operation if named is None else Op.registered_ops[named])(Graph(), {})
    return {**described.attrs, "IE": layer_record(described.records())}
