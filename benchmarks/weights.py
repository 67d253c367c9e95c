"""Conversion of one model with many weights: time and peak memory against the size of the file.

    python benchmarks/weights.py [--megabytes 500] [--external] [--only-moir]

The model is a few large MatMuls, made in a temporary folder; `--external` puts the weights into a file beside the model.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from processes import ConverterFailed, converters, print_table, run

WIDTH = 4096


def write_model(path: Path, megabytes: int, external: bool) -> None:
    """Write a chain of MatMuls of 64 MB each."""
    count = max(1, round(megabytes * 1e6 / (4 * WIDTH * WIDTH)))
    random = np.random.default_rng(0)
    initializers = [
        numpy_helper.from_array(random.standard_normal((WIDTH, WIDTH), dtype=np.float32), f"w{index}") for index in range(count)
    ]
    nodes = [helper.make_node("MatMul", [f"v{index}", f"w{index}"], [f"v{index + 1}"], f"matmul{index}") for index in range(count)]
    x = helper.make_tensor_value_info("v0", TensorProto.FLOAT, ["batch", WIDTH])
    graph = helper.make_graph(nodes, "weights", [x], [helper.make_empty_tensor_value_info(f"v{count}")], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=external, location="weights.bin" if external else None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the conversion of a model with many weights.")
    parser.add_argument("--megabytes", type=int, default=500, help="size of the weights (default: 500)")
    parser.add_argument("--external", action="store_true", help="weights in a file beside the model")
    parser.add_argument("--only-moir", action="store_true", help="leave ovc out")
    options = parser.parse_args(arguments)
    rows = [["converter", "wall s", "cpu s", "peak MB"]]
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.onnx"
        write_model(source, options.megabytes, options.external)
        for converter in converters(("moir",) if options.only_moir else ("moir", "ovc")):
            xml = Path(folder) / converter.name / "model.xml"
            xml.parent.mkdir()
            try:
                usage = run(converter.command(source, xml))
            except ConverterFailed as failure:
                print(f"{converter.name} failed: {failure}", file=sys.stderr)
                rows.append([converter.name, "failed", "-", "-"])
                status = 1 if converter.name == "moir" else status
                continue
            rows.append([converter.name, f"{usage.wall:.2f}", f"{usage.cpu:.2f}", f"{usage.memory:.0f}"])
            xml.with_suffix(".bin").unlink()
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
