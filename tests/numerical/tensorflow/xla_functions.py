"""Functions with operations of XLA, compared with what TensorFlow computes after compiling them by XLA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import tensorflow as tf

from tests.numerical.forms import Form
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

xla: Any = import_module("tensorflow.compiler.tf2xla.python.xla")
operations: Any = import_module("tensorflow.compiler.tf2xla.ops.gen_xla_ops")
messages: Any = import_module("tensorflow.compiler.xla.xla_data_pb2")
"""Parts of TensorFlow without types."""


def body(function: Callable[..., Any], *types: tf.DType) -> Any:
    """A function of scalars as a reduction takes it."""
    return tf.function(function, autograph=False).get_concrete_function(*[tf.TensorSpec((), type_) for type_ in types])


def check_compiled(
    function: Callable[..., Any], inputs: Mapping[str, Array], *, forms: Sequence[Form] = ("static", "dynamic"), **how: Any
) -> None:
    """Compare what a converted function computes with what it computes compiled by XLA; options as of `check`.

    Most operations of XLA have no kernel of TensorFlow.
    """
    compiled = tf.function(function, autograph=False, jit_compile=True)
    actual = tf.nest.flatten(compiled(**{name: tf.constant(array) for name, array in inputs.items()}))
    check(function, inputs, expected=[np.asarray(each) for each in actual], forms=forms, **how)
