"""Keras models with random variables, saved, converted and compared with what Keras computes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import moir
from tests.numerical.runtime import Array, core

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
keras: Any = import_module("keras")

TOLERANCE = 1e-4


def randomize(model: Any, seed: int = 0) -> None:
    """Give all variables random values, positive ones to variances, and keep counts and integers."""
    random = np.random.default_rng(seed)
    for variable in model.variables:
        if np.issubdtype(np.dtype(str(variable.dtype)) if variable.dtype != "bfloat16" else np.float32, np.floating):
            values = random.uniform(-0.6, 0.6, variable.shape)
            variable.assign(np.abs(values) + 0.5 if "variance" in variable.path else values)


def inputs_of(model: Any, batch: int = 2, seed: int = 1) -> list[Array]:
    """Random inputs of a model."""
    random = np.random.default_rng(seed)
    values: list[Array] = []
    for tensor in model.inputs:
        shape = [batch if size is None and axis == 0 else 5 if size is None else size for axis, size in enumerate(tensor.shape)]
        if "int" in str(tensor.dtype):
            values.append(random.integers(0, 5, shape).astype(str(tensor.dtype)))
        else:
            values.append(random.normal(size=shape).astype(np.float32))
    return values


def differences(model: Any, path: Path, names: Sequence[str] = ()) -> dict[str, float]:
    """The error of each output of a model that is saved and converted, relative to its largest value, if it is too large.

    `names` are the names of the outputs, for the result.
    """
    inputs = inputs_of(model)
    expected = [np.asarray(each) for each in keras.tree.flatten(model(inputs if len(inputs) > 1 else inputs[0], training=False))]
    model.save(path)
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    results = compiled([*inputs])
    wrong: dict[str, float] = {}
    for index, reference in enumerate(expected):
        got = np.asarray(results[compiled.outputs[index]])
        name = names[index] if index < len(names) else str(index)
        if got.shape != reference.shape:
            wrong[f"{name}: {list(got.shape)} for {list(reference.shape)}"] = np.inf
            continue
        if got.dtype != reference.dtype:
            wrong[f"{name}: {got.dtype} for {reference.dtype}"] = np.inf
            continue
        error = float(np.max(np.abs(got.astype(np.float64) - reference), initial=0)) / (float(np.max(np.abs(reference), initial=0)) + 1e-6)
        if not error <= TOLERANCE:
            wrong[name] = error
    return wrong
