"""Arrays whose rows are computed or moved when they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moir.dialects.computed_rows import ComputedRows, computed_rows, repeated_rows, rows_moved, stacked_matrices
from moir.dialects.large_arrays import ComputedArray, Values, computed, pieces, same_bytes, windows

Array = np.ndarray[Any, Any]


def _pairs(rows: Array) -> Array:
    """The sum and the difference of the first two elements of each row."""
    return np.stack([rows[..., 0] + rows[..., 1], rows[..., 0] - rows[..., 1], rows[..., 0]], -1)[..., None]


@pytest.fixture(params=[(40,), (3, 50)])
def lead(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


def _source(lead: tuple[int, ...]) -> Array:
    return np.random.default_rng(0).integers(0, 1000, (*lead, 5))


def _computed(source: Array) -> ComputedRows:
    return ComputedRows(_pairs, [source], (*source.shape[:-1], 3, 1), source.dtype, source.ndim - 1)


@pytest.mark.parametrize("limit", [8, 100, 1 << 20])
def test_pieces_are_the_rows_in_order(lead: tuple[int, ...], limit: int) -> None:
    source = _source(lead)
    values, expected = _computed(source), _pairs(source)
    assert values.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(values), expected)
    assert b"".join(piece.tobytes() for piece in pieces(values, limit)) == expected.tobytes()
    assert same_bytes(values, expected)
    assert windows(values) == windows(expected)


def test_elements_from_within_a_row(lead: tuple[int, ...]) -> None:
    source = _source(lead)
    values, expected = _computed(source), _pairs(source).reshape(-1)
    for start, stop in ((0, 1), (1, 2), (2, 100), (5, 5), (0, values.size), (values.size - 2, values.size)):
        np.testing.assert_array_equal(values.elements(start, stop), expected[start:stop])


def test_part_of_a_row(lead: tuple[int, ...]) -> None:
    source = _source(lead)
    index = (*[slice(1, 3)] * len(lead), slice(1, 2), slice(None))
    np.testing.assert_array_equal(_computed(source).block(index), _pairs(source)[index])


def test_reshaped_within_rows_stays_computed(lead: tuple[int, ...]) -> None:
    source = _source(lead)
    for shape in ((*lead, 3), (*lead, 1, -1)):
        values = _computed(source).reshape(shape)
        assert isinstance(values, ComputedRows)
        np.testing.assert_array_equal(np.asarray(values), _pairs(source).reshape(shape))
    assert isinstance(_computed(source).reshape(-1), np.ndarray)
    np.testing.assert_array_equal(np.asarray(_computed(source).reshape(-1)), _pairs(source).reshape(-1))


def _halves(array: Array) -> Array:
    """Rows of heads of 10 rows, from pairs to halves."""
    return array.reshape(-1, 5, 2, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


MOVES: list[Callable[[Array], Array]] = [_halves, lambda array: array[3:20], lambda array: array[::-1], lambda array: array[::3]]


@pytest.mark.parametrize("move", MOVES)
def test_moved_rows(move: Callable[[Array], Array]) -> None:
    source = np.random.default_rng(0).standard_normal((40, 1000))
    arrays: list[Values] = [source, _computed(source), computed(np.negative, source)]
    assert isinstance(arrays[2], ComputedArray)
    for values in arrays:
        moved = rows_moved(values, move)
        np.testing.assert_array_equal(np.asarray(moved), move(np.asarray(values)))
        np.testing.assert_array_equal(np.asarray(rows_moved(moved, lambda array: array[1:3])), move(np.asarray(values))[1:3])


def test_views_stay_views_and_other_moves_are_not_copied() -> None:
    source = np.zeros((40, 1000))
    sliced = rows_moved(source, lambda array: array[::2])
    assert isinstance(sliced, np.ndarray)
    assert np.may_share_memory(sliced, source)
    assert isinstance(rows_moved(source, _halves), ComputedRows)


def test_rows_of_experts() -> None:
    source = np.random.default_rng(0).standard_normal((3, 40, 200))
    for move in (lambda array: array[:, 1::2], lambda array: np.concatenate([array[:, 1::2], array[:, 0::2]], 1)):
        np.testing.assert_array_equal(np.asarray(rows_moved(source, move, 2)), move(source))
        np.testing.assert_array_equal(np.asarray(rows_moved(_computed(source), move, 2)), move(_pairs(source)))


def test_repeated_rows() -> None:
    source = np.random.default_rng(0).standard_normal((5, 2000))
    order = np.arange(40) // 8
    values = repeated_rows(source.T.copy().T, order)
    assert isinstance(values, ComputedRows)
    np.testing.assert_array_equal(np.asarray(values), source[order])


def test_small_arrays_are_computed_at_once() -> None:
    assert isinstance(computed_rows(_pairs, [np.zeros((4, 2))], (4, 3, 1), np.float64), np.ndarray)
    assert isinstance(computed_rows(_pairs, [np.zeros((4000, 2))], (4000, 3, 1), np.float64), ComputedRows)


@pytest.mark.parametrize("width", [3, 700])
def test_matrices_are_the_slices_of_one_array(width: int) -> None:
    """Small ones at once, large ones when they are read: whole, in pieces that begin anywhere, moved, as other types."""
    generator = np.random.default_rng(0)
    matrices = [generator.standard_normal((20, width)).astype(np.float32) for _ in range(3)]
    expected = np.stack(matrices)
    stacked = stacked_matrices(matrices)
    assert isinstance(stacked, ComputedRows) == (width == 700)
    np.testing.assert_array_equal(np.asarray(stacked), expected)
    if not isinstance(stacked, ComputedRows):
        return
    for start, stop in ((0, 5), (699, 14_001), (13_990, 28_010), (41_000, 42_000)):
        np.testing.assert_array_equal(stacked.elements(start, stop), expected.reshape(-1)[start:stop])
    np.testing.assert_array_equal(stacked.block((slice(1, 3), slice(2, 9), slice(5, 600))), expected[1:3, 2:9, 5:600])
    np.testing.assert_array_equal(np.asarray(stacked.rows(lambda rows: rows[:, ::-1])), expected[:, ::-1])
    np.testing.assert_array_equal(np.asarray(stacked.astype(np.dtype(np.float16))), expected.astype(np.float16))
    assert b"".join(piece.tobytes() for piece in pieces(stacked)) == expected.tobytes()
