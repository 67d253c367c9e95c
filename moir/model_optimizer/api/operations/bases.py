"""The base classes of Model Optimizer's operations; class attributes define the operation of a derived class.

    class Softsign2(UnaryElementwise):
        op, op_type, version = "Softsign2", "Softsign2", "extension"
        operation = staticmethod(lambda x: x / (1 + np.abs(x)))

`op_type`, by default `op`, is the type; `operation` computes the value of constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.model_optimizer.api.inference.partial_inference import copy_shape_infer, eltwise_infer
from moir.model_optimizer.api.operations.description import Description
from moir.model_optimizer.graph.node import GraphNode


def _operation(node: GraphNode) -> Callable[..., Any] | None:
    operation = node.soft_get("operation", None)
    return operation if callable(operation) else None


def infer_elementwise(node: GraphNode) -> None:
    """Set the shape of output 0 to that to which the inputs broadcast; if all inputs are constant, also its value, by
    `operation`.
    """
    eltwise_infer(node, _operation(node))


def infer_boolean(node: GraphNode) -> None:
    """Set the element type of output 0 to boolean."""
    node.out_port(0).set_data_type(np.bool_, override=True)


def _keep_dims(node: GraphNode) -> bool:
    return bool(node.soft_get("keep_dims", False))


_BROADCASTING = {"auto_broadcast": "numpy", "is_eltwise": True, "operation": None}
_ELEMENTWISE = {"infer": staticmethod(infer_elementwise)}
_SAME_SHAPE = {"infer": staticmethod(copy_shape_infer)}

OPERATIONS: dict[str, Description] = {
    **{
        name: Description(None, "opset1", 2, defaults=_BROADCASTING, records=["auto_broadcast"], members=_ELEMENTWISE, is_base=True)
        for name in ("Elementwise", "ArithmeticOp")
    },
    "LogicalElementwise": Description(
        None,
        "opset1",
        2,
        defaults={**_BROADCASTING, "type_infer": infer_boolean},
        records=["auto_broadcast"],
        members={**_ELEMENTWISE, "type_infer": staticmethod(infer_boolean)},
        is_base=True,
    ),
    "UnaryElementwise": Description(None, "opset1", defaults={"operation": None}, records=[], members=_ELEMENTWISE, is_base=True),
    "ReduceOp": Description(
        None, "opset1", 2, defaults={"keep_dims": False}, records=[("keep_dims", _keep_dims)], infers_as="ReduceSum", is_base=True
    ),
    "FFTBase": Description(None, "opset7", 3, records=[], infers_as="DFT", is_base=True),
    "SplitBase": Description(None, "opset1", 2, records=["num_splits"], counted="num_splits", infers_as="Split", is_base=True),
    "VariadicSplitBase": Description(None, "opset1", 3, records=[], counted="size_splits", infers_as="VariadicSplit", is_base=True),
    "Scatter": Description(None, "opset3", 4, records=[], members=_SAME_SHAPE, is_base=True),
    "ScatterNDBase": Description(None, "opset3", 3, records=[], members=_SAME_SHAPE, is_base=True),
    "EmbeddingBagBase": Description(None, "opset3", 5, records=[], infers_as="EmbeddingBagOffsetsSum", is_base=True),
}
