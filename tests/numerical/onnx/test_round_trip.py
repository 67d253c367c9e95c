"""A part of the backend tests of ONNX, converted and written as ONNX again: none computes anything else."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from tests.numerical.onnx.backend_suite import suite
from tests.numerical.onnx.round_trip import DIFFERENT, EQUAL, FAILED, backend_trip

PART = 24
"""One in so many tests is run; `python -m tests.numerical.onnx.round_trip` runs all."""

KNOWN = {
    "test_resize_downsample_scales_cubic_align_corners": "the conversion to IR computes with whole sizes",
    "test_resize_downsample_scales_linear_align_corners": "the conversion to IR computes with whole sizes",
}
"""Tests that are different for another reason than the way back."""


def chosen() -> list[str]:
    """The tests of the part, without whole networks."""
    tests = [test for test in suite().values() if not isinstance(test.data, Path) or test.data.suffix != ".onnx"]
    return sorted(test.name for test in tests if crc32(test.name.encode()) % PART == 5)


@pytest.mark.parametrize("opset", [17, None])
def test_a_part_of_the_suite(opset: int | None) -> None:
    trips = [backend_trip(name, opset) for name in chosen()]
    equal = [trip for trip in trips if trip.outcome == EQUAL]
    assert len(equal) >= (60 if opset is None else 45)
    wrong = [f"{trip.name}: {trip.outcome}: {trip.reason}" for trip in trips if trip.outcome == DIFFERENT and trip.name not in KNOWN]
    assert not wrong, "\n".join(wrong)
    # An older version has no kernels for some element types.
    failed = [f"{trip.name}: {trip.reason}" for trip in trips if trip.outcome == FAILED]
    assert opset is not None or not failed, "\n".join(failed)
