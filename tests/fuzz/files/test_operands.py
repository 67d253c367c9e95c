"""No kind of node fails on an operand that makes no sense: it is refused with a message, or converted to what loads.

Of each operand one of the senseless constants is tried; `make fuzz-operands` tries all of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.files.operands import OPERANDS, always, every_kind
from tests.fuzz.files.runner import DEFECTS, Fate, judged
from tests.fuzz.files.samples import FORMATS

SHARE = {"onnx": 0.03, "tf": 0.015, "mxnet": 0.01, "caffe": 0.2, "ir": 0.015}
"""Which part of all operands and constants is tried."""


@pytest.mark.parametrize("framework", OPERANDS)
def test_senseless_operands(framework: str, tmp_path: Path) -> None:
    draw = random.Random(framework)
    defects: list[str] = []
    fates: set[Fate] = set()
    for base in every_kind(framework):
        for sample in OPERANDS[framework](base, lambda: draw.random() < SHARE[framework]):
            folder = tmp_path / str(draw.random())
            folder.mkdir()
            fate, message = judged(sample, folder)
            fates.add(fate)
            if fate in DEFECTS:
                defects.append(f"{sample.name}: {fate}: {message}")
    assert defects == []
    assert fates == {Fate.CONVERTED, Fate.REFUSED}


@pytest.mark.parametrize("framework", OPERANDS)
def test_one_operand_is_replaced(framework: str) -> None:
    """All constants are tried on each operand, and nothing else of a model changes."""
    base = next(each for each in FORMATS[framework]() if each.model.endswith((".onnx", ".pb", ".json", ".caffemodel", ".xml")))
    samples = list(OPERANDS[framework](base, always))
    assert len({each.name for each in samples}) == len(samples) > 4
    assert all(each.files.keys() == base.files.keys() or framework == "onnx" for each in samples)
    # Blobs are of floats: some constants are the same there.
    assert len({tuple(sorted(each.files.items())) for each in samples}) > len(samples) / 2
