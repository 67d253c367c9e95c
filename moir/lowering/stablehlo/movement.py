"""Permutations, concatenation and reversal."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

LAST = 2**31 - 1


@stablehlo.lowers("transpose")
def transpose(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, permutation: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.transpose(x) {permutation} -> opset1.Transpose(x, permutation)"""
    if sorted(permutation) != list(range(node.known_rank(0))):
        node.fail(f"{list(permutation)} does not list each of the {node.known_rank(0)} dimensions once")
    return op.transposed(operand, list(permutation))


@stablehlo.lowers("concatenate")
def concatenate(op: OpBuilder, input: SSAValue, *further: SSAValue, dimension: int = 0) -> SSAValue:
    """stablehlo.concatenate(x…) {dimension} -> opset1.Concat(x…)"""
    return op.Concat(input, *further, axis=dimension) if further else input


@stablehlo.lowers("reverse")
def reverse(op: OpBuilder, operand: SSAValue, *, dimensions: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.reverse(x) {dimensions} -> opset8.Slice(x) with steps of -1"""
    count = len(dimensions)
    return op.Slice(operand, [-1] * count, [-(2**31)] * count, [-1] * count, list(dimensions)) if count else operand
