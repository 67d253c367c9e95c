"""Random models around convolutions, pooling, normalizations and recurrent cells, for forms that look at neighbours.

All sizes are known.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.numerical.passes.module_lines import build, ints

ACTIVATIONS = ("opset1.Abs", "opset4.HSwish", "opset4.Mish", "opset1.Relu", "opset1.Sqrt", "opset4.Swish", "opset1.Tanh")


def _numbers(draw: random.Random, *shape: int) -> np.ndarray:
    return np.random.default_rng(draw.randrange(1 << 30)).standard_normal(shape).astype(np.float32)


def _shape(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes)) + "xf32"


def _fitting(draw: random.Random, rank: int, kernels: Sequence[int]) -> tuple[list[int], str]:
    """Sizes of images, and the windows of a convolution that fits into them with its padding."""
    kernel, strides, dilations, begins, ends, sizes = ([0] * rank for _ in range(6))
    for axis in range(rank):
        kernel[axis], strides[axis], dilations[axis] = draw.choice(kernels), draw.randint(1, 3), draw.randint(1, 2)
        begins[axis], ends[axis] = draw.choice((0, 0, 1, 2)), draw.choice((0, 0, 1, 2))
        least = max(1, (kernel[axis] - 1) * dilations[axis] + 1 - begins[axis] - ends[axis])
        sizes[axis] = draw.choice((least, kernel[axis], least + 1, least + 4)) if kernel[axis] >= least else least + draw.randint(0, 5)
    windows = f"strides = {strides}, dilations = {dilations}, pads_begin = {begins}, pads_end = {ends}"
    return [*sizes, *kernel], windows


def convolution(draw: random.Random, kernels: Sequence[int] = (1, 1, 2, 3)) -> ModuleOp:
    """What may be before a convolution, the convolution, and what may follow."""
    rank = draw.randint(1, 3)
    sizes, windows = _fitting(draw, rank, kernels)
    sizes, kernel = sizes[:rank], sizes[rank:]
    channels, outputs, images = draw.choice((1, 2, 3, 4, 16)), draw.choice((1, 2, 3, 8, 32)), draw.randint(1, 3)
    before = draw.choice(("", "relu", "split", "second", "map", "factors", "conv", "quantized"))
    entering = 2 * channels if before in ("split", "second") else channels
    first = [images, entering, *sizes]
    lines, weights, x = [f'%x = opset1.Parameter() {{name = "x"}} : tensor<{_shape(first)}>'], dict[str, np.ndarray](), "x"
    if before in ("split", "second"):
        axis = "%axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>"
        lines += [axis, "%a, %b = opset1.Split(%x, %axis) {num_splits = 2}"]
        lines += ["%p = opset1.Relu(%b)"] if before == "second" else ["%s = opset1.Sigmoid(%b)", "%p = opset1.Multiply(%a, %s)"]
        x = "p"
    elif before in ("map", "factors"):
        weights["m"] = (
            _numbers(draw, *[draw.choice((1, size)) for size in sizes]) if before == "map" else _numbers(draw, channels, *[1] * rank)
        )
        lines, x = [*lines, "%p = opset1.Multiply(%x, %m)"], "p"
    elif before == "relu":
        lines, x = [*lines, f"%p = {draw.choice(ACTIVATIONS[:4])}(%x)"], "p"
    elif before == "conv":
        weights["v"] = _numbers(draw, channels, channels, *[1] * rank)
        same = f"strides = {[1] * rank}, dilations = {[1] * rank}, pads_begin = {[0] * rank}, pads_end = {[0] * rank}"
        lines, x = [*lines, f"%q = opset1.Convolution(%x, %v) {{{same}}}", "%p = opset1.Relu(%q)"], "p"
    elif before == "quantized":
        lines, x = [*lines, *_limits(draw), "%p = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256}"], "p"
    groups = draw.choice((1, 1, 1, channels))
    weights["w"] = _numbers(draw, groups, draw.randint(1, 2), 1, *kernel) if groups > 1 else _numbers(draw, outputs, channels, *kernel)
    kind = "GroupConvolution" if groups > 1 else "Convolution"
    lines, y = [*lines, f"%c = opset1.{kind}(%{x}, %w) {{{windows}}}"], "c"
    if draw.random() < 0.5:
        count = weights["w"].shape[0] * (weights["w"].shape[1] if groups > 1 else 1)
        weights["bias"] = _numbers(draw, 1, count, *[1] * rank)
        lines, y = [*lines, "%d = opset1.Add(%c, %bias)"], "d"
    if draw.random() < 0.5:
        lines, y = [*lines, *_pooled(draw, rank, y)], "r"
    return build("\n".join([*lines, f'opset1.Result(%{y}) {{name = "out"}}']), **weights)


def _pooled(draw: random.Random, rank: int, x: str) -> list[str]:
    """Maxima of windows, and what follows."""
    windows = f"kernel = {[2] * rank}, strides = {[2] * rank}, pads_begin = {[1] * rank}, pads_end = {[1] * rank}"
    lines = [f"%e = opset1.MaxPool(%{x}) {{{windows}}}"]
    if draw.random() < 0.2:
        return [*lines, "%f = opset1.Sigmoid(%e)", "%r = opset1.Multiply(%e, %f)"]
    chain = draw.choices(ACTIVATIONS, k=draw.randint(1, 2))
    names = ["e", "f", "r"] if len(chain) == 2 else ["e", "r"]
    return lines + [f"%{new} = {kind}(%{old})" for kind, old, new in zip(chain, names, names[1:], strict=False)]


def _limits(draw: random.Random) -> list[str]:
    low = draw.choice((-128, 0)) / draw.choice((16, 64))
    high = draw.choice((127, 255)) / draw.choice((16, 64))
    return [f"%{n} = opset1.Constant() {{value = #moir.data<tensor<f32>, [{v}]>}} : tensor<f32>" for n, v in (("low", low), ("high", high))]


def averages(draw: random.Random) -> ModuleOp:
    """Factors and quantization before and behind an average."""
    shape = [2, 4, 6, 6]
    lines, weights, x = [f'%x = opset1.Parameter() {{name = "x"}} : tensor<{_shape(shape)}>', *_limits(draw)], dict[str, np.ndarray](), "x"
    for number, step in enumerate(draw.choices(("factors", "quantized", "relu", "max"), k=draw.randint(1, 3))):
        name = f"a{number}"
        weights |= {f"m{number}": _numbers(draw, 1, 4, 1, 1)} if step == "factors" else {}
        lines.append(f"%{name} = " + {
            "factors": f"opset1.Multiply(%{x}, %m{number})",
            "quantized": f"opset1.FakeQuantize(%{x}, %low, %high, %low, %high) {{levels = 256}}",
            "relu": f"opset1.Relu(%{x})",
            "max": f"opset1.MaxPool(%{x}) {{kernel = [2, 2], strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}}",
        }[step])  # fmt: skip
        x = name
    windows = 'kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true'
    lines.append(f"%p = opset1.AvgPool(%{x}) {{{windows}}}")
    following = draw.choice((*ACTIVATIONS, "opset1.Negative", "opset1.Clamp", "opset1.FakeQuantize"))
    limits = ", %low, %high, %low, %high" if following.endswith("FakeQuantize") else ""
    properties = " {levels = 256}" if limits else " {min = -0.3, max = 0.7}" if following.endswith("Clamp") else ""
    lines.append(f"%y = {following}(%p{limits}){properties}")
    return build("\n".join([*lines, 'opset1.Result(%y) {name = "out"}']), **weights)


def normalizations(draw: random.Random) -> ModuleOp:
    """Group normalizations with residuals, and means and variances along axes of all kinds."""
    if draw.random() < 0.5:
        groups, rank = draw.choice((1, 2, 4)), draw.randint(1, 3)
        shape = _shape([2, 4, *[draw.randint(2, 5) for _ in range(rank)]])
        text = f"""%x = opset1.Parameter() {{name = "x"}} : tensor<{shape}>
        %1 = {draw.choice(ACTIVATIONS[:4])}(%x)
        %2 = opset12.GroupNormalization(%{draw.choice("1x")}, %scale, %shift) {{num_groups = {groups}, epsilon = 0.01}}
        %3 = opset1.{draw.choice(("Add", "Multiply", "Subtract", "Maximum"))}(%1, %2)
        opset1.Result(%3) {{name = "out"}}"""
        return build(text, scale=_numbers(draw, 4), shift=_numbers(draw, 4))
    size = draw.randint(2, 4)
    shape = _shape([size] * 3)
    axes = [draw.choice((-1, 0, 1, 2)) for _ in range(2)]
    keeps = [draw.choice(("true", "true", "false")) for _ in range(2)]
    added = _numbers(draw, *draw.choice(((), (), (1,), (size,), (1, 1, 1)))) ** 2
    text = f"""%x = opset1.Parameter() {{name = "x"}} : tensor<{shape}>
    {ints("first", axes[0])}{ints("second", draw.choice(axes))}
    %two = opset1.Constant() {{value = #moir.data<tensor<f32>, [2.0]>}} : tensor<f32>
    %1 = opset1.ReduceMean(%x, %first) {{keep_dims = {keeps[0]}}}
    %2 = opset1.Subtract(%x, %1)
    %3 = opset1.{draw.choice(("Power(%2, %two)", "Multiply(%2, %2)"))}
    %4 = opset1.ReduceMean(%3, %second) {{keep_dims = {keeps[1]}}}
    %5 = opset1.Add(%4, %added)
    %6 = opset1.Sqrt(%5)
    %7 = opset1.Divide(%2, %6)
    opset1.Result(%7) {{name = "out"}}"""
    return build(text, added=added + np.float32(0.1))


def cells(draw: random.Random) -> ModuleOp:
    """A step of a GRU with biases of all shapes."""
    size, width, images = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3)
    shapes = [draw.choice(((count,), (1, count), (1,), (), (1, 1), (images, count))) for count in (2 * size, size)]
    text = f"""%x = opset1.Parameter() {{name = "x"}} : tensor<{images}x{width}xf32>
    %h = opset1.Parameter() {{name = "h"}} : tensor<{images}x{size}xf32>
    %axis = opset1.Constant() {{value = #moir.data<tensor<si64>, [1]>}} : tensor<si64>
    %one = opset1.Constant() {{value = #moir.data<tensor<f32>, [1.0]>}} : tensor<f32>
    %1 = opset1.Concat(%x, %h) {{axis = 1}}
    %2 = opset1.MatMul(%1, %w) {{transpose_b = true}}
    %3 = opset1.Add(%2, %b)
    %4 = opset1.Sigmoid(%3)
    %r, %z = opset1.Split(%4, %axis) {{num_splits = 2}}
    %5 = opset1.Multiply(%r, %h)
    %6 = opset1.Concat(%x, %5) {{axis = 1}}
    %7 = opset1.MatMul(%6, %v) {{transpose_b = true}}
    %8 = opset1.Add(%7, %c)
    %9 = opset1.Tanh(%8)
    %10 = opset1.Multiply(%z, %h)
    %11 = opset1.Subtract(%one, %z)
    %12 = opset1.Multiply(%11, %9)
    %13 = opset1.Add(%10, %12)
    opset1.Result(%13) {{name = "out"}}"""
    given = {"w": (2 * size, width + size), "v": (size, width + size), "b": shapes[0], "c": shapes[1]}
    return build(text, **{name: _numbers(draw, *shape) for name, shape in given.items()})


def unit_kernels(draw: random.Random) -> ModuleOp:
    """Convolutions by kernels of one element."""
    return convolution(draw, (1,))


SWEEPS: Mapping[str, Callable[[random.Random], ModuleOp]] = MappingProxyType(
    {
        "align-strides": convolution,
        "clamp-before-pooling": convolution,
        "unsqueeze-cell-biases": cells,
        "keep-strides": unit_kernels,
        "pad-before-convolutions": unit_kernels,
        "separate-quantized-averages": averages,
        "separate-maps": convolution,
        "separate-normalizations": normalizations,
        "unfold-convolutions": convolution,
        "widen-kernels": unit_kernels,
    }
)
"""The random models for forms, besides variants of their lit tests."""
