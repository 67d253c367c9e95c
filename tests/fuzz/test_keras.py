"""Faults of Keras' backends are recognised where they occur, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.keras.backend_faults import is_taken_for_a_bias
from tests.fuzz.keras.recipe import keras

SHAPES = (
    ([1, 2, 2, 1], [2, 1]),
    ([2, 3, 2, 2], [2, 1]),
    ([2, 3, 4, 5], [4, 1]),
    ([2, 3, 4, 5], [3, 1, 1]),
    ([3, 3], [3, 1]),
    ([2, 3, 3], [3, 1]),
    ([2, 3, 3], [3]),
    ([4, 3], [1, 3]),
    ([2, 4, 4, 3], [2, 1, 1, 3]),
    ([2, 3], [2, 3]),
    ([3], [3]),
)
"""Shapes of two operands."""


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the fault is one of the TensorFlow backend")
@pytest.mark.parametrize(("shape", "other"), SHAPES, ids=str)
def test_an_addition_to_another_axis(shape: list[int], other: list[int]) -> None:
    x, y = (np.random.default_rng(0).normal(size=each).astype(np.float32) for each in (shape, other))
    is_right = np.allclose(np.asarray(keras.ops.add(x, y)), x + y)
    assert is_right is not is_taken_for_a_bias(shape, other)
