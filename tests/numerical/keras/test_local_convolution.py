"""LocallyConnected1D and 2D: the runtime computes what a loop over places does, for all three forms of the kernel.

Keras' own results of these layers were compared with tf_keras 2.21, which the tests do not need.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import MoirError
from tests.numerical.runtime import Array, core
from tests.unit.frontends.tensorflow_js.exporter import functional, input_layer, layer

h5py: Any = import_module("h5py")
CHANNELS, FILTERS, STRIDE = 3, 4, 2


def saved(path: Path, shape: tuple[int, ...], variables: list[Array], **config: Any) -> Path:
    """An HDF5 file of Keras 2 with one layer."""
    kind = f"LocallyConnected{len(shape) - 1}D"
    entry = layer(kind, "lc", ["x"], filters=FILTERS, strides=[STRIDE] * (len(shape) - 1), use_bias=True, trainable=True, **config)
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(functional([input_layer("x", shape), entry], ["x"], ["lc"]))
        file.attrs["keras_version"] = "2.15.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"lc"]
        held = group.create_group("lc")
        held.attrs["weight_names"] = [b"lc/kernel:0", b"lc/bias:0"]
        held["lc/kernel:0"], held["lc/bias:0"] = variables
    return path


def expected(x: Array, dense: Array, bias: Array, window: tuple[int, ...], padding: str) -> tuple[Array, Array]:
    """The result for a kernel [spatial…, C_in, places…, C_out], and which of its elements count."""
    sizes = x.shape[1:-1]
    places = dense.shape[len(sizes) + 1 : -1]
    mask = np.zeros(dense.shape, bool)
    for place in product(*map(range, places)):
        starts = [each * STRIDE - (own // 2 if padding == "same" else 0) for each, own in zip(place, window, strict=True)]
        inside = tuple(slice(max(0, start), min(size, start + own)) for start, own, size in zip(starts, window, sizes, strict=True))
        mask[(*inside, slice(None), *place)] = True
    kernel = np.where(mask, dense, 0).reshape(math.prod(sizes) * CHANNELS, -1)
    return (x.reshape(len(x), -1) @ kernel).reshape(len(x), *places, FILTERS) + bias, mask


@pytest.mark.parametrize("implementation", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("sizes", "window"), [((7,), (3,)), ((6, 5), (3, 2))])
def test_places_with_kernels_of_their_own(
    sizes: tuple[int, ...], window: tuple[int, ...], padding: str, implementation: int, tmp_path: Path
) -> None:
    if implementation == 1 and padding == "same":
        pytest.skip("implementation 1 has no padding")
    random = np.random.default_rng(0)
    ends = sizes if padding == "same" else [size - own + 1 for size, own in zip(sizes, window, strict=True)]
    places = tuple(-(-end // STRIDE) for end in ends)
    x = random.standard_normal((2, *sizes, CHANNELS)).astype(np.float32)
    dense = random.standard_normal((*sizes, CHANNELS, *places, FILTERS)).astype(np.float32)
    bias = random.standard_normal((*places, FILTERS)).astype(np.float32)
    result, mask = expected(x, dense, bias, window, padding)
    # The elements of each element of the result, one after the other.
    rows, columns = math.prod(sizes) * CHANNELS, math.prod(places) * FILTERS
    if implementation == 1:
        # [places, C_out, window · C_in] -> [places, window · C_in, C_out]
        by_place = dense.reshape(rows, columns).T[mask.reshape(rows, columns).T].reshape(math.prod(places), FILTERS, -1)
        kernel = by_place.transpose(0, 2, 1)
    else:
        kernel = dense if implementation == 2 else dense.reshape(rows, columns).T[mask.reshape(rows, columns).T]
    path = saved(tmp_path / "m.h5", x.shape[1:], [kernel, bias], kernel_size=[*window], padding=padding, implementation=implementation)
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    np.testing.assert_allclose(compiled([x])[0], result, rtol=1e-4, atol=1e-4)


def test_channels_first(tmp_path: Path) -> None:
    """The window of a place has the channels first, and the bias is reshaped."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, CHANNELS, 7)).astype(np.float32)
    kernel = random.standard_normal((3, 9, FILTERS)).astype(np.float32)
    bias = random.standard_normal((3, FILTERS)).astype(np.float32)
    path = saved(tmp_path / "m.h5", x.shape[1:], [kernel, bias], kernel_size=[3], data_format="channels_first")
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    places = [x[:, :, start : start + 3].reshape(2, 9) @ kernel[index] for index, start in enumerate((0, 2, 4))]
    np.testing.assert_allclose(compiled([x])[0], np.stack(places, -1) + bias.reshape(FILTERS, 3), rtol=1e-4, atol=1e-4)


def test_kernels_of_other_sizes_are_refused(tmp_path: Path) -> None:
    variables = [np.ones(5, np.float32), np.ones((3, FILTERS), np.float32)]
    path = saved(tmp_path / "m.h5", (7, CHANNELS), variables, kernel_size=[3], implementation=3)
    with pytest.raises(MoirError, match="its kernel has 5 elements, and 108 are expected"):
        moir.convert_model(path)
