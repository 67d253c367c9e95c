"""Products over any dimensions: their equations, and element types in which sums are computed wider."""

from __future__ import annotations

from collections.abc import Sequence

from moir.dialects.opset.matrix import LETTERS
from moir.lowering.binder import LoweringNode


def equation_of(node: LoweringNode, ranks: Sequence[int], names: tuple[str, str] = ("batch", "contracting")) -> str:
    """The einsum equation of a node's dimension numbers: rows [0] and columns [1] summed over the other axis are
    "ab,cb->ac".

    `ranks` are those of both operands, `names` the names of the attributes with the batch and the contracting
    dimensions.
    """
    spare = iter(LETTERS)
    terms = [[""] * rank for rank in ranks]
    output: list[str] = []
    for what in names:
        sides = [node.integers(f"{side}_{what}_dimensions", ()) for side in ("lhs", "rhs")]
        if len(sides[0]) != len(sides[1]):
            node.fail(f"its {what} dimensions {list(sides[0])} and {list(sides[1])} differ in number")
        for axes in zip(*sides, strict=True):
            letter = next(spare)
            for term, axis in zip(terms, axes, strict=True):
                if not 0 <= axis < len(term) or term[axis]:
                    node.fail(f"dimension {axis} of an operand is not there, or used twice")
                term[axis] = letter
            output += letter if what == names[0] else ""
    for term in terms:
        for axis, letter in enumerate(term):
            if not letter:
                term[axis] = next(spare)
                output.append(term[axis])
    return f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(output)}"
