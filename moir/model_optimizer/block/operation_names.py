"""Model Optimizer's names of operations: the attributes `op` and `type` of a node, and the names of its bodies.

`op` is the name that Model Optimizer's extractor of a kind gave its nodes (`ReLU` for onnx.Relu, `Add` for tf.AddV2;
the tables are in `frameworks`), `type` the name it wrote to the IR. Some kinds were renamed over the years, and
extensions also use the framework's name, so an operation is found by each of its `op_names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from xdsl.ir import Block, Operation

from moir.dialects import opset
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, decode_kind
from moir.dialects.names import FRAMEWORK_OPERATION
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.xml import kind_of_layer_type, layer_type, respelled_operations
from moir.model_optimizer.frameworks.lookup import names_of_kind, place_of_view, view_of_operation
from moir.support.tables import by_member, by_word

OPSET_OP_NAMES = {
    **{operation.KIND: layer_type(operation) for operation in respelled_operations()},
    "Multiply": "Mul",
    "Subtract": "Sub",
    "Divide": "Div",
    "Power": "Pow",
    "Convert": "Cast",
    "ConvolutionBackpropData": "Deconvolution",
    "BatchNormInference": "batchNormInference",
    "ReduceLogicalAnd": "ReduceAnd",
    "ReduceLogicalOr": "ReduceOr",
    "AvgPool": "Pooling",
    "MaxPool": "Pooling",
}
"""IR type -> the attribute `op`, where the two differ."""

_KINDS_OF_OP: dict[str, str] = {op: kind for kind, op in OPSET_OP_NAMES.items() if op != "Pooling"}

FURTHER_OP_NAMES = {
    "Convolution": ("Conv", "Conv2D", "Conv3D"),
    "GroupConvolution": ("Convolution", "Conv", "Conv2D", "Conv3D", "DepthwiseConv2dNative"),
    "ConvolutionBackpropData": ("Deconv2D", "Deconv3D"),
    "GroupConvolutionBackpropData": ("Deconvolution", "Deconv2D", "Deconv3D"),
    "AvgPool": ("AveragePool",),
    "BatchNormInference": ("BatchNormalization", "FusedBatchNorm"),
}
"""IR type -> the `op` of Model Optimizer's nodes from the middle phase on, where that depended on the framework.

