"""Products over any dimensions: their equation, and the element types that are widened."""

from __future__ import annotations

from collections.abc import Sequence

from moir.dialects.element_types import boolean, si8, ui8
from moir.dialects.opset.matrix import LETTERS
from moir.lowering.binder import LoweringNode

WIDENED = (boolean, si8, ui8)
"""Element types whose products are computed in 32 bits, because the runtime saturates 8-bit sums."""


def equation_of(node: LoweringNode, ranks: Sequence[int], names: tuple[str, str] = ("batch", "contracting")) -> str:
    """The equation of the dimension numbers: rows [0] and columns [1] summed over the other axis are "ab,cb->ac".

    `names` are the names of the attributes with the batch and the contracting dimensions.
    """
    spare = iter(LETTERS)
    terms = [[""] * rank for rank in ranks]
    output: list[str] = []
    for what in names:
        sides = [node.integers(f"{side}_{what}_dimensions", ()) for side in ("lhs", "rhs")]
        if len(sides[0]) != len(sides[1]):
            node.fail(f"its {what} dimensions {list(sides[0])} and {list(sides[1])} are not equally many")
        for places in zip(*sides, strict=True):
            letter = next(spare)
            for term, place in zip(terms, places, strict=True):
                if not 0 <= place < len(term) or term[place]:
                    node.fail(f"dimension {place} of an operand is not there, or used twice")
                term[place] = letter
            output += letter if what == names[0] else ""
    for term in terms:
        for place, letter in enumerate(term):
            if not letter:
                term[place] = next(spare)
                output.append(term[place])
    return f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(output)}"
