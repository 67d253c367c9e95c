"""Functions of TensorFlow that models of Keras 2 have as layers, as functions of `keras.ops`.

    TFOpLambda {function = "math.multiply"} called with x and y = 2.0  ->  keras.ops.Multiply(x, 2.0)
    TFOpLambda {function = "math.reduce_mean"} called with x and axis = 1  ->  keras.ops.Mean(x) {axis = 1}

A function that is not listed stays a TFOpLambda: its lowering has the functions that create operations of TensorFlow
(`moir/lowering/keras/tensorflow`), and an extension may lower others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moir.frontends.keras.configuration import Slice
from moir.support.records import Record

LAYERS = frozenset(("TFOpLambda", "SlicingOpLambda"))
"""The classes of layers that call a function of TensorFlow."""


class Function(Record):
    """The function of `keras.ops` that computes the same as a function of TensorFlow.

    Args:
        kind: the kind.
        positional: the keywords of its arguments after the first one, in order.
        attributes: the keywords of its attributes, by their names in `keras.ops`.
        defaults: the values of attributes that the call leaves out, where Keras has other defaults.
        plain: keywords that must have the given values.
    """

    kind: str
    positional: tuple[str, ...] = ()
    attributes: Mapping[str, str] = {}
    defaults: Mapping[str, object] = {}
    plain: Mapping[str, object] = {}


_PAIRS = {
    "Add": "math.add __operators__.add nn.bias_add",
    "Divide": "math.divide",
    "DivideNoNan": "math.divide_no_nan",
    "Equal": "math.equal",
    "FloorDivide": "math.floordiv __operators__.floordiv compat.v1.floor_div",
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
    "Cosh": "math.cosh",
    "Elu": "nn.elu",
    "Erf": "math.erf",
    "Exp": "math.exp",
    "Expm1": "math.expm1",
    "Floor": "math.floor",
    "Isfinite": "math.is_finite",
    "Isinf": "math.is_inf",
    "Isnan": "math.is_nan",
    "Log": "math.log",
    "Log1p": "math.log1p",
    "LogSigmoid": "math.log_sigmoid",
    "LogicalNot": "math.logical_not",
    "Negative": "math.negative __operators__.neg",
    "OnesLike": "ones_like",
    "Reciprocal": "math.reciprocal",
    "Relu": "nn.relu",
    "Relu6": "nn.relu6",
    "Round": "math.round",
    "Rsqrt": "math.rsqrt",
    "Selu": "nn.selu",
    "Sigmoid": "math.sigmoid nn.sigmoid",
    "Sign": "math.sign",
    "Silu": "nn.silu nn.swish",
    "Sin": "math.sin",
    "Sinh": "math.sinh",
    "Softplus": "math.softplus nn.softplus",
    "Softsign": "nn.softsign",
    "Sqrt": "math.sqrt",
    "Square": "math.square",
    "StopGradient": "stop_gradient identity",
    "Tan": "math.tan",
    "Tanh": "math.tanh nn.tanh",
    "ZerosLike": "zeros_like",
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
    "compat.v1.gather": Function("Take", ("indices",), {"axis": "axis"}, {"axis": 0}, {"validate_indices": None, "batch_dims": 0}),
    "compat.v1.squeeze": Function("Squeeze", attributes={"axis": "axis"}),
    "compat.v1.transpose": Function("Transpose", attributes={"axes": "perm"}, plain={"conjugate": False}),
    "math.atan2": Function("Arctan2", ("x",)),
    "math.cumsum": Function("Cumsum", attributes={"axis": "axis"}, defaults={"axis": 0}, plain={"exclusive": False, "reverse": False}),
    "math.top_k": Function("TopK", attributes={"k": "k"}, plain={"sorted": True}),
    "nn.gelu": Function("Gelu", attributes={"approximate": "approximate"}, defaults={"approximate": False}),
    "nn.leaky_relu": Function("LeakyRelu", attributes={"negative_slope": "alpha"}, defaults={"negative_slope": 0.2}),
    "nn.log_softmax": Function("LogSoftmax", attributes={"axis": "axis"}, defaults={"axis": -1}),
    "one_hot": Function("OneHot", attributes={"num_classes": "depth", "axis": "axis"}, defaults={"dtype": "float32"}),
    "repeat": Function("Repeat", attributes={"repeats": "repeats", "axis": "axis"}),
    "reverse": Function("Flip", attributes={"axis": "axis"}),
    "roll": Function("Roll", attributes={"shift": "shift", "axis": "axis"}),
    "sort": Function("Sort", attributes={"axis": "axis"}, plain={"direction": "ASCENDING"}),
    "split": Function("Split", attributes={"indices_or_sections": "num_or_size_splits", "axis": "axis"}),
    "unstack": Function("Unstack", attributes={"axis": "axis", "num": "num"}),
    "where": Function("Where", ("x", "y")),
    "cast": Function("Cast", attributes={"dtype": "dtype"}),
    "clip_by_value": Function("Clip", attributes={"x_min": "clip_value_min", "x_max": "clip_value_max"}),
    "concat": Function("Concatenate", attributes={"axis": "axis"}),
    "expand_dims": Function("ExpandDims", attributes={"axis": "axis"}),
    "linalg.matmul": Function(
        "Matmul",
        ("b",),
        attributes={"transpose_a": "transpose_a", "transpose_b": "transpose_b"},
        plain={"adjoint_a": False, "adjoint_b": False, "a_is_sparse": False, "b_is_sparse": False, "output_type": None},
    ),
    "nn.softmax": Function("Softmax", attributes={"axis": "axis"}, defaults={"axis": -1}),
    "reshape": Function("Reshape", ("shape",)),
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
    """An element of an index expression; a slice becomes a dictionary of its bounds."""
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
    function_record = FUNCTIONS.get(function)
    if function_record is None or set(keywords) - {
        *function_record.positional,
        *function_record.attributes.values(),
        *function_record.plain,
    } - {"name"}:
        return None
    if any(keywords.get(name, value) != value for name, value in function_record.plain.items()):
        return None
    if any(name not in keywords for name in function_record.positional):
        return None
    if function == "split" and not isinstance(keywords.get("num_or_size_splits"), int):
        # tf.split takes the sizes of the parts, keras.ops.split the indices at which they begin.
        return None
    attributes = dict(function_record.defaults) | {
        own: keywords[name] for own, name in function_record.attributes.items() if keywords.get(name) is not None
    }
    return f"ops.{function_record.kind}", [*arguments, *(keywords[name] for name in function_record.positional)], attributes
