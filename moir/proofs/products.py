"""Sums of products over symbolic sizes: the matrix products of numpy, and convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.proofs.context import guarded, require
from moir.proofs.index_maps import Meaning
from moir.proofs.reductions import reduced
from moir.proofs.scalars import Scalar, UnprovableError, is_term, literal
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, Size, Tensor, broadcast_shape, is_same, own_index


def equal_sizes(a: Size, b: Size) -> Size:
    """The size that two dimensions must share, which becomes a requirement; the static one, if one of them is
    static.
    """
    if not is_same(a, b):
        if isinstance(a, int) and isinstance(b, int):
            raise UnprovableError(f"sizes {a} and {b} differ")
        require(a == b)
    return a if isinstance(a, int) else b


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """The matrix product of two symbolic tensors, as numpy.matmul."""
    inner = equal_sizes(left.shape[-1], right.shape[-2 if right.ndim > 1 else 0])
    batch = broadcast_shape(left.shape[:-2], right.shape[:-2])
    rows, columns = left.shape[-2:-1], right.shape[-1:] if right.ndim > 1 else ()

    def at(index: Index) -> Scalar:
        lead, rest = index[: len(batch)], index[len(batch) :]
        row, column = rest[: len(rows)], rest[len(rows) :]

        def element(inner_index: Index) -> Scalar:
            first = left.at((*own_index(lead, left.shape[:-2], batch), *row, *inner_index))
            second = right.at((*own_index(lead, right.shape[:-2], batch), *inner_index, *column))
            return first * second

        return reduced("add", [inner], element, left.dtype)

    return Tensor((*batch, *rows, *columns), left.dtype, at)


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """The Einstein sum of symbolic tensors, as numpy.einsum, with an output and without an ellipsis."""
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    sizes: dict[str, Size] = {}
    for term, operand in zip(terms, operands, strict=True):
        for label, size in zip(term, operand.shape, strict=True):
            sizes[label] = equal_sizes(sizes[label], size) if label in sizes else size
    summed = [label for label in sizes if label not in output]

    def at(index: Index) -> Scalar:
        kept = dict(zip(output, index, strict=True))

        def element(inner: Index) -> Scalar:
            entries = {**kept, **dict(zip(summed, inner, strict=True))}
            factors = [each.at(tuple(entries[label] for label in term)) for term, each in zip(terms, operands, strict=True)]
            product = factors[0]
            for factor in factors[1:]:
                product = product * factor
            return product

        return reduced("add", [sizes[label] for label in summed], element, operands[0].dtype)

    return Tensor([sizes[label] for label in output], operands[0].dtype, at)


def _padding(op: OpsetOp, rank: int) -> tuple[Sequence[int], Sequence[int]]:
    match op.text("auto_pad"):
        case "explicit":
            return op.integers("pads_begin"), op.integers("pads_end")
        case "valid":
            return (0,) * rank, (0,) * rank
        case mode:
            raise UnprovableError(f"padding of mode {mode}")


def window_count(size: Size, begin: int, end: int, kernel: int, stride: int, dilation: int) -> Size:
    """The number of windows along a dimension of a size.

    Args:
        size: the size.
        begin: the padding before it.
        end: the padding after it.
        kernel: the number of elements of a window.
        stride: the distance of windows.
        dilation: the distance of the elements of a window.
    """
    rest = size + (begin + end - (kernel - 1) * dilation - 1)
    if isinstance(rest, int):
        return rest // stride + 1
    return rest + 1 if stride == 1 else rest / stride + 1


def _convolution(op: OpsetOp, data: Tensor, filters: Tensor) -> Sequence[Tensor]:
    """The convolution of data [N, G · C, spatial…] by filters [G, O, C, spatial…], or [O, C, spatial…] for one
    group.
    """
    grouped = op.KIND == "GroupConvolution"
    strides, dilations = op.integers("strides"), op.integers("dilations")
    begin, end = _padding(op, len(strides))
    lead = 3 if grouped else 2
    kernel = filters.shape[lead:]
    if any(not isinstance(size, int) for size in (*kernel, *filters.shape[: lead - 1])):
        raise UnprovableError("filters of dynamic size")
    channels = filters.shape[lead - 1]
    groups, outputs = (filters.shape[0], filters.shape[1]) if grouped else (1, filters.shape[0])
    equal_sizes(data.shape[1], channels * groups)
    shape = [
        window_count(size, a, b, k, s, d)
        for size, a, b, k, s, d in zip(data.shape[2:], begin, end, kernel, strides, dilations, strict=True)
    ]

    def at(index: Index) -> Scalar:
        batch, channel, position = index[0], index[1], index[2:]
        number, output = (channel / outputs, channel % outputs) if is_term(channel) else divmod(channel, outputs)

        def element(inner: Index) -> Scalar:
            own, offsets = inner[0], inner[1:]
            entries = [p * s + o * d - a for p, s, o, d, a in zip(position, strides, offsets, dilations, begin, strict=True)]
            read = (number * channels + own) if grouped else own
            weight = filters.at((number, output, own, *offsets) if grouped else (channel, own, *offsets))
            sides = [
                side
                for entry, size, a, b in zip(entries, data.shape[2:], begin, end, strict=True)
                if a or b
                for side in (entry >= 0, entry < size)
            ]
            if all(isinstance(side, bool) for side in sides):
                return data.at((batch, read, *entries)) * weight if all(sides) else literal(0, data.dtype)
            is_inside = z3.And(*sides)
            with guarded(is_inside):
                value = data.at((batch, read, *entries))
            return z3.If(is_inside, value, literal(0, data.dtype)) * weight

        return reduced("add", [channels, *kernel], element, data.dtype)

    return (Tensor((data.shape[0], groups * outputs, *shape), data.dtype, at),)


MATRIX_PRODUCTS: dict[str, Callable[..., Tensor]] = {"matmul": matmul, "einsum": einsum}
"""Name of a matrix product -> its implementation for symbolic tensors, which takes the arguments of numpy's function
of that name.
"""

PRODUCTS: dict[str, Meaning] = {"Convolution": _convolution, "GroupConvolution": _convolution}
"""The meaning of the convolutions, by kind."""
