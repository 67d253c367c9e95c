"""Operations of torchvision, against their definitions in numpy."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.pytorch.programs import Program
from tests.numerical.runtime import Array, compare, run

RANDOM = np.random.default_rng(23)
FEATURES = RANDOM.standard_normal((2, 3, 9, 12)).astype(np.float32)
REGIONS = np.array([[0, 1, 2, 14, 11], [1, 0, 0, 23, 17], [1, 5.5, 3.25, 9.5, 16], [0, 20, 3, 20.4, 3.3], [1, -3, -2, 30, 20]], np.float32)


def sampled(image: Array, y: float, x: float) -> Array:
    """The channels of an image between its elements; 0 farther than an element outside of it."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(image), np.float32)
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    rows = (image[:, each, left] * (1 - across) + image[:, each, right] * across for each in (top, bottom))
    upper, lower = rows
    return upper * (1 - down) + lower * down


def aligned_means(scale: float, size: tuple[int, int], ratio: int, aligned: bool) -> Array:
    """What torchvision documents of `roi_align`: means of samples of cells, shifted by half an element if aligned."""
    results = np.zeros((len(REGIONS), 3, *size), np.float32)
    for index, (image, *corners) in enumerate(REGIONS.tolist()):
        left, top, right, bottom = (each * scale - 0.5 * aligned for each in corners)
        extents = [bottom - top, right - left] if aligned else [max(bottom - top, 1.0), max(right - left, 1.0)]
        cells = [extent / count for extent, count in zip(extents, size, strict=True)]
        counts = [ratio if ratio > 0 else ceil(each) for each in cells]
        for row, column in np.ndindex(*size):
            samples = [
                sampled(
                    FEATURES[int(image)], top + cells[0] * (row + (i + 0.5) / counts[0]), left + cells[1] * (column + (j + 0.5) / counts[1])
                )
                for i in range(counts[0])
                for j in range(counts[1])
            ]
            results[index, :, row, column] = np.mean(samples, 0) if samples else 0
    return results


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(tmp_path: Path, aligned: bool, scale: float, ratio: int) -> None:
    program = Program()
    operands = [("input", program.input("x", "f32", FEATURES.shape)), ("rois", program.input("rois", "f32", REGIONS.shape))]
    numbers = [("spatial_scale", scale), ("pooled_height", 3), ("pooled_width", 2), ("sampling_ratio", ratio), ("aligned", aligned)]
    program.output(program.node("torchvision.roi_align.default", [*operands, *numbers], "f32"))
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": FEATURES, "rois": REGIONS})
    compare(results, [aligned_means(scale, (3, 2), ratio, aligned)])
