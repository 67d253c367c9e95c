"""TensorFlow graphs as text, without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FLOAT, INT = "type: DT_FLOAT", "type: DT_INT32"


def node(kind: str, name: str, inputs: Sequence[str] = (), **attributes: str) -> str:
    """A node; attributes are texts of `AttrValue`, `axis="i: 1"`."""
    fields = [f'name: "{name}"', f'op: "{kind}"', *(f'input: "{each}"' for each in inputs)]
    fields += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attributes.items()]
    return f"node {{ {' '.join(fields)} }}\n"


def shape_text(shape: Sequence[int]) -> str:
    """A `TensorShapeProto`."""
    return " ".join(f"dim {{ size: {size} }}" for size in shape)


def placeholder(name: str, shape: Sequence[int]) -> str:
    """An input of floats."""
    return node("Placeholder", name, dtype=FLOAT, shape=f"shape {{ {shape_text(shape)} }}")


def constant(name: str, value: object) -> str:
    """A constant of floats or 32-bit integers."""
    array = np.asarray(value)
    dtype, field = ("DT_FLOAT", "float_val") if array.dtype.kind == "f" else ("DT_INT32", "int_val")
    values = " ".join(f"{field}: {each}" for each in array.ravel())
    tensor = f"tensor {{ dtype: {dtype} tensor_shape {{ {shape_text(array.shape)} }} {values} }}"
    return node("Const", name, dtype=f"type: {dtype}", value=tensor)


def convolution(scope: str, source: str, weights: np.ndarray) -> str:
    """A convolution `<scope>/Conv2D` with stride 1 and zeros at the borders."""
    strides = "list { i: 1 i: 1 i: 1 i: 1 }"
    conv = node("Conv2D", f"{scope}/Conv2D", [source, f"{scope}/weights"], T=FLOAT, strides=strides, padding='s: "SAME"')
    return constant(f"{scope}/weights", weights) + conv


def moments_and_norm() -> str:
    """Mean and variance by single operations, and a FusedBatchNorm that uses them: a normalization of the channels of `x`."""
    squeezed = "list { i: 0 i: 1 i: 2 }"
    return "".join(
        (
            placeholder("x", [1, 4, 4, 3]),
            constant("axes", np.array([1, 2], np.int32)),
            constant("more_axes", np.array([1, 2], np.int32)),
            node("Mean", "mean", ["x", "axes"], T=FLOAT, Tidx=INT, keep_dims="b: true"),
            node("StopGradient", "stop", ["mean"], T=FLOAT),
            node("SquaredDifference", "difference", ["x", "stop"], T=FLOAT),
            node("Mean", "variance", ["difference", "more_axes"], T=FLOAT, Tidx=INT, keep_dims="b: true"),
            node("Squeeze", "squeezed_mean", ["mean"], T=FLOAT, squeeze_dims=squeezed),
            node("Squeeze", "squeezed_variance", ["variance"], T=FLOAT, squeeze_dims=squeezed),
            constant("gamma", np.array([1.0, 2.0, 3.0], np.float32)),
            constant("beta", np.array([0.5, 0.0, 1.0], np.float32)),
            node(
                "FusedBatchNorm",
                "norm",
                ["x", "gamma", "beta", "squeezed_mean", "squeezed_variance"],
                T=FLOAT,
                epsilon="f: 0.001",
                is_training="b: false",
                data_format='s: "NHWC"',
            ),
            node("Relu", "y", ["norm"], T=FLOAT),
        )
    )


def inception() -> str:
    """Three blocks of two convolutions and a concatenation each, in scopes of their own."""
    text, source = placeholder("input", [1, 4, 4, 4]), "input"
    for block in ("Mixed_5b", "Mixed_5c", "Mixed_5d"):
        scope = f"InceptionV4/InceptionV4/{block}"
        branches = [f"{scope}/Branch_{branch}/Conv2d_0a_1x1" for branch in (0, 1)]
        text += "".join(convolution(branch, source, np.ones((1, 1, 4, 2), np.float32)) for branch in branches)
        source = f"{scope}/concat"
        ends = [f"{branch}/Conv2D" for branch in branches]
        text += constant(f"{scope}/axis", np.array(3, np.int32)) + node(
            "ConcatV2", source, [*ends, f"{scope}/axis"], N="i: 2", T=FLOAT, Tidx=INT
        )
    return text + node("Relu", "y", [source], T=FLOAT)
