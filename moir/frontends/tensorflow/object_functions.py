"""Functions of a saved object as signatures: SavedModels of TensorFlow 2 that were exported without one.

The graph of objects lists the functions of the object that was saved, each with the traces that its calls have made,
and what each trace has captured: variables, and constants of the main graph. A trace becomes a call in the main graph:

    x: Placeholder    variable_1: VarHandleOp
    __call__: StatefulPartitionedCall(x, variable_1) {f = __inference___call___39}

Source: saved_object_graph.proto and struct.proto of TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError, UsageError
from moir.files.protobuf.messages import Message
from moir.frontends.tensorflow.messages import message_class, reader
from moir.frontends.tensorflow.model_inputs import tensor_type
from moir.frontends.tensorflow.signatures import Signature
from moir.support.suggestions import did_you_mean

_PREFERRED = ("__call__", "call", "serve", "predict", "inference", "forward")
"""The usual names of functions that compute the predictions of a model, in order of preference."""

_SHAPES = "_input_shapes"
"""The attribute of a function with the shapes of its operands."""


def declared_function(meta_graph: Any, name: str | None, path: Path) -> Signature:
    """Add a call of a function of the saved object to the main graph.

    Args:
        meta_graph: the MetaGraphDef, which has no signature; its graph gets nodes.
        name: the name of the function, with `#1`, `#2`, … for its second and further traces; None for the only one, or
            one of a usual name.
        path: the file, for messages.

    Returns the inputs and outputs of the call. Raises ModelFileError if there is no function, several without a name,
    or one that captures a table; UsageError, with the nearest names, for a name that no function has.
    """
    traces = dict(_traces(meta_graph.object_graph_def))
    if not traces:
        reason = "the model has no signature, and no function that was called before it was saved"
        raise ModelFileError(reason, location=str(path), hint="export it with a signature: tf.saved_model.save(…, signatures=…)")
    listed = f"its functions: {', '.join(traces)}"
    if name is not None and name not in traces:
        raise UsageError(f"the model has no function {name!r}", location=str(path), hint=did_you_mean(name, traces, listed))
    chosen = name or _usual(traces, meta_graph.object_graph_def)
    if chosen is None:
        raise ModelFileError("the model has no signature, but several functions", location=str(path), hint=f"--signature NAME; {listed}")
    functions = {each.signature.name: each for each in meta_graph.graph_def.library.function}
    if traces[chosen] not in functions:
        raise ModelFileError(f"the function {chosen!r} is missing in the file", location=str(path), hint="export the model again")
    return _called(meta_graph, chosen, functions[traces[chosen]], path)


def _traces(objects: Any) -> Iterator[tuple[str, str]]:
    """The traces of the functions of the saved object: pairs (name of the function, name of the trace in the
    library).
    """
    if not len(objects.nodes):
        return
    for child in objects.nodes[0].children:
        if not 0 <= child.node_id < len(objects.nodes):
            continue
        node = objects.nodes[child.node_id]
        if node.WhichOneof("kind") == "function":
            for index, trace in enumerate(node.function.concrete_functions):
                yield (f"{child.local_name}#{index}" if index else child.local_name), trace


def _usual(traces: Mapping[str, str], objects: Any) -> str | None:
    """The name of the function that computes the predictions of a model; None if that is not clear.

    Of several traces, the one is taken in which no flag such as `training` is true.
    """
    names = list(dict.fromkeys(name.partition("#")[0] for name in traces))
    name = names[0] if len(names) == 1 else next((each for each in _PREFERRED if each in names), None)
    own = [each for each in traces if each.partition("#")[0] == name]
    quiet = [each for each in own if not _has_true(objects.concrete_functions[traces[each]].canonicalized_input_signature)]
    return quiet[0] if len(quiet) == 1 or (quiet and len(own) == 1) else own[0] if len(own) == 1 else None


def _has_true(value: Any) -> bool:
    kind = value.WhichOneof("kind")
    if kind == "bool_value":
        return value.bool_value
    if kind in ("list_value", "tuple_value"):
        return any(map(_has_true, getattr(value, kind).values))
    return kind == "dict_value" and any(map(_has_true, value.dict_value.fields.values()))


def _called(meta_graph: Any, name: str, function: Any, path: Path) -> Signature:
    objects, graph = meta_graph.object_graph_def, meta_graph.graph_def
    captured = objects.concrete_functions[function.signature.name].bound_inputs
    operands = list(function.signature.input_arg)
    given = operands[: len(operands) - len(captured)]
    shapes = function.attr[_SHAPES].list.shape if _SHAPES in function.attr else ()
    taken = {node.name for node in graph.node}
    inputs: list[tuple[str, str]] = []
    names: list[str] = []
    for index, operand in enumerate(given):
        node = _free(operand.name, taken)
        placeholder = message_class("NodeDef")(name=node, op="Placeholder")
        placeholder.attr["dtype"].type = operand.type
        if index < len(shapes):
            placeholder.attr["shape"].shape.ParseFromString(_encoded(shapes[index]))
        _append(graph, placeholder)
        inputs.append((operand.name, f"{node}:0"))
        names.append(node)
    for number in captured:
        names.append(_captured(meta_graph, number, taken, path))
    call = message_class("NodeDef")(name=_free(name, taken), op="StatefulPartitionedCall", input=names)
    call.attr["f"].func.name = function.signature.name
    call.attr["Tin"].list.type.extend([each.type for each in operands])
    call.attr["Tout"].list.type.extend([each.type for each in function.signature.output_arg])
    _append(graph, call)
    keys = _names_of_outputs(objects.concrete_functions[function.signature.name].output_signature, len(function.signature.output_arg))
    outputs = [(key, f"{call.name}:{index}") for index, key in enumerate(keys)]
    types = [tensor_type(each.type, None, key) for key, each in zip(keys, function.signature.output_arg, strict=True)]
    return Signature(name, inputs, outputs, types)


def _captured(meta_graph: Any, index: int, taken: set[str], path: Path) -> str:
    """The name of the node for an object that a function has captured.

    Args:
        meta_graph: the MetaGraphDef, to which the handle of a variable is added if it has none yet.
        index: the index of the object in the graph of objects.
        taken: the names of all nodes; that of a new handle is added.
        path: the file, for messages.

    Raises ModelFileError for an object other than a variable or a constant.
    """
    objects = meta_graph.object_graph_def.nodes
    saved = objects[index] if 0 <= index < len(objects) else None
    kind = None if saved is None else saved.WhichOneof("kind")
    if saved is not None and kind == "constant" and saved.constant.operation in taken:
        return saved.constant.operation
    if saved is None or kind != "variable":
        reason = f"a function without a signature uses an object that is no variable ({kind or 'unknown'})"
        raise ModelFileError(reason, location=str(path), hint="export the model with a signature")
    node = message_class("NodeDef")(name=f"variable_{index}", op="VarHandleOp")
    if node.name not in taken:
        taken.add(node.name)
        node.attr["dtype"].type = saved.variable.dtype
        node.attr["shape"].shape.ParseFromString(_encoded(saved.variable.shape))
        node.attr["shared_name"].s = node.name.encode()
        _append(meta_graph.graph_def, node)
    return node.name


def _names_of_outputs(signature: Any, count: int) -> Sequence[str]:
    """The names of the `count` outputs of a function: the keys of the dictionary that it returns, else output_0,
    output_1, …
    """
    if signature.WhichOneof("kind") == "dict_value":
        keys = sorted(signature.dict_value.fields)
        if len(keys) == count and all(each.WhichOneof("kind") == "tensor_spec_value" for each in signature.dict_value.fields.values()):
            return keys
    return [f"output_{index}" for index in range(count)]


def _free(name: str, taken: set[str]) -> str:
    """A name for a new node that is not among `taken`, made from `name`."""
    chosen = next(each for index in range(len(taken) + 1) if (each := f"{name}_{index}" if index else name) not in taken)
    taken.add(chosen)
    return chosen


def _encoded(shape: Any) -> bytes:
    """A shape encoded as protobuf, by which a message of one reader's class is converted to the class of the other
    reader.
    """
    copy = message_class("TensorShapeProto")(unknown_rank=shape.unknown_rank)
    for each in shape.dim:
        copy.dim.add(size=each.size, name=each.name)
    return copy.SerializeToString()


def _append(graph: Any, node: Any) -> None:
    graph.node.append(reader("NodeDef").FromString(node.SerializeToString()) if isinstance(graph, Message) else node)
