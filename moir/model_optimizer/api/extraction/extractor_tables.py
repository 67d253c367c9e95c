"""The dictionaries of extractors that Model Optimizer had before extractors were classes.

    from mo.front.tf.extractor import tf_op_extractors

    tf_op_extractors["Foo"] = lambda node: {"type": "Foo", "op": "Foo", "infer": copy_shape_infer}

A function of a node returns its attributes. For all other kinds of the framework the table has functions that return
the attributes of a node. An extension's entries are extractors of the conversion that loads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeAlias

from moir.frameworks import FRAMEWORKS, load
from moir.frameworks.records import CAFFE, MXNET, ONNX, TENSORFLOW
from moir.model_optimizer.api.extraction.front_extractor import REGISTERED, FrontExtractorOp
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op

Extract: TypeAlias = Callable[[GraphNode], Mapping[str, Any]]
"""The type of functions that return the attributes of a node."""

_OWN = frozenset(("id", "kind"))


def _attributes_of(node: GraphNode) -> dict[str, Any]:
    return {key: value for key, value in node.attrs().items() if key not in _OWN}


class ExtractorTable(MutableMapping[str, Extract]):
    """The extractors of a framework by kind, whatever the case of its name.

    Args:
        framework: the name of its dialect.
    """

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.added: dict[str, Extract] = {}

    def _built_in(self) -> dict[str, str]:
        framework = FRAMEWORKS.get(self.framework)
        kinds = () if framework is None or framework.lowering is None else load(framework.lowering).kinds()
        return {kind.lower(): kind for kind in kinds}

    def __getitem__(self, kind: str) -> Extract:
        added = {name.lower(): function for name, function in self.added.items()}
        if kind.lower() in added:
            return added[kind.lower()]
        if kind.lower() not in self._built_in():
            raise KeyError(kind)
        return _attributes_of

    def __setitem__(self, kind: str, function: Extract) -> None:
        self.added[kind] = function

    def __delitem__(self, kind: str) -> None:
        del self.added[kind]

    def __iter__(self) -> Iterator[str]:
        known = {**self._built_in(), **{name.lower(): name for name in self.added}}
        return iter(known.values())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, kind: object) -> bool:
        return isinstance(kind, str) and kind.lower() in {name.lower() for name in self}

    def taken(self) -> list[type[FrontExtractorOp]]:
        """The extractors for the entries that extensions added; the entries are removed from the table."""
        extractors = [extractor_of(kind, function) for kind, function in self.added.items()]
        self.added.clear()
        return extractors


def extractor_of(kind: str, function: Extract) -> type[FrontExtractorOp]:
    """An extractor that gives nodes of a kind the attributes that a function returns."""

    class TableExtractor(FrontExtractorOp):
        @classmethod
        def extract(cls, node: GraphNode) -> bool | None:
            attributes = dict(function(node))
            if attributes.get("type") is not None:
                attributes.setdefault("op", kind)
            Op(node.graph, attributes).update_node(node, {})
            return True

    TableExtractor.op = kind
    TableExtractor.__name__ = f"the extractor of {kind}"
    return TableExtractor


def node_pb_arg(pb_extractor: Callable[..., Mapping[str, Any]]) -> Extract:
    """An extractor from a function that returns the attributes for a node's message `pb`; for a Caffe layer with
    weights, the function also takes the message `model_pb` of its weights.
    """

    def extract(node: GraphNode) -> Mapping[str, Any]:
        if node.has("model_pb"):
            return pb_extractor(node.pb, node.model_pb)
        return pb_extractor(node.pb)

    return extract


def extractor_wrapper(function: Callable[[Any], Mapping[str, Any]]) -> Extract:
    """An extractor that calls a function with an MXNet node and returns the result, which are its attributes."""
    return lambda node: function(node)


caffe_type_extractors = ExtractorTable(CAFFE.dialect)
kaldi_type_extractors = ExtractorTable("kaldi")
mxnet_op_extractors = ExtractorTable(MXNET.dialect)
onnx_op_extractors = ExtractorTable(ONNX.dialect)
tf_op_extractors = ExtractorTable(TENSORFLOW.dialect)

TABLES = (caffe_type_extractors, kaldi_type_extractors, mxnet_op_extractors, onnx_op_extractors, tf_op_extractors)
"""All tables."""


def common_fields(node: GraphNode) -> dict[str, Any]:
    """The attributes that every node has before extraction: `kind`, `name` and `op`."""
    return {"kind": "op", "name": node.soft_get("name"), "op": node.soft_get("op")}


common_caffe_fields = common_kaldi_fields = common_mxnet_fields = common_onnx_fields = common_tf_fields = common_fields


def _function_of(table: ExtractorTable) -> Callable[..., tuple[bool, dict[str, Any]]]:
    def extract(node: GraphNode, _lowered_keys_map: Mapping[str, str] | None = None) -> tuple[bool, dict[str, Any]]:
        """Whether a table has an extractor for a node, and the attributes of the node."""
        kind = str(node.soft_get("op"))
        extractor = table.get(kind)
        return extractor is not None, {**common_fields(node), **({} if extractor is None else extractor(node))}

    return extract


caffe_extractor = _function_of(caffe_type_extractors)
kaldi_extractor = _function_of(kaldi_type_extractors)
mxnet_op_extractor = _function_of(mxnet_op_extractors)
onnx_op_extractor = _function_of(onnx_op_extractors)
tf_op_extractor = _function_of(tf_op_extractors)


def taken() -> list[type[FrontExtractorOp]]:
    """The extractors that extensions registered, by functions or in tables, since the last call."""
    extractors = [*REGISTERED, *(extractor for table in TABLES for extractor in table.taken())]
    REGISTERED.clear()
    return extractors