Nodes are found by these names, too.
"""

FRONT_TYPES = by_member(
    {
        "Convolution": "Conv Conv2D Conv3D DepthwiseConv2dNative",
        "Deconvolution": "Deconv2D Deconv3D Deconvolution",
        "Pooling": "Pooling AveragePool AvgPool MaxPool",
    }
)
"""`op` of a node of a framework -> its `type`, for those that no table above has."""

IN_PORTS_COUNTS = by_word(
    {
        "Broadcast Clamp Conv Conv2D Deconv2D Deconvolution TFPad TopK": 3,
        "ONNXPad OneHot": 4,
        ("ReduceL1 ReduceL2 ReduceAnd ReduceMax ReduceMean ReduceMin ReduceOr ReduceProd ReduceSum Reshape Squeeze Transpose Unsqueeze"): 2,
        "Slice": 5,
    }
)
"""`op` of a node of a framework -> number of its input ports; a model may connect fewer."""


def is_mo_operation(op: Operation) -> bool:
    """Whether an operation is one of the `mo` dialect, which an extension made and describes by Python attributes."""
    return isinstance(op, FrameworkOp) and op.name.startswith(f"{MODEL_OPTIMIZER}.")


def class_names(operation: type[Operation]) -> tuple[str, ...]:
    """The `op` of the operations of a class, then the other names by which patterns find them."""
    return _class_names(operation, place_of_view(operation.name.partition(".")[0]))


@cache
def _class_names(operation: type[Operation], _view: str | None) -> tuple[str, ...]:
    """The names of the operations of a class.

    `_view`, the view of the framework, is part of the key of the cache, since the names depend on it.
    """
    if issubclass(operation, FrameworkOp):
        dialect, kind = operation.name.partition(".")[0], operation.KIND.rpartition(".")[2]
        if dialect == MODEL_OPTIMIZER:
            return (operation.KIND,)
        return tuple(dict.fromkeys((*names_of_kind(dialect, kind), operation.KIND)))
    kind = operation.name.partition(".")[2]
    return tuple(dict.fromkeys((OPSET_OP_NAMES.get(kind, kind), kind, *FURTHER_OP_NAMES.get(kind, ()))))


def op_names(op: Operation, entries: Mapping[str, Any]) -> tuple[str, ...]:
    """The names an operation is found by, its `op` first. `entries` are its Python attributes."""
    given = entries.get("op") if entries else None
    names = class_names(type(op))
    if given is not None:
        # A node of a framework that an extension only gave another `op` is found by its other names, too.
        return (str(given),) if is_mo_operation(op) else tuple(dict.fromkeys((str(given), *names)))
    if (original := op.attributes.get(FRAMEWORK_OPERATION)) is not None and isinstance(op, OpsetOp):
        # After the layout change an operation still is called as in the framework.
        dialect, _, kind = str(value_of(original)).partition(".")
        return tuple(dict.fromkeys((names_of_kind(dialect, decode_kind(kind))[0], *names)))
    form = view_of_operation(op).forms.get(op.KIND) if isinstance(op, FrameworkOp) else None
    if form is None:
        return names
    # Without the names of the other forms: their attributes differ from those of this node.
    chosen = form(op)
    return (chosen, *(name for name in names if name != chosen and not name.startswith("Attributed") and "ONNX" not in name))


def class_type(operation: type[Operation]) -> str | None:
    """The `type` of the operations of a class; None if they have no counterpart in an operation set."""
    return _class_type(operation, place_of_view(operation.name.partition(".")[0]))


@cache
def _class_type(operation: type[Operation], _view: str | None) -> str | None:
    """The `type` of the operations of a class; None for those that have no counterpart in an operation set.

    `_view`, the view of the framework, is part of the key of the cache, since the type depends on it.
    """
    if issubclass(operation, OpsetOp):
        return layer_type(operation)
    if not issubclass(operation, FrameworkOp):
        return operation.name.partition(".")[2]
    if operation.name.startswith(f"{MODEL_OPTIMIZER}."):
        return None
    first, *others = class_names(operation)
    kind = operation.KIND.rpartition(".")[2]
    # An AttributedPower is found as Power, but is no Power of an operation set.
    for name in (first, kind, *(() if first == "AttributedPower" else others)):
        if name in FRONT_TYPES:
            return FRONT_TYPES[name]
        try:
            return layer_type(opset.newest(_KINDS_OF_OP.get(name, name)))
        except KeyError:
            continue
    return None


@cache
def is_of_first_sets(type_: str) -> bool:
    """Whether a `type` is one of the first two operation sets.

    Classes without `version` are older than the other operation sets: Model Optimizer took an operation of the first
    two sets for them, and an operation of the user for any other type.
    """
    try:
        names = opset.versions(kind_of_layer_type(type_))
    except KeyError:
        return type_ in FRONT_TYPES.values()
    return any(name.startswith(("opset1.", "opset2.")) for name in names) or type_.startswith("ExperimentalDetectron")


_OPSET_BODIES = {"If": ("then_graph", "else_graph"), "Loop": ("body",), "TensorIterator": ("body",)}
"""Type -> names of the bodies, which the attribute `sub_graphs` of a node lists."""


def body_names(op: Operation) -> list[str]:
    """The names of the bodies of an operation.

    Those of a framework's operation are the names of the attributes they come from; of an If, those of Model Optimizer.
    """
    if isinstance(op, FrameworkOp):
        given = op.properties.get("graph_attributes")
        names = [str(name).replace("_branch", "_graph") for name in value_of(given)] if given is not None else []
        names = names if len(set(names)) == len(names) else []
    else:
        names = list(_OPSET_BODIES.get(op.name.partition(".")[2], ()))
    return names if len(names) == len(op.regions) else [f"body_{index}" for index in range(len(op.regions))]


def body_of(op: Operation, name: str) -> Block:
    """The body of an operation with the given name among its `body_names`."""
    return op.regions[body_names(op).index(name)].block
