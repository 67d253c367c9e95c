"""Resizing, sampling and colours of images in TensorFlow against TensorFlow itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

raw = tf.raw_ops

RNG = np.random.default_rng(0)
IMAGE = RNG.random((2, 6, 7, 3), np.float32)
COORDINATES: list[dict[str, bool]] = [{}, {"align_corners": True}, {"half_pixel_centers": True}]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("size", [(12, 9), (3, 4), (1, 13)])
def test_resizing(size: tuple[int, int], coordinates: dict[str, bool]) -> None:
    check(
        lambda x: (
            raw.ResizeBilinear(images=x, size=size, **coordinates),
            raw.ResizeNearestNeighbor(images=x, size=size, **coordinates),
        ),
        {"x": IMAGE},
        operations=2,
    )


def test_resizing_to_a_computed_size() -> None:
    check(
        lambda x: (raw.ResizeBilinear(images=x, size=tf.shape(x)[1:3] * 2), raw.ResizeNearestNeighbor(images=x, size=tf.shape(x)[1:3] * 3)),
        {"x": IMAGE},
        forms=("static", "dynamic"),
        operations=2,
    )


@pytest.mark.parametrize("kind", ["uint8", "int32", "float16"])
def test_resizing_of_other_types(kind: str) -> None:
    image = (IMAGE * 200).astype(kind)
    check(
        lambda x: (raw.ResizeBilinear(images=x, size=(9, 5)), raw.ResizeNearestNeighbor(images=x, size=(9, 5))),
        {"x": image},
        rtol=1e-3,
        atol=2e-2,
    )


def test_an_image_of_the_wanted_size_stays() -> None:
    check(lambda x: raw.ResizeBilinear(images=x, size=(6, 7), half_pixel_centers=True), {"x": IMAGE}, operations=0)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_cubic_resizing(coordinates: dict[str, bool]) -> None:
    """TensorFlow looks weights up in a table, so its results are less exact."""
    forms = ("static",) if "half_pixel_centers" in coordinates else ("static", "dynamic", "rank")
    for size in ((12, 9), (4, 3)):
        check(lambda x, size=size: raw.ResizeBicubic(images=x, size=size, **coordinates), {"x": IMAGE}, atol=5e-3, forms=forms)


@pytest.mark.parametrize("align", [False, True])
def test_resizing_by_area(align: bool) -> None:
    for size in ((3, 5), (11, 4)):
        check(lambda x, size=size: raw.ResizeArea(images=x, size=size, align_corners=align), {"x": IMAGE}, forms=("static",), operations=4)


@pytest.mark.parametrize("kernel", ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"])
@pytest.mark.parametrize("antialias", [True, False])
def test_scale_and_translate(kernel: str, antialias: bool) -> None:
    check(
        lambda x: raw.ScaleAndTranslate(
            images=x, size=(4, 11), scale=[0.61, 1.7], translation=[0.3, -0.7], kernel_type=kernel, antialias=antialias
        ),
        {"x": IMAGE},
    )


def test_scaling_to_one_of_several_columns() -> None:
    """The matrix of the columns is [[1, 0]], which is not the identity."""
    check(
        lambda x: raw.ScaleAndTranslate(
            images=x[:, :, :2], size=(3, 1), scale=[3.55, 1.23], translation=[1.56, 0.28], kernel_type="triangle", antialias=False
        ),
        {"x": IMAGE},
    )


@pytest.mark.parametrize(("padding", "stride", "rate"), [("VALID", 1, 1), ("SAME", 2, 1), ("VALID", 1, 2)])
def test_patches(padding: str, stride: int, rate: int) -> None:
    check(
        lambda x: raw.ExtractImagePatches(
            images=x, ksizes=[1, 2, 3, 1], strides=[1, stride, stride, 1], rates=[1, rate, rate, 1], padding=padding
        ),
        {"x": IMAGE},
        operations=3,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_patches_of_volumes(padding: str) -> None:
    check(
        lambda x: raw.ExtractVolumePatches(input=x, ksizes=[1, 2, 2, 3, 1], strides=[1, 1, 2, 1, 1], padding=padding),
        {"x": RNG.random((2, 3, 4, 5, 2), np.float32)},
    )


TRANSFORMS = np.array([[0.9, 0.2, -0.6, -0.1, 1.1, 0.7, 0.0, 0.0], [1.2, 0.0, 1.0, 0.1, 0.8, 0.0, 0.02, 0.01]], np.float32)


@pytest.mark.parametrize("fill", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
@pytest.mark.parametrize("interpolation", ["BILINEAR", "NEAREST"])
def test_projective_transformation(interpolation: str, fill: str) -> None:
    attributes = {"interpolation": interpolation, "fill_mode": fill}
    check(
        lambda x: raw.ImageProjectiveTransformV3(images=x, transforms=TRANSFORMS, output_shape=(5, 9), fill_value=0.5, **attributes),
        {"x": IMAGE},
    )
    check(
        lambda x, size: raw.ImageProjectiveTransformV2(images=x, transforms=TRANSFORMS[:1], output_shape=size, **attributes),
        {"x": IMAGE, "size": np.array([4, 8], np.int32)},
        fixed=["size"],
    )


@pytest.mark.parametrize("interpolation", ["BILINEAR", "NEAREST"])
@pytest.mark.parametrize("size", [1, 4])
def test_places_that_wrap_around_several_times(interpolation: str, size: int) -> None:
    """Which TensorFlow does not count by the size of the image, but by the last place in it."""
    image, attributes = IMAGE[:1, :, :size], {"interpolation": interpolation, "fill_mode": "WRAP"}
    transforms = np.array([[1.37, 0, -9.3, 0, 2.7, -14.9, 0, 0]], np.float32)
    check(lambda x: raw.ImageProjectiveTransformV2(images=x, transforms=transforms, output_shape=(16, 18), **attributes), {"x": image})


def test_contrast() -> None:
    check(lambda x: raw.AdjustContrastv2(images=x, contrast_factor=1.7), {"x": IMAGE})


def colours() -> Array:
    """Colours with every order of their parts, grey ones and black."""
    result = RNG.random((2, 5, 6, 3), np.float32)
    result[0, 0] = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    return result


def test_hue() -> None:
    check(lambda x: raw.RGBToHSV(images=x), {"x": colours()})
    check(lambda x: raw.HSVToRGB(images=x), {"x": colours()}, operations=11)


@pytest.mark.parametrize("delta", [0.3, -0.6])
def test_changed_colours(delta: float) -> None:
    check(lambda x: raw.AdjustHue(images=x, delta=delta), {"x": colours()})
    check(lambda x: raw.AdjustSaturation(images=x, scale=1 + delta), {"x": colours()})


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("size", [(3, 4), (4, 3), (9, 5)])
def test_glimpses_with_zeros_around_the_image(size: tuple[int, int], centered: bool, normalized: bool) -> None:
    offsets = np.array([[[0.3, 0.2], [-0.5, 0.9]], [[-1.1, 1.2], [0.0, -0.4]]], np.float32) * (1 if normalized else 6)
    for places in offsets:
        check(
            lambda x, places: raw.ExtractGlimpseV2(
                input=x, size=size, offsets=places, centered=centered, normalized=normalized, uniform_noise=False, noise="zero"
            ),
            {"x": IMAGE, "places": places},
            forms=("static", "dynamic"),
        )


REFUSED: dict[str, Any] = {
    "ExtractGlimpseV2": lambda x: raw.ExtractGlimpseV2(input=x, size=[3, 3], offsets=np.zeros((2, 2), np.float32)),
    "DrawBoundingBoxes": lambda x: raw.DrawBoundingBoxes(images=x, boxes=np.zeros((2, 1, 4), np.float32)),
    "FractionalMaxPool": lambda x: raw.FractionalMaxPool(value=x, pooling_ratio=[1.0, 1.4, 1.4, 1.0], deterministic=True, seed=1)[0],
    "FractionalAvgPool": lambda x: raw.FractionalAvgPool(value=x, pooling_ratio=[1.0, 1.4, 1.4, 1.0])[0],
    "GenerateBoundingBoxProposals": lambda x: raw.GenerateBoundingBoxProposals(
        scores=x, bbox_deltas=np.zeros((2, 6, 7, 12), np.float32), image_info=np.ones((2, 5), np.float32),
        anchors=np.ones((6, 7, 12), np.float32), nms_threshold=0.5, pre_nms_topn=6, min_size=1.0,
    )[0],
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_expressed_is_refused(kind: str) -> None:
    with pytest.raises(ConversionError, match=f"tf.{kind}"):
        check(REFUSED[kind], {"x": IMAGE}, expected=[IMAGE], forms=("static",))
