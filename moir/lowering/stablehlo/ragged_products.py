"""Matrix products in which the indices along one (ragged) dimension form groups, each with its own matrix.

    %y = chlo.ragged_dot(%x [m, k], %w [g, k, n], %sizes [g])    the first rows times %w[0], the following ones times
                                                                 %w[1], …
-> the products of all rows with all matrices, summed over g where g is the group of the row

Sources: CHLO's definition of ragged_dot (openxla/stablehlo, ChloOps.td); `jax.lax.ragged_dot_general`.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.matrix import LETTERS
from moir.expansions.grouped_products import group_of_each, select_groups
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.shape import result_element
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record


class RaggedTerms(Record):
    """A letter, as in an Einsum's equation, for each axis of the operands; batch and contracting dimensions have equal
    letters.

    Args:
        lhs: the letters of the first operand.
        rhs: the letters of the second operand, including `group` if it has an axis of groups.
        batch: the letters of the batch dimensions.
        contracting: the letters of the dimensions that are summed over.
        ragged: the letter of the ragged dimension.
        group: the letter of the groups.
    """

    lhs: str
    rhs: str
    batch: str
    contracting: str
    ragged: str
    group: str

    def result(self, group: str) -> str:
        """The letters of the result, of which `group` is the first."""
        free = [letter for letter in self.lhs + self.rhs if letter not in self.batch + self.contracting + self.group]
        return group + self.batch + "".join(free)

    def prefix(self) -> str:
        """The letters of the dimensions that the group sizes may have before the axis of groups.

        These are the batch dimensions, and dimensions before the ragged one in the first operand: the contracting ones
        if the ragged one is contracting, else the others.
        """
        if self.ragged in self.contracting:
            return self.batch + self.contracting[: self.contracting.index(self.ragged)]
        before = self.lhs[: self.lhs.index(self.ragged)]
        return self.batch + "".join(letter for letter in before if letter not in self.batch + self.contracting)


def terms_of(node: LoweringNode) -> RaggedTerms:
    """The einsum letters of a ragged_dot's axes. Raises ConversionError for dimension numbers that do not fit the
    operands.
    """
    spare = iter(LETTERS)
    terms = [[""] * node.known_rank(index) for index in (0, 1)]
    shared: dict[str, str] = {}
    for what in ("batching", "contracting"):
        sides = [node.integers(f"{side}_{what}_dimensions", ()) for side in ("lhs", "rhs")]
        if len(sides[0]) != len(sides[1]):
            node.fail(f"its {what} dimensions {list(sides[0])} and {list(sides[1])} differ in number")
        shared[what] = ""
        for axes in zip(*sides, strict=True):
            letter = next(spare)
            shared[what] += letter
            for term, axis in zip(terms, axes, strict=True):
                _set(node, term, axis, letter)
    group = next(spare)
    for axis in node.integers("rhs_group_dimensions", ()):
        _set(node, terms[1], axis, group)
    for term in terms:
        term[:] = [letter or next(spare) for letter in term]
    ragged = node.integers("lhs_ragged_dimensions")
    if len(ragged) != 1 or not 0 <= ragged[0] < len(terms[0]):
        node.fail(f"its ragged dimensions are {list(ragged)}, not one axis of its first operand")
    return RaggedTerms("".join(terms[0]), "".join(terms[1]), shared["batching"], shared["contracting"], terms[0][ragged[0]], group)


def _set(node: LoweringNode, term: list[str], axis: int, letter: str) -> None:
    if not 0 <= axis < len(term) or term[axis]:
        node.fail(f"dimension {axis} of an operand is not there, or used twice")
    term[axis] = letter


def _aligned(op: OpBuilder, value: SSAValue, letters: str, wanted: str) -> SSAValue:
    """A value with axes named by `letters`, transposed and unsqueezed to the axes `wanted`; axes that it lacks have
    size 1.
    """
    own = [letter for letter in wanted if letter in letters]
    order = [letters.index(letter) for letter in own]
    moved = value if order == sorted(order) else op.Transpose(value, order)
    missing = [axis for axis, letter in enumerate(wanted) if letter not in letters]
    return op.Unsqueeze(moved, missing) if missing else moved


@stablehlo.lowers("chlo.ragged_dot")
def ragged_dot(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue, group_sizes: SSAValue) -> SSAValue:
    """stablehlo.chlo.ragged_dot(x, w, sizes) -> opset7.Einsum, of which the products with the matrix of another group
    are left out

    A ragged dimension that is not summed over selects a matrix for each index; indices behind the last group give 0.
    One that is summed over gives a product for each group, stacked along a new first axis. One that is a batch
    dimension changes nothing.
    """
    terms = terms_of(node)
    element = result_element(node)
    x, w = op.convert(lhs, element), op.convert(rhs, element)
    if terms.ragged in terms.batch:
        return op.Einsum(x, w, equation=f"{terms.lhs},{terms.rhs}->{terms.result('')}")
    ends = op.CumSum(op.convert(group_sizes, si64), op.constant(-1))
    is_member = group_of_each(op, ends, lhs, terms.lhs.index(terms.ragged))
    rank = node.known_rank(2)
    prefix = terms.prefix() if rank > 1 else ""
    if rank != len(prefix) + 1:
        node.fail(f"its sizes of groups have rank {rank}; {len(terms.prefix())} dimensions come before the ragged one")
    letters = prefix + terms.group + terms.ragged
    result = terms.result(terms.group)
    if terms.ragged not in terms.contracting:
        if terms.group not in terms.rhs:
            node.fail("its second operand has no dimension of groups")
        products = op.Einsum(x, w, equation=f"{terms.lhs},{terms.rhs}->{result}")
        return select_groups(op, products, _aligned(op, is_member, letters, result))
    sides: list[SSAValue] = []
    for value, term in ((x, terms.lhs), (w, terms.rhs)):
        mask = _aligned(op, is_member, letters, terms.group + term)
        sides.append(op.Select(mask, op.Unsqueeze(value, [0]), op.constant_like(0, value)))
    return op.Einsum(*sides, equation=f"{terms.group}{terms.lhs},{terms.group}{terms.rhs}->{result}")
