"""Convolutions of parts of the channels, of reordered channels and of parts of space, and groups of channels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.errors import InferenceError
from moir.proofs.families.graph import Graph
from moir.proofs.families.small_graphs import DIVISORS, TERMS, filled

SPATIAL: tuple[tuple[int, ...], ...] = ((3,), (1,), (2, 3), (3, 1))
"""Sizes of one and two spatial dimensions."""


def split_convolutions() -> Iterator[ModuleOp]:
    """Models with convolutions of the parts of a Split that are concatenated, in their order or another one."""
    for count, inputs, outputs, spatial, pad in product((2, 3), (1, 2), (1, 2, 3), SPATIAL, (0, 1)):
        for order in {tuple(range(count)), tuple(range(count))[::-1]}:
            graph = Graph()
            parts = graph.op.Split.results(graph.input((2, count * inputs, *spatial)), 1, num_splits=count)
            results = [
                graph.op.Convolution(
                    parts[index],
                    filled(graph, (outputs, inputs, *[1] * len(spatial)), TERMS, 7 * index),
                    strides=[1 + pad] * len(spatial),
                    dilations=[1] * len(spatial),
                    pads_begin=[pad] * len(spatial),
                    pads_end=[0] * len(spatial),
                )
                for index in order
            ]
            yield graph.module(graph.op.Concat(*results, axis=1))


def reordered_channels() -> Iterator[ModuleOp]:
    """Models with Convolutions, in groups or not, of channels in all orders, with constants of all shapes between
    them.
    """
    for (count, groups), spatial, between in product(((1, 1), (2, 1), (3, 1), (4, 2)), SPATIAL[1:3], ("", "Subtract", "Divide", "both")):
        for order in permutations(range(count)):
            for own in ((count, *[1] * len(spatial)), (), (1, *spatial)) if between else ((),):
                graph = Graph()
                value = graph.op.Gather(graph.input((1, count, *spatial)), np.array(order, np.int64), 1)
                if between in ("Subtract", "both"):
                    value = graph.op.Subtract(value, filled(graph, own, TERMS))
                if between in ("Divide", "both"):
                    value = graph.op.Divide(value, filled(graph, own, DIVISORS))
                shape = (2, count // groups, *[1] * len(spatial))
                filters = filled(graph, (groups, *shape) if groups > 1 else shape)
                kind = graph.op.GroupConvolution if groups > 1 else graph.op.Convolution
                pads = [0] * len(spatial)
                ones = [1] * len(spatial)
                yield graph.module(kind(value, filters, strides=ones, dilations=ones, pads_begin=pads, pads_end=pads))


def convolutions_of_blocks() -> Iterator[ModuleOp]:
    """Models with convolutions between SpaceToBatch and BatchToSpace, with all paddings and crops up to 2 of blocks of
    2 and 3, and a bias, an activation or nothing after them.
    """
    amounts = product(product(range(3), repeat=2), product(range(2), repeat=2))
    for (pads, crops), block, kernel, after in product(amounts, (2, 3), (1, 2), ("", "bias")):
        for rank in (1, 2):
            graph = Graph()
            if rank == 2 and (pads[0] != pads[1] or crops[0] != crops[1]):
                continue
            numbers = [np.array([0, 0, *[each] * rank], np.int64) for each in (*pads, *crops)]
            blocks = np.array([1, 1, *[block] * rank], np.int64)
            try:
                parts = graph.op.SpaceToBatch(graph.input((1, 1, *[3] * rank)), blocks, *numbers[:2])
                filters = graph.input((2, 1, *[kernel] * rank))
                ones, zeros = [1] * rank, [0] * rank
                value = graph.op.Convolution(parts, filters, strides=ones, dilations=ones, pads_begin=zeros, pads_end=zeros)
                if after:
                    value = graph.op.Relu(graph.op.Add(value, filled(graph, (2, *[1] * rank))))
                yield graph.module(graph.op.BatchToSpace(value, blocks, *numbers[2:]))
            except InferenceError:
                continue


def _groups() -> Iterator[tuple[int, int, tuple[int, ...]]]:
    yield from product((1, 2, 3), (1, 2), ((3,), (1, 2)))


def grouped_standardizations() -> Iterator[ModuleOp]:
    """Models with MVN of channels that a Reshape splits into groups, the channels first or last, along all sets of
    axes.
    """
    for (groups, count, spatial), first, batch in product(_groups(), (True, False), (1, 2)):
        if batch > 1 and groups * count > 2:
            continue
        shape = (batch, groups * count, *spatial) if first else (batch, *spatial, groups * count)
        split = (batch, groups, count, *spatial) if first else (batch, *spatial, groups, count)
        for axes in (list(range(2, len(split))), [axis for axis in range(1, len(split)) if axis != len(split) - 2], [1]):
            graph = Graph()
            data = graph.input(shape)
            parts = graph.op.Reshape(data, np.array(split, np.int64), special_zero=False)
            value = graph.op.MVN(parts, np.array(axes, np.int64), eps=0.5, normalize_variance=True, eps_mode="INSIDE_SQRT")
            yield graph.module(graph.op.Reshape(value, np.array(shape, np.int64), special_zero=False))


def _repeated(graph: Graph, statistics: SSAValue, count: int, channels: int, batch: int, rank: int) -> SSAValue:
    """Repeat the statistics [N, groups] of groups for their channels: [N, 1, …, channels].

    Args:
        graph: the graph to build in.
        statistics: the statistics.
        count: the number of channels of a group.
        channels: the number of all channels.
        batch: N.
        rank: the rank of the result.
    """
    wide = graph.op.Unsqueeze(statistics, np.array([2], np.int64))
    wide = graph.op.Broadcast(wide, np.array([batch, channels // count, count], np.int64), mode="numpy")
    return graph.op.Reshape(wide, np.array([batch, *[1] * (rank - 2), channels], np.int64), special_zero=False)


def repeated_statistics() -> Iterator[ModuleOp]:
    """Models with the standardization of groups of the last dimension by their means and variances, which are
    repeated; with and without a limit of the variance and a factor of each channel.
    """
    for (groups, count, spatial), batch, is_whole in product(_groups(), (1, 2), (False, True)):
        if batch > 1 and groups * count > 2:
            continue
        graph = Graph()
        data = graph.input((batch, *spatial, groups * count))
        parts = graph.op.Reshape(data, np.array([batch, *spatial, groups, count], np.int64), special_zero=False)
        axes = np.array([*range(1, len(spatial) + 1), len(spatial) + 2], np.int64)
        mean = graph.op.ReduceMean(parts, axes, keep_dims=False)
        squares = graph.op.ReduceMean(graph.op.Multiply(parts, parts), axes, keep_dims=False)
        variance = graph.op.Subtract(squares, graph.op.Multiply(mean, mean))
        variance = graph.op.Relu(variance) if is_whole else variance
        wide = [_repeated(graph, each, count, groups * count, batch, len(spatial) + 2) for each in (mean, variance)]
        factor = graph.op.Divide(1.0, graph.op.Sqrt(graph.op.Add(wide[1], 0.5)))
        factor = graph.op.Multiply(factor, filled(graph, (groups * count,))) if is_whole else factor
        yield graph.module(graph.op.Multiply(graph.op.Subtract(data, wide[0]), factor))


def affine_groups() -> Iterator[ModuleOp]:
    """Models with a factor or a term of each channel, or one, after GroupNormalization, also with a Transpose
    between.
    """
    for (groups, count, spatial), kind, one, last in product(_groups(), ("Multiply", "Add"), (False, True), (False, True)):
        graph = Graph()
        channels, rank = groups * count, len(spatial) + 2
        affine = [filled(graph, (channels,), TERMS, start) for start in (0, 9)]
        value = graph.op.GroupNormalization(graph.input((2, channels, *spatial)), *affine, num_groups=groups, epsilon=0.5)
        value = graph.op.Transpose(value, [0, *range(2, rank), 1]) if last else value
        own = () if one else (channels,) if last else (channels, *[1] * len(spatial))
        yield graph.module(getattr(graph.op, kind)(value, filled(graph, own, TERMS, 4)))
