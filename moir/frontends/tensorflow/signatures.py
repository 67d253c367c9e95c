"""Choosing a graph of a SavedModel by its tags, and the inputs and outputs of the graph by a signature."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xdsl.ir import Attribute

from moir.errors import ModelFileError, UsageError
from moir.frontends.tensorflow.attributes import dimensions
from moir.frontends.tensorflow.model_inputs import PLACEHOLDER_KINDS, SCALARS_SINCE, tensor_type
from moir.frontends.tensorflow.references import reference
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

DEFAULT_TAGS = frozenset(("serve",))
DEFAULT_SIGNATURE = "serving_default"
_NAMES_SHOWN = 6
_INTERNAL_SIGNATURES = frozenset(("__saved_model_init_op", "__saved_model_train_op"))


class Signature(Record):
    """The inputs and the outputs of a model, in order: names, and the tensors of the main graph they stand for.

    `output_types` has the declared types of the outputs.
    """

    name: str
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    output_types: list[Attribute]


def choose_meta_graph(meta_graphs: Iterable[Any], tags: Iterable[str] | None, path: Path) -> Any:
    """The MetaGraphDef with the given tags.

    Args:
        meta_graphs: the MetaGraphDefs of a SavedModel.
        tags: the set of tags; None for `serve`, or the only graph in the file.
        path: the file, for messages.

    Raises UsageError, with the sets of tags in the file, if no graph or several have these tags; ModelFileError if
    `tags` is None.
    """
    graphs = [(frozenset[str](graph.meta_info_def.tags), graph) for graph in meta_graphs]
    if not graphs:
        raise ModelFileError("the SavedModel has no graph", location=str(path))
    if tags is None and len(graphs) == 1:
        return graphs[0][1]
    wanted = DEFAULT_TAGS if tags is None else frozenset(tags)
    matching = [graph for own, graph in graphs if own == wanted]
    matching = matching or [graph for own, graph in graphs if wanted and own >= wanted]
    if len(matching) == 1:
        return matching[0]
    sets = [", ".join(sorted(own)) for own, _ in graphs]
    named = ", ".join(sorted(wanted))
    reason = f"{'several graphs have' if matching else 'no graph has'} the tags [{named}]"
    there = f"there are graphs with the tags {_first_names(f'[{each}]' for each in sets)}"
    if tags is None:
        raise ModelFileError(reason, location=str(path), hint=f"{there}; say which of them")
    raise UsageError(reason, location=str(path), hint=there if matching else did_you_mean(named, sets, there))


def has_signatures(meta_graph: Any) -> bool:
    """Whether a graph has a signature that is not for TensorFlow itself."""
    return bool(meta_graph.signature_def.keys() - _INTERNAL_SIGNATURES)


def has_only_a_graph(meta_graph: Any) -> bool:
    """Whether a graph has no signature, but has placeholders that are inputs of a model, as graphs of TensorFlow 1 do.

    The graph of a TensorFlow 2 model without signatures has only the placeholder of its saver.
    """
    if has_signatures(meta_graph):
        return False
    saver, _ = reference(meta_graph.saver_def.filename_tensor_name)
    return any(node.op in PLACEHOLDER_KINDS and node.name != saver for node in meta_graph.graph_def.node)


def choose_signature(meta_graph: Any, name: str | None, path: Path) -> Signature:
    """A signature of a graph.

    Args:
        meta_graph: the MetaGraphDef.
        name: name of the signature; None for `serving_default`, or the only signature of the graph.
        path: the file, for messages.

    Returns inputs and outputs in the order of the nodes in the main graph. Raises UsageError, with the nearest names,
    if there is no signature of that name; ModelFileError if the name is None, or an input or output is not a tensor.
    """
    signatures = {key: value for key, value in meta_graph.signature_def.items() if key not in _INTERNAL_SIGNATURES}
    there = f"its signatures: {_first_names(signatures)}" if signatures else "export it with a signature"
    if name is None and len(signatures) == 1:
        name = next(iter(signatures))
    wanted = DEFAULT_SIGNATURE if name is None else name
    if wanted not in signatures:
        reason = f"the model has no signature {wanted!r}" if signatures else "the model has no signature that says what its outputs are"
        if name is None or not signatures:
            raise ModelFileError(reason, location=str(path), hint=there)
        raise UsageError(reason, location=str(path), hint=did_you_mean(name, signatures, there))
    order = {node.name: index for index, node in enumerate(meta_graph.graph_def.node)}
    signature = signatures[wanted]
    inputs = _tensors(signature.inputs, order, wanted, path)
    outputs = _tensors(signature.outputs, order, wanted, path)
    if not outputs:
        raise ModelFileError(f"the signature {wanted!r} has no outputs", location=str(path), hint=there)
    types = [_declared(signature.outputs[key], key, meta_graph.graph_def.versions.producer) for key, _ in outputs]
    return Signature(wanted, inputs, outputs, types)


def _declared(info: Any, name: str, producer: int) -> Attribute:
    """The type that a TensorInfo declares for an input or output; `producer` is the version of TensorFlow that wrote
    it.
    """
    shape = dimensions(info.tensor_shape) if info.HasField("tensor_shape") else None
    return tensor_type(info.dtype, None if shape == () and producer < SCALARS_SINCE else shape, name)


def _first_names(names: Iterable[str]) -> str:
    """Names in alphabetical order, separated by commas: the first few, and how many more there are."""
    every = sorted(names)
    return ", ".join(every[:_NAMES_SHOWN]) + (f" and {len(every) - _NAMES_SHOWN} more" if len(every) > _NAMES_SHOWN else "")


def _tensors(infos: Any, order: dict[str, int], signature: str, path: Path) -> list[tuple[str, str]]:
    """The names of inputs or outputs with the references to their tensors, in the order of the nodes in the graph.

    Args:
        infos: the TensorInfos by the names of the inputs or outputs.
        order: the position of each node of the graph.
        signature: the name of the signature, for messages.
        path: the file, for messages.

    Raises ModelFileError if one is no ordinary tensor, or not in the graph.
    """
    tensors: list[tuple[int, int, str, str]] = []
    for key, info in infos.items():
        if info.WhichOneof("encoding") != "name":
            kind = "sparse" if info.HasField("coo_sparse") else "composite"
            reason = f"{key!r} of the signature {signature!r} is a {kind} tensor"
            raise ModelFileError(reason, location=str(path), hint="export the model with a signature of ordinary tensors")
        node, index = reference(info.name)
        if node not in order:
            raise ModelFileError(
                f"{key!r} of the signature {signature!r} is tensor {info.name!r}, which the graph lacks", location=str(path)
            )
        tensors.append((order[node], index, key, info.name))
    return [(key, tensor) for _, _, key, tensor in sorted(tensors)]
