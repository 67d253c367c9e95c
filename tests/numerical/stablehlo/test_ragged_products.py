"""Products of groups of indices of CHLO, in the three modes that its definition names."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.runtime import core

GENERATOR = np.random.default_rng(4)


def converted(folder: Path, numbers: dict[str, list[int]], shapes: list[tuple[int, ...]], result: tuple[int, ...]) -> moir.ModuleOp:
    types = [
        f"tensor<{'x'.join([*map(str, shape), element])}>"
        for shape, element in zip([*shapes, result], ("f32", "f32", "i32", "f32"), strict=True)
    ]
    fields = ", ".join(f"{name}_dimensions = {axes}" for name, axes in numbers.items())
    (folder / "a.mlir").write_text(
        f"module {{ func.func @main(%x: {types[0]}, %w: {types[1]}, %s: {types[2]}) -> {types[3]} {{\n"
        f'    %0 = "chlo.ragged_dot"(%x, %w, %s) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{fields}>,\n'
        "      precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}\n"
        f"      : ({', '.join(types[:3])}) -> {types[3]}\n    return %0 : {types[3]}\n  }} }}\n"
    )
    return moir.convert_model(folder / "a.mlir")


def computed(model: moir.ModuleOp, inputs: list[np.ndarray]) -> np.ndarray:
    return core().compile_model(moir.to_openvino(model), "CPU")(inputs)[0]


def random(*shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape).astype(np.float32)


def groups_of(sizes: np.ndarray, count: int) -> list[slice]:
    ends = np.cumsum([0, *sizes])
    return [slice(min(a, count), min(b, count)) for a, b in pairwise(ends)]


@pytest.mark.parametrize("sizes", [[3, 0, 5], [4, 2, 1], [6, 9, 2]])
@pytest.mark.parametrize("is_batched", [False, True])
def test_ragged_rows(sizes: list[int], is_batched: bool, tmp_path: Path) -> None:
    """[b, m, k] times [g, b, k, n] with 8 rows: groups that fill them, leave some over, and pass their end."""
    x, w = random(2, 8, 5), random(3, 2, 5, 7)
    x[:, 7] = np.inf if sum(sizes) < 8 and not is_batched else 1
    s = np.array([sizes, [1, 1, 6]] if is_batched else sizes, np.int32)
    numbers = {
        "lhs_batching": [0],
        "rhs_batching": [1],
        "lhs_contracting": [2],
        "rhs_contracting": [2],
        "lhs_ragged": [1],
        "rhs_group": [0],
    }
    expected = np.zeros((2, 8, 7), np.float32)
    for batch in range(2):
        for group, rows in enumerate(groups_of(s[batch] if is_batched else s, 8)):
            expected[batch, rows] = x[batch, rows] @ w[group, batch]
    actual = computed(converted(tmp_path, numbers, [x.shape, w.shape, s.shape], expected.shape), [x, w, s])
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_ragged_summands(tmp_path: Path) -> None:
    """[m, k] times [k, n]: a product for each group of summands."""
    x, w, s = random(4, 9), random(9, 3), np.array([2, 0, 6], np.int32)
    numbers = {"lhs_batching": [], "rhs_batching": [], "lhs_contracting": [1], "rhs_contracting": [0], "lhs_ragged": [1], "rhs_group": []}
    expected = np.stack([x[:, each] @ w[each] for each in groups_of(s, 9)])
    actual = computed(converted(tmp_path, numbers, [x.shape, w.shape, s.shape], expected.shape), [x, w, s])
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_a_ragged_batch(tmp_path: Path) -> None:
    """Groups of a batch dimension change nothing."""
    x, w, s = random(4, 3, 5), random(4, 5, 2), np.array([1, 3], np.int32)
    numbers = {"lhs_batching": [0], "rhs_batching": [0], "lhs_contracting": [2], "rhs_contracting": [1], "lhs_ragged": [0], "rhs_group": []}
    actual = computed(converted(tmp_path, numbers, [x.shape, w.shape, s.shape], (4, 3, 2)), [x, w, s])
    np.testing.assert_allclose(actual, x @ w, rtol=1e-5, atol=1e-5)


def test_sizes_of_another_rank(tmp_path: Path) -> None:
    numbers = {"lhs_batching": [], "rhs_batching": [], "lhs_contracting": [1], "rhs_contracting": [1], "lhs_ragged": [0], "rhs_group": [0]}
    with pytest.raises(ConversionError, match="its sizes of groups have rank 2; 0 dimensions come before the ragged one"):
        converted(tmp_path, numbers, [(8, 5), (3, 5, 7), (2, 3)], (8, 7))
