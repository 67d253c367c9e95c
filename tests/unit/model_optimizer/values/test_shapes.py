"""Masked shapes."""

from __future__ import annotations

import numpy as np
import pytest

from moir.dialects.symbols import Symbol
from moir.errors import ConversionError
from moir.model_optimizer.values import shapes
from moir.model_optimizer.values.shapes import dynamic_dimension, shape_array


def test_arrays():
    array = shape_array([1, dynamic_dimension, 3])
    assert np.ma.getmaskarray(array).tolist() == [False, True, False]
    assert array.data[1] == array.fill_value == shapes.dynamic_dimension_value == -1000000007
    assert shape_array(array) is not array
    assert str(shape_array(array)) == str(array) == "[1 -- 3]"
    assert shapes.int64_array([1, 2]).dtype == np.int64
    assert shapes.float32_array([1]).dtype == np.float32
    assert np.ma.getmaskarray(shapes.undefined_shape_of_rank(2)).all()
    assert shapes.unmask_shape(array).tolist() == [1, -1, 3]
    assert shapes.unmask_shape(np.array([1])).tolist() == [1]
    assert np.ma.getmaskarray(shapes.mark_shape_with_dynamic_dims([-1, 2])).tolist() == [True, False]
    assert shape_array([]).shape == (0,)


def test_an_unknown_dimension_is_equal_to_minus_one():
    """Extensions until 2021 compare with -1, those from 2022 on with `dynamic_dimension`."""
    array = shape_array([1, dynamic_dimension, 3])
    assert array[1] is dynamic_dimension
    assert [array[index] == -1 for index in range(3)] == [False, True, False]
    assert [entry != -1 for entry in array] == [True, False, True]
    assert array[1] < 0
    assert (array == -1).tolist() == (array < 0).tolist() == [False, True, False]
    assert -1 in array
    assert -1 in array[1:]
    assert -1 not in array[:1]
    assert shapes.is_dynamic_dimension(array[1] + 1)
    assert (array * 2)[1] is dynamic_dimension
    assert not array[1] > 0
    array[1] = 2
    assert -1 not in array
    written: list[object] = []
    editable = shapes.EditableShape((-1, 5), lambda shape: written.append(shape.tolist()))
    assert editable[0] == -1
    editable[0] = 1
    assert written == [[1, 5]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, False),
        (shape_array([1, 2]), True),
        (shape_array([1, dynamic_dimension]), False),
        ([1, 2], True),
        ([dynamic_dimension], False),
        (dynamic_dimension, False),
        (-1000000007, False),
        (5, True),
        (np.array([1.0]), True),
    ],
)
def test_fully_defined(value, expected):
    assert shapes.is_fully_defined(value) is expected


def test_compatibility():
    assert shapes.compatible_dims(dynamic_dimension, 3)
    assert not shapes.compatible_dims(2, 3)
    assert shapes.compatible_shapes(shape_array([1, dynamic_dimension]), [1, 5])
    assert not shapes.compatible_shapes([1], [1, 1])
    assert shapes.strict_compare_tensors(shape_array([1, dynamic_dimension]), shape_array([1, dynamic_dimension]))
    assert not shapes.strict_compare_tensors(shape_array([1, dynamic_dimension]), shape_array([1, 2]))
    assert not shapes.strict_compare_tensors(None, [1])
    assert shapes.strict_compare_tensors(None, None)
    assert not shapes.strict_compare_tensors([1], [1, 2])


def test_types_and_values():
    assert shapes.type_shape(shape_array([1, dynamic_dimension])) == (1, -1)
    assert shapes.type_shape([1, -1]) == (1, -1)
    assert shapes.type_shape(None) is None
    assert shapes.masked_shape(None) is None
    for wrong in (["a"], [-5], [1 << 70], object()):
        with pytest.raises(ConversionError, match="is not a shape"):
            shapes.type_shape(wrong)
    symbolic = np.array([Symbol(), 4], dtype=object)
    masked = shapes.masked_value(symbolic)
    assert np.ma.getmaskarray(masked).tolist() == [True, False]
    back = shapes.symbolic_value(masked)
    assert isinstance(back[0], Symbol)
    assert back[1] == 4
