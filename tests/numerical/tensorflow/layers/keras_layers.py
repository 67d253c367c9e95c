"""Graphs around layers of Keras: a table of layers with their options, the shapes of their inputs and element types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case
from tests.fuzz.draw import Array
from tests.numerical.tensorflow.layers.case import Form, Layer, function_case

keras = tf.keras

Options = Mapping[str, Sequence[Any]]
Shape = tuple[int, ...]

PADDINGS = ("valid", "same")
FIRST = ("channels_last", "channels_first")
LINES, IMAGES, VOLUMES = (2, 9, 4), (2, 7, 8, 4), (1, 5, 6, 4, 2)

TABLE: Sequence[tuple[str, Sequence[Shape], Options]] = (
    ("Activation", [(2, 6)], {"activation": ["elu", "exponential", "gelu", "hard_sigmoid", "leaky_relu", "linear", "log_softmax", "mish",
                                             "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh",
                                             "celu", "glu", "hard_shrink", "hard_tanh", "log_sigmoid", "soft_shrink", "sparse_plus",
                                             "sparsemax", "squareplus", "tanh_shrink"]}),
    ("ReLU", [(2, 5)], {"max_value": [None, 1.0], "negative_slope": [0.0, 0.2], "threshold": [0.0, 0.5]}),
    ("ELU", [(2, 5)], {"alpha": [1.0, 0.3]}),
    ("LeakyReLU", [(2, 5)], {"negative_slope": [0.1, 0.3]}),
    ("PReLU", [IMAGES], {"shared_axes": [None, [1, 2]]}),
    ("Softmax", [(2, 3, 5)], {"axis": [-1, 1, (1, 2)]}),
    ("Dense", [(2, 5), (2, 3, 5), (2, 3, 4, 5)], {"units": [1, 4], "activation": [None, "relu"], "use_bias": [True, False]}),
    ("EinsumDense", [(2, 3, 5)], {"equation": ["abc,cd->abd"], "output_shape": [(None, 4)], "bias_axes": [None, "d"]}),
    ("Conv1D", [LINES], {"filters": [3], "kernel_size": [1, 3], "padding": [*PADDINGS, "causal"], "strides": [1, 2]}),
    ("Conv1D", [LINES], {"filters": [4], "kernel_size": [3], "dilation_rate": [2], "groups": [1, 2], "padding": PADDINGS}),
    ("Conv2D", [IMAGES], {"filters": [3], "kernel_size": [1, (3, 2)], "padding": PADDINGS, "strides": [1, 2],
                          "activation": [None, "relu"]}),
    ("Conv2D", [IMAGES], {"filters": [4], "kernel_size": [3], "dilation_rate": [(1, 2), 2], "groups": [1, 2], "padding": PADDINGS}),
    ("Conv3D", [VOLUMES], {"filters": [3], "kernel_size": [1, (3, 2, 1)], "padding": PADDINGS, "strides": [1, 2]}),
    ("Conv1DTranspose", [LINES], {"filters": [3], "kernel_size": [3], "padding": PADDINGS, "strides": [1, 2]}),
    ("Conv2DTranspose", [IMAGES], {"filters": [3], "kernel_size": [1, (3, 2)], "padding": PADDINGS, "strides": [1, 2]}),
    ("Conv3DTranspose", [VOLUMES], {"filters": [3], "kernel_size": [(3, 2, 2)], "padding": PADDINGS, "strides": [1, 2]}),
    ("DepthwiseConv1D", [LINES], {"kernel_size": [3], "padding": PADDINGS, "depth_multiplier": [1, 2]}),
    ("DepthwiseConv2D", [IMAGES], {"kernel_size": [3], "padding": PADDINGS, "depth_multiplier": [1, 2], "strides": [1, 2]}),
    ("SeparableConv1D", [LINES], {"filters": [3], "kernel_size": [3], "padding": PADDINGS}),
    ("SeparableConv2D", [IMAGES], {"filters": [3], "kernel_size": [3], "padding": PADDINGS, "depth_multiplier": [1, 2]}),
    ("MaxPooling1D", [LINES], {"pool_size": [2, 3], "strides": [None, 1], "padding": PADDINGS}),
    ("AveragePooling1D", [LINES], {"pool_size": [2, 3], "strides": [None, 1], "padding": PADDINGS}),
    ("MaxPooling2D", [IMAGES], {"pool_size": [2, (3, 2)], "strides": [None, 1], "padding": PADDINGS}),
    ("AveragePooling2D", [IMAGES], {"pool_size": [2, (3, 2)], "strides": [None, 1], "padding": PADDINGS}),
    ("MaxPooling3D", [VOLUMES], {"pool_size": [2], "strides": [None, 1], "padding": PADDINGS}),
    ("AveragePooling3D", [VOLUMES], {"pool_size": [2], "strides": [None, 1], "padding": PADDINGS}),
    *((f"Global{kind}Pooling{rank}D", [shape], {"keepdims": [False, True], "data_format": FIRST})
      for kind in ("Max", "Average") for rank, shape in enumerate((LINES, IMAGES, VOLUMES), start=1)),
    ("AdaptiveAveragePooling2D", [(2, 8, 6, 3)], {"output_size": [(4, 3), (2, 2)]}),
    ("AdaptiveMaxPooling2D", [(2, 8, 6, 3)], {"output_size": [(4, 3), (2, 2)]}),
    ("BatchNormalization", [(2, 5), IMAGES], {"axis": [-1, 1], "scale": [True, False], "center": [True, False]}),
    ("LayerNormalization", [(2, 5), IMAGES], {"axis": [-1, [1]], "scale": [True, False], "center": [True, False]}),
    ("RMSNormalization", [(2, 5), (2, 3, 4)], {"axis": [-1]}),
    ("GroupNormalization", [IMAGES], {"groups": [1, 2, 4, -1]}),
    ("UnitNormalization", [(2, 5), IMAGES], {"axis": [-1, 1]}),
    ("SpectralNormalization", [(2, 5)], {"layer": [3]}),
    ("Normalization", [(2, 4)], {"mean": [1.5], "variance": [2.0], "invert": [False, True]}),
    ("Rescaling", [IMAGES], {"scale": [0.5, 1 / 255], "offset": [0.0, -1.0]}),
    ("Flatten", [(2, 3), IMAGES, (3,)], {"data_format": FIRST}),
    ("Reshape", [(2, 6, 4)], {"target_shape": [(24,), (4, 6), (-1, 2), (3, -1, 2)]}),
    ("Permute", [(2, 3, 4, 5)], {"dims": [(3, 1, 2), (2, 3, 1), (1, 2, 3)]}),
    ("RepeatVector", [(2, 5)], {"n": [1, 3]}),
    ("Cropping1D", [LINES], {"cropping": [1, (2, 0)]}),
    ("Cropping2D", [IMAGES], {"cropping": [1, ((1, 0), (2, 1))], "data_format": FIRST}),
    ("Cropping3D", [VOLUMES], {"cropping": [1, ((1, 0), (2, 1), (0, 1))]}),
    ("ZeroPadding1D", [LINES], {"padding": [1, (2, 0)]}),
    ("ZeroPadding2D", [IMAGES], {"padding": [1, ((1, 0), (2, 1))], "data_format": FIRST}),
    ("ZeroPadding3D", [VOLUMES], {"padding": [1, ((1, 0), (2, 1), (0, 1))]}),
    ("UpSampling1D", [LINES], {"size": [2, 3], "dtype": ["float32", "float16", "int16", "uint16", "int32", "uint8", "float64"]}),
    ("UpSampling2D", [IMAGES], {"size": [2, (3, 1)], "interpolation": ["nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"]}),
    ("UpSampling2D", [IMAGES], {"size": [2], "data_format": FIRST,
                                "dtype": ["float16", "int16", "uint16", "int32", "uint8", "int8", "float64"]}),
    ("UpSampling3D", [VOLUMES], {"size": [2, (1, 2, 3)], "data_format": FIRST}),
    ("Resizing", [IMAGES], {"height": [5, 14], "width": [9], "interpolation": ["nearest", "bilinear", "bicubic", "area", "lanczos3"]}),
    ("Resizing", [IMAGES], {"height": [6], "width": [6], "crop_to_aspect_ratio": [True, False]}),
    ("CenterCrop", [IMAGES], {"height": [4], "width": [3]}),
    ("CategoryEncoding", [(2, 3)], {"num_tokens": [5], "output_mode": ["one_hot", "multi_hot", "count"], "dtype": ["int32"]}),
    ("Discretization", [(2, 3)], {"bin_boundaries": [[-1.0, 0.0, 2.0]], "output_mode": ["int", "one_hot"]}),
    ("Hashing", [(2, 3)], {"num_bins": [5], "dtype": ["int32"]}),
    ("Embedding", [(2, 3), (3,)], {"input_dim": [10], "output_dim": [4], "mask_zero": [False, True], "dtype": ["int32"]}),
    ("Dropout", [(2, 5)], {"rate": [0.5]}),
    ("SpatialDropout2D", [IMAGES], {"rate": [0.5]}),
    ("GaussianNoise", [(2, 5)], {"stddev": [0.5]}),
    ("AlphaDropout", [(2, 5)], {"rate": [0.5]}),
    ("ActivityRegularization", [(2, 5)], {"l1": [0.1]}),
    ("Masking", [(2, 3, 4)], {"mask_value": [0.0, 1.0]}),
    ("Identity", [(2, 5)], {}),
    *((kind, [(2, 6, 3)], {"units": [4], "return_sequences": [False, True], "return_state": [False, True], "go_backwards": [False, True]})
      for kind in ("LSTM", "GRU", "SimpleRNN")),
    *((kind, [(2, 6, 3)], {"units": [4], "activation": ["relu", "sigmoid"], "use_bias": [True, False], "unroll": [True, False]})
      for kind in ("LSTM", "GRU", "SimpleRNN")),
    ("GRU", [(2, 6, 3)], {"units": [4], "reset_after": [True, False], "recurrent_activation": ["sigmoid", "hard_sigmoid"]}),
    ("LSTM", [(2, 6, 3)], {"units": [4], "recurrent_activation": ["hard_sigmoid"], "unit_forget_bias": [True, False]}),
    ("ConvLSTM1D", [(1, 3, 6, 2)], {"filters": [3], "kernel_size": [3], "padding": PADDINGS, "return_sequences": [False, True]}),
    ("ConvLSTM2D", [(1, 3, 6, 5, 2)], {"filters": [3], "kernel_size": [3], "padding": PADDINGS, "return_sequences": [False, True]}),
    ("ConvLSTM3D", [(1, 2, 4, 4, 4, 2)], {"filters": [2], "kernel_size": [2], "padding": PADDINGS}),
)  # fmt: skip
"""Layers of one input: name, shapes of the input, values of each option, of which all combinations are tests."""

MERGES = ("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract")


def combinations(options: Options) -> Iterator[dict[str, Any]]:
    """All combinations of options."""
    for values in product(*options.values()):
        yield dict(zip(options, values, strict=True))


def data(shape: Shape, type_name: str) -> Array:
    """Values of an input."""
    random = np.random.default_rng(len(shape))
    if np.dtype(type_name).kind in "iu":
        return random.integers(0, 5, shape).astype(type_name)
    return random.normal(size=shape).astype(type_name)


def layer_case(name: str, options: dict[str, Any], shape: Shape, form: Form) -> Case:
    """The case of a layer of one input; its channels, features and steps of an unrolled loop are always known."""
    keras.utils.set_random_seed(3)
    given = dict(options)
    if name == "SpectralNormalization":
        given["layer"] = keras.layers.Dense(given["layer"])
    if name == "Hashing" or options.get("dtype", "float32").startswith("float"):
        layer = getattr(keras.layers, name)(**given)
    else:
        given.pop("dtype", None)
        layer = getattr(keras.layers, name)(**given)
    x = data(shape, options.get("dtype", "float32"))
    layer(x)
    randomize(layer)
    features = shape if options.get("data_format") == "channels_first" or options.get("axis") == 1 or name in WHOLE else (0,)
    fixed = [f"x.{axis}" for axis in range(1 if len(features) > 1 else len(shape) - 1, len(shape))] if len(shape) > 1 else []
    if options.get("unroll"):
        fixed.append("x.1")
    return function_case(f"keras.{name}", lambda x: layer(x), {"x": x}, form, fixed)


WHOLE = frozenset({"PReLU", "Flatten", "Reshape", "LayerNormalization", "BatchNormalization", "AdaptiveAveragePooling2D",
                   "AdaptiveMaxPooling2D", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "CenterCrop"})  # fmt: skip
"""Layers for which Keras itself wants to know all dimensions but the first."""


def randomize(layer: Any) -> None:
    """Give all weights values of their own, statistics included."""
    random = np.random.default_rng(3)
    for variable in layer.variables:
        if "float" in str(variable.dtype):
            low = 0.5 if "variance" in variable.path else -0.7
            variable.assign(random.uniform(low, 1.0, variable.shape))


def merge_case(name: str, shapes: Sequence[Shape], form: Form) -> Case:
    """The case of a layer that joins inputs."""
    options = {"axes": -1} if name == "Dot" else {}
    layer = getattr(keras.layers, name)(**options)
    inputs = {f"x{index}": data(shape, "float32") + index for index, shape in enumerate(shapes)}
    fixed = [f"{each}.{len(shapes[0]) - 1}" for each in inputs]
    return function_case(f"keras.{name}", lambda *tensors: layer(list(tensors)), inputs, form, fixed)


def wrapped(kind: str, **options: Any) -> Any:
    return getattr(keras.layers, kind)(4, bias_initializer="random_normal", **options)


COMPOSED: Mapping[str, tuple[Any, Shape]] = {
    "Bidirectional LSTM": (lambda: keras.layers.Bidirectional(wrapped("LSTM", return_sequences=True)), (2, 6, 3)),
    "Bidirectional GRU, sum": (lambda: keras.layers.Bidirectional(wrapped("GRU"), merge_mode="sum"), (2, 6, 3)),
    "Bidirectional RNN, product": (lambda: keras.layers.Bidirectional(wrapped("SimpleRNN"), merge_mode="mul"), (2, 6, 3)),
    "TimeDistributed Dense": (lambda: keras.layers.TimeDistributed(keras.layers.Dense(3)), (2, 5, 4)),
    "TimeDistributed Conv2D": (lambda: keras.layers.TimeDistributed(keras.layers.Conv2D(3, 3)), (2, 3, 6, 5, 2)),
    "RNN of cells": (lambda: keras.layers.RNN([keras.layers.LSTMCell(4), keras.layers.GRUCell(3)], return_sequences=True), (2, 6, 3)),
    "RNN of a GRU cell": (lambda: keras.layers.RNN(keras.layers.GRUCell(3), return_state=True), (2, 6, 3)),
    "Masking and LSTM": (lambda: keras.Sequential([keras.layers.Masking(), wrapped("LSTM")]), (2, 6, 3)),
    "Masking and LSTM, all": (lambda: keras.Sequential([keras.layers.Masking(), wrapped("LSTM", return_sequences=True)]), (2, 6, 3)),
    "Masking and GRU": (lambda: keras.Sequential([keras.layers.Masking(), wrapped("GRU")]), (2, 6, 3)),
    "Masking and GRU, all": (lambda: keras.Sequential([keras.layers.Masking(), wrapped("GRU", return_sequences=True)]), (2, 6, 3)),
    "Masking and RNN": (lambda: keras.Sequential([keras.layers.Masking(), wrapped("SimpleRNN")]), (2, 6, 3)),
    "Masking and bidirectional LSTM": (
        lambda: keras.Sequential([keras.layers.Masking(), keras.layers.Bidirectional(wrapped("LSTM", return_sequences=True))]),
        (2, 6, 3),
    ),
    "Masking and bidirectional GRU": (
        lambda: keras.Sequential([keras.layers.Masking(), keras.layers.Bidirectional(wrapped("GRU"))]),
        (2, 6, 3),
    ),
}
"""Layers around layers, with the shape of their input. After some length the rows of the input are zeros."""


def composed_case(name: str, form: Form) -> Case:
    make, shape = COMPOSED[name]
    keras.utils.set_random_seed(3)
    layer = make()
    x = data(shape, "float32")
    if "Masking" in name:
        x[0, 4:], x[1, 3] = 0.0, 0.0
    layer(x)
    fixed = [f"x.{axis}" for axis in range(1 if "Conv" in name else len(shape) - 1, len(shape))]
    return function_case(f"keras.{name}", lambda x: layer(x), {"x": x}, form, fixed)


def attention_case(kind: str, options: dict[str, Any], form: Form) -> Case:
    """The case of a layer of attention, of a query and a value."""
    keras.utils.set_random_seed(3)
    layer = getattr(keras.layers, kind)(**options)
    inputs = {"q": data((2, 5, 4), "float32"), "v": data((2, 6, 4), "float32")}
    call = (lambda q, v: layer([q, v])) if kind in ("Attention", "AdditiveAttention") else (lambda q, v: layer(q, v))
    call(**inputs)
    return function_case(f"keras.{kind}", call, inputs, form, ["q.2", "v.2"])


ATTENTION: Sequence[tuple[str, Options]] = (
    ("Attention", {"use_scale": [False, True], "score_mode": ["dot", "concat"]}),
    ("AdditiveAttention", {"use_scale": [False, True]}),
    ("MultiHeadAttention", {"num_heads": [2], "key_dim": [3], "value_dim": [None, 5], "use_bias": [True, False]}),
    ("GroupQueryAttention", {"head_dim": [3], "num_query_heads": [4], "num_key_value_heads": [2]}),
)


@cache
def keras_layers() -> dict[str, Layer]:
    """All graphs by name, such as `keras/Conv2D/3`."""
    results: dict[str, Layer] = {}
    numbers: dict[str, int] = {}

    def add(name: str, case: Any) -> None:
        numbers[name] = numbers.get(name, -1) + 1
        results[f"keras/{name}/{numbers[name]}"] = Layer(f"keras.{name}", case)

    for name, shapes, options in TABLE:
        for shape in shapes:
            for chosen in combinations(options):
                add(name, lambda form, name=name, chosen=chosen, shape=shape: layer_case(name, chosen, shape, form))
    for name in MERGES:
        for shapes in ([(2, 5), (2, 5)], [(2, 3, 5), (2, 3, 5)]):
            add(name, lambda form, name=name, shapes=shapes: merge_case(name, shapes, form))
    for name, options in ATTENTION:
        for chosen in combinations(options):
            add(name, lambda form, name=name, chosen=chosen: attention_case(name, chosen, form))
    for name in COMPOSED:
        add(name, lambda form, name=name: composed_case(name, form))
    return results
