"""Custom operators of MediaPipe, which TensorFlow's interpreter does not have: numpy says what they compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

import moir
from moir.dialects.memory_map import Array
from moir.errors import ConversionError
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of

RANDOM = np.random.default_rng(21)
SAME, VALID = 1, 2


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def computed(folder: Path, operators: list[Operator], given: dict[str, Array], fixed: dict[str, Array], results: dict[str, Array]) -> Any:
    """What the runtime computes of a model of some operators; `results` are values of the types and shapes of what they compute."""
    tensors = [
        *(Tensor(name, value) for name, value in given.items()),
        *(Tensor(name, value, is_constant=True) for name, value in fixed.items()),
        *(Tensor(name, value) for name, value in results.items()),
    ]
    outputs = list(results)
    path = folder / "m.tflite"
    path.write_bytes(file_of(tensors, operators, list(given), outputs))
    moir.save_model(moir.convert_model(path), folder / "m.xml")
    request = core().compile_model(folder / "m.xml", "CPU").create_infer_request()
    found = request.infer(list(given.values()))
    return [found[number] for number in range(len(outputs))]


def pool_options(padding: int, strides: tuple[int, int], window: tuple[int, int]) -> bytes:
    """The memory of a TfLitePoolParams."""
    return np.array([padding, strides[1], strides[0], window[1], window[0], 0, 0, 0, 0, 0], np.int32).tobytes()


def pooled(x: Array, padding: int, strides: tuple[int, int], window: tuple[int, int]) -> tuple[Array, Array]:
    """The maxima of windows, and their places in these plus 0.1."""
    sizes = x.shape[1:3]
    counts = [
        -(-size // step) if padding == SAME else (size - width) // step + 1
        for size, step, width in zip(sizes, strides, window, strict=True)
    ]
    begins = [
        max((count - 1) * step + width - size, 0) // 2 for count, step, width, size in zip(counts, strides, window, sizes, strict=True)
    ]
    values = np.full((x.shape[0], *counts, x.shape[3]), -np.inf, np.float32)
    places = np.zeros(values.shape, np.float32)
    for row, column, y, z in np.ndindex(*counts, *window):
        at = row * strides[0] - begins[0] + y, column * strides[1] - begins[1] + z
        if not (0 <= at[0] < sizes[0] and 0 <= at[1] < sizes[1]):
            continue
        element = x[:, at[0], at[1]]
        is_larger = element > values[:, row, column]
        values[:, row, column] = np.where(is_larger, element, values[:, row, column])
        places[:, row, column] = np.where(is_larger, y * window[1] + z + 0.1, places[:, row, column])
    return values, places


@pytest.mark.parametrize(
    ("padding", "strides", "window"), [(SAME, (2, 2), (2, 2)), (SAME, (2, 1), (3, 2)), (VALID, (1, 2), (2, 3)), (SAME, (1, 1), (3, 3))]
)
def test_maxima_with_places(tmp_path: Path, padding: int, strides: tuple[int, int], window: tuple[int, int]) -> None:
    x = normal(2, 7, 6, 3)
    values, places = pooled(x, padding, strides, window)
    operator = Operator("MaxPoolingWithArgmax2D", ["x"], ["y", "i"], custom=pool_options(padding, strides, window))
    found = computed(tmp_path, [operator], {"x": x}, {}, {"y": values, "i": places})
    np.testing.assert_array_equal(found[0], values)
    np.testing.assert_allclose(found[1], places, atol=1e-5)


def test_maxima_back_in_their_places(tmp_path: Path) -> None:
    x = normal(2, 6, 9, 4)
    values, places = pooled(x, SAME, (2, 3), (2, 3))
    wanted = np.where(np.repeat(np.repeat(values, 2, 1), 3, 2) == x, x, 0)
    operators = [
        Operator(kind, given, results, custom=pool_options(SAME, (2, 3), (2, 3)))
        for kind, given, results in (("MaxPoolingWithArgmax2D", ["x"], ["y", "i"]), ("MaxUnpooling2D", ["y", "i"], ["z"]))
    ]
    found = computed(tmp_path, operators, {"x": x}, {}, {"y": values, "i": places, "z": wanted})
    np.testing.assert_array_equal(found[2], wanted)


@pytest.mark.parametrize("padding", [SAME, VALID])
@pytest.mark.parametrize(("strides", "window"), [((2, 2), (2, 2)), ((2, 1), (3, 4)), ((3, 2), (2, 5))])
def test_transposed_convolution(tmp_path: Path, padding: int, strides: tuple[int, int], window: tuple[int, int]) -> None:
    x, weights, bias = normal(2, 4, 5, 3), normal(2, *window, 3), normal(2)
    totals = [max(0, k - (n - 1) % s - 1) if padding == SAME else 0 for k, n, s in zip(window, (4, 5), strides, strict=True)]
    whole = np.zeros((2, strides[0] * 3 + window[0], strides[1] * 4 + window[1], 2), np.float32)
    for row, column in np.ndindex(4, 5):
        part = np.einsum("bi,ohwi->bhwo", x[:, row, column], weights)
        whole[:, row * strides[0] : row * strides[0] + window[0], column * strides[1] : column * strides[1] + window[1]] += part
    first = [total // 2 for total in totals]
    last = [size - (total - total // 2) for size, total in zip(whole.shape[1:3], totals, strict=True)]
    wanted = whole[:, first[0] : last[0], first[1] : last[1]] + bias
    options = np.array([padding, strides[1], strides[0], 0, 0], np.int32).tobytes()
    operator = Operator("Convolution2DTransposeBias", ["x", "w", "b"], ["y"], custom=options)
    [found] = computed(tmp_path, [operator], {"x": x}, {"w": weights, "b": bias}, {"y": wanted})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("shape", "dimensions", "scale"), [((1, 5, 3), 3, 1.0), ((1, 5, 2), 2, 1.0), ((1, 1, 1, 12), 3, 4.0)])
def test_landmarks(tmp_path: Path, shape: tuple[int, ...], dimensions: int, scale: float) -> None:
    points, matrix = normal(*shape), normal(1, 4, 4)
    flat = points.reshape(-1, dimensions)
    moved = flat[:, :2] @ matrix[0, :2, :2].T + matrix[0, :2, 3] * scale
    wanted = np.concatenate([moved, flat[:, 2:]], 1).reshape(shape).astype(np.float32)
    operator = Operator(
        "TransformLandmarks", ["p", "m"], ["y"], custom=bytes(flexbuffers.Dumps({"dimensions": dimensions, "scale": scale}))
    )
    [found] = computed(tmp_path, [operator], {"p": points, "m": matrix}, {}, {"y": wanted})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_options_that_are_too_short(tmp_path: Path) -> None:
    x = normal(1, 4, 4, 1)
    operator = Operator("MaxUnpooling2D", ["x", "x"], ["y"], custom=b"\x01\x00\x00\x00")
    with pytest.raises(ConversionError, match="its options have 4 bytes, not the 24 of its fields"):
        computed(tmp_path, [operator], {"x": x}, {}, {"y": x})
