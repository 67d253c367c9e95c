"""What operations in either layout take on a CPU with the installed runtime: the reasons for choices of layouts.

    python benchmarks/kernels.py [--seconds 0.3] [--update]

For images of several sizes and numbers of channels: a Transpose between the layouts; the product with a matrix along
the channels where these are last (the plugin executes a FullyConnected), where they are first (a product of the matrix
and the image), and as a convolution with windows of 1; the normalization of the channels in both layouts. Minima in
microseconds of one thread in f32, for which the operations of a size take turns; each is measured between two cheap
operations, whose time is subtracted. `--update` writes the table beside this file: `kernels.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import opset13 as ops
from processes import print_table

TABLE = Path(__file__).with_suffix(".json")
SIZES = ((7, 96), (14, 96), (14, 384), (28, 96), (28, 192), (56, 96))
"""Height, which is the width, and channels of images."""

ONE_THREAD = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}


def weights(*shape: int) -> Any:
    """A constant of random numbers."""
    return ops.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def normalized(x: Any, axis: int) -> Any:
    """The standardization along an axis."""
    return ops.mvn(x, ops.constant(np.array([axis])), True, 1e-6, "inside_sqrt")


def product_of_rows(x: Any, channels: int) -> Any:
    """The product with a matrix and a bias, where channels are last."""
    return ops.add(ops.matmul(x, weights(channels, channels), False, True), weights(channels))


def product_of_columns(x: Any, channels: int) -> Any:
    """The same where channels are first."""
    rows = ops.reshape(x, ops.constant([0, channels, -1]), True)
    return ops.add(ops.matmul(weights(channels, channels), rows, False, False), weights(channels, 1))


def convolved(x: Any, channels: int) -> Any:
    """The same as a convolution."""
    product = ops.convolution(x, weights(channels, channels, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
    return ops.add(product, weights(1, channels, 1, 1))


KERNELS: dict[str, tuple[bool, Callable[[Any, int], Any]]] = {
    "nothing": (True, lambda x, _: x),
    "transpose": (True, lambda x, _: ops.transpose(x, ops.constant([0, 3, 1, 2]))),
    "product, channels last": (True, product_of_rows),
    "product, channels first": (False, product_of_columns),
    "convolution, channels first": (False, convolved),
    "normalization, channels last": (True, lambda x, _: normalized(x, -1)),
    "normalization, channels first": (False, lambda x, _: normalized(x, 1)),
}
"""By name: whether the channels of the data are last, and the operation, of data and their number of channels."""


def request(kind: str, size: int, channels: int) -> tuple[Any, np.ndarray]:
    """An inference of an operation, and its data."""
    is_last, build = KERNELS[kind]
    shape = (1, size, size, channels) if is_last else (1, channels, size, size)
    data = ops.parameter(shape, np.float32)
    result = ops.sigmoid(build(ops.relu(data), channels))
    runtime: Any = openvino
    compiled = runtime.Core().compile_model(runtime.Model([result], [data]), "CPU", ONE_THREAD)
    return compiled.create_infer_request(), np.random.default_rng(1).normal(size=shape).astype(np.float32)


def measure(size: int, channels: int, seconds: float) -> dict[str, float]:
    """Microseconds of each operation on images of a size."""
    requests = {kind: request(kind, size, channels) for kind in KERNELS}
    shortest = dict.fromkeys(KERNELS, float("inf"))
    start = time.perf_counter()
    while time.perf_counter() - start < seconds * len(KERNELS):
        for kind, (each, data) in requests.items():
            before = time.perf_counter()
            each.infer([data], share_inputs=True, share_outputs=True)
            shortest[kind] = min(shortest[kind], 1e6 * (time.perf_counter() - before))
    return {kind: round(max(0.0, shortest[kind] - shortest["nothing"]), 1) for kind in KERNELS if kind != "nothing"}


def main() -> int:
    """Print the table, and write it if that is asked for."""
    parser = argparse.ArgumentParser(description="Measure operations in either layout.")
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each operation and size (default: 0.3)")
    parser.add_argument("--update", action="store_true", help="write kernels.json")
    options = parser.parse_args()
    rates = {f"{size} x {size} x {channels}": measure(size, channels, options.seconds) for size, channels in SIZES}
    kinds = [kind for kind in KERNELS if kind != "nothing"]
    print_table([["microseconds", *rates], *([kind, *(f"{rates[size][kind]:.1f}" for size in rates)] for kind in kinds)])
    if options.update:
        TABLE.write_text(json.dumps({"openvino": openvino.__version__, "microseconds": rates}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
