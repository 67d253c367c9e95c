"""Which tensor of the checkpoint each variable of a SavedModel of TensorFlow 2 holds.

The graph of objects of a SavedModel lists, for each concrete function, the objects that the function captured. A call
of the function in the main graph has the handles of their variables as its last operands, in the same order. The graph
of objects of the checkpoint says under which key the value of an object is, and has the same objects below the same
paths from the root. Names do not matter: several variables may have one, and the names of nodes are made unique in
the order of the export.

Source: saved_object_graph.proto and trackable_object_graph.proto of TensorFlow 2.21; TensorFlow itself loads models in
this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moir.errors import ModelFileError
from moir.frontends.tensorflow.checkpoint.bundle import OBJECT_GRAPH_KEY, Bundle
from moir.frontends.tensorflow.functions import CALL_KINDS
from moir.frontends.tensorflow.messages import parse
from moir.frontends.tensorflow.references import attribute, reference
from moir.frontends.tensorflow.state.nodes import VARIABLE_KINDS, Resource, resource_of

_VALUE = "VARIABLE_VALUE"


def captured_keys(meta_graph: Any, bundle: Bundle | None) -> dict[str, str] | None:
    """The checkpoint's key of each variable that a function captured, by the name of the variable's node.

    The key of a variable whose object has no value in the checkpoint is empty. Variables that are different objects
    and share a name are renamed to the names of their nodes.

    Args:
        meta_graph: the MetaGraphDef.
        bundle: the checkpoint, if there is one.

    Returns None for a model without concrete functions, whose variables have names only. Raises ModelFileError if one
    node stands for two objects.
    """
    if not meta_graph.object_graph_def.concrete_functions:
        return None
    objects: dict[str, int] = {}
    variables = {node.name: node for node in meta_graph.graph_def.node if node.op in VARIABLE_KINDS}
    for name, number in _captures(meta_graph):
        if name in variables and objects.setdefault(name, number) != number:
            reason = "functions capture it as two different objects"
            raise ModelFileError(reason, operation=f"tf.{variables[name].op}", node=name, hint="export the model again")
    _separate({name: variables[name] for name in objects}, objects)
    keys = {} if bundle is None else _keys_of_objects(meta_graph.object_graph_def, checkpoint_objects(bundle))
    return {name: keys.get(number, "") for name, number in objects.items()}


def checkpoint_objects(bundle: Bundle) -> Any:
    """The graph of objects of a checkpoint; an empty one for a checkpoint of TensorFlow 1."""
    encoded = bundle.raw_string(OBJECT_GRAPH_KEY) if OBJECT_GRAPH_KEY in bundle else b""
    return parse("TrackableObjectGraph", encoded, bundle.path, "the graph of objects of the checkpoint")


def _captures(meta_graph: Any) -> Iterator[tuple[str, int]]:
    """The variables and constants that calls in the main graph pass to functions: pairs (name of the node, index of the
    captured object).
    """
    functions = meta_graph.object_graph_def.concrete_functions
    for node in meta_graph.graph_def.node:
        name = attribute(node, "f").func.name if node.op in CALL_KINDS else node.op
        if name not in functions or not (captured := list(functions[name].bound_inputs)):
            continue
        operands = [reference(operand)[0] for operand in node.input if not operand.startswith("^")]
        yield from zip(operands[-len(captured) :], captured, strict=False)


def _separate(variables: dict[str, Any], objects: dict[str, int]) -> None:
    """Give variables that are different objects but share a name the names of their nodes.

    TensorFlow before 2.5 writes the names that the program gave them, which need not be unique.
    """
    owners: dict[Resource, set[int]] = {}
    for name, node in variables.items():
        owners.setdefault(resource_of(node), set()).add(objects[name])
    for name, node in variables.items():
        if len(owners[resource_of(node)]) > 1:
            node.attr["shared_name"].s = name.encode()


def _keys_of_objects(saved: Any, stored: Any) -> dict[int, str]:
    """The checkpoint's key of each object of a SavedModel that has a value in the checkpoint, by the index of the
    object.

    Objects of the two graphs, `saved` and `stored`, correspond if they have the same path from the root.
    """
    keys: dict[int, str] = {}
    pairs = [(0, 0)]
    seen: set[tuple[int, int]] = set()
    while pairs:
        pair = own, other = pairs.pop()
        if pair in seen or not (0 <= own < len(saved.nodes) and 0 <= other < len(stored.nodes)):
            continue
        seen.add(pair)
        for part in stored.nodes[other].attributes:
            if part.name == _VALUE:
                keys.setdefault(own, part.checkpoint_key)
        children = {child.local_name: child.node_id for child in stored.nodes[other].children}
        pairs += [(child.node_id, children[child.local_name]) for child in saved.nodes[own].children if child.local_name in children]
    return keys
