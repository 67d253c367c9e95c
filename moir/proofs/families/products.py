"""Einsums of two operands, and padded convolutions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.errors import InferenceError
from moir.proofs.families.graph import Graph


def einsums() -> Iterator[ModuleOp]:
    """Models with Einsums of two operands with a label of rows, of columns and of the sum, and up to two of the batch,
    for all orders of one operand and of the result.
    """
    for batch in ("", "b", "bc"):
        left, right, output = batch + "ik", batch + "kj", batch + "ij"
        for order in permutations(range(len(left))):
            for result in {output, output[::-1], batch + "ji"}:
                for swapped in (False, True) if len(batch) < 2 else (False,):
                    graph = Graph()
                    term = "".join(left[axis] for axis in order)
                    terms = [term, right][:: -1 if swapped else 1]
                    values = [graph.input((-1,) * len(each)) for each in terms]
                    yield graph.module(graph.op.Einsum(*values, equation=f"{','.join(terms)}->{result}"))


def padded() -> Iterator[ModuleOp]:
    """Models with convolutions of padded data: of one and two dimensions, in groups or not, with and without padding
    of their own, strides and dilations, and padding of channels or with other numbers, which are declined.
    """
    for spatial, stride, dilation, own, amounts in product((1, 2), (1, 2), (1, 2), (0, 1), ((1, 0), (1, 2), (0, 0))):
        for channels, value, grouped in product((0, 1), (0.0, 1.0), (False, True)):
            graph = Graph()
            begin, end = ([0, channels, *[each] * spatial] for each in amounts)
            data = graph.op.Pad(
                graph.input((-1, 2, *(-1,) * spatial)), np.array(begin, np.int64), np.array(end, np.int64), value, pad_mode="constant"
            )
            count = 2 + 2 * channels
            shape = (2, count // 2, 1, *(2,) * spatial) if grouped else (3, count, *(2,) * spatial)
            if grouped:
                shape = (count, 1, 1, *(2,) * spatial)
            filters = graph.input(shape)
            kind = graph.op.GroupConvolution if grouped else graph.op.Convolution
            try:
                yield graph.module(
                    kind(
                        data,
                        filters,
                        strides=[stride] * spatial,
                        dilations=[dilation] * spatial,
                        pads_begin=[own] * spatial,
                        pads_end=[own] * spatial,
                    )
                )
            except InferenceError:
                continue
