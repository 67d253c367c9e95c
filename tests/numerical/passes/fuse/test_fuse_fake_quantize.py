"""Roundings that take over limits, or move after a Concat: the runtime computes the same before and after."""

from __future__ import annotations

import pytest

from tests.numerical.passes.module_lines import check, inputs


def number(name: str, value: float) -> str:
    """A line with a constant scalar."""
    return f"%{name} = opset1.Constant() {{value = #moir.data<tensor<f32>, [{value}]>}} : tensor<f32>\n"


START = inputs("?x3x?x5xf32") + number("zero", 0.0) + number("low", -0.5) + number("high", 1.5)
SIZES = ((2, 3, 4, 5),)


@pytest.mark.parametrize(
    "limits",
    [
        "%a = opset1.Relu(%x)",
        "%a = opset1.Clamp(%x) {min = -0.5, max = 2.0}",
        "%b = opset1.Maximum(%low, %x)\n%a = opset1.Minimum(%b, %high)",
    ],
)
def test_limits(limits: str) -> None:
    text = f"{START}{limits}\n%y = opset1.FakeQuantize(%a, %zero, %high, %zero, %high) {{levels = 256}}\n"
    check("fuse-fake-quantize", f'{text}opset1.Result(%y) {{name = "out"}}', {"FakeQuantize": 1}, SIZES)


@pytest.mark.parametrize("levels", [256, 16])
def test_concat(levels: int) -> None:
    """The third operand is the largest number of windows of rounded numbers, which is rounded, too."""
    rounded = f"(%{{0}}, %low, %high, %low, %high) {{{{levels = {levels}}}}}"
    window = "kernel = [1, 1], strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"
    text = START + "\n".join(
        (
            "%s = opset1.Tanh(%x)",
            "%t = opset1.Sigmoid(%x)",
            f"%a = opset1.FakeQuantize{rounded.format('s')}",
            f"%b = opset1.FakeQuantize{rounded.format('t')}",
            f"%c = opset1.FakeQuantize{rounded.format('x')}",
            f"%d, %i = opset8.MaxPool(%c) {{{window}}}",
            "%y = opset1.Concat(%a, %b, %d) {axis = 1}",
            'opset1.Result(%y) {name = "out"}',
        )
    )
    check("fuse-fake-quantize", text, {"Tanh": 1, "Sigmoid": 1, "FakeQuantize": 2, "MaxPool": 1, "Concat": 1}, SIZES)
