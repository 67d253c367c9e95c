"""What a node of a framework becomes when an extractor says which operation it is, or a transformation connects more inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from moir.dialects.framework import MODEL_OPTIMIZER, NEWEST_VERSION, FrameworkOp
from moir.dialects.inference import set_type
from moir.errors import ConversionError
from moir.model_optimizer.graph.attributes import OperationAttributes, recast
from moir.model_optimizer.graph.creation import MAKERS
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.names import class_type
from moir.model_optimizer.graph.node import Node


def become(node: Node, attrs: Mapping[str, Any]) -> None:
    """Make a node of a framework the operation that attributes describe: a constant, an input, or one of the `mo` dialect.

    Its own attributes stay. A node that is none of a framework stays what it is, as does one without `op` in the attributes.

    Raises ConversionError for a constant without a value, or if a node with several outputs should be one.
    """
    op, kind = node.operation, attrs.get("op")
    if not isinstance(op, FrameworkOp) or not isinstance(kind, str) or op.name.partition(".")[0] == MODEL_OPTIMIZER:
        return
    if kind not in MAKERS:
        identity = {"op": kind, "type": attrs.get("type"), "version": attrs.get("version") or "experimental"}
        OperationAttributes(node.graph, op).make_foreign(identity)
        return
    made = MAKERS[kind]({"name": node.name, **attrs})
    if len(op.results) != 1:
        raise ConversionError(f"a node with {len(op.results)} outputs cannot be a {kind}", operation=op.name, node=node.name)
    op.operands = ()
    op.properties = dict(made.properties)
    set_type(op.results[0], made.results[0].type)
    recast(op, type(made))
    node.graph.touch(op)
    node.graph.forget_operations()


def take_further_operands(graph: Graph, op: Operation) -> None:
    """Let a node of a framework that has got more operands mean what Model Optimizer took it for: as a rule operands say what attributes
    said before.

    In ONNX it is the operation of this kind in the newest operation set that has such operands; in other frameworks the one that
    an operation set of the IR has, if there is one.
    """
    framework = op.name.partition(".")[0]
    if framework == "onnx":
        op.attributes[NEWEST_VERSION] = UnitAttr()
    elif framework != MODEL_OPTIMIZER and isinstance(op, FrameworkOp) and class_type(type(op)) is not None:
        attributes = OperationAttributes(graph, op)
        attributes.make_foreign({key: attributes[key] for key in ("op", "type", "version")})
