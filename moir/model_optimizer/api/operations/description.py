"""The description of one of Model Optimizer's operations, and the class that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from moir.dialects.opset.interfaces.properties import property_table
from moir.model_optimizer.attributes.operation_attributes import DESCRIBED_KIND
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.xml_records import Record
from moir.model_optimizer.lowering.operation import infer_by_lowering
from moir.model_optimizer.lowering.versions import standard_operation


@dataclass(frozen=True)
class Description:
    """An operation.

    Args:
        type: type in the IR, None for an operation that is only Model Optimizer's own.
        version: operation set of that type.
        inputs: number of input ports.
        outputs: number of output ports.
        op: `op` of its nodes; by default the name of the class.
        defaults: attributes a node has unless it is given others.
        records: what is written to the IR; by default the properties of the operation of the operation set.
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
    """The attribute that is, or lists, one entry for each output."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attribute -> version of an operation that is given this attribute and no version."""
    members: Mapping[str, Any] = field(default_factory=dict[str, Any])


class StandardOp(Op):
    """Base of the operations Model Optimizer had: `StandardOp(graph, attrs)`."""

    enabled = False

    DESCRIPTION: ClassVar[Description] = Description()

    def __init__(self, graph: Graph, attrs: Mapping[str, Any] | None = None, further: Mapping[str, Any] | None = None) -> None:
        description = self.DESCRIPTION
        defaults: dict[str, Any] = {
            "type": description.type,
            "version": description.version or "experimental",
            "infer": infer_by_lowering,
            "out_ports_count": description.outputs,
            # An extension may change a list of its node: the next node has its own.
            **deepcopy(dict(description.defaults)),
        }
        if description.inputs is not None:
            defaults["in_ports_count"] = description.inputs
        given = {**(attrs or {}), **(further or {})}
        if description.counted is not None and (counted := given.get(description.counted)) is not None:
            defaults["out_ports_count"] = int(counted) if np.ndim(counted) == 0 else len(counted)
        version = next((each for name, each in description.versions.items() if given.get(name) is not None), None)
        if version is not None:
            defaults["version"] = version
        is_subclass = "DESCRIPTION" not in type(self).__dict__
        if not is_subclass and given.get("type", description.type) in (description.type, self.op):
            defaults[DESCRIBED_KIND] = self.op
        super().__init__(graph, {**defaults, **(attrs or {})}, further)

    def backend_attrs(self) -> list[Any]:
        """The records of the description, by default the properties of the operation."""
        description = self.DESCRIPTION
        if description.records is not None:
            return list(description.records)
        if description.type is None:
            return []
        operation = standard_operation(description.type, description.version)
        names = list(property_table(operation).specs) if operation is not None else []
        # In an attribute of a node there is no hyphen.
        return [(name, name.replace("-", "_")) if "-" in name else name for name in names]

    @staticmethod
    def infer(node: Any) -> None:
        """Shapes, values and types of the results of a node."""
        infer_by_lowering(node)


def class_of(name: str, description: Description) -> type[StandardOp]:
    """The class of a description."""
    members: dict[str, Any] = {
        "op": description.op or name,
        "DESCRIPTION": description,
        "__module__": "moir.model_optimizer.api.operations",
        **description.members,
    }
    members["__doc__"] = f"{description.version}.{description.type}" if description.type else f"Model Optimizer's {description.op or name}."
    return type(name, (StandardOp,), members)
