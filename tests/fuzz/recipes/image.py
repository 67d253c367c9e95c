"""Operations on images: resizing, sampling, regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Required, Signature, Values, recipe

COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@recipe("Resize")
def resize(draw: Draw, signature: Signature) -> Values:
    # Nothing says how interpolated integers are rounded.
    mode = draw.one_of(("nearest", "linear", "cubic") if signature.dtype("X").kind in "fV" else ("nearest",))
    shape = draw.filled(1, 5) if mode == "nearest" else [draw.integer(1, 2), draw.integer(1, 2), *draw.integers(2, 1, 5)]
    rank = len(shape)
    moved = [axis for axis in range(rank) if draw.chance(0.6)] if mode == "nearest" else list(range(2, rank))
    factors = {axis: draw.one_of((0.5, 2.0, 1.0, 1.5, 0.6, 3.0)) for axis in moved}
    values: dict[str, Any] = {"mode": mode, "X": draw.array(signature.dtype("X"), shape, special=0)}
    if signature.version == 10:
        return values | {"scales": np.array([factors.get(axis, 1.0) for axis in range(rank)], np.float32)}
    where = draw.one_of(COORDINATES[:4]) if draw.chance(0.8) else draw.one_of(COORDINATES)
    named = moved if signature.version >= 18 and moved and draw.chance(0.4) else None
    axes = named if named is not None else list(range(rank))
    values |= {
        "coordinate_transformation_mode": where,
        "nearest_mode": draw.one_of(ROUNDINGS),
        "axes": named,
        "cubic_coeff_a": draw.one_of((-0.75, -0.5)),
        "exclude_outside": int(mode == "cubic" and draw.chance(0.3)),
        "antialias": int(draw.chance(0.15)),
        "keep_aspect_ratio_policy": None,
        "extrapolation_value": draw.one_of((0.0, 1.5)),
    }
    if where == "tf_crop_and_resize":
        region = [draw.one_of((0.0, 0.1)) for _ in axes] + [draw.one_of((1.0, 0.8)) for _ in axes]
        values["roi"] = Required(np.array(region, signature.dtype("roi")))
    elif signature.version == 11:
        values["roi"] = Required(np.zeros(0, signature.dtype("roi")))
    if draw.chance(0.5):
        values["scales"] = Required(np.array([factors.get(axis, 1.0) for axis in axes], np.float32))
    else:
        sizes = [max(1, int(shape[axis] * factors.get(axis, 1.0))) for axis in axes]
        values |= {
            "sizes": Required(np.array(sizes, np.int64)),
            "scales": Required(np.zeros(0, np.float32)) if signature.version == 11 else None,
        }
        if signature.version >= 18 and draw.chance(0.2):
            values["keep_aspect_ratio_policy"] = draw.one_of(("stretch", "not_larger", "not_smaller"))
    return values


@recipe("Upsample")
def upsample(draw: Draw, signature: Signature) -> Values:
    shape = [draw.integer(1, 2), draw.integer(1, 2), *draw.integers(2, 1, 4)]
    factors = [draw.one_of((1.0, 2.0, 1.5, 3.0)) for _ in range(2)]
    values: Values = {
        "X": draw.array(signature.dtype("X"), shape, special=0),
        "mode": draw.one_of(("nearest", "linear") if signature.dtype("X").kind in "fV" else ("nearest",)),
    }
    if signature.version == 1:
        return values | {"height_scale": factors[0], "width_scale": factors[1]}
    scales = [1.0, 1.0, *factors]
    return values | {"scales": np.array(scales, np.float32) if "scales" in signature.inputs else scales}


@recipe("GridSample")
def grid_sample(draw: Draw, signature: Signature) -> Values:
    axes = 2 if signature.version < 20 or draw.chance(0.8) else 3
    modes = (
        ("bilinear", "nearest", "bicubic")
        if signature.version < 20
        else ("linear", "nearest", "cubic")
        if axes == 2
        else ("linear", "nearest")
    )
    if signature.dtype("X").kind not in "fV":
        signature.use("X", np.float32)  # Nothing says how samples of integers are rounded.
    batch = draw.integer(1, 2)
    grid = draw.random.uniform(-1.3, 1.3, (batch, *draw.integers(axes, 1, 4), axes))
    return {
        "X": draw.array(signature.dtype("X"), [batch, draw.integer(1, 3), *draw.integers(axes, 1, 5)], special=0),
        "grid": grid.astype(signature.dtype("grid")),
        "mode": draw.one_of(modes),
        "padding_mode": draw.one_of(("zeros", "border", "reflection")),
    }


@recipe("AffineGrid")
def affine_grid(draw: Draw, signature: Signature) -> Values:
    axes, batch = draw.integer(2, 3), draw.integer(1, 2)
    return {
        "theta": draw.array(signature.dtype("theta"), [batch, axes, axes + 1], special=0),
        "size": [batch, draw.integer(1, 3), *draw.integers(axes, 1, 4)],
    }


def regions(draw: Draw, count: int, size: float) -> np.ndarray:
    """Corners [x1, y1, x2, y2] of boxes within a square."""
    corners = np.sort(draw.random.uniform(0, size, (count, 2, 2)), axis=1)
    return corners.reshape(count, 4)


@recipe("RoiAlign")
def roi_align(draw: Draw, signature: Signature) -> Values:
    batch, count = draw.integer(1, 3), draw.integer(0 if draw.chance(0.1) else 1, 3)
    dtype = signature.dtype("X")
    return {
        "X": draw.array(dtype, [batch, draw.integer(1, 2), *draw.integers(2, 3, 8)], special=0),
        "rois": regions(draw, count, 9).astype(dtype),
        "batch_indices": draw.between(np.int64, [count], 0, batch - 1),
        "coordinate_transformation_mode": draw.one_of(("half_pixel", "output_half_pixel")),
        "mode": draw.one_of(("avg", "max")),
        "output_height": draw.integer(1, 3),
        "output_width": draw.integer(1, 3),
        "sampling_ratio": draw.integer(0, 2),
        "spatial_scale": draw.one_of((1.0, 0.5)),
    }


@recipe("MaxRoiPool")
def max_roi_pool(draw: Draw, signature: Signature) -> Values:
    batch, count = draw.integer(1, 3), draw.integer(1, 3)
    dtype = signature.dtype("X")
    places = draw.random.integers(0, batch, (count, 1))
    return {
        "X": draw.array(dtype, [batch, draw.integer(1, 2), *draw.integers(2, 4, 8)], special=0),
        "rois": np.concatenate([places, np.round(regions(draw, count, 7))], 1).astype(dtype),
        "pooled_shape": draw.integers(2, 1, 3),
        "spatial_scale": draw.one_of((1.0, 0.5)),
    }
