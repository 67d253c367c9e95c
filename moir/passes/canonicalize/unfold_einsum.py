"""`unfold-einsum`: an Einsum of two operands that is a matrix product becomes one.

    %q = opset7.Einsum(%x, %w) {equation = "abc,cde->abde"}    // %w: a constant [64, 4, 16]
->  %0 = opset1.MatMul(%x, %w as [64, 64])
    %q = opset1.Reshape(%0, [0, 0, 4, 16])

    %s = opset7.Einsum(%k, %q) {equation = "aecd,abcd->acbe"}
->  %0 = opset1.Transpose(%q, [0, 2, 1, 3])                    // [a, c, b, d]
    %1 = opset1.Transpose(%k, [0, 2, 3, 1])                    // [a, c, d, e]
    %s = opset1.MatMul(%0, %1)

Then Transposes cancel, attention is recognised, and weights can be compressed. In a product of two computed values each
operand has one label of its own, and one label is summed over. A product with a constant stays where data or result
would have to be transposed, unless another Transpose produces the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import FLOATS, values_of, weight_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.matrix import ELLIPSIS, Einsum, Equation
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.support.records import Record


class Labels(Record):
    """The labels of a product: those of both operands and of the result, in the order in which the result has them.

    `rows` are only in the first operand, `columns` only in the second one, and both have the `summed` ones.
    """

    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    summed: tuple[str, ...]


def labels_of(terms: Sequence[tuple[str, ...]], output: tuple[str, ...]) -> Labels | None:
    """The labels of an equation by their roles, given those of its terms and of its result.

    Returns None if it is not a product of two operands with a sum.
    """
    if any(ELLIPSIS in term or len(set(term)) < len(term) for term in (*terms, output)):
        return None
    left, right = terms
    common = [label for label in left if label in right]
    labels = Labels(
        tuple([label for label in output if label in common]),
        tuple([label for label in output if label not in right]),
        tuple([label for label in output if label not in left]),
        tuple([label for label in common if label not in output]),
    )
    is_complete = {*labels.batch, *labels.rows, *labels.summed} == {*left} and {*labels.batch, *labels.columns, *labels.summed} == {*right}
    return labels if is_complete and labels.rows and labels.columns and labels.summed else None


def arranged(op: OpBuilder, value: SSAValue, present: Sequence[str], wanted: Sequence[str]) -> SSAValue:
    """Transpose a value whose dimensions have the labels `present` so that they are in the order of `wanted`."""
    return op.transposed(value, [list(present).index(label) for label in wanted])


def product_with_weight(op: OpBuilder, data: SSAValue, weight: SSAValue, terms: Sequence[Sequence[str]], labels: Labels) -> SSAValue:
    """Build the product of data and a constant as a MatMul; the result has the labels of rows and then of columns.

    Args:
        op: the builder.
        data: the data, whose first labels are the rows.
        weight: the constant.
        terms: the labels of data and of the weight.
        labels: which labels are rows, columns and summed.
    """
    sizes: dict[str, int] = dict(zip(terms[1], shape_of(weight) or (), strict=True))
    rows, left = [0] * len(labels.rows), data
    right = arranged(op, weight, terms[1], (*labels.summed, *labels.columns))
    if len(labels.summed) > 1:
        left = op.Reshape(left, [*rows, -1], special_zero=True)
    if len(terms[1]) > 2:
        size = [prod(sizes[label] for label in several) for several in (labels.summed, labels.columns)]
        values = values_of(right)
        right = op.Reshape(right, size, special_zero=False) if values is None else op.constant(values.reshape(size), element_of(right))
    product = op.MatMul(left, right)
    return (
        op.Reshape(product, [*rows, *(sizes[label] for label in labels.columns)], special_zero=True) if len(labels.columns) > 1 else product
    )


def sizes_of(terms: Sequence[Sequence[str]], operands: Sequence[SSAValue], labels: Sequence[str]) -> Iterator[set[int]]:
    """For each of `labels`, the set of sizes that the operands, whose labels are `terms`, have there; -1 if dynamic."""
    for label in labels:
        yield {(shape_of(operand) or ())[term.index(label)] for term, operand in zip(terms, operands, strict=True)}


class MatrixProduct(Pattern):
    """Replaces an Einsum of two operands that is a matrix product by a MatMul, with Transposes and Reshapes where
    needed.
    """

    roots = (Einsum,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Einsum)
        equation = Equation.parse(op.text("equation"))
        terms, operands = list(equation.inputs), list(op.operands)
        if len(terms) != 2 or element_of(op.results[0]) not in FLOATS:
            return
        if any(rank_of(operand) != len(term) for operand, term in zip(operands, terms, strict=True)):
            return
        # MatMul puts rows before columns, so the operand with the last label of the result, or a weight, has to be the
        # second one.
        is_constant = [weight_of(operand) is not None for operand in operands]
        if is_constant[0] or (not is_constant[1] and equation.output and equation.output[-1] not in terms[1]):
            terms.reverse()
            operands.reverse()
        labels = labels_of(terms, equation.output)
        if labels is None:
            return
        # A dynamic dimension may differ from a 1; it is assumed to equal any other size.
        if any(len(sizes) > 1 and (1 in sizes or -1 not in sizes) for sizes in sizes_of(terms, operands, labels.summed)):
            rewriter.decline("a dimension of 1 is repeated along the sum")
            return
        if weight_of(operands[1]) is not None and not labels.batch:
            wanted = (*labels.rows, *labels.summed)
            # A Transpose of the data merges with another one.
            is_arranged = terms[0] == wanted or (isinstance(operands[0].owner, Transpose) and has_one_live_use(operands[0]))
            if not is_arranged or equation.output != (*labels.rows, *labels.columns):
                rewriter.decline("data or result would have to be transposed")
                return
            data = arranged(rewriter.op, operands[0], terms[0], wanted)
            value = product_with_weight(rewriter.op, data, operands[1], (wanted, terms[1]), labels)
        elif len(labels.rows) == len(labels.columns) == len(labels.summed) == 1 and labels.batch:
            left = arranged(rewriter.op, operands[0], terms[0], (*labels.batch, *labels.rows, *labels.summed))
            right = arranged(rewriter.op, operands[1], terms[1], (*labels.batch, *labels.summed, *labels.columns))
            value = rewriter.op.MatMul(left, right)
        else:
            return
        order = (*labels.batch, *labels.rows, *labels.columns)
        rewriter.replace_with(op, arranged(rewriter.op, value, order, equation.output))


class UnfoldEinsumPass(PatternPass):
    """Writes products of Einsum as MatMul."""

    name = "unfold-einsum"

    KEEPS_DIMENSIONS: ClassVar[bool] = True

    PATTERNS = (MatrixProduct,)
