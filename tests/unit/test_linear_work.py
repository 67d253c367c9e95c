"""The work of a conversion is linear in the operations of a model, in every format and form in which models grow.

Calls of functions are counted, which are the same in each run; `benchmarks/scaling.py` measures the time.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moir import convert_model, save_model

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FAMILIES = (
    "chain", "branches", "shapes", "wide", "growing", "parts", "outputs", "nesting", "loops", "constants", "names", "functions",
    "tf-chain", "tf-shapes", "tf-wide", "mxnet-chain", "mxnet-wide", "caffe-chain", "caffe-wide", "ir-chain", "ir-wide",
)  # fmt: skip
STEP = 240


def calls(function: Callable[[], object]) -> int:
    """The calls of functions, in Python and in C, while a function runs."""
    count = 0

    def profile(_frame: Any, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def families(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[int, Path], Path]]:
    """The generators of graphs."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    actual: dict[str, Callable[[int, Path], Path]] = importlib.import_module("scaling_graphs").FAMILIES
    assert tuple(actual) == FAMILIES
    return actual


@pytest.mark.parametrize("family", FAMILIES)
def test_an_operation_more_costs_what_one_before_did(tmp_path: Path, family: str, families: dict[str, Callable[[int, Path], Path]]) -> None:
    counts: list[int] = []
    # The first conversion loads modules.
    for size in (STEP, STEP, 2 * STEP, 4 * STEP):
        source = families[family](size, tmp_path)
        counts.append(calls(lambda source=source: save_model(convert_model(source), tmp_path / "converted.xml")))
    few, many = counts[2] - counts[1], counts[3] - counts[2]
    assert many < 2.3 * few, f"{STEP} operations more take {few} calls, {2 * STEP} more {many}"


def nested(depth: int, folder: Path, families: dict[str, Callable[[int, Path], Path]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of one tower of Ifs that stand in each other."""
    monkeypatch.setattr(sys.modules[families["nesting"].__module__], "DEPTH", depth)
    return families["nesting"](2 * depth, folder)


def test_ifs_that_stand_in_each_other(
    tmp_path: Path, families: dict[str, Callable[[int, Path], Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """84 deep, the model and its IR convert; the work for a level does not depend on the number of levels."""
    counts: list[int] = []
    for depth in (10, 10, 40, 70):
        source = nested(depth, tmp_path, families, monkeypatch)
        counts.append(calls(lambda source=source: convert_model(source)))
    assert counts[3] - counts[2] < 1.3 * (counts[2] - counts[1])
    save_model(convert_model(nested(84, tmp_path, families, monkeypatch)), tmp_path / "m.xml")
    module = convert_model(tmp_path / "m.xml")
    assert sum(op.name == "opset8.If" for op in module.walk()) == 84
