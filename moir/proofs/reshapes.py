"""Reshapes of symbolic tensors: an index is split into digits, and merged from digits, of mixed radix.

    [a, b, c] -> [a · b, c]     the index k of the first dimension has the digits (k // b, k % b)

An index that was merged from digits is remembered, so that a Reshape back gives the digits themselves, without a
division that a solver would have to reason about.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from moir.proofs.context import require
from moir.proofs.scalars import Scalar, UnprovableError, is_term
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, Size, Tensor, is_same
from moir.proofs.term_tables import TermTable

_DIGITS: TermTable[list[tuple[Any, Size]]] = TermTable()
"""The digits of which an index was merged, by the index."""

_WHOLES: TermTable[Any] = TermTable()
"""The index that was divided into digits, by the digits."""

_ORIGINS: TermTable[tuple[Any, Size, bool]] = TermTable()
"""For each digit: the index that was divided, the product of the radices after the digit, and whether the digit is the
first.
"""

_PRODUCTS: TermTable[Size] = TermTable()


def product_of(sizes: Sequence[Size]) -> Size:
    """The product of sizes, simplified."""
    known = _PRODUCTS.get(*sizes)
    if known is None:
        total = reduce(lambda a, b: a * b, sizes, 1)
        known = _PRODUCTS.put(z3.simplify(total, som=True) if is_term(total) else total, *sizes)
    return known


def digits_of(entry: Any, size: Size) -> list[tuple[Any, Size]]:
    """The digits of an index below a size, each with its radix; the index itself as the only digit if it was not
    merged.
    """
    kept = _DIGITS.get(entry)
    return [(entry, size)] if kept is None else kept


def linear(digits: Sequence[tuple[Any, Size]]) -> Any:
    """The index with given pairs of digit and radix, the most significant one first; 0 without digits."""
    digits = [(entry, size) for entry, size in digits if not (isinstance(size, int) and size == 1)]
    if not digits:
        return 0
    if len(digits) == 1:
        return digits[0][0]
    merged = _one_digit(digits)
    if merged is not None:
        return merged
    total = digits[0][0]
    for entry, size in digits[1:]:
        total = total * size + entry
    if is_term(total):
        _DIGITS.put(list(digits), total)
    return total


def _one_digit(digits: Sequence[tuple[Any, Size]]) -> Any:
    """Adjacent digits of one index merged into one digit of it; None if they are digits of several indices, or not
    adjacent.
    """
    origins = [_ORIGINS.get(entry) for entry, _ in digits]
    known = [each for each in origins if each is not None]
    if len(known) < len(origins) or any(not known[0][0].eq(each[0]) for each in known):
        return None
    for above, below, (_, size) in zip(known, known[1:], digits[1:], strict=False):
        if not is_same(above[1], product_of([below[1], size])):
            return None
    base, _, is_first = known[0]
    stride = known[-1][1]
    digit = base if isinstance(stride, int) and stride == 1 else base / stride
    if not is_first:
        digit = digit % product_of([size for _, size in digits])
    if digit is not base:
        _ORIGINS.put((base, stride, is_first), digit)
    return digit


def merged_index(entry: Any, sizes: Sequence[Size]) -> list[Any]:
    """The digits of an index below the product of `sizes`, one for each size."""
    return _distributed(digits_of(entry, product_of(sizes)), sizes)


def _distributed(digits: list[tuple[Any, Size]], sizes: Sequence[Size]) -> list[Any]:
    """The indices of an element after a reshape to `sizes`.

    Args:
        digits: the digits of its indices before, each with its radix.
        sizes: the shape after the reshape.
    """
    digits = [pair for each in digits for pair in digits_of(*each) if not (isinstance(pair[1], int) and pair[1] == 1)]
    kept = _WHOLES.get(*(entry for entry, _ in digits))
    if kept is not None:
        digits = digits_of(kept, product_of([size for _, size in digits]))
    result: list[Any] = []
    pending = list(digits)
    for number, size in enumerate(sizes):
        if isinstance(size, int) and size == 1:
            result.append(0)
            continue
        taken: list[tuple[Any, Size]] = []
        matched = False
        for end in range(1, len(pending) + 1):
            taken = pending[:end]
            if is_same(product_of([radix for _, radix in taken]), size):
                result.append(linear(taken))
                pending = pending[end:]
                matched = True
                break
        if not matched:
            return result + _divided(linear(pending), sizes[number:])
    return result


def _divided(entry: Any, sizes: Sequence[Size]) -> list[Any]:
    """The digits of an index, one for each of `sizes`, by division and remainder.

    If the index is itself a digit, they are computed from the index that it is a digit of.
    """
    base, stride, is_first = _ORIGINS.get(entry) or (entry, 1, True)
    result: list[Any] = []
    for number, size in enumerate(sizes):
        if isinstance(size, int) and size == 1:
            result.append(0)
            continue
        rest: Any = product_of([stride, *sizes[number + 1 :]])
        first = is_first and not any(not (isinstance(each, int) and each == 1) for each in sizes[:number])
        if isinstance(rest, int) and rest == 1:
            digit: Any = base
        else:
            digit = base // rest if isinstance(base, int) and isinstance(rest, int) else base / rest
        digit = digit if first else digit % size
        if is_term(digit):
            _ORIGINS.put((base, rest, first), digit)
        result.append(digit)
    kept = [each for each, size in zip(result, sizes, strict=True) if not (isinstance(size, int) and size == 1)]
    if is_term(entry):
        _WHOLES.put(entry, *kept)
    return result


def groups_of(source: Sequence[Size], target: Sequence[Size]) -> list[tuple[range, range]]:
    """The smallest runs of dimensions of two shapes with equal products.

    Raises UnprovableError if the shapes have no equal products.
    """
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        lengths = sorted(((a, b) for a in range(len(source) - i + 1) for b in range(len(target) - j + 1) if a + b), key=sum)
        for a, b in lengths:
            if is_same(product_of(source[i : i + a]), product_of(target[j : j + b])):
                groups.append((range(i, i + a), range(j, j + b)))
                i, j = i + a, j + b
                break
        else:
            raise UnprovableError(f"a Reshape of {list(source)} to {list(target)}")
    return groups


def target_shape(source: Sequence[Size], entries: Sequence[Any], special_zero: bool) -> list[Size]:
    """The shape that the target `entries` of a Reshape denotes for data of the shape `source`.

    With `special_zero`, 0 copies a dimension of the data; -1 is the rest. Requires equal numbers of elements.
    """
    target = [source[axis] if special_zero and isinstance(entry, int) and entry == 0 else entry for axis, entry in enumerate(entries)]
    if not any(isinstance(entry, int) and entry == -1 for entry in target):
        if not is_same(product_of(source), product_of(target)):
            require(product_of(source) == product_of(target))
        return target
    rest = target.index(next(entry for entry in target if isinstance(entry, int) and entry == -1))
    others = target[:rest] + target[rest + 1 :]
    target[rest] = _quotient(list(source), list(others))
    return target


def _quotient(source: list[Size], others: list[Size]) -> Size:
    """The product of the sizes `source` divided by the product of `others`; a quotient without remainder is
    required.
    """
    for size in list(others):
        for axis, own in enumerate(source):
            if is_same(size, own):
                del source[axis]
                others.remove(size)
                break
    if any(not isinstance(size, int) for size in others):
        raise UnprovableError("a Reshape whose dimension of -1 is not a product of the input's dimensions")
    divisor = product_of(others)
    for axis, own in enumerate(source):
        if isinstance(own, int) and divisor > 1 and own % divisor == 0:
            source[axis], divisor = own // divisor, 1
    total = product_of(source)
    if divisor == 1:
        return total
    if isinstance(total, int):
        return total // divisor
    require(total % divisor == 0)
    return total / divisor


def reshape(data: Tensor, entries: Sequence[Any], special_zero: bool) -> Tensor:
    """The elements of data in the shape that the target `entries` of a Reshape denotes, see `target_shape`."""
    shape = target_shape(data.shape, entries, special_zero)
    try:
        groups = groups_of(data.shape, shape)
    except UnprovableError:
        groups = [(range(data.ndim), range(len(shape)))]

    def at(index: Index) -> Scalar:
        own: list[Any] = [0] * data.ndim
        for old, new in groups:
            digits = [(index[axis], shape[axis]) for axis in new]
            for axis, entry in zip(old, _distributed(digits, [data.shape[axis] for axis in old]), strict=True):
                own[axis] = entry
        return data.at(tuple(own))

    return Tensor(shape, data.dtype, at)
