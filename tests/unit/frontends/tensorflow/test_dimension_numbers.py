"""Serialized dimension numbers of operations of XLA become properties of integers."""

from __future__ import annotations

import pytest

from moir.dialects.properties import value_of
from moir.errors import ModelFileError
from moir.frontends.tensorflow.dimension_numbers import dimension_properties


def test_fields_become_properties() -> None:
    actual = dimension_properties("XlaDotV2", b"\x0a\x02\x01\x02\x12\x01\x00")
    assert {name: value_of(value) for name, value in actual.items()} == {
        "lhs_contracting_dimensions": (1, 2),
        "rhs_contracting_dimensions": (0,),
        "lhs_batch_dimensions": (),
        "rhs_batch_dimensions": (),
    }


def test_fields_that_are_absent_are_zero() -> None:
    actual = dimension_properties("XlaConv", b"\x40\x03")
    assert value_of(actual["input_feature_dimension"]) == 3
    assert value_of(actual["input_batch_dimension"]) == 0


def test_damaged_messages_are_refused() -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        dimension_properties("XlaGather", b"\x0a\xff")
