"""Arguments of Keras' functions that are numbers."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.lowering.keras.attributes import numbers_of


def test_numbers() -> None:
    np.testing.assert_array_equal(numbers_of([[1, 2.5], [True, 0]]), [[1, 2.5], [1, 0]])
    assert numbers_of(3).dtype.kind == "i"


@pytest.mark.parametrize("value", [{"class_name": "Dense"}, None, "a", [[1], [1, 2]], [{}]])
def test_what_a_damaged_file_has_in_their_place(value: object) -> None:
    with pytest.raises(ConversionError, match="where numbers or tensors are meant"):
        numbers_of(value)
