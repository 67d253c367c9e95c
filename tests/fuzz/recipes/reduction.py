"""Reductions, running sums, sorting."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Signature, Values, recipe


@recipe(
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
def reduction(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    if signature.name in ("ReduceMean", "ReduceMax", "ReduceMin") and draw.chance(0.8):
        shape = [max(1, size) for size in shape]
    dtype = signature.dtype()
    # Sums and products of the largest integers overflow, which is not defined.
    special = 0.1 if dtype.kind == "f" or signature.name in ("ReduceMax", "ReduceMin") else 0
    data = draw.array(dtype, shape, special=special)
    if signature.name == "ReduceLogSumExp":
        # The references compute exponentials that overflow.
        data = np.clip(data, -20, 20) if dtype.kind == "f" else data
    if signature.name == "ReduceLogSum":
        data = np.abs(data)
    axes = np.array(draw.axes(len(shape)), np.int64)
    return {"data": data, "axes": axes if "axes" in signature.inputs else [int(axis) for axis in axes] or None}


@recipe("ArgMax", "ArgMin")
def arguments(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1)
    data = draw.array(signature.dtype(), shape, special=0)
    if draw.chance(0.5):
        data = np.round(data.astype(np.float32)).astype(data.dtype)
    return {"data": data, "axis": draw.axis(len(shape))}


@recipe("CumSum", "CumProd")
def cumulative(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    special = 0 if signature.name == "CumProd" and signature.dtype().kind in "iu" else 0.05
    return {"x": draw.array(signature.dtype(), shape, special), "axis": axis if draw.chance(0.8) else [axis]}


@recipe("TopK")
def largest(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1)
    axis = draw.axis(len(shape))
    count = draw.integer(1 if draw.chance(0.9) else 0, shape[axis])
    # Nothing says where a NaN is sorted.
    data = draw.array(signature.dtype("X"), shape, special=0)
    k = [count] if "K" in signature.inputs else None
    return {"X": data, "K": k, "k": count, "axis": axis, "sorted": 1}


@recipe("Unique")
def unique(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    data = draw.array(signature.dtype(), shape, special=0)
    if data.dtype.kind not in "OUSb":
        # Adding 0 makes -0 a 0, which the references count as another number.
        data = (np.round(data.astype(np.float32)) + 0).astype(data.dtype)
    return {"X": data, "axis": draw.axis(len(shape)) if draw.chance(0.5) else None}


@recipe("NonZero")
def nonzero(draw: Draw, signature: Signature) -> Values:
    data = draw.array(signature.dtype(), draw.shape())
    zero = np.array("" if data.dtype.kind == "O" else 0, data.dtype)
    return {"X": np.where(draw.random.random(data.shape) < 0.4, zero, data).astype(data.dtype)}


@recipe("Hardmax", "Softmax", "LogSoftmax", "LpNormalization")
def along_an_axis(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    return {"input": draw.array(signature.dtype(), shape, special=0.05), "axis": draw.axis(len(shape)), "p": draw.integer(1, 2)}
