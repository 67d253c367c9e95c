"""IR that OpenVINO's converter `ovc` makes of model files: whether moir reads and writes it unchanged, and converts it without harm.

    python benchmarks/ir_of_ovc.py MODEL... [--seed 0]

A model is a file or the folder of a SavedModel. `ovc` converts it, with weights in single and in half precision. Of each IR, moir writes
what it read (`none`), in which the runtime has to see the same graph, attribute by attribute and byte by byte, and what the default
passes make of it (`default`), which may not have more operations, and has to compute the same from random inputs. Outputs that the
runtime itself computes differently each time are left out. The exit status is 1 if an IR does not pass.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from processes import print_table

sys.path.insert(0, str(Path(__file__).parents[1]))

import moir
from tests.numerical.openvino_ir.equality import computing, differences, information_lost, serialized

DIMENSIONS = (4, 64)
"""Sizes of dimensions that the model does not say, of which the first counts with which the runtime can compute the IR."""


def random_inputs(model: Any, seed: int, dimension: int) -> list[np.ndarray[Any, Any]]:
    """A value for each input: small numbers, which are valid as indices, too."""
    generator = np.random.default_rng(seed)
    values: list[np.ndarray[Any, Any]] = []
    for port in model.inputs:
        dtype = np.dtype(port.get_element_type().to_dtype())
        dimensions = [] if port.get_partial_shape().rank.is_dynamic else port.get_partial_shape()
        shape = [size.get_length() if size.is_static else max(dimension, size.get_min_length()) for size in dimensions]
        values.append((generator.normal(size=shape) if dtype.kind == "f" else generator.integers(0, 2, shape)).astype(dtype))
    return values


def outputs(path: Path, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The outputs of an IR on the CPU in full precision."""
    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return [np.array(each) for each in compiled(list(inputs)).values()]


def computable(path: Path, seed: int) -> tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]] | None:
    """Inputs that the runtime can compute an IR with, and its outputs; None if there are none of the sizes tried."""
    for dimension in DIMENSIONS:
        inputs = random_inputs(openvino.Core().read_model(path), seed, dimension)
        try:
            return inputs, outputs(path, inputs)
        except RuntimeError:
            continue
    return None


def error(path: Path, converted: Path, seed: int) -> float | None:
    """The largest difference of outputs, relative to the largest value; infinite for other shapes.

    None if the runtime cannot compute the IR of `ovc` with the sizes tried.
    """
    if (found_inputs := computable(path, seed)) is None:
        return None
    inputs, expected = found_inputs
    again, outputs_again = outputs(path, inputs), outputs(converted, inputs)
    worst = 0.0
    for one, same, other in zip(expected, again, outputs_again, strict=True):
        if one.shape != other.shape:
            return float("inf")
        if one.dtype.kind not in "fiub" or not np.array_equal(one, same, equal_nan=one.dtype.kind == "f"):
            continue
        finite = np.isfinite(one.astype(np.float64))
        distance = np.abs(one.astype(np.float64) - other)[finite]
        worst = max(worst, float(np.max(distance, initial=0) / np.max(np.abs(one[finite].astype(np.float64)), initial=1e-9)))
    return worst


def row(path: Path, label: str, seed: int) -> tuple[list[str], bool]:
    """The row of an IR, and whether it passes."""
    read, converted = path.with_name("read.xml"), path.with_name("converted.xml")
    moir.save_model(moir.convert_model(path, passes="none"), read)
    moir.save_model(moir.convert_model(path), converted)
    first, second, third = (openvino.Core().read_model(each) for each in (path, read, converted))
    lost = [*differences(first, second), *information_lost(first, second)]
    if not lost and serialized(first) != serialized(second):
        lost.append("the serialized files differ")
    before, after, worst = computing(first), computing(third), error(path, converted, seed)
    passes = not lost and after <= before and (worst is None or worst < 1e-3)
    shown = "not run" if worst is None else f"{worst:.1e}"
    return [label, str(before), str(after), shown, lost[0] if lost else "same", "ok" if passes else "FAIL"], passes


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description="Read, write and convert the IR of ovc.")
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    options = parser.parse_args(arguments)
    rows, failed = [["model", "operations", "converted", "error", "round trip", ""]], False
    for source in options.models:
        label = "/".join(source.resolve().parts[-2:])
        try:
            model = openvino.convert_model(source)
        except Exception as failure:
            rows.append([label, "-", "-", "-", f"ovc: {str(failure).strip().splitlines()[-1][:60]}", ""])
            continue
        for is_half in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "ovc.xml"
                openvino.save_model(model, path, compress_to_fp16=is_half)
                try:
                    cells, passes = row(path, f"{label} {'f16' if is_half else 'f32'}", options.seed)
                except moir.errors.MoirError as refusal:
                    cells, passes = [label, "-", "-", "-", str(refusal)[:80], "FAIL"], False
            rows.append(cells)
            failed |= not passes
    print_table(rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
