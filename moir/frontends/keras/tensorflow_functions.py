"""Functions of TensorFlow that models of Keras 2 have as layers, as functions of `keras.ops`.

    TFOpLambda {function = "math.multiply"} called with x and y = 2.0  ->  keras.ops.Multiply(x, 2.0)
    TFOpLambda {function = "math.reduce_mean"} called with x and axis = 1  ->  keras.ops.Mean(x) {axis = 1}

A function that is not listed is an operation of its own name, which an extension may lower.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moir.frontends.keras.configuration import Slice
from moir.records import Record

LAYERS = frozenset(("TFOpLambda", "SlicingOpLambda"))
"""The classes of such layers."""


class Function(Record):
    """What a function of TensorFlow is called in `keras.ops`.

    Args:
        kind: the kind.
        positional: the keywords of its further arguments, in order.
        attributes: the keywords of its attributes, by their names in `keras.ops`.
    """

    kind: str
    positional: tuple[str, ...] = ()
    attributes: Mapping[str, str] = {}


_PAIRS = {
    "Add": "math.add __operators__.add",
    "Divide": "math.divide",
    "Equal": "math.equal",
    "FloorDivide": "math.floordiv __operators__.floordiv",
    "Greater": "math.greater __operators__.gt",
    "GreaterEqual": "math.greater_equal __operators__.ge",
    "Less": "math.less __operators__.lt",
    "LessEqual": "math.less_equal __operators__.le",
    "LogicalAnd": "math.logical_and",
    "LogicalOr": "math.logical_or",
    "Maximum": "math.maximum",
    "Minimum": "math.minimum",
    "Mod": "math.floormod __operators__.mod",
    "Multiply": "math.multiply __operators__.mul",
    "NotEqual": "math.not_equal",
    "Power": "math.pow __operators__.pow",
    "Subtract": "math.subtract __operators__.sub",
    "TrueDivide": "math.truediv __operators__.truediv",
}
_SINGLE = {
    "Absolute": "math.abs",
    "Ceil": "math.ceil",
    "Cos": "math.cos",
    "Erf": "math.erf",
    "Exp": "math.exp",
    "Floor": "math.floor",
    "Log": "math.log",
    "LogicalNot": "math.logical_not",
    "Negative": "math.negative __operators__.neg",
    "Relu": "nn.relu",
    "Relu6": "nn.relu6",
    "Round": "math.round",
    "Rsqrt": "math.rsqrt",
    "Selu": "nn.selu",
    "Sigmoid": "math.sigmoid nn.sigmoid",
    "Sign": "math.sign",
    "Silu": "nn.silu nn.swish",
    "Sin": "math.sin",
    "Softplus": "math.softplus nn.softplus",
    "Sqrt": "math.sqrt",
    "Square": "math.square",
    "StopGradient": "stop_gradient identity",
    "Tanh": "math.tanh nn.tanh",
}
_REDUCED = {
    "All": "math.reduce_all",
    "Any": "math.reduce_any",
    "Logsumexp": "math.reduce_logsumexp",
    "Max": "math.reduce_max",
    "Mean": "math.reduce_mean",
    "Min": "math.reduce_min",
    "Prod": "math.reduce_prod",
    "Std": "math.reduce_std",
    "Sum": "math.reduce_sum",
    "Var": "math.reduce_variance",
}
_WITH_ATTRIBUTES = {
    "cast": Function("Cast", attributes={"dtype": "dtype"}),
    "clip_by_value": Function("Clip", attributes={"x_min": "clip_value_min", "x_max": "clip_value_max"}),
    "concat": Function("Concatenate", attributes={"axis": "axis"}),
    "expand_dims": Function("ExpandDims", attributes={"axis": "axis"}),
    "linalg.matmul": Function("Matmul", ("b",)),
    "nn.softmax": Function("Softmax", attributes={"axis": "axis"}),
    "reshape": Function("Reshape", attributes={"newshape": "shape"}),
    "squeeze": Function("Squeeze", attributes={"axis": "axis"}),
    "stack": Function("Stack", attributes={"axis": "axis"}),
    "tile": Function("Tile", attributes={"repeats": "multiples"}),
    "transpose": Function("Transpose", attributes={"axes": "perm"}),
}

FUNCTIONS: Mapping[str, Function] = {
    **{name: Function(kind, ("y",)) for kind, names in _PAIRS.items() for name in names.split()},
    **{name: Function(kind) for kind, names in _SINGLE.items() for name in names.split()},
    **{name: Function(kind, attributes={"axis": "axis", "keepdims": "keepdims"}) for kind, name in _REDUCED.items()},
    **_WITH_ATTRIBUTES,
}
"""The functions by their names in TensorFlow."""


def _index(value: Any) -> Any:
    """An entry of an index: a slice is a dictionary of its bounds."""
    if not isinstance(value, dict):
        return value
    bounds = cast("dict[str, Any]", value)
    return Slice(*(bounds.get(name) for name in ("start", "stop", "step")))


def renamed(function: str, arguments: list[Any], keywords: Mapping[str, Any]) -> tuple[str, list[Any], dict[str, Any]] | None:
    """The kind, the arguments and the attributes of a call; None if the function or one of its keywords is unknown."""
    if function == "__operators__.getitem" and set(keywords) <= {"slice_spec", "name"}:
        spec: Any = keywords.get("slice_spec")
        entries = cast("list[Any]", spec) if isinstance(spec, list) else [spec]
        return "ops.GetItem", [*arguments, [_index(each) for each in entries]], {}
    found = FUNCTIONS.get(function)
    if found is None or set(keywords) - {*found.positional, *found.attributes.values()} - {"name"}:
        return None
    if any(name not in keywords for name in found.positional):
        return None
    attributes = {own: keywords[name] for own, name in found.attributes.items() if keywords.get(name) is not None}
    return f"ops.{found.kind}", [*arguments, *(keywords[name] for name in found.positional)], attributes
