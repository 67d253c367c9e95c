"""Activations that are written with Selects, limits and exponentials: the runtime computes the same before and after."""

from __future__ import annotations

import pytest

from tests.numerical.passes.module_lines import check, inputs

SIZES = ((2, 3, 5),)


def number(name: str, value: float) -> str:
    """A line with a constant scalar."""
    return f"%{name} = opset1.Constant() {{value = #moir.data<tensor<f32>, [{value}]>}} : tensor<f32>\n"


def axis(value: int) -> str:
    """A line with the axis of reductions."""
    return f"%axis = opset1.Constant() {{value = #moir.data<tensor<1xsi64>, [{value}]>}} : tensor<1xsi64>\n"


CONSTANTS = number("zero", 0.0) + number("one", 1.0) + number("low", -0.5) + number("alpha", 1.5) + axis(2)
START = inputs("?x3x?xf32") + CONSTANTS

REST = """
%safe = opset1.Select(%positive, %zero, %x)
%power = opset1.Exp(%safe)
%rest = opset1.Subtract(%power, %one)
"""
POSITIVE = "%positive = opset1.Greater(%x, %zero)"
SOFT_PLUS = """
%magnitude = opset1.Abs(%x)
%below = opset1.Negative(%magnitude)
%power = opset1.Exp(%below)
%more = opset1.Add(%power, %one)
%logarithm = opset1.Log(%more)
%top = opset1.Relu(%x)
%sum = opset1.Add(%top, %logarithm)
"""
CENTRED = """
%m = opset1.ReduceMax(%x, %axis) {keep_dims = true}
%c = opset1.Subtract(%x, %m)
%e = opset1.Exp(%c)
%s = opset1.ReduceSum(%e, %axis) {keep_dims = true}
"""

CASES: dict[str, tuple[str, str, str]] = {
    "elu": ("fuse-elu", f"{POSITIVE}{REST}%y = opset1.Select(%positive, %x, %rest)", "Elu"),
    "elu of alpha": (
        "fuse-elu",
        f"{POSITIVE}{REST}%scaled = opset1.Multiply(%alpha, %rest)\n%y = opset1.Select(%positive, %x, %scaled)",
        "Elu",
    ),
    "elu where x is negative": (
        "fuse-elu",
        "%power = opset1.Exp(%x)\n%rest = opset1.Subtract(%power, %one)\n"
        "%negative = opset1.Less(%x, %zero)\n%y = opset1.Select(%negative, %rest, %x)",
        "Elu",
    ),
    "elu of limits": (
        "fuse-elu",
        "%below = opset1.Minimum(%x, %zero)\n%power = opset1.Exp(%below)\n%rest = opset1.Subtract(%power, %one)\n"
        "%top = opset1.Relu(%x)\n%y = opset1.Add(%top, %rest)",
        "Elu",
    ),
    "soft plus": ("fuse-soft-plus", f"{SOFT_PLUS}%nan = opset1.NotEqual(%x, %x)\n%y = opset1.Select(%nan, %x, %sum)", "SoftPlus"),
    "soft plus without a test of NaN": ("fuse-soft-plus", f"{SOFT_PLUS}%y = opset1.Relu(%sum)", "SoftPlus Relu"),
    "soft sign": ("fuse-soft-sign", "%a = opset1.Abs(%x)\n%b = opset1.Add(%one, %a)\n%y = opset1.Divide(%x, %b)", "SoftSign"),
    "hard tanh": (
        "fuse-clamp",
        "%p = opset1.Greater(%x, %one)\n%n = opset1.Less(%x, %low)\n%b = opset1.Select(%n, %low, %x)\n%y = opset1.Select(%p, %one, %b)",
        "Clamp",
    ),
    "hard tanh, the upper limit first": (
        "fuse-clamp",
        "%p = opset1.Less(%one, %x)\n%n = opset1.Greater(%low, %x)\n%b = opset1.Select(%p, %one, %x)\n%y = opset1.Select(%n, %low, %b)",
        "Clamp",
    ),
    "softmax": ("fuse-softmax", f"{CENTRED}%y = opset1.Divide(%e, %s)", "Softmax"),
    "logarithm of softmax": ("fuse-softmax", f"{CENTRED}%l = opset1.Log(%s)\n%y = opset1.Subtract(%c, %l)", "LogSoftmax"),
    "logarithm of softmax by the sum": (
        "fuse-softmax",
        f"{CENTRED}%l = opset1.Log(%s)\n%t = opset1.Add(%l, %m)\n%y = opset1.Subtract(%x, %t)",
        "LogSoftmax",
    ),
    "softmax of unlimited exponentials": (
        "fuse-softmax",
        "%e = opset1.Exp(%x)\n%s = opset1.ReduceSum(%e, %axis) {keep_dims = true}\n%y = opset1.Divide(%e, %s)",
        "Softmax",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_activation(name: str) -> None:
    passes, text, left = CASES[name]
    check(passes, f'{START}{text}\nopset1.Result(%y) {{name = "out"}}', dict.fromkeys(left.split(), 1), SIZES)


def test_selu() -> None:
    text = f"{START}{number('a', 1.6732632)}{number('l', 1.050701)}{POSITIVE}{REST}"
    text += "%b = opset1.Multiply(%rest, %a)\n%c = opset1.Select(%positive, %x, %b)\n"
    text += '%y = opset1.Multiply(%c, %l)\nopset1.Result(%y) {name = "out"}'
    check("fuse-elu", text, {"Selu": 1}, SIZES)


def test_celu() -> None:
    text = f"{START}%below = opset1.Minimum(%x, %zero)\n%d = opset1.Divide(%below, %alpha)\n%power = opset1.Exp(%d)\n"
    text += "%rest = opset1.Subtract(%power, %one)\n%scaled = opset1.Multiply(%alpha, %rest)\n%top = opset1.Relu(%x)\n"
    text += '%y = opset1.Add(%top, %scaled)\nopset1.Result(%y) {name = "out"}'
    check("fuse-elu", text, {"Divide": 1, "Elu": 1, "Multiply": 1}, SIZES)


def test_softmax_of_values_less_one_of_another_axis() -> None:
    """The greatest element is that of another axis, so that the differences are what is normalized."""
    text = f"{START}%last = opset1.Constant() {{value = #moir.data<tensor<1xsi64>, [1]>}} : tensor<1xsi64>\n{CENTRED}"
    text = text.replace("%s = opset1.ReduceSum(%e, %axis)", "%s = opset1.ReduceSum(%e, %last)")
    text += '%y = opset1.Divide(%e, %s)\nopset1.Result(%y) {name = "out"}'
    check("fuse-softmax", text, {"ReduceMax": 1, "Softmax": 1, "Subtract": 1}, SIZES)
