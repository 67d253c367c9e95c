"""Conversion of one model with many weights: time and peak memory against the size of the file.

    python benchmarks/weights.py [--megabytes 500] [--external] [--scaled] [--compress-to-fp16] [--compress-weights int4]
                                  [--only-moir]

The model is a few large MatMuls, made in a temporary folder; `--external` puts the weights into a file beside the model.
With `--scaled` the columns of each product are multiplied by factors, which the conversion multiplies into the weights.
The base is the peak memory of the conversion of the same operations with hardly any weights.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper
from processes import ConverterFailed, converters, print_table, run

WIDTH = 4096
SMALL_WIDTH = 16


def write_model(path: Path, count: int, width: int, external: bool, scaled: bool) -> None:
    """Write a chain of MatMuls with weights of [width, width], and with factors of the columns of the products."""
    random = np.random.default_rng(0)
    initializers: list[TensorProto] = []
    nodes: list[NodeProto] = []
    for index in range(count):
        product, result = (f"product{index}" if scaled else f"v{index + 1}"), f"v{index + 1}"
        initializers.append(numpy_helper.from_array(random.standard_normal((width, width), dtype=np.float32), f"w{index}"))
        nodes.append(helper.make_node("MatMul", [f"v{index}", f"w{index}"], [product], f"matmul{index}"))
        if scaled:
            initializers.append(numpy_helper.from_array(random.uniform(0.5, 2, width).astype(np.float32), f"factors{index}"))
            nodes.append(helper.make_node("Mul", [product, f"factors{index}"], [result], f"scale{index}"))
    x = helper.make_tensor_value_info("v0", TensorProto.FLOAT, ["batch", width])
    graph = helper.make_graph(nodes, "weights", [x], [helper.make_empty_tensor_value_info(f"v{count}")], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=external, location="weights.bin" if external else None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the conversion of a model with many weights.")
    parser.add_argument("--megabytes", type=int, default=500, help="size of the weights (default: 500)")
    parser.add_argument("--external", action="store_true", help="weights in a file beside the model")
    parser.add_argument("--scaled", action="store_true", help="factors that are multiplied into the weights")
    parser.add_argument("--compress-to-fp16", action="store_true", help="store the weights in half precision")
    parser.add_argument("--compress-weights", metavar="MODE", help="store the weights as integers (moir only)")
    parser.add_argument("--only-moir", action="store_true", help="leave ovc out")
    options = parser.parse_args(arguments)
    rows = [["converter", "wall s", "cpu s", "peak MB", "base MB"]]
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        source, small = Path(folder) / "model.onnx", Path(folder) / "small.onnx"
        count = max(1, round(options.megabytes * 1e6 / (4 * WIDTH * WIDTH)))
        write_model(source, count, WIDTH, options.external, options.scaled)
        write_model(small, count, SMALL_WIDTH, False, options.scaled)
        names = ("moir",) if options.only_moir or options.compress_weights else ("moir", "ovc")
        for converter in converters(names, options.compress_to_fp16, options.compress_weights):
            xml = Path(folder) / converter.name / "model.xml"
            xml.parent.mkdir()
            try:
                base = run(converter.command(small, xml.with_name("small.xml")))
                usage = run(converter.command(source, xml))
            except ConverterFailed as failure:
                print(f"{converter.name} failed: {failure}", file=sys.stderr)
                rows.append([converter.name, "failed", "-", "-", "-"])
                status = 1 if converter.name == "moir" else status
                continue
            rows.append([converter.name, f"{usage.wall:.2f}", f"{usage.cpu:.2f}", f"{usage.memory:.0f}", f"{base.memory:.0f}"])
            xml.with_suffix(".bin").unlink()
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
