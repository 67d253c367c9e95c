"""Nodes of the kinds that TensorFlow's optimizer makes, for which `tf.raw_ops` has no functions."""

from __future__ import annotations

import tensorflow as tf


def internal_node(kind: str, *operands: object, **attributes: object) -> tf.Tensor:
    """The first result of a node of any kind in the current graph, with attributes of the types they have in a graph."""
    tensors = [tf.convert_to_tensor(operand) for operand in operands]
    definition = tf.compat.v1.NodeDef(name="fused", op=kind, input=[tensor.op.name for tensor in tensors])
    for name, value in attributes.items():
        target = definition.attr[name]
        if isinstance(value, str):
            target.s = value.encode()
        elif isinstance(value, bool):
            target.b = value
        elif isinstance(value, float):
            target.f = value
        elif isinstance(value, int):
            target.i = value
        elif isinstance(value, tf.DType):
            target.type = value.as_datatype_enum
        elif value and isinstance(value[0], str):
            target.list.s.extend(item.encode() for item in value)
        elif value and isinstance(value[0], tf.DType):
            target.list.type.extend(item.as_datatype_enum for item in value)
        else:
            target.list.i.extend(value)
    graph = tf.compat.v1.get_default_graph()
    inputs = [tensor.op.outputs[0] for tensor in tensors]
    graph_def = tf.compat.v1.GraphDef(node=[definition])
    for tensor in inputs:
        placeholder = graph_def.node.add(name=tensor.op.name, op="Placeholder")
        placeholder.attr["dtype"].type = tensor.dtype.as_datatype_enum
    with graph.as_default():
        return tf.import_graph_def(
            graph_def, {tensor.op.name: tensor for tensor in inputs}, [definition.name + ":0"], name="", producer_op_list=None
        )[0]
