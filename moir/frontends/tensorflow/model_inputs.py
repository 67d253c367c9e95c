"""Nodes that become inputs of a model: placeholders, and nodes that read iterators and queues.

Source: tf.raw_ops.Placeholder, IteratorGetNext, QueueDequeueV2, QueueDequeueManyV2.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import Attribute, SSAValue

from moir.dialects import element_types
from moir.dialects.shapes import element_of
from moir.frontends.operations import declared_type, named
from moir.frontends.tensorflow.attributes import dimensions
from moir.frontends.tensorflow.frames import Frame
from moir.frontends.tensorflow.tensors import DATA_TYPES, element_type

PLACEHOLDER_KINDS = frozenset(("Placeholder", "PlaceholderV2"))
ITERATOR_KINDS = frozenset(("IteratorGetNext", "IteratorGetNextSync"))
_BATCH_KINDS = frozenset(("QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo", "QueueDequeueUpToV2"))
QUEUE_KINDS = _BATCH_KINDS | {"QueueDequeue", "QueueDequeueV2"}
INPUT_KINDS = PLACEHOLDER_KINDS | ITERATOR_KINDS | QUEUE_KINDS

SCALARS_SINCE = 24
"""The first producer version that distinguishes unknown shapes: older ones write the shape of a scalar for them."""


def input_type(frame: Frame, node: Any, index: int, producer: int) -> Attribute:
    """The declared type of an output of a node, with dynamic dimensions and element type where it declares none.

    Args:
        frame: the graph of the node.
        node: the NodeDef.
        index: the index of the output.
        producer: producer version of the GraphDef.

    Raises ModelFileError if a list of types lacks the output.
    """
    if node.op in ITERATOR_KINDS:
        data_type, shape = _type_of_element(frame, node, "output_types", node, "output_shapes", index)
        return tensor_type(data_type, _inferred_shape(frame, node, index) if shape is None else shape, node.name)
    if node.op in QUEUE_KINDS:
        queue = frame.nodes[frame.operands(node)[0][0]] if node.input else node
        data_type, shape = _type_of_element(frame, node, "component_types", queue, "shapes", index)
        shape = (-1, *shape) if node.op in _BATCH_KINDS and shape is not None else shape
        return tensor_type(data_type, _inferred_shape(frame, node, index) if shape is None else shape, node.name)
    declared = next((value for name in ("dtype", "T") if (value := frame.attribute(node, name)) is not None), None)
    shape = None if (value := frame.attribute(node, "shape")) is None else dimensions(value.shape)
    if not node.op.startswith("Placeholder") or (shape == () and producer < SCALARS_SINCE):
        shape = None
    if shape is None:
        shape = _inferred_shape(frame, node, index)
    return tensor_type(0 if declared is None else declared.type, shape, node.name)


def _inferred_shape(frame: Frame, node: Any, index: int) -> tuple[int, ...] | None:
    """The shape that TensorFlow inferred for output `index` when it wrote the graph; None if the node does not have
    it.

    Versions up to 1.3 write the shape of a placeholder only there: its attribute `shape` has no dimensions.
    """
    shapes = frame.attribute(node, "_output_shapes")
    return dimensions(shapes.list.shape[index]) if shapes is not None and index < len(shapes.list.shape) else None


def _type_of_element(frame: Frame, node: Any, types: str, shaped: Any, shapes: str, index: int) -> tuple[int, tuple[int, ...] | None]:
    """The data type and the shape of output `index` of a node that reads an iterator or a queue.

    Args:
        frame: the graph of the node.
        node: the NodeDef.
        types: name of the attribute of `node` with the list of data types.
        shaped: the NodeDef with the shapes: the queue, or the node itself.
        shapes: name of the attribute of `shaped` with the list of shapes.
        index: the index of the output.

    The shape is None if its rank is dynamic, or the list lacks it. Raises ModelFileError if the list of types lacks the
    output.
    """
    type_list, shape_list = frame.attribute(node, types), frame.attribute(shaped, shapes)
    if type_list is None or index >= len(type_list.list.type):
        raise frame.error(f"its attribute {types} does not say the type of output {index}", node)
    is_known = shape_list is not None and index < len(shape_list.list.shape)
    return type_list.list.type[index], dimensions(cast("Any", shape_list).list.shape[index]) if is_known else None


def tensor_type(data_type: int, shape: tuple[int, ...] | None, name: str) -> Attribute:
    """The tensor type for the number of a data type and a shape (None for a dynamic rank); `name` is the node, for
    messages.

    A complex type becomes a real one with a last dimension of 2.
    """
    row = DATA_TYPES.get(data_type)
    if row is not None and row.is_complex and shape is not None:
        shape = (*shape, 2)
    return declared_type(shape, element_type(data_type), name)


def is_complex(frame: Frame, node: Any) -> bool:
    """Whether the element type of a placeholder is complex."""
    declared = frame.attribute(node, "dtype")
    row = None if declared is None else DATA_TYPES.get(declared.type)
    return row is not None and row.is_complex


def parameter(frame: Frame, node: Any, index: int, producer: int, name: str | None = None) -> SSAValue:
    """The Parameter for an output of a node.

    Args:
        frame, node, index, producer: see `input_type`.
        name: name of the input; None for that of the tensor.

    Raises ModelFileError if the output is not a tensor.
    """
    type_ = input_type(frame, node, index, producer)
    if element_of(type_) == element_types.dynamic:
        hint = "give the checkpoint of the model (--checkpoint PREFIX), or freeze it" if node.op in PLACEHOLDER_KINDS else None
        raise frame.error("a model cannot have an input of its type: it is a resource, or the operation sets lack the type", node, hint)
    own = [f"{node.name}:{index}"] if index else [node.name, f"{node.name}:0"]
    names = own if name is None else list(dict.fromkeys([name, *own]))
    return frame.operations.parameter(type_, named(names[0], *names))
