"""Operations that move elements without computing."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from tests.fuzz.draw import Draw
from tests.fuzz.signature import OUTPUTS, Required, Signature, Values, recipe


@recipe("Concat")
def concat(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    members = []
    for _ in range(draw.integer(1, 4)):
        member = list(shape)
        member[axis] = draw.size()
        members.append(draw.array(signature.dtype("inputs"), member))
    return {"inputs": members, "axis": axis if signature.version > 1 or axis != 1 else 1}


@recipe("Reshape")
def reshape(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    target = list(shape)
    zero = draw.integer(0, 1)
    for _ in range(draw.integer(0, 3)):
        match draw.integer(0, 2):
            case 0 if len(target) > 1:
                place = draw.integer(0, len(target) - 2)
                target[place : place + 2] = [target[place] * target[place + 1]]
            case 1 if len(target) < 6:
                target.insert(draw.integer(0, len(target)), 1)
            case _:
                target = draw.permutation(len(target)) and [target[each] for each in draw.permutation(len(target))]
    unknown = draw.integer(0, len(target) - 1) if target and draw.chance(0.4) else None
    size = int(np.prod(shape))
    for place, each in enumerate(target):
        if place == unknown and size:
            target[place] = -1
        elif not zero and place < len(shape) and each == shape[place] and draw.chance(0.3):
            target[place] = 0
    values = np.array(target, np.int64)
    return {"data": draw.array(signature.dtype(), shape), "shape": values if "shape" in signature.inputs else target, "allowzero": zero}


@recipe("Flatten")
def flatten(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(0 if signature.version >= 9 else 1)
    low = -len(shape) if signature.version >= 11 else 0
    return {"input": draw.array(signature.dtype(), shape), "axis": draw.integer(low, len(shape))}


@recipe("Squeeze")
def squeeze(draw: Draw, signature: Signature) -> Values:
    shape = [1 if draw.chance(0.4) else size for size in draw.shape()]
    units = [axis for axis, size in enumerate(shape) if size == 1]
    kept = [axis - len(shape) if draw.chance(0.3) and signature.version >= 11 else axis for axis in units if draw.chance(0.7)]
    return {"data": draw.array(signature.dtype(), shape), "axes": kept if kept or draw.chance(0.2) else None}


@recipe("Unsqueeze")
def unsqueeze(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(0, 4)
    count = draw.integer(0 if draw.chance(0.1) else 1, 2)
    rank = len(shape) + count
    axes = [axis - rank if draw.chance(0.3) and signature.version >= 11 else axis for axis in draw.permutation(rank)[:count]]
    return {"data": draw.array(signature.dtype(), shape), "axes": axes}


@recipe("Transpose")
def transpose(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    return {"data": draw.array(signature.dtype(), shape), "perm": draw.permutation(len(shape))}


@recipe("Expand")
def expand(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    target = draw.broadcasts_to(shape) if draw.chance(0.3) else shape
    return {"input": draw.array(signature.dtype(), draw.broadcasts_to(shape)), "shape": target}


@recipe("Tile")
def tile(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    repeats = [draw.one_of((0, 1, 1, 2, 3)) for _ in shape]
    axis = draw.integer(0, len(shape) - 1)
    dtype = signature.dtype()
    if signature.version == 1:
        return {"input": draw.array(dtype, shape), "tiles": np.array(2, dtype), "axis": np.array(axis, dtype)}
    return {"input": draw.array(dtype, shape), "repeats": repeats}


@recipe("Pad")
def pad(draw: Draw, signature: Signature) -> Values:
    mode = draw.one_of(("constant", "constant", "reflect", "edge", "wrap") if signature.version >= 19 else ("constant", "reflect", "edge"))
    shape = draw.filled(1) if mode != "constant" else draw.shape(1)
    axes = draw.axes(len(shape), 1) if signature.takes("axes") and draw.chance(0.4) else None
    sizes = [shape[axis] for axis in axes] if axes else shape
    before = [draw.integer(-1, 3) if mode == "constant" else draw.integer(0, max(0, size - 1)) for size in sizes]
    after = [draw.integer(-1, 3) if mode == "constant" else draw.integer(0, max(0, size - 1)) for size in sizes]
    if draw.chance(0.7):
        before, after = [max(0, each) for each in before], [max(0, each) for each in after]
    dtype = signature.dtype()
    values: Values = {"data": draw.array(dtype, shape), "mode": mode}
    if "pads" in signature.inputs:
        values |= {"pads": before + after, "constant_value": draw.array(dtype, [], special=0)}
        # Without axes the pads are for all of them.
        values["axes"] = None if axes is None else Required(np.array(axes, np.int64))
    else:
        values |= {"pads": before + after, "paddings": before + after, "value": draw.one_of((0.0, 1.5, -1.0))}
    return values


@recipe("Slice")
def cut(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    axes = draw.axes(len(shape), 1) if draw.chance(0.7) else list(range(len(shape)))
    if signature.version < 10:
        axes = [axis % len(shape) for axis in axes]
    dtype = draw.one_of((np.int64, np.int32)) if "starts" in signature.inputs else np.int64
    extremes = (
        (2**31 - 1, -(2**31), 2**62, -(2**62))
        if draw.chance(0.3) and signature.version < 11 and dtype == np.int64
        else (2**31 - 1, -(2**31) + 1)
    )
    starts = [draw.integer(-6, 6) if draw.chance(0.8) else draw.one_of(extremes) for _ in axes]
    ends = [draw.integer(-6, 6) if draw.chance(0.8) else draw.one_of(extremes) for _ in axes]
    steps = [draw.one_of((1, 1, 1, 2, 3, -1, -2)) for _ in axes]
    if "starts" in signature.inputs:
        signature.use("starts", dtype)
        required = axes != list(range(len(shape)))
        given = np.array(axes, dtype)
        return {
            "data": draw.array(signature.dtype("data"), shape),
            "starts": starts,
            "ends": ends,
            "steps": steps,
            "axes": Required(given) if required else given,
        }
    return {"data": draw.array(signature.dtype("data"), shape), "starts": starts, "ends": ends, "axes": axes}


@recipe("Split")
def split(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(1)
    axis = draw.axis(len(shape)) if signature.version >= 11 else draw.integer(0, len(shape) - 1)
    count = draw.integer(1, 4)
    values: Values = {"axis": axis, OUTPUTS: count}
    if draw.chance(0.6):
        sizes = draw.integers(count, 0 if draw.chance(0.3) else 1, 3)
        shape[axis] = sum(sizes)
        values["split"] = Required(np.array(sizes, np.int64)) if "split" in signature.inputs else sizes
        values["num_outputs"] = None
    else:
        if signature.version < 18 or draw.chance(0.5):
            shape[axis] = count * draw.integer(1, 2)
        values |= {"num_outputs": count, "split": None}
    return values | {"input": draw.array(signature.dtype("input"), shape)}


@recipe("DepthToSpace")
def depth_to_space(draw: Draw, signature: Signature) -> Values:
    block = draw.integer(1, 3)
    shape = [draw.size(), draw.integer(1, 3) * block**2, draw.size(), draw.size()]
    return {"input": draw.array(signature.dtype(), shape), "blocksize": block}


@recipe("SpaceToDepth")
def space_to_depth(draw: Draw, signature: Signature) -> Values:
    block = draw.integer(1, 3)
    shape = [draw.size(), draw.integer(1, 3), block * draw.integer(1, 3), block * draw.integer(1, 2)]
    return {"input": draw.array(signature.dtype(), shape), "blocksize": block}


@recipe("ReverseSequence")
def reverse_sequence(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(2)
    time = draw.integer(0, 1)
    lengths = draw.between(np.int64, [shape[1 - time]], 1, shape[time])
    return {"input": draw.array(signature.dtype(), shape), "sequence_lens": lengths, "time_axis": time, "batch_axis": 1 - time}


@recipe("Trilu")
def triangle(draw: Draw, signature: Signature) -> Values:
    return {
        "input": draw.array(signature.dtype(), draw.shape(2)),
        "k": np.array(draw.integer(-4, 4), np.int64),
        "upper": draw.integer(0, 1),
    }


@recipe("EyeLike")
def eye(draw: Draw, signature: Signature) -> Values:
    return {"input": draw.array(signature.dtype(), draw.shape(2, 2)), "k": draw.integer(-4, 4)}


@recipe("CenterCropPad")
def crop(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1)
    axes = draw.axes(len(shape), 1) if draw.chance(0.5) else None
    return {"input_data": draw.array(signature.dtype("input_data"), shape), "axes": axes, "shape": draw.integers(len(axes or shape), 1, 6)}


@recipe("Range")
def count(draw: Draw, signature: Signature) -> Values:
    dtype = signature.dtype()
    low = -5 if dtype.kind != "u" else 0
    step = draw.one_of((1, 2, 3) if dtype.kind == "u" else (1, 2, -1, -2, 3))
    scale = 0.5 if dtype.kind not in "iu" and draw.chance(0.5) else 1
    return {
        "start": np.array(draw.integer(low, 6) * scale).astype(dtype),
        "limit": np.array(draw.integer(low, 9)).astype(dtype),
        "delta": np.array(step * scale).astype(dtype),
    }


@recipe("ConstantOfShape")
def constant_of_shape(draw: Draw, signature: Signature) -> Values:
    array = draw.array(np.dtype(draw.one_of((np.float32, np.int64, np.float16, np.bool_, np.uint8, np.float64, np.int32))), [1])
    return {"input": np.array(draw.shape(), np.int64), "value": numpy_helper.from_array(array) if draw.chance(0.8) else None}


@recipe("Constant")
def constant(draw: Draw, signature: Signature) -> Values:
    choices: list[Values] = [{"value": numpy_helper.from_array(draw.array(np.dtype(np.float32), draw.shape()))}]
    if signature.version >= 12:
        choices += [
            {"value_float": 1.5},
            {"value_int": -3},
            {"value_ints": draw.integers(draw.integer(1, 3), -4, 4)},
            {"value_floats": [0.5, -1.0]},
            {"value_string": "abc"},
            {"value_strings": ["a", ""]},
        ]
    chosen = draw.one_of(choices)
    return {name: chosen.get(name) for name in signature.schema.attributes}


@recipe("Identity", "Shape", "Size")
def whole(draw: Draw, signature: Signature) -> Values:
    return {next(iter(signature.inputs)): draw.array(signature.dtype(), draw.shape())}


@recipe("BlackmanWindow", "HammingWindow", "HannWindow")
def window(draw: Draw, signature: Signature) -> Values:
    return {"size": draw.integer(2, 12), "output_datatype": draw.one_of((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE))}
