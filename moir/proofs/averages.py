"""Means of windows of static sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.proofs.index_maps import Meaning
from moir.proofs.products import window_count
from moir.proofs.scalars import Scalar, UnprovableError, is_term
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, Tensor


def _average(op: OpsetOp, data: Tensor) -> Sequence[Tensor]:
    """The mean of the elements of each window, or their sum divided by the size of the window where padding counts."""
    kernel, strides = op.integers("kernel"), op.integers("strides")
    dilations = (op.integers("dilations") if "dilations" in op.properties else ()) or (1,) * len(kernel)
    if op.text("auto_pad") != "explicit" or op.text("rounding_type") != "floor":
        raise UnprovableError(f"{op.name} with automatic padding, or another rounding of sizes")
    begin, end = op.integers("pads_begin"), op.integers("pads_end")
    sizes = data.shape[2:]
    counts = [window_count(*each) for each in zip(sizes, begin, end, kernel, strides, dilations, strict=True)]

    def at(index: Index) -> Scalar:
        if any(is_term(entry) for entry in (*index[2:], *sizes)):
            raise UnprovableError("the mean of a window that is not known")
        lines = [
            [entry for offset in range(length) if 0 <= (entry := position * stride + offset * dilation - pad) < size]
            for position, stride, length, dilation, pad, size in zip(index[2:], strides, kernel, dilations, begin, sizes, strict=True)
        ]
        elements = [data.at((*index[:2], *entries)) for entries in product(*lines)]
        number = len(elements) if op.flag("exclude-pad") else prod(kernel)
        return reduce(lambda a, b: a + b, elements, z3.Q(0, 1)) / z3.Q(number, 1)

    return (Tensor((*data.shape[:2], *counts), data.dtype, at),)


AVERAGES: dict[str, Meaning] = {"AvgPool": _average}
"""The meaning of means of windows, by kind."""
