"""Strings that match a regular expression, by an automaton over their bytes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.moir import Slicing
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.expansions.strings.texts import Texts, flat, int32, matrix, one_by_one, unpacked
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.strings.regular_expressions import UnsupportedExpression, automaton
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

AFTER_END = 256
"""The symbol for columns after the end of a string; it changes no state."""


@onnx.lowers("RegexFullMatch", since=20)
def full_match(node: LoweringNode, op: OpBuilder, x: SSAValue, *, pattern: str) -> SSAValue:
    """onnx.RegexFullMatch(x) {pattern}
    -> opset1.TensorIterator over the columns of bytes: state = opset8.Gather(table, state * 257 + byte)
    """
    try:
        automaton_of_pattern = automaton(pattern)
    except UnsupportedExpression as error:
        node.fail(f"the pattern is not supported: {error}", hint="cut the model before this node")
    states = len(automaton_of_pattern.table)
    table = np.concatenate([automaton_of_pattern.table, np.arange(states, dtype=np.int32)[:, None]], axis=1).reshape(-1)
    strings = unpacked(op, x)
    texts = Texts(flat(op, strings.begins), flat(op, strings.ends), strings.symbols)
    rows, lengths = matrix(op, texts)
    columns = op.Unsqueeze(one_by_one(op, op.Squeeze(op.Gather(op.ShapeOf(rows, output_type=si32), [1], 0), [0])), [0])
    symbols = op.Select(op.Less(columns, op.Unsqueeze(lengths, [1])), rows, int32(AFTER_END))

    def step(inside: OpBuilder, carried: list[SSAValue], slices: list[SSAValue], _: list[SSAValue]) -> Step:
        index = inside.Add(inside.Multiply(carried[0], int32(AFTER_END + 1)), slices[0])
        return Step([inside.Gather(inside.constant(table), index, 0)])

    first = op.Multiply(op.Unsqueeze(lengths, [1]), int32(0))
    (last,) = repeated_steps(op, step, [first], cuts=[Cut(symbols, Slicing(1))])
    matches = op.Gather(op.constant(automaton_of_pattern.accepting), last, 0)
    return op.Reshape(matches, op.ShapeOf(strings.begins), special_zero=False)
