"""Operations that need several patterns: an operation that a pattern builds is changed by the later ones of its form, and by
later forms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13 as ops

import moir
from tests.numerical.runtime import core
from tests.numerical.targets.proofs import floats


def iterator_of_grown_rows(rows: Any, first: Any) -> Any:
    """The sum of a state to which each row is appended, summed over the iterations; the state itself is not a result."""
    state, total, row = ops.parameter([-1, 1], np.float32), ops.parameter([1], np.float32), ops.parameter([1, 1], np.float32)
    grown = ops.concat([state, row], 0)
    added = ops.add(total, ops.reduce_sum(grown, np.array([0])))
    iterator = ops.tensor_iterator()
    iterator.set_body(openvino.Model([grown, added], [state, total, row]))
    iterator.set_sliced_input(row, rows.output(0), 0, 1, 1, -1, 0)
    iterator.set_merged_input(state, first.output(0), grown.output(0))
    iterator.set_merged_input(total, ops.constant(floats(0)).output(0), added.output(0))
    return iterator.get_iter_value(added.output(0), -1)


def bytes_of_narrow_floats(x: Any) -> Any:
    """Integers of 8 bits from floats of 8 bits, some of which are larger."""
    return ops.convert(ops.convert(x, "f8e5m2"), "u8")


def product_after_maxima(x: Any) -> Any:
    """The maxima of rows, by a matrix of one element, of which each row has its own factor."""
    product = ops.matmul(ops.reduce_max(x, np.array([2]), True), floats(2).reshape(1, 1), False, False)
    return ops.multiply(product, floats(1, 2, 3).reshape(3, 1))


CASES: dict[str, tuple[Any, list[list[int]], list[Any], Any]] = {
    "read-changing-states": (
        iterator_of_grown_rows,
        [[3, 1], [1, 1]],
        [floats(1, 2, 3).reshape(3, 1), floats(-1).reshape(1, 1)],
        floats(7),
    ),
    "separate-reductions": (
        product_after_maxima,
        [[2, 3, 2]],
        [np.arange(12, dtype=np.float32).reshape(2, 3, 2)],
        np.array([1, 3, 5, 7, 9, 11], np.float32).reshape(2, 3, 1) * 2 * floats(1, 2, 3).reshape(3, 1),
    ),
    "convert-in-steps": (bytes_of_narrow_floats, [[-1]], [floats(3, 320, 640)], np.array([3, 64, 128], np.uint8)),
}


@pytest.mark.parametrize("form", CASES)
def test_patterns_follow_each_other(form: str, tmp_path: Path) -> None:
    build, shapes, inputs, wanted = CASES[form]
    parameters = [ops.parameter(shape, np.float32) for shape in shapes]
    openvino.save_model(openvino.Model([build(*parameters)], parameters), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "model.xml")
    actual = next(iter(core().compile_model(tmp_path / "model.xml", "CPU")(inputs).values()))
    np.testing.assert_array_equal(actual, wanted)
