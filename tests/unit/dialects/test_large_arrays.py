"""Pieces of large arrays, arrays that are computed when they are read, and pages given back."""

from __future__ import annotations

import mmap
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from moir.dialects import large_arrays
from moir.dialects.computed_rows import ComputedRows
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import ComputedArray, Values, computed, in_memory_order, is_transposed, memory_order, pieces, same_bytes
from moir.dialects.memory_map import release
from moir.tools.optimizer.weights_file import WeightsWriter

ARRAYS = [
    np.arange(24).reshape(2, 3, 4),
    np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    np.arange(24)[::-2],
    np.arange(24).reshape(1, 24)[:, ::3],
    np.array(5),
    np.zeros((0, 4)),
    np.broadcast_to(np.arange(3), (1, 5, 3)),
]


@pytest.mark.parametrize("limit", [1, 8, 40, 1 << 20])
@pytest.mark.parametrize("array", ARRAYS)
def test_pieces_are_the_array_in_c_order(array: np.ndarray, limit: int) -> None:
    actual = list(pieces(array, limit))
    assert b"".join(piece.tobytes() for piece in actual) == array.tobytes()
    assert all(piece.ndim == 1 and piece.flags.c_contiguous for piece in actual)
    assert all(piece.nbytes <= max(limit, array.itemsize) for piece in actual)


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY, mmap.ACCESS_WRITE])
def test_released_values_are_still_there(tmp_path: Path, access: int) -> None:
    values = np.arange(100_000, dtype=np.int32)
    (tmp_path / "f").write_bytes(values.tobytes())
    with (tmp_path / "f").open("r+b") as file:
        array = np.frombuffer(mmap.mmap(file.fileno(), 0, access=access), np.int32)
    expected = values.copy()
    if access != mmap.ACCESS_READ:
        array[5] = expected[5] = -1
    for view in (array, array[1000:5000], array[::-7], array[:0], array.view(np.uint8)[1:2]):
        release(view)
        np.testing.assert_array_equal(array, expected)


def test_arrays_without_a_memory_map_are_left_alone() -> None:
    for array in (np.ones(5), np.frombuffer(bytes(8), np.int8), np.frombuffer(mmap.mmap(-1, 8192), np.int8)):
        before = array.copy()
        release(array)
        np.testing.assert_array_equal(array, before)


RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.standard_normal((40, 30, 50)).astype(np.float32)
FACTORS = RANDOM.uniform(0.5, 2, (30, 1)).astype(np.float32)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a * b


def _half(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float16)


SCALED = WEIGHTS * FACTORS
COMPUTED = [
    (computed(_half, WEIGHTS), WEIGHTS.astype(np.float16)),
    (computed(_product, WEIGHTS, FACTORS), SCALED),
    (computed(_product, FACTORS, WEIGHTS), SCALED),
    (computed(_product, WEIGHTS, np.float32(3)), WEIGHTS * np.float32(3)),
    (computed(_product, WEIGHTS.transpose(2, 0, 1), FACTORS[:1]), WEIGHTS.transpose(2, 0, 1) * FACTORS[0]),
    (computed(_half, computed(_product, WEIGHTS, FACTORS)), SCALED.astype(np.float16)),
    (computed(_product, computed(_half, WEIGHTS), computed(_product, WEIGHTS, FACTORS)), WEIGHTS.astype(np.float16) * SCALED),
    (computed(_product, WEIGHTS, FACTORS).transpose((1, 2, 0)), SCALED.transpose(1, 2, 0)),
    (computed(_product, WEIGHTS, FACTORS).reshape(5, -1, 3), SCALED.reshape(5, -1, 3)),
    (computed(_product, WEIGHTS, FACTORS).transpose((2, 1, 0)).reshape((-1,)), SCALED.transpose(2, 1, 0).reshape(-1)),
    (computed(_product, WEIGHTS, FACTORS).astype(np.dtype(np.float64)), SCALED.astype(np.float64)),
]


