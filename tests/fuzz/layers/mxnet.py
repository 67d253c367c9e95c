"""Random networks of MXNet: chains of operations whose flags are drawn from the signatures of their handlers."""

from __future__ import annotations

import inspect
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from moir.lowering.mxnet.table import mxnet
from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.layers.functions import FUNCTIONS, convolution, pooled, softmax
from tests.fuzz.layers.network import Layer, Network, Recipe, drawn_network
from tests.numerical.mxnet.models import write as write_symbol

BINARY = {
    "broadcast_add": (np.add, "Add"),
    "broadcast_sub": (np.subtract, "Sub"),
    "broadcast_mul": (np.multiply, "Mul"),
    "broadcast_maximum": (np.maximum, "Max"),
    "broadcast_minimum": (np.minimum, "Min"),
    "broadcast_greater": (np.greater, "Greater"),
    "broadcast_equal": (np.equal, "Equal"),
}
SCALAR = {"_plus_scalar": np.add, "_minus_scalar": np.subtract, "_mul_scalar": np.multiply, "_maximum_scalar": np.maximum}
REDUCTIONS = {"sum": (np.sum, "ReduceSum"), "mean": (np.mean, "ReduceMean"), "max": (np.max, "ReduceMax"), "min": (np.min, "ReduceMin")}


def flags(draw: Draw, kind: str) -> dict[str, bool]:
    """The boolean attributes that the handler of a kind names, each at its default or not."""
    handler: Any = mxnet.handler(kind, 1)
    parameters = inspect.signature(inspect.unwrap(handler)).parameters.values()
    return {each.name: draw.chance(0.5) for each in parameters if isinstance(each.default, bool)}


def texts(**attributes: object) -> dict[str, str]:
    """Attributes as a symbol writes them."""
    return {name: str(tuple(value) if isinstance(value, list) else value) for name, value in attributes.items()}


def need(holds: bool) -> None:
    """Raise NoCase unless a condition of an operation holds."""
    if not holds:
        raise NoCase("not for this operation")


def unary(kind: str) -> Recipe:
    """A function of single elements."""
    written = ("Activation", texts(act_type="softrelu")) if kind == "softplus" else (kind, {})
    return lambda _, x: Layer(written[0], FUNCTIONS[kind](x), written[1])


def binary(kind: str) -> Recipe:
    """A function of two operands that broadcast to each other."""
    compute, onnx = BINARY[kind]

    def recipe(draw: Draw, x: Array) -> Layer:
        shape = [1 if draw.chance(0.3) else size for size in x.shape]
        other = draw.array(np.dtype(np.float32), shape, special=0)
        return Layer(kind, np.asarray(compute(x, other), np.float32), others=[other], onnx=onnx)

    return recipe


def with_scalar(kind: str) -> Recipe:
    """A function of an operand and a number."""

    def recipe(draw: Draw, x: Array) -> Layer:
        number = draw.integer(-4, 4) / 2
        return Layer(kind, SCALAR[kind](x, np.float32(number)), texts(scalar=number))

    return recipe


def reduction(kind: str) -> Recipe:
    """A reduction along some axes, or all others."""
    compute, onnx = REDUCTIONS[kind]

    def recipe(draw: Draw, x: Array) -> Layer:
        need(x.size > 0)
        axes, given = draw.axes(x.ndim, 1), flags(draw, kind)
        exclude = draw.chance(0.2)
        places = {axis % x.ndim for axis in axes}
        reduced = tuple(axis for axis in range(x.ndim) if (axis not in places) == exclude)
        need(0 < len(reduced) < x.ndim)
        return Layer(kind, compute(x, axis=reduced, keepdims=given["keepdims"]), texts(axis=axes, exclude=exclude, **given), onnx=onnx)

    return recipe


def transpose(draw: Draw, x: Array) -> Layer:
    order = draw.permutation(x.ndim)
    return Layer("transpose", x.transpose(order), texts(axes=order), onnx="Transpose")


def slice_axis(draw: Draw, x: Array) -> Layer:
    axis = draw.axis(x.ndim)
    size = x.shape[axis]
    need(size > 0)
    begin = draw.integer(0, size - 1)
    end = draw.integer(begin + 1, size)
    given = begin - size if draw.chance(0.3) else begin
    index = [slice(None)] * x.ndim
    index[axis] = slice(begin, end)
    return Layer("slice_axis", x[tuple(index)], texts(axis=axis, begin=given, end=end), onnx="Slice")


def expand_dims(draw: Draw, x: Array) -> Layer:
    need(x.ndim < 5)
    axis = draw.integer(-x.ndim - 1, x.ndim)
    return Layer("expand_dims", np.expand_dims(x, axis), texts(axis=axis), onnx="Unsqueeze")


def flatten(_: Draw, x: Array) -> Layer:
    need(x.ndim > 1 and x.size > 0)
    return Layer("Flatten", x.reshape(x.shape[0], -1), onnx="Reshape")


def clip(draw: Draw, x: Array) -> Layer:
    low = draw.integer(-4, 0) / 2
    high = low + draw.integer(0, 6) / 2
    return Layer("clip", np.clip(x, low, high), texts(a_min=low, a_max=high), onnx="Clip")


def repeat(draw: Draw, x: Array) -> Layer:
    count, axis = draw.integer(1, 3), draw.axis(x.ndim)
    return Layer("repeat", np.repeat(x, count, axis), texts(repeats=count, axis=axis))


