"""An If and its branches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from moir.dialects.element_types import boolean, f32
from moir.dialects.opset.control_flow import If
from moir.dialects.properties import integers_attribute
from moir.dialects.shapes import tensor
from moir.proofs.families.graph import MOST_RANKS, Graph


def _branch(kind: str, rank: int, number: float) -> Block:
    """A body with one input of dynamic shape: the operation `kind` of the input and `number`, then a Relu."""
    body = Graph()
    value = getattr(body.op, kind)(body.input((-1,) * rank), number)
    body.result(body.op.Relu(value))
    return body.block


def branches() -> Iterator[ModuleOp]:
    """Models with an If whose branches compute the same, or something else, with a condition of any value or a
    constant one.
    """
    for rank, condition, kind, other in product(range(MOST_RANKS + 1), (None, True, False), ("Add", "Multiply"), (2.0, 3.0)):
        graph = Graph()
        value = graph.input((-1,) * rank)
        truth = graph.input((), boolean) if condition is None else graph.op.constant(np.array(condition), boolean)
        op = If.create(
            operands=[truth, value],
            result_types=[tensor((-1,) * rank, f32)],
            properties={"then_inputs": integers_attribute((1,)), "else_inputs": integers_attribute((1,))},
            regions=[Region(_branch(kind, rank, 2.0)), Region(_branch("Add", rank, other))],
        )
        graph.block.add_op(op)
        yield graph.module(op.results[0])
