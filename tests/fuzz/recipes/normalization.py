"""Normalisations."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.signature import OUTPUTS, Signature, Values, recipe


@recipe("BatchNormalization")
def batch(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(2)
    names = list(signature.inputs)
    dtypes = {name: signature.dtype(name) for name in names}
    values: Values = {names[0]: draw.array(dtypes[names[0]], shape, special=0)}
    values |= {name: draw.array(dtypes[name], shape[1:2], special=0) for name in names[1:4]}
    values[names[4]] = draw.positive(dtypes[names[4]], shape[1:2])
    return values | {"training_mode": 0, "is_test": 1, "spatial": 1, "consumed_inputs": [0, 0, 0, 1, 1], OUTPUTS: 1}


@recipe("InstanceNormalization", "GroupNormalization")
def channels(draw: Draw, signature: Signature) -> Values:
    groups = draw.integer(1, 3)
    shape = [draw.integer(1, 3), groups * draw.integer(1, 3), *draw.filled(1, 3)]
    first, scale, bias = signature.inputs
    dtype = signature.dtype()
    count = groups if signature.name == "GroupNormalization" and signature.version < 21 else shape[1]
    return {
        first: draw.array(dtype, shape, special=0),
        scale: draw.array(dtype, [count], special=0),
        bias: draw.array(dtype, [count], special=0),
        "num_groups": groups,
        "consumed_inputs": None,
    }


@recipe("LayerNormalization", "RMSNormalization")
def layer(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1, 4)
    axis = draw.axis(len(shape))
    names = list(signature.inputs)
    scale = shape[axis:] if draw.chance(0.8) else draw.broadcasts_to(shape[axis:])
    values: Values = {names[0]: draw.array(signature.dtype(names[0]), shape, special=0), "axis": axis}
    return values | {name: draw.array(signature.dtype(name), scale, special=0) for name in names[1:]}


@recipe("LRN")
def across_channels(draw: Draw, signature: Signature) -> Values:
    shape = [draw.integer(1, 3), draw.integer(1, 6), *draw.filled(1, 2)]
    return {
        "X": draw.array(signature.dtype(), shape, special=0),
        "size": draw.integer(1, 5),
        "alpha": draw.one_of((1e-4, 0.5)),
        "beta": draw.one_of((0.75, 0.5)),
        "bias": draw.one_of((1.0, 2.0)),
    }


@recipe("MeanVarianceNormalization")
def mean_variance(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(4, 4)
    return {"X": draw.array(signature.dtype(), shape, special=0), "axes": sorted(draw.permutation(4)[: draw.integer(1, 4)])}
