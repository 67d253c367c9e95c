"""Random networks of Caffe: chains of layers, of known sizes and floats as all of its networks are."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw
from tests.fuzz.layers.functions import FUNCTIONS, convolution, pooled, softmax
from tests.fuzz.layers.mxnet import need
from tests.fuzz.layers.network import Layer, Network, Recipe, drawn_network
from tests.numerical.caffe.networks import input_layer, layer
from tests.numerical.caffe.networks import write as write_network

UNARY = {"AbsVal": "abs", "BNLL": "softplus", "ReLU": "relu", "Sigmoid": "sigmoid", "TanH": "tanh"}
"""Layers without parameters, by the names of their functions."""


def parameters(message: str, /, **given: object) -> dict[str, str]:
    """Parameters as a network writes them: `relu_param { negative_slope: 0.5 }`."""
    spelled = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
    return {"": f"{message} {{ {' '.join(f'{name}: {value}' for name, value in spelled.items())} }}"}


def unary(kind: str) -> Recipe:
    """A function of single elements."""
    return lambda _, x: Layer(kind, FUNCTIONS[UNARY[kind]](x))


def leaky(draw: Draw, x: Array) -> Layer:
    slope = draw.integer(1, 4) / 8
    return Layer("ReLU", np.where(x > 0, x, x * slope), parameters("relu_param", negative_slope=slope), onnx="LeakyRelu")


def elu(draw: Draw, x: Array) -> Layer:
    alpha = draw.integer(1, 8) / 4
    return Layer("ELU", np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))), parameters("elu_param", alpha=alpha))


def power(draw: Draw, x: Array) -> Layer:
    exponent, scale, shift = draw.one_of((1, 2, 3)), draw.integer(-4, 4) / 4, draw.integer(-4, 4) / 2
    result = (x.astype(np.float64) * scale + shift) ** exponent
    return Layer("Power", result, parameters("power_param", power=exponent, scale=scale, shift=shift), onnx="Pow")


def prelu(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 1)
    slopes = draw.array(np.dtype(np.float32), [x.shape[1]], special=0)
    after = slopes.reshape(1, -1, *(1,) * (x.ndim - 2))
    return Layer("PReLU", np.where(x > 0, x, x * after), weights=[slopes])


def scale(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 1)
    has_bias = draw.chance(0.5)
    factors = [draw.array(np.dtype(np.float32), [x.shape[1]], special=0) for _ in range(1 + has_bias)]
    placed = [each.reshape(1, -1, *(1,) * (x.ndim - 2)) for each in factors]
    result = x * placed[0] + (placed[1] if has_bias else 0)
    return Layer("Scale", result, parameters("scale_param", bias_term=has_bias), weights=factors)


def eltwise(draw: Draw, x: Array) -> Layer:
    other = draw.array(np.dtype(np.float32), x.shape, special=0)
    kind, compute, onnx = draw.one_of((("SUM", np.add, "Add"), ("PROD", np.multiply, "Mul"), ("MAX", np.maximum, "Max")))
    return Layer("Eltwise", compute(x, other), parameters("eltwise_param", operation=kind), others=[other], onnx=onnx)


def concat(draw: Draw, x: Array) -> Layer:
    axis = draw.integer(0, x.ndim - 1)
    shape = [draw.integer(1, 3) if place == axis else size for place, size in enumerate(x.shape)]
    other = draw.array(np.dtype(np.float32), shape, special=0)
    return Layer("Concat", np.concatenate([x, other], axis), parameters("concat_param", axis=axis), others=[other])


def shares(draw: Draw, x: Array) -> Layer:
    axis = draw.axis(x.ndim)
    return Layer("Softmax", softmax(x, axis), parameters("softmax_param", axis=axis))


def flatten(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 2)
    first = draw.integer(0, x.ndim - 2)
    result = x.reshape(*x.shape[:first], -1)
    return Layer("Flatten", result, parameters("flatten_param", axis=first), onnx="Reshape")


def reduction(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 1)
    axis, factor = draw.integer(1, x.ndim - 1), draw.integer(1, 4) / 2
    flat = x.reshape(*x.shape[:axis], -1).astype(np.float64)
    kind, compute = draw.one_of((("SUM", flat.sum), ("MEAN", flat.mean), ("ASUM", np.abs(flat).sum), ("SUMSQ", np.square(flat).sum)))
    result = compute(-1) * factor
    return Layer("Reduction", result, parameters("reduction_param", operation=kind, axis=axis, coeff=factor), onnx="ReduceSum")


def tile(draw: Draw, x: Array) -> Layer:
    axis, count = draw.integer(0, x.ndim - 1), draw.integer(1, 3)
    need(x.size * count < 1000)
    return Layer("Tile", np.concatenate([x] * count, axis), parameters("tile_param", axis=axis, tiles=count))


def inner_product(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 1)
    axis, count = draw.integer(1, x.ndim - 1), draw.integer(1, 4)
    rows = x.reshape(*x.shape[:axis], -1).astype(np.float64)
    weights = draw.array(np.dtype(np.float32), [count, rows.shape[-1]], special=0)
    given = parameters("inner_product_param", num_output=count, axis=axis, bias_term=False)
    return Layer("InnerProduct", rows @ weights.T, given, weights=[weights], onnx="Gemm")


def convolved(draw: Draw, x: Array) -> Layer:
    need(x.ndim == 4)
    kernel, strides, pads = (draw.integers(2, least, most) for least, most in ((1, 3), (1, 2), (0, 2)))
    dilation = draw.integer(1, 2)
    extents = [(size - 1) * dilation + 1 for size in kernel]
    need(all(size + 2 * pad >= extent for size, pad, extent in zip(x.shape[2:], pads, extents, strict=True)))
    groups = draw.one_of([each for each in range(1, x.shape[1] + 1) if x.shape[1] % each == 0])
    count = groups * draw.integer(1, 2)
    filters = draw.array(np.dtype(np.float32), [count, x.shape[1] // groups, *kernel], special=0)
    sizes = {
        f"{name}_{side}": pair[place]
        for name, pair in (("kernel", kernel), ("stride", strides), ("pad", pads))
        for place, side in enumerate("hw")
    }
    given = parameters("convolution_param", num_output=count, group=groups, dilation=dilation, bias_term=False, **sizes)
    result = convolution(x, filters, strides, (dilation, dilation), pads, groups)
    return Layer("Convolution", result, given, weights=[filters], onnx="Conv")


def pooling(draw: Draw, x: Array) -> Layer:
    need(x.ndim == 4)
    kernel, strides = draw.integers(2, 1, 3), draw.integers(2, 1, 2)
    # Caffe rounds up: only windows that fit exactly are the same in numpy.
    fits = zip(x.shape[2:], kernel, strides, strict=True)
    need(all(size >= length and (size - length) % step == 0 for size, length, step in fits))
    kind = draw.one_of(("MAX", "AVE"))
    sizes = {f"{name}_{side}": pair[place] for name, pair in (("kernel", kernel), ("stride", strides)) for place, side in enumerate("hw")}
    result = pooled(x, kernel, strides, np.max if kind == "MAX" else np.mean)
    return Layer("Pooling", result, parameters("pooling_param", pool=kind, **sizes), onnx="MaxPool" if kind == "MAX" else "AveragePool")


RECIPES: dict[str, Recipe] = {
    **{kind: unary(kind) for kind in UNARY},
    "Concat": concat,
    "Convolution": convolved,
    "ELU": elu,
    "Eltwise": eltwise,
    "Flatten": flatten,
    "InnerProduct": inner_product,
    "LeakyReLU": leaky,
    "PReLU": prelu,
    "Pooling": pooling,
    "Power": power,
    "Reduction": reduction,
    "Scale": scale,
    "Softmax": shares,
    "Tile": tile,
}


def write(network: Network, folder: Path) -> Path:
    """The text and the weights of a network."""
    text = [input_layer(**{name: array.shape for name, array in network.inputs.items()})]
    value, weights = "x", dict[str, list[Array]]()
    for number, each in enumerate(network.layers):
        bottoms, name = [value, *(f"x{number}_{index}" for index in range(len(each.others)))], f"layer{number}"
        text.append(layer(each.kind, each.attributes.get("", ""), bottoms, [name], name))
        weights[name] = list(each.weights)
        value = name
    return write_network(folder, "".join(text), weights)


def network(draw: Draw, only: str) -> Case:
    """A chain of layers."""
    names = [name for name in RECIPES if fnmatchcase(name, only)]
    return drawn_network(draw, RECIPES, names, draw.filled(2, 4), write, known=1)
