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
    result = request.infer(list(given.values()))
    return [result[number] for number in range(len(outputs))]


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
    actual = computed(tmp_path, [operator], {"x": x}, {}, {"y": values, "i": places})
    np.testing.assert_array_equal(actual[0], values)
    np.testing.assert_allclose(actual[1], places, atol=1e-5)


def test_maxima_back_in_their_places(tmp_path: Path) -> None:
    x = normal(2, 6, 9, 4)
    values, places = pooled(x, SAME, (2, 3), (2, 3))
    wanted = np.where(np.repeat(np.repeat(values, 2, 1), 3, 2) == x, x, 0)
    operators = [
        Operator(kind, given, results, custom=pool_options(SAME, (2, 3), (2, 3)))
        for kind, given, results in (("MaxPoolingWithArgmax2D", ["x"], ["y", "i"]), ("MaxUnpooling2D", ["y", "i"], ["z"]))
    ]
    actual = computed(tmp_path, operators, {"x": x}, {}, {"y": values, "i": places, "z": wanted})
    np.testing.assert_array_equal(actual[2], wanted)


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
    [actual] = computed(tmp_path, [operator], {"x": x}, {"w": weights, "b": bias}, {"y": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("shape", "dimensions", "scale"), [((1, 5, 3), 3, 1.0), ((1, 5, 2), 2, 1.0), ((1, 1, 1, 12), 3, 4.0)])
def test_landmarks(tmp_path: Path, shape: tuple[int, ...], dimensions: int, scale: float) -> None:
    points, matrix = normal(*shape), normal(1, 4, 4)
    flat = points.reshape(-1, dimensions)
    moved = flat[:, :2] @ matrix[0, :2, :2].T + matrix[0, :2, 3] * scale
    wanted = np.concatenate([moved, flat[:, 2:]], 1).reshape(shape).astype(np.float32)
    operator = Operator(
        "TransformLandmarks", ["p", "m"], ["y"], custom=bytes(flexbuffers.Dumps({"dimensions": dimensions, "scale": scale}))
    )
    [actual] = computed(tmp_path, [operator], {"p": points, "m": matrix}, {}, {"y": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_landmarks_without_options(tmp_path: Path, dimensions: int) -> None:
    """The second version takes the number of coordinates from the last dimension."""
    points, matrix = normal(1, 5, dimensions), normal(1, 4, 4)
    moved = points[0, :, :2] @ matrix[0, :2, :2].T + matrix[0, :2, 3]
    wanted = np.concatenate([moved, points[0, :, 2:]], 1)[None].astype(np.float32)
    operator = Operator("TransformLandmarks", ["p", "m"], ["y"], custom=b"")
    [actual] = computed(tmp_path, [operator], {"p": points, "m": matrix}, {}, {"y": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5)


def test_landmarks_of_other_dimensions(tmp_path: Path) -> None:
    points = normal(1, 5, 4)
    operator = Operator("TransformLandmarks", ["p", "m"], ["y"], custom=b"")
    with pytest.raises(ConversionError, match="points of 4 coordinates"):
        computed(tmp_path, [operator], {"p": points, "m": normal(1, 4, 4)}, {}, {"y": points})


def test_options_that_are_too_short(tmp_path: Path) -> None:
    x = normal(1, 4, 4, 1)
    operator = Operator("MaxUnpooling2D", ["x", "x"], ["y"], custom=b"\x01\x00\x00\x00")
    with pytest.raises(ConversionError, match="its options have 4 bytes, not the 24 of its fields"):
        computed(tmp_path, [operator], {"x": x}, {}, {"y": x})


def turning(angle: float) -> Any:
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def scaling(x: float, y: float) -> Any:
    return np.diag([x, y, 1.0])


def shifting(x: float, y: float) -> Any:
    result = np.eye(3)
    result[:2, 2] = x, y
    return result


def rectangle(points: Array, subset: list[int], angle: float) -> tuple[Any, Any]:
    """The size of the turned rectangle around points, and its middle, turned back."""
    turned = points[subset, :2] @ turning(angle)[:2, :2].T
    middle = (turned.max(0) + turned.min(0)) / 2
    return turned.max(0) - turned.min(0), turning(-angle)[:2, :2] @ middle


def widened(matrix: Any) -> Array:
    """A matrix [3, 3] of the plane as one [1, 4, 4] of space."""
    result = np.eye(4, dtype=np.float32)
    result[:2, :2], result[:2, 3] = matrix[:2, :2], matrix[:2, 2]
    return result[None]


SUBSET = [3, 1, 5, 2, 6]


def test_matrices_of_the_first_version(tmp_path: Path) -> None:
    points = RANDOM.uniform(10, 90, size=(8, 3)).astype(np.float32)
    span, factor, (height, width), (rows, columns) = 100, 1.5, (128, 96), (32, 24)
    line = points[4] - points[0]
    angle = -float(np.arctan(line[1] / line[0]))
    size, middle = rectangle(points, SUBSET, angle)
    absolute = scaling((width - 1) / 2, (height - 1) / 2) @ shifting(1, 1)
    turned = shifting(*(2 * middle / span - 1)) @ turning(-angle)
    relative = shifting(-1, -1) @ scaling(2 / (columns - 1), 2 / (rows - 1))
    wanted = widened(absolute @ turned @ scaling(*(size * factor / span)) @ relative)
    options = {
        "dimensions": 3, "landmarks_range": span, "left_rotation_idx": 0, "right_rotation_idx": 4, "bbox_size_multiplier": factor,
        "input_hw": [height, width], "output_hw": [rows, columns], "subset": SUBSET,
    }  # fmt: skip
    operator = Operator("Landmarks2TransformMatrix", ["p"], ["m"], custom=bytes(flexbuffers.Dumps(options)))
    [actual] = computed(tmp_path, [operator], {"p": points.reshape(1, 1, 1, -1)}, {}, {"m": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)


def test_matrices_of_the_second_version(tmp_path: Path) -> None:
    points = RANDOM.uniform(10, 90, size=(8, 3)).astype(np.float32)
    line = points[4] - points[0]
    angle = 0.25 - float(np.arctan2(line[1], line[0]))
    size, middle = rectangle(points, SUBSET, angle)
    wanted = widened(shifting(*middle) @ turning(-angle) @ scaling(*(size * (1.5, 2.0) / (24, 32))) @ shifting(-12, -16))
    options = {
        "left_rotation_idx": 0, "right_rotation_idx": 4, "subset_idxs": SUBSET, "target_rotation_radians": 0.25, "output_height": 32,
        "output_width": 24, "scale_x": 1.5, "scale_y": 2.0,
    }  # fmt: skip
    operator = Operator("Landmarks2TransformMatrix", ["p"], ["m"], custom=bytes(flexbuffers.Dumps(options)))
    [actual] = computed(tmp_path, [operator], {"p": points[None]}, {}, {"m": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)


def moved_image(image: Array, matrix: Array, rows: int, columns: int, margin: float) -> Array:
    """The elements of an image at the places that a matrix gives, between which is interpolated; outside zeros."""
    height, width = image.shape[1:3]
    result = np.zeros((1, rows, columns, image.shape[3]), np.float32)
    for row, column in np.ndindex(rows, columns):
        x, y = matrix[0, :2] @ np.array([column + margin, row + margin, 0, 1]) - margin
        if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
            continue
        left, top = int(x), int(y)
        right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
        upper, lower = ((1 - x + left) * image[0, line, left] + (x - left) * image[0, line, right] for line in (top, bottom))
        result[0, row, column] = (1 - y + top) * upper + (y - top) * lower
    return result


@pytest.mark.parametrize(("kind", "version"), [("TransformTensor", 1), ("TransformTensorBilinear", 1), ("TransformTensorBilinear", 2)])
def test_images_moved_by_a_matrix(tmp_path: Path, kind: str, version: int) -> None:
    image = normal(1, 9, 7, 3)
    matrix = widened(shifting(1.3, -0.4) @ turning(0.3) @ scaling(1.1, 1.4))
    wanted = moved_image(image, matrix, 6, 5, 0.0 if version == 1 else 0.5)
    assert 0 < np.count_nonzero(wanted.any(-1)) < 30
    options = {"mode": "bilinear", "output_size": [6, 5]} if version == 1 else {"output_height": 6, "output_width": 5}
    operator = Operator(kind, ["x", "m"], ["y"], custom=bytes(flexbuffers.Dumps(options)))
    [actual] = computed(tmp_path, [operator], {"x": image, "m": matrix}, {}, {"y": wanted})
    np.testing.assert_allclose(actual, wanted, rtol=1e-3, atol=1e-5)
