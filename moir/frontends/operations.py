"""The list of a block's operations while a frontend builds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.moir import NoneOp
from moir.dialects.names import add_tensor_names, escaped, names_of, several_tensor_names
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import impossibility, tensor
from moir.errors import ModelFileError


class Operations:
    """The operations of a block under construction, in order."""

    def __init__(self) -> None:
        self.list: list[Operation] = []
        self._absent: SSAValue | None = None

    def append(self, op: Operation) -> None:
        """Append an operation."""
        self.list.append(op)

    def parameter(
        self, type_: Attribute, attributes: Mapping[str, Attribute] | None = None, properties: Mapping[str, Attribute] | None = None
    ) -> SSAValue:
        """Append a Parameter; returns its result."""
        op = opset.operation("opset1.Parameter").create(result_types=[type_], properties=properties or {}, attributes=attributes or {})
        self.list.append(op)
        return op.results[0]

    def constant(self, data: DataAttr, attributes: Mapping[str, Attribute] | None = None) -> SSAValue:
        """Append a Constant; returns its result."""
        op = opset.operation("opset1.Constant").create(
            properties={"value": data}, attributes=attributes or {}, result_types=[tensor(data.shape, data.element)]
        )
        self.list.append(op)
        return op.results[0]

    def absent(self) -> SSAValue:
        """A value that stands for an absent operand: the result of an operation that the block has once for all its
        uses.
        """
        if self._absent is None:
            op = NoneOp.of()
            self.list.append(op)
            self._absent = op.result
        return self._absent


def named(name: str, *tensors: str) -> dict[str, Attribute]:
    """The attributes of an operation with a name, and with names of its result's tensor if some are given."""
    attributes: dict[str, Attribute] = {"name": string_attribute(name)}
    if tensors:
        attributes["tensor_names"] = several_tensor_names([list(tensors)])
    return attributes


def outputs_of(values: Iterable[tuple[SSAValue, str]], operations: Sequence[Operation]) -> list[Operation]:
    """The Results for a model's outputs, pairs of a value and the output's name.

    The tensor also gets the output's name, by which users find it in the model, unless another tensor has this name.
    """
    taken: dict[str, SSAValue] = {name: each for op in operations for each in op.results for name in names_of(each)}
    results: list[Operation] = []
    for value, name in values:
        if taken.setdefault(name, value) is value:
            add_tensor_names(value, escaped(name), required=True)
        results.append(opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)}))
    return results


def declared_type(shape: Sequence[int] | None, element: Attribute, name: str) -> Attribute:
    """The type that a file declares for a value.

    Raises ModelFileError, with the name of the value, for a shape that no tensor has.
    """
    if shape is not None and (reason := impossibility(shape)):
        raise ModelFileError(reason, operation="value", node=name, hint="the file is damaged, or its shapes are wrong")
    return tensor(shape, element)