@pytest.mark.parametrize("limit", [1, 100, 1000, 1 << 20])
@pytest.mark.parametrize(("values", "expected"), COMPUTED)
def test_computed_arrays_are_what_is_computed_at_once(values: Values, expected: np.ndarray, limit: int) -> None:
    assert isinstance(values, ComputedArray)
    assert (values.shape, values.dtype, values.size, values.nbytes) == (expected.shape, expected.dtype, expected.size, expected.nbytes)
    np.testing.assert_array_equal(np.asarray(values), expected, strict=True)
    count = expected.size if limit > 1 else 200
    actual = list(islice(pieces(values, limit), count))
    assert all(piece.ndim == 1 and piece.nbytes <= max(limit, values.dtype.itemsize) for piece in actual)
    assert expected.tobytes().startswith(b"".join(piece.tobytes() for piece in actual))
    assert limit == 1 or sum(piece.size for piece in actual) == expected.size


@pytest.mark.parametrize(("values", "expected"), COMPUTED)
def test_computed_constants_equal_stored_ones(values: Values, expected: np.ndarray) -> None:
    one, other = DataAttr.of(values), DataAttr.of(expected)
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == str(other)
    changed = expected.copy()
    changed.reshape(-1)[12345] += 1
    assert one != DataAttr.of(changed)
    assert same_bytes(values, expected)
    assert not same_bytes(values, changed)


def test_a_side_file_gets_the_bytes_of_computed_constants(tmp_path: Path) -> None:
    with (tmp_path / "w.bin").open("w+b") as file:
        writer = WeightsWriter(file, "w.bin")
        places = [writer.store(DataAttr.of(values)) for values, _ in COMPUTED]
        assert places == [writer.store(DataAttr.of(expected)) for _, expected in COMPUTED]
    stored = (tmp_path / "w.bin").read_bytes()
    for (_, offset), (_, expected) in zip(places, COMPUTED, strict=True):
        assert stored[offset : offset + expected.nbytes] == expected.tobytes()


def test_small_arrays_are_computed_at_once() -> None:
    assert isinstance(computed(_half, WEIGHTS[0]), np.ndarray)


def test_elements_of_computed_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        DataAttr.of(COMPUTED[0][0]).array[0] = 1


def test_the_cost_of_an_element_is_bounded() -> None:
    applied: list[int] = []

    def total(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        applied.append(a.size)
        return a + b

    values: Values = np.ones(1 << 16)
    for _ in range(40):
        values = computed(total, values, values)
    assert np.asarray(values)[0] == 2.0**40
    assert sum(applied) < 400 << 16


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (0, 2, 1)])
def test_scattered_arrays_are_read_in_steps(monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]) -> None:
    monkeypatch.setattr(large_arrays, "SCATTERED_BYTES", 1 << 10)
    monkeypatch.setattr(large_arrays, "CHUNK_BYTES", 1 << 12)
    view = WEIGHTS.transpose(order)[:, ::-1]
    assert b"".join(piece.tobytes() for piece in pieces(view, 5000)) == view.tobytes()
    assert np.asarray(computed(_half, view)).tobytes() == view.astype(np.float16).tobytes()
    in_order = in_memory_order(computed(_half, view[:, ::-1]))
    assert np.asarray(in_order).tobytes() == WEIGHTS.astype(np.float16).tobytes()


@pytest.mark.parametrize("shape", [(700, 300), (1, 70000), (70000, 1), (3, 500, 200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_transposed_arrays_are_copied_in_strips(shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    array = (np.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape).swapaxes(-1, -2)
    assert b"".join(piece.tobytes() for piece in pieces(array)) == array.tobytes()


def test_computed_rows_below_other_functions_stay_computed_in_another_shape() -> None:
    source, factors = RANDOM.standard_normal((256, 512)).astype(np.float32), np.arange(512, dtype=np.float32)
    rows = ComputedRows(np.negative, [source], source.shape, source.dtype)
    reshaped = computed(np.multiply, rows, factors).reshape(256, 4, 128)
    assert isinstance(reshaped, ComputedArray)
    assert isinstance(reshaped.sources[0], ComputedRows)
    np.testing.assert_array_equal(np.asarray(reshaped), (-source * factors).reshape(256, 4, 128))


def test_broadcast_arrays_do_not_decide_the_order_of_memory() -> None:
    array, factors = RANDOM.standard_normal((64, 512)).astype(np.float32), np.arange(64, dtype=np.float32)
    broadcast = np.broadcast_to(factors.reshape(1, 64), (512, 64))
    assert memory_order(computed(np.multiply, broadcast, array.T)) == [1, 0]
    assert is_transposed(computed(np.multiply, broadcast, array.T))
    assert memory_order(computed(np.multiply, broadcast.T, array)) == [0, 1]
