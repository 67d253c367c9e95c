"""Small ONNX models for the tests of the frontend, and short ways to look at what was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.frontends.onnx import read_model

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, shape: list[Any] | None = None, element: int = FLOAT) -> Any:
    """A ValueInfoProto."""
    return helper.make_tensor_value_info(name, element, shape)


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node; inputs and outputs separated by blanks, `_` for an absent one."""
    names = [["" if name == "_" else name for name in text.split()] for text in (inputs, outputs)]
    return helper.make_node(kind, names[0], names[1], **attributes)


def initializer(name: str, array: Any, dtype: Any = np.float32) -> TensorProto:
    """An initializer with raw data."""
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def graph(nodes: list[NodeProto], inputs: list[Any], outputs: list[Any], initializers: Any = (), **more: Any) -> GraphProto:
    """A graph."""
    return helper.make_graph(nodes, "g", inputs, outputs, list(initializers), **more)


def model(content: GraphProto, functions: list[FunctionProto] | None = None, opset: int = 17, **more: Any) -> ModelProto:
    """A model of IR version 9; functions are in the domain `local`."""
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid("local", 1)] if functions else [])]
    return helper.make_model(content, opset_imports=imports, functions=functions or [], ir_version=9, **more)


def read(content: ModelProto | bytes, folder: Path, name: str = "model.onnx") -> ModuleOp:
    """Write a model and read it with moir; the result is verified."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    module = read_model(path)
    module.verify()
    return module


def block(module: ModuleOp) -> Block:
    """The block of the model."""
    return models_of(module)[0].block


def operations(place: ModuleOp | Block, kind: str = "") -> list[Operation]:
    """The operations of a model or of one block, those named `kind` if that is given."""
    within = block(place) if isinstance(place, ModuleOp) else place
    return [op for op in within.ops if op.name == kind or not kind]


def names(ops: list[Operation]) -> list[str | None]:
    """The framework names of operations."""
    return [name_of(op) for op in ops]


def tensor_names(op: Operation) -> tuple[str, ...]:
    """The names of the results of an operation."""
    return value_of(op.attributes["tensor_names"])


def branch(name: str, nodes: list[NodeProto], output: str, **more: Any) -> GraphProto:
    """A graph without inputs, with one output."""
    return helper.make_graph(nodes, name, [], [value(output)], **more)


def rich_model(weights: int = 700) -> ModelProto:
    """A model with large and small weights, typed data, a constant, sub-graphs that capture, and nested functions."""
    inner = helper.make_function(
        "local", "Scale", ["a"], ["b"], [node("Mul", "a a", "s"), node("Mul", "s a", "b")], [helper.make_opsetid("", 17)]
    )
    leaky = node("LeakyRelu", "m", "r")
    leaky.attribute.add(name="alpha", ref_attr_name="slope", type=1)
    outer = helper.make_function(
        "local",
        "Block",
        ["p", "q"],
        ["r"],
        [node("Scale", "p", "t", domain="local"), node("Add", "t q", "m"), leaky],
        [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
        attribute_protos=[helper.make_attribute("slope", 0.25)],
    )
    branches = {
        "else_branch": branch("else", [node("Sub", "h w", "e")], "e"),
        "then_branch": branch("then", [node("Add", "h x", "u"), node("Mul", "u k", "v")], "v"),
    }
    typed = helper.make_tensor("k", FLOAT, [weights], np.linspace(0, 1, weights))
    half = helper.make_tensor("half", TensorProto.FLOAT16, [3], [0.5, 1, 2])
    whole = helper.make_tensor("whole", INT64, [weights], np.arange(weights) * 7 - 1000)
    return model(
        graph(
            [
                node("Constant", "", "cond", value=helper.make_tensor("c", BOOL, [], [True])),
                node("Block", "x w", "h", domain="local", name="call", slope=0.1),
                node("If", "cond", "y", name="choice", **branches),
                node("Cast", "half", "z", to=FLOAT),
                node("Identity", "whole", "i"),
            ],
            [value("x", ["n", weights])],
            [value("y"), value("z", [3]), value("i", [weights], INT64)],
            [initializer("w", np.arange(weights) / 3), typed, half, whole],
        ),
        [inner, outer],
        producer_name="sample",
    )
