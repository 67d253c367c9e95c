"""Operations of torchvision, against their definitions in numpy."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

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
    results = np.zeros((len(REGIONS), FEATURES.shape[1], *size), np.float32)
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


def rounded(value: float) -> int:
    """The nearest whole number; in the middle the one of larger magnitude."""
    return int(np.sign(value) * np.floor(abs(value) + 0.5))


def edges(start: int, extent: int, count: int, limit: int) -> list[tuple[int, int]]:
    """The first row of each cell and the row after its last one."""
    step = np.float32(extent) / np.float32(count)
    pairs = [(int(np.floor(cell * step)), int(np.ceil((cell + 1) * step))) for cell in range(count)]
    return [(min(max(first + start, 0), limit), min(max(last + start, 0), limit)) for first, last in pairs]


def largest_of_cells(scale: float, size: tuple[int, int]) -> Array:
    """What torchvision documents of `roi_pool`: the largest elements of cells; 0 without elements."""
    results = np.zeros((len(REGIONS), FEATURES.shape[1], *size), np.float32)
    for index, (image, *corners) in enumerate(REGIONS.tolist()):
        left, top, right, bottom = (rounded(each * scale) for each in corners)
        rows = edges(top, max(bottom - top + 1, 1), size[0], FEATURES.shape[2])
        columns = edges(left, max(right - left + 1, 1), size[1], FEATURES.shape[3])
        for row, column in np.ndindex(*size):
            cell = FEATURES[int(image), :, slice(*rows[row]), slice(*columns[column])]
            if cell[0].size:
                results[index, :, row, column] = cell.max((1, 2))
    return results


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_pool(tmp_path: Path, scale: float) -> None:
    program = Program()
    operands = [("input", program.input("x", "f32", FEATURES.shape)), ("rois", program.input("rois", "f32", REGIONS.shape))]
    numbers = [("spatial_scale", scale), ("pooled_height", 3), ("pooled_width", 2)]
    program.output(program.node_of_several("torchvision.roi_pool.default", [*operands, *numbers], ["f32", "i32"])[0])
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": FEATURES, "rois": REGIONS})
    compare(results, [largest_of_cells(scale, (3, 2))])


WIDE = RANDOM.standard_normal((2, 12, 9, 12)).astype(np.float32)
"""Features of two channels for each of six cells."""


def of_own_channels(averages: Array) -> Array:
    """Of [R, C * cells, rows, columns] the elements whose channel is that of their cell."""
    rows, columns = averages.shape[2:]
    own = averages.reshape(len(averages), -1, rows, columns, rows, columns)
    return np.einsum("rcijij->rcij", own)


@pytest.mark.parametrize("sizes", [WIDE.shape, (2, 12, "Symbol('h')", "Symbol('w')")])
def test_pooling_of_cells_with_channels_of_their_own(tmp_path: Path, sizes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.numerical.pytorch.test_detection.FEATURES", WIDE)
    program = Program()
    operands = [("input", program.input("x", "f32", sizes)), ("rois", program.input("rois", "f32", REGIONS.shape))]
    numbers = [("spatial_scale", 0.5), ("pooled_height", 3), ("pooled_width", 2)]
    for name, more in (("ps_roi_pool", []), ("ps_roi_align", [("sampling_ratio", 2)])):
        program.output(program.node_of_several(f"torchvision.{name}.default", [*operands, *numbers, *more], ["f32", "i32"])[0])
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": WIDE, "rois": REGIONS})
    averages = np.zeros((len(REGIONS), 12, 3, 2), np.float32)
    for index, (image, *corners) in enumerate(REGIONS.tolist()):
        left, top, right, bottom = (rounded(each * 0.5) for each in corners)
        # torchvision's limit is the last row and column, which belong to no cell.
        rows = edges(top, max(bottom - top, 1), 3, WIDE.shape[2] - 1)
        columns = edges(left, max(right - left, 1), 2, WIDE.shape[3] - 1)
        for row, column in np.ndindex(3, 2):
            cell = WIDE[int(image), :, slice(*rows[row]), slice(*columns[column])]
            averages[index, :, row, column] = cell.mean((1, 2)) if cell[0].size else 0
    samples = aligned_means(0.5, (3, 2), 2, True)
    compare(results, [of_own_channels(averages), of_own_channels(samples)])
