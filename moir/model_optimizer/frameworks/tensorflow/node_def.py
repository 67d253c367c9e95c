"""`node.pb` of a TensorFlow node: a view of its operation with the fields of a NodeDef.

    pb.name, pb.op, pb.input, pb.attr["value"].tensor, and .i, .f, .s, .b, .type, .shape, .list in place of .tensor

Numbers of types are those of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import FALSE, TRUE, value_of
from moir.model_optimizer.frameworks.tensor_names import tensor_name

TENSORFLOW_TYPES = {
    "f32": 1,
    "f64": 2,
    "i32": 3,
    "u8": 4,
    "i16": 5,
    "i8": 6,
    "string": 7,
    "i64": 9,
    "boolean": 10,
    "bf16": 14,
    "u16": 17,
    "f16": 19,
    "u32": 22,
    "u64": 23,
}
"""Element type -> number of TensorFlow's DataType."""

TENSORFLOW_ELEMENTS = {number: name for name, number in TENSORFLOW_TYPES.items()}
"""Number of TensorFlow's DataType -> element type."""


@dataclass
class Dimension:
    """A stand-in for TensorFlow's message TensorShapeProto.Dim; the size is -1 if the dimension is dynamic."""

    size: int
    name: str = ""


@dataclass
class ShapeMessage:
    """A stand-in for TensorFlow's message TensorShapeProto, with its fields `dim` and `unknown_rank`."""

    dim: list[Dimension] = field(default_factory=list[Dimension])
    unknown_rank: bool = False


@dataclass
class TensorMessage:
    """A stand-in for TensorFlow's message TensorProto of an array; all values are in `tensor_content`, those of strings
    in `string_val`.
    """

    array: Array

    @property
    def dtype(self) -> int:
        """Number of the element type."""
        return TENSORFLOW_TYPES.get(element_types.describe(element_types.from_numpy(self.array.dtype)).xml, 0)

    @property
    def tensor_shape(self) -> ShapeMessage:
        """The shape."""
        return ShapeMessage([Dimension(size) for size in self.array.shape])

    @property
    def tensor_content(self) -> bytes:
        """The values, little endian in C order."""
        return b"" if self.array.dtype == object else np.ascontiguousarray(self.array).tobytes()

    @property
    def string_val(self) -> list[bytes]:
        """The values of a tensor of strings."""
        if self.array.dtype != object:
            return []
        return [item if isinstance(item, bytes) else str(item).encode(errors="surrogateescape") for item in self.array.ravel()]


@dataclass
class ListMessage:
    """A stand-in for TensorFlow's message AttrValue.ListValue; the type of the items determines the field that has
    them, and the others are empty.
    """

    i: list[int] = field(default_factory=list[int])
    f: list[float] = field(default_factory=list[float])
    s: list[bytes] = field(default_factory=list[bytes])
    b: list[bool] = field(default_factory=list[bool])
    type: list[int] = field(default_factory=list[int])
    shape: list[ShapeMessage] = field(default_factory=list[ShapeMessage])


class AttributeMessage:
    """A stand-in for TensorFlow's message AttrValue of an attribute. Fields for other types than that of the attribute
    are empty, as all are for None.
    """

    def __init__(self, attribute: Attribute | None) -> None:
        self.attribute = attribute
        self.value: Any = None if attribute is None else value_of(attribute)

    @property
    def i(self) -> int:
        """The value if it is an integer, else 0, as protobuf reads a field that is not set."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else 0

    @property
    def f(self) -> float:
        """The value if it is a float, else 0."""
        return self.value if isinstance(self.value, float) else 0.0

    @property
    def b(self) -> bool:
        """Whether the value is the boolean true."""
        return self.attribute == TRUE

    @property
    def s(self) -> bytes:
        """The value as bytes if it is a string, else empty."""
        if isinstance(self.attribute, DataAttr):
            return self.attribute.array.tobytes()
        value = self.value
        return value.encode(errors="surrogateescape") if isinstance(value, str) else b""

    @property
    def type(self) -> int:
        """The value of TensorFlow's enumeration DataType for an attribute that is an element type."""
        return _type_number(self.attribute)

    @property
    def shape(self) -> ShapeMessage:
        """The value as a shape. A list of integers counts as one, since a module does not distinguish the two."""
        items = self._items()
        if items is None:
            return ShapeMessage(unknown_rank=self.attribute is None)
        return ShapeMessage([Dimension(item) for item in items if isinstance(item, int)])

    def _items(self) -> tuple[Any, ...] | None:
        value: object = self.value
        return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else None

    @property
    def tensor(self) -> TensorMessage:
        """The value if it is a tensor, else an empty tensor."""
        return TensorMessage(self.attribute.array if isinstance(self.attribute, DataAttr) else np.zeros(0, np.float32))

    @property
    def list(self) -> ListMessage:
        """The value as a list, empty if it is no list."""
        message = ListMessage()
        for item in self._items() or ():
            if isinstance(item, bool):
                message.b.append(item)
            elif isinstance(item, int):
                message.i.append(item)
            elif isinstance(item, float):
                message.f.append(item)
            elif isinstance(item, str):
                message.s.append(item.encode(errors="surrogateescape"))
            elif isinstance(item, tuple):
                message.shape.append(ShapeMessage([Dimension(size) for size in cast("tuple[int, ...]", item)]))
            elif isinstance(item, Attribute):
                message.type.append(_type_number(item))
        return message

    def HasField(self, name: str) -> bool:
        """Whether the attribute is of this form."""
        return bool(getattr(self, name)) or (name == "b" and self.attribute == FALSE)


def _type_number(attribute: Attribute | None) -> int:
    if attribute is None or not element_types.is_element_type(attribute):
        return 0
    return TENSORFLOW_TYPES.get(element_types.describe(attribute).xml, 0)


class AttributeMessages(Mapping[str, AttributeMessage]):
    """The `attr` of a NodeDef. As with a map of protobuf, an absent key gives an empty message."""

    def __init__(self, properties: Mapping[str, Attribute]) -> None:
        self.properties = properties

    def __getitem__(self, key: str) -> AttributeMessage:
        return AttributeMessage(self.properties.get(key))

    def __contains__(self, key: object) -> bool:
        return key in self.properties

    def __iter__(self) -> Iterator[str]:
        return iter(self.properties)

    def __len__(self) -> int:
        return len(self.properties)


@dataclass
class NodeMessage:
    """A stand-in for TensorFlow's message NodeDef of an operation, with its fields."""

    op: str
    name: str
    attr: AttributeMessages
    input: list[str] = field(default_factory=list[str])
    """The producer of each operand: `name` of a node for its output 0, `name:1` for a further one."""
    device: str = ""


def constant_message(op: Operation) -> NodeMessage:
    """The NodeDef of a constant, with `op` Const."""
    return node_message("Const", op)


def node_message(kind: str, op: Operation) -> NodeMessage:
    """The NodeDef of an operation: `kind` as its `op`, its name, its attributes and the names of its operands."""
    properties = op.properties
    if isinstance(op, Constant):
        properties = {"dtype": op.value.element, "value": op.value}
    return NodeMessage(kind, name_of(op) or "", AttributeMessages(properties), [_producer(operand) for operand in op.operands])


def _producer(value: SSAValue) -> str:
    """A tensor as a NodeDef names it; an argument of a function's body is named by its tensor, if that has a name."""
    if not isinstance(value, OpResult):
        return tensor_name(value)
    name = name_of(value.op) or ""
    return f"{name}:{value.index}" if value.index else name
