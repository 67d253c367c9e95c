"""How long a pattern of five nodes takes to be found among many operations.

    python benchmarks/pattern_matching.py [OPERATIONS]

Two models: one in which the pattern occurs once in forty operations, and one that has only operations of the pattern's
kinds, which share one constant. Prints seconds for the first search (which builds the index by name) and the second.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from xdsl.ir import Block, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.matching import find_subgraph_matches

NODES = [
    ("exp", {"op": "Exp"}),
    ("one", {"op": "Const"}),
    ("add", {"op": "Add"}),
    ("log", {"op": "Log"}),
    ("mul", {"op": "Mul"}),
]
EDGES = [("exp", "add", {"in": 0}), ("one", "add", {"in": 1}), ("add", "log"), ("log", "mul", {"in": 1})]


def block_of(operations: int, filler: int) -> Block:
    """x * log(exp(x) + 1) over and over, with `filler` other operations after each."""
    block = Block()

    def add(kind: str, *operands: SSAValue) -> SSAValue:
        op = operation_class("onnx", kind).create(
            operands=operands, result_types=[UNKNOWN], attributes={"name": string_attribute(f"{kind}_{count}")}
        )
        block.add_op(op)
        return op.results[0]

    count = 0
    parameter = Parameter.create(result_types=[tensor((1,), f32)])
    data = DataAttr.of(np.ones(1, np.float32))
    one = Constant.create(properties={"value": data}, result_types=[tensor((1,), f32)])
    block.add_ops([parameter, one])
    value: SSAValue = parameter.results[0]
    while count < operations:
        value = add("Mul", value, add("Log", add("Add", add("Exp", value), one.results[0])))
        count += 4
        for _ in range(filler):
            value = add("Add", add("Relu", value), value)
            count += 2
    block.add_op(Result.create(operands=[value]))
    return block


def main() -> None:
    """Measure and print."""
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for name, filler in (("one in forty", 18), ("everywhere", 0)):
        block = block_of(operations, filler)
        ModelOp.of("model", block)
        for _ in range(2):
            start = time.perf_counter()
            graph = Graph(block)
            first = find_subgraph_matches(graph, NODES, EDGES)
            middle = time.perf_counter()
            find_subgraph_matches(graph, NODES, EDGES)
            end = time.perf_counter()
            print(f"{name:14} {operations} operations, {len(first)} matches: {middle - start:.3f} s, again {end - middle:.3f} s")


if __name__ == "__main__":
    main()