def tile(draw: Draw, x: Array) -> Layer:
    need(x.size < 500)
    counts = draw.integers(x.ndim, 1, 2)
    return Layer("tile", np.tile(x, counts), texts(reps=counts))


def concat(draw: Draw, x: Array) -> Layer:
    axis = draw.integer(0, x.ndim - 1)
    shape = [draw.integer(1, 3) if place == axis else size for place, size in enumerate(x.shape)]
    other = draw.array(np.dtype(np.float32), shape, special=0)
    return Layer("Concat", np.concatenate([x, other], axis), texts(num_args=2, dim=axis), others=[other], onnx="Concat")


def shares(draw: Draw, x: Array) -> Layer:
    need(x.size > 0)
    axis = draw.axis(x.ndim)
    return Layer("softmax", softmax(x, axis), texts(axis=axis), onnx="Softmax")


def flip(draw: Draw, x: Array) -> Layer:
    axis = draw.integer(0, x.ndim - 1)
    return Layer("reverse", np.flip(x, axis), texts(axis=axis), onnx="Slice")


def fully_connected(draw: Draw, x: Array) -> Layer:
    need(x.ndim > 1 and x.size > 0)
    given = flags(draw, "FullyConnected") | {"flatten": draw.chance(0.5), "no_bias": draw.chance(0.5)}
    rows = x.reshape(x.shape[0], -1) if given["flatten"] else x
    hidden = draw.integer(1, 4)
    weights = draw.array(np.dtype(np.float32), [hidden, rows.shape[-1]], special=0)
    bias = [] if given["no_bias"] else [draw.array(np.dtype(np.float32), [hidden], special=0)]
    result = rows.astype(np.float64) @ weights.T + sum(bias)
    return Layer("FullyConnected", result, texts(num_hidden=hidden, **given), weights=[weights, *bias], onnx="Gemm")


def convolved(draw: Draw, x: Array) -> Layer:
    need(x.ndim == 4 and x.size > 0)
    kernel, strides, dilations, pads = (draw.integers(2, least, most) for least, most in ((1, 3), (1, 2), (1, 2), (0, 2)))
    extents = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    need(all(size + 2 * pad >= extent for size, pad, extent in zip(x.shape[2:], pads, extents, strict=True)))
    groups = draw.one_of([each for each in range(1, x.shape[1] + 1) if x.shape[1] % each == 0])
    count = groups * draw.integer(1, 2)
    filters = draw.array(np.dtype(np.float32), [count, x.shape[1] // groups, *kernel], special=0)
    attributes = texts(kernel=kernel, stride=strides, dilate=dilations, pad=pads, num_filter=count, num_group=groups, no_bias=True)
    return Layer("Convolution", convolution(x, filters, strides, dilations, pads, groups), attributes, weights=[filters], onnx="Conv")


def pooling(draw: Draw, x: Array) -> Layer:
    need(x.ndim == 4 and x.size > 0)
    kernel, strides = draw.integers(2, 1, 3), draw.integers(2, 1, 2)
    need(all(size >= length for size, length in zip(x.shape[2:], kernel, strict=True)))
    kind = draw.one_of(("max", "avg"))
    result = pooled(x, kernel, strides, np.max if kind == "max" else np.mean)
    onnx = "MaxPool" if kind == "max" else "AveragePool"
    return Layer("Pooling", result, texts(kernel=kernel, stride=strides, pool_type=kind), onnx=onnx)


RECIPES: dict[str, Recipe] = {
    **{kind: unary(kind) for kind in FUNCTIONS},
    **{kind: binary(kind) for kind in BINARY},
    **{kind: with_scalar(kind) for kind in SCALAR},
    **{kind: reduction(kind) for kind in REDUCTIONS},
    "Concat": concat,
    "Convolution": convolved,
    "Flatten": flatten,
    "FullyConnected": fully_connected,
    "Pooling": pooling,
    "clip": clip,
    "expand_dims": expand_dims,
    "repeat": repeat,
    "reverse": flip,
    "slice_axis": slice_axis,
    "softmax": shares,
    "tile": tile,
    "transpose": transpose,
}


def write(network: Network, folder: Path) -> Path:
    """The symbol of a network, and its parameters."""
    nodes: list[dict[str, Any]] = []
    arguments, weights = list[int](), dict[str, Array]()

    def variable(name: str, attributes: dict[str, str]) -> int:
        nodes.append({"op": "null", "name": name, "attrs": attributes, "inputs": []})
        arguments.append(len(nodes) - 1)
        return len(nodes) - 1

    places = {
        name: variable(name, {"__shape__": str(array.shape if network.knows_sizes else (0,) * array.ndim)})
        for name, array in network.inputs.items()
    }
    value = places["x"]
    for number, layer in enumerate(network.layers):
        operands = [value, *(places[f"x{number}_{index}"] for index in range(len(layer.others)))]
        for index, array in enumerate(layer.weights):
            weights[f"w{number}_{index}"] = array
            operands.append(variable(f"w{number}_{index}", {}))
        nodes.append(
            {"op": layer.kind, "name": f"layer{number}", "attrs": dict(layer.attributes), "inputs": [[each, 0, 0] for each in operands]}
        )
        value = len(nodes) - 1
    return write_symbol(folder, {"nodes": nodes, "arg_nodes": arguments, "heads": [[value, 0, 0]]}, weights)


def graph(draw: Draw, only: str) -> Case:
    """A chain of operations."""
    names = [name for name in RECIPES if fnmatchcase(name, only)]
    return drawn_network(draw, RECIPES, names, draw.filled(1, 4), write, known=0.6, suffix="_output")
