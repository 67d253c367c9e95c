"""Terms before convolutions moved after them: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import pytest

from moir.options import ConversionOptions
from moir.pipeline import pipeline_names
from tests.numerical.passes.module_lines import check, inputs, numbers

WINDOW = "strides = [1, 1], dilations = [1, 1]"
UNPADDED = f"{WINDOW}, pads_begin = [0, 0], pads_end = [0, 0]"
PADDED = f"{WINDOW}, pads_begin = [0, 1], pads_end = [0, 0]"
FILTERS = {"Convolution": (6, 4, 3, 3), "GroupConvolution": (2, 3, 2, 3, 3)}


def shifted(kind: str, attributes: str) -> str:
    """A normalization before a convolution, as pre-activation networks have it."""
    return f"""{inputs("?x4x?x?xf32")}
    %1 = opset1.Multiply(%x, %scale)
    %2 = opset1.Add(%1, %shift)
    %3 = opset1.{kind}(%2, %w) {{{attributes}}}
    opset1.Result(%3) {{name = "out"}}"""


def test_every_conversion_moves_terms() -> None:
    assert "fold-shifts" in pipeline_names("onnx", ConversionOptions())


@pytest.mark.parametrize("kind", FILTERS)
def test_terms_of_normalizations(kind: str) -> None:
    weights = {"scale": numbers(1, 4, 1, 1), "shift": numbers(1, 4, 1, 1), "w": numbers(*FILTERS[kind])}
    sizes = ((2, 4, 5, 6),), ((1, 4, 3, 3),)
    check("fold-shifts fold-scales", shifted(kind, UNPADDED), {kind: 1, "Add": 1}, *sizes, tolerance=1e-4, **weights)


def test_terms_in_front_of_padding_stay() -> None:
    weights = {"scale": numbers(1, 4, 1, 1), "shift": numbers(1, 4, 1, 1), "w": numbers(6, 4, 3, 3)}
    left = {"Convolution": 1, "Multiply": 1, "Add": 1}
    check("fold-shifts fold-scales", shifted("Convolution", PADDED), left, ((2, 4, 5, 6),), tolerance=1e-4, **weights)
