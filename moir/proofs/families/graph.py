"""Small graphs, built from Parameters and Results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import f32
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.rewriting.builder import OpBuilder

MOST_RANKS = 4


class Graph:
    """A graph that is being built: `graph.op` builds operations."""

    def __init__(self) -> None:
        self.block = Block()
        self.op: Any = OpBuilder(KnownValues(), self.block)

    def input(self, shape: Sequence[int], element: Attribute = f32) -> SSAValue:
        """A Parameter of a shape, with -1 for any size."""
        op = Parameter.create(result_types=[tensor(tuple(shape), element)])
        op.attributes["name"] = string_attribute(f"x{sum(isinstance(each, Parameter) for each in self.block.ops)}")
        self.block.add_op(op)
        return op.results[0]

    def weights(self, shape: Sequence[int], element: Attribute = f32) -> SSAValue:
        """A constant of a static shape with any values: they are left out."""
        data = DataAttr(TensorData(None, element, tuple(shape), "weights"))
        op = Constant.create(properties={"value": data}, result_types=[tensor(tuple(shape), element)])
        self.block.add_op(op)
        return op.results[0]

    def result(self, value: SSAValue) -> None:
        """Add a Result."""
        op = Result.create(operands=[value])
        op.attributes["name"] = string_attribute(f"y{sum(isinstance(each, Result) for each in self.block.ops)}")
        self.block.add_op(op)

    def module(self, *results: SSAValue) -> ModuleOp:
        """The module, with the results of the graph."""
        for value in results:
            self.result(value)
        return ModuleOp([ModelOp.of("graph", self.block)])
