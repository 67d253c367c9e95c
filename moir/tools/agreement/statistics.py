"""The agreement of arrays with their references over several samples, as sums, so that the memory does not grow with
the number of samples.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from moir.dialects.element_types import describe, from_numpy
from moir.dialects.memory_map import Array
from moir.support.records import Record


class TensorAgreement(Record):
    """How far a tensor is from its reference.

    Args:
        name: its name.
        type: its type in the last sample, as `f32[1,10]`.
        operation: the operation of the IR that computes it; empty for an output.
        samples: how many samples were compared.
        largest: the largest absolute difference of two elements; infinite if one of them is not finite and the other
            is, None for strings.
        relative: the root of the mean square of the differences, divided by that of the reference; None for strings.
        differing: the share of the elements that differ, for integers, booleans and strings; None for others.
        same_largest: the share of the rows along the last axis whose largest element is at the same index; None where
            there is one element in a row, and for integers and strings.
    """

    name: str
    type: str
    operation: str
    samples: int
    largest: float | None
    relative: float | None
    differing: float | None
    same_largest: float | None


class AgreementOfTensor:
    """The sums, over samples, from which the agreement of one tensor is computed."""

    def __init__(self, name: str, operation: str = "") -> None:
        self._name = name
        self._operation = operation
        self._type = ""
        self._samples = self._elements = self._unequal = 0
        self._rows = self._same_rows = 0
        self._largest = 0.0
        self._differences = self._references = 0.0
        self._is_text = self._is_discrete = False
        self._order: tuple[int, ...] | None = None

    def add(self, actual: Array, expected: Array) -> None:
        """Compare the arrays of a sample. An array whose axes are in another order is transposed: the layout change
        permutes inner tensors. Raises ValueError if the arrays have other sizes.
        """
        if actual.shape != expected.shape:
            actual = self._in_order(actual, expected)
        self._type = f"{describe(from_numpy(expected.dtype)).xml}[{','.join(map(str, expected.shape))}]"
        self._samples += 1
        self._elements += expected.size
        kind = expected.dtype.kind
        if kind in "OUS" or actual.dtype.kind in "OUS":
            self._is_text = True
            self._unequal += sum(_text(a) != _text(b) for a, b in zip(actual.ravel(), expected.ravel(), strict=True))
            return
        a, b = actual.astype(np.float64), expected.astype(np.float64)
        self._is_discrete = kind in "iub"
        with np.errstate(invalid="ignore"):
            # Equal infinities, and NaN in both.
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            apart = np.where(same, 0.0, np.abs(a - b))
        self._unequal += int(np.count_nonzero(~same))
        largest = float(np.max(apart, initial=0.0))
        self._largest = max(self._largest, math.inf if math.isnan(largest) else largest)
        finite = np.isfinite(b)
        self._differences += float(np.sum(np.square(apart, where=finite, out=np.zeros_like(apart))))
        self._references += float(np.sum(np.square(b, where=finite, out=np.zeros_like(b))))
        if not self._is_discrete and b.ndim > 0 and b.shape[-1] > 1 and b.size:
            self._rows += b.size // b.shape[-1]
            self._same_rows += int(np.count_nonzero(a.argmax(axis=-1) == b.argmax(axis=-1)))

    def result(self) -> TensorAgreement:
        """The agreement over all samples so far."""
        share = self._unequal / self._elements if self._elements else 0.0
        relative = math.sqrt(self._differences / self._references) if self._references else math.inf if self._differences else 0.0
        return TensorAgreement(
            self._name,
            self._type,
            self._operation,
            self._samples,
            None if self._is_text else self._largest,
            None if self._is_text else math.inf if math.isinf(self._largest) else relative,
            share if self._is_text or self._is_discrete else None,
            self._same_rows / self._rows if self._rows else None,
        )

    def _in_order(self, actual: Array, expected: Array) -> Array:
        """The array `actual` with its axes in the order of the reference; the permutation is the same for all
        samples.
        """
        if self._order is None and sorted(actual.shape) == sorted(expected.shape):
            orders = [each for each in permutations(range(actual.ndim)) if tuple(actual.shape[axis] for axis in each) == expected.shape]
            self._order = min(orders, key=lambda order: _distance(actual.transpose(order), expected))
        ordered = actual if self._order is None or len(self._order) != actual.ndim else actual.transpose(self._order)
        if ordered.shape != expected.shape:
            raise ValueError(f"the shape is {list(actual.shape)}, not {list(expected.shape)}")
        return ordered


def _distance(actual: Array, expected: Array) -> float:
    if actual.dtype.kind in "OUS" or expected.dtype.kind in "OUS":
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.nansum(np.abs(actual.astype(np.float64) - expected.astype(np.float64))))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
