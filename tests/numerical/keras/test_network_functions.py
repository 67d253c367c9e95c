"""Functions of keras.ops that layers are made of, of images, matrices, spectra and parts of tensors, in one model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import moir
from tests.numerical.keras.models import differences, keras
from tests.numerical.runtime import core

ops = keras.ops
RANDOM = np.random.default_rng(0)


def kernel(*shape: int) -> Any:
    """Random numbers that are a constant, not an input."""
    return RANDOM.normal(size=shape).astype(np.float32)


def positive(x: Any) -> Any:
    """Positive definite matrices [N, 4, 4] of images [N, 6, 8, 4]."""
    square = x[:, 0, :4, :]
    return ops.matmul(square, ops.transpose(square, (0, 2, 1))) + 4 * np.eye(4, dtype=np.float32)


CASES: dict[str, Any] = {
    "conv": lambda x: ops.conv(x, kernel(3, 3, 4, 5), strides=2, padding="same"),
    "conv with dilation": lambda x: ops.conv(x, kernel(1, 3, 4, 6), dilation_rate=2),
    "depthwise_conv": lambda x: ops.depthwise_conv(x, kernel(3, 3, 4, 2), padding="same"),
    "separable_conv": lambda x: ops.separable_conv(x, kernel(3, 3, 4, 2), kernel(1, 1, 8, 3)),
    "computed kernel": lambda x: ops.conv(x, ops.reshape(x[0, :3, :3], (3, 3, 4, 1))),
    "batch_normalization": lambda x: ops.batch_normalization(x, kernel(4), np.abs(kernel(4)) + 1, -1, kernel(4), kernel(4)),
    "layer_normalization": lambda x: ops.layer_normalization(x, kernel(4), kernel(4), axis=-1),
    "rms_normalization": lambda x: ops.rms_normalization(x, kernel(4), axis=-1),
    "depth_to_space": lambda x: ops.depth_to_space(x, 2),
    "space_to_depth": lambda x: ops.space_to_depth(x, 2),
    "unfold": lambda x: ops.unfold(ops.transpose(x, (0, 3, 1, 2)), 3, padding=1, stride=2),
    "cdist": lambda x: ops.cdist(x[:, 0], x[:, 1, :3]),
    "resize": lambda x: ops.image.resize(x, (4, 11)),
    "resize with the aspect ratio": lambda x: ops.image.resize(x, (4, 4), interpolation="nearest", crop_to_aspect_ratio=True),
    "grey": lambda x: ops.image.rgb_to_grayscale(x[..., :3]),
    "hue": lambda x: ops.image.rgb_to_hsv(ops.sigmoid(x[..., :3])),
    "colours of a hue": lambda x: ops.image.hsv_to_rgb(ops.sigmoid(x[..., :3])),
    "pad_images": lambda x: ops.image.pad_images(x, top_padding=1, left_padding=2, target_height=9, target_width=12),
    "crop_images": lambda x: ops.image.crop_images(x, top_cropping=1, right_cropping=2, target_height=3, target_width=4),
    "extract_patches": lambda x: ops.image.extract_patches(x, (2, 3), strides=2, padding="same"),
    "cholesky": lambda x: ops.cholesky(positive(x)),
    "det": lambda x: ops.det(positive(x)) / 1000,
    "slogdet": lambda x: ops.slogdet(positive(x))[1],
    "inv": lambda x: ops.inv(positive(x)),
    "solve": lambda x: ops.solve(positive(x), x[:, 0, :4, :2]),
    "solve a triangle": lambda x: ops.solve_triangular(positive(x), x[:, 0, :4, :2], lower=True),
    "eigh": lambda x: ops.eigh(positive(x))[0],
    "svd": lambda x: ops.svd(x[:, 0], full_matrices=False)[1],
    "qr": lambda x: ops.abs(ops.qr(x[:, 0])[1]),
    "rfft": lambda x: ops.rfft(x, fft_length=6)[1],
    "fft": lambda x: ops.fft((x, 2 * x))[0],
    "irfft": lambda x: ops.irfft(ops.rfft(x)),
    "scatter_update": lambda x: ops.scatter_update(x, [[0, 1], [1, 2]], ops.ones((2, 8, 4))),
    "slice_update": lambda x: ops.slice_update(x[0], [1, 2, 0], x[0, :2, :3]),
    "quantile": lambda x: ops.quantile(x, [0.1, 0.75], axis=(1, 2)),
    "percentile of all": lambda x: ops.percentile(x[0], 40),
    "isin": lambda x: ops.cast(ops.isin(ops.cast(3 * x, "int32"), [0, 2]), "int32"),
    "nancumsum": lambda x: ops.nancumsum(ops.sqrt(x), axis=1),
    "nanargmax": lambda x: ops.nanargmax(ops.sqrt(x), axis=-1),
    "trapezoid": lambda x: ops.trapezoid(x, dx=0.5, axis=2),
    "linspace": lambda x: ops.linspace(x[:, 0], x[:, 1], 3, axis=1),
    "meshgrid": lambda x: ops.meshgrid(x[0, 0, 0], x[0, 1, 1])[1],
    "vander": lambda x: ops.vander(x[0, 0, 0], 3),
    "hsplit": lambda x: ops.hsplit(x, 3)[1],
    "vsplit": lambda x: ops.vsplit(x, 2)[1],
}


def test_functions(tmp_path: Path) -> None:
    x = keras.Input((6, 8, 4), name="x")
    model = keras.Model(x, [make(x) for make in CASES.values()])
    assert not differences(model, tmp_path / "model.keras", list(CASES))


def test_a_transposed_convolution(tmp_path: Path) -> None:
    # A model of Keras 3.15 with this function does not run: it passes the padding in the place of another argument.
    x, filters = keras.Input((5, 6, 3), name="x"), kernel(3, 3, 2, 3)
    options = {"strides": 2, "padding": "same", "data_format": "channels_last"}
    keras.Model(x, ops.conv_transpose(x, filters, **options)).save(tmp_path / "model.keras")
    image = kernel(2, 5, 6, 3)
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "model.keras")), "CPU")
    np.testing.assert_allclose(compiled([image])[0], np.asarray(ops.conv_transpose(image, filters, **options)), rtol=1e-4, atol=1e-5)
