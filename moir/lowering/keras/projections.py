"""Products of the last dimensions of a tensor with the first ones of a kernel."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder


def summed_dimensions(terms: list[str]) -> int:
    """The number of dimensions that an Einstein sum contracts, given its terms.

    0 unless they are the last ones of the first term and the first ones of the second.
    """
    data, weights, result = (term.replace("...", ".") for term in terms)
    count = next((count for count in range(len(data), 0, -1) if data[-count:] == weights[:count]), 0)
    return count if result == data[:-count] + weights[count:] else 0


def projected(op: OpBuilder, x: SSAValue, kernel: SSAValue, count: int) -> SSAValue | None:
    """The product of the last `count` dimensions of x with the first ones of a kernel; None if a rank or a size of the
    kernel is dynamic.
    """
    rank, kernel_rank = rank_of(x), rank_of(kernel)
    if rank is None or kernel_rank is None:
        return None
    sizes = list(shape_of(kernel) or ())
    outer = rank - count
    if outer < 1 or min(sizes, default=0) < 1:
        return None
    if count > 1 or kernel_rank - count != 1:
        kernel = op.Reshape(kernel, [prod(sizes[:count]), prod(sizes[count:])], special_zero=False)
    if count > 1:
        x = op.Reshape(x, [*(0,) * outer, prod(sizes[:count])], special_zero=True)
    product = op.MatMul(x, kernel, transpose_a=False, transpose_b=False)
    if kernel_rank - count == 1:
        return product
    return op.Reshape(product, [*(0,) * outer, *sizes[count:]], special_zero=True)
