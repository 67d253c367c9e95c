"""Does the time of a conversion grow linearly with the number of operations?

    python benchmarks/scaling.py [--sizes 1000 5000 20000 50000] [--only-moir]

Two families of generated ONNX graphs: a chain of MatMul, Add, Relu, Tanh; and branches that
compute shapes (Shape, Gather, Concat, Reshape). Each is converted in a process of its own.
The time of an operation is the total less that of a model of one operation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from processes import ConverterFailed, converters, median, print_table, run

WIDTH = 8


def model(nodes: list[onnx.NodeProto], initializers: list[TensorProto]) -> onnx.ModelProto:
    """A model from `x` [N, WIDTH] to what the last node computes."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    result = helper.make_empty_tensor_value_info(nodes[-1].output[0])
    graph = helper.make_graph(nodes, "generated", [x], [result], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def chain(length: int) -> onnx.ModelProto:
    """MatMul, Add, Relu, Tanh, and so on; every MatMul and Add has weights of its own."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    initializers: list[TensorProto] = []
    value = "x"
    for index in range(length):
        kind = ("MatMul", "Add", "Relu", "Tanh")[index % 4]
        inputs = [value]
        if index % 4 < 2:
            shape = (WIDTH, WIDTH) if kind == "MatMul" else (WIDTH,)
            initializers.append(numpy_helper.from_array(random.standard_normal(shape, dtype=np.float32), f"w{index}"))
            inputs.append(f"w{index}")
        value = f"v{index}"
        nodes.append(helper.make_node(kind, inputs, [value], f"node{index}"))
    return model(nodes, initializers)


def branches(length: int) -> onnx.ModelProto:
    """Blocks of ten nodes: two branches of which one is reshaped to a shape computed at run time, then added to the other."""
    numbers = {"first": np.array(0, np.int64), "axis": np.array([0], np.int64), "parts": np.array([2, WIDTH // 2], np.int64)}
    initializers = [numpy_helper.from_array(array, name) for name, array in numbers.items()]
    initializers.append(numpy_helper.from_array(np.array([WIDTH], np.int64), "width"))
    nodes: list[onnx.NodeProto] = []
    value = "x"
    for block in range(max(1, length // 10)):

        def add(kind: str, *inputs: str, block: int = block, **attributes: int) -> str:
            name = f"b{block}_{len(nodes)}"
            nodes.append(helper.make_node(kind, inputs, [name], f"{kind}_{name}", **attributes))
            return name

        size = add("Unsqueeze", add("Gather", add("Shape", value), "first", axis=0), "axis")
        left = add("Reshape", add("Sigmoid", value), add("Concat", size, "parts", axis=0))
        left = add("Reshape", left, add("Concat", size, "width", axis=0))
        value = add("Add", left, add("Tanh", value))
    return model(nodes, initializers)


FAMILIES: dict[str, Callable[[int], onnx.ModelProto]] = {"chain": chain, "branches": branches}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure how conversions scale with the number of operations.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 5000, 20000, 50000], help="numbers of operations")
    parser.add_argument("--families", nargs="+", choices=sorted(FAMILIES), default=sorted(FAMILIES), help="what to generate")
    parser.add_argument("--only-moir", action="store_true", help="leave ovc out")
    options = parser.parse_args(arguments)
    available = converters(("moir",) if options.only_moir else ("moir", "ovc"))
    rows = [["graph", "operations", *(f"{converter.name} {what}" for converter in available for what in ("s", "µs/operation", "MB"))]]
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "model.onnx", Path(folder) / "out"
        output.mkdir()
        onnx.save(chain(1), source)
        # The first run of each fills the file cache.
        for converter in available:
            run(converter.command(source, output / "model.xml"))
        empty = {
            converter.name: median([run(converter.command(source, output / "model.xml")) for _ in range(3)]) for converter in available
        }
        rows.append(["empty", "1", *(cell for usage in empty.values() for cell in (f"{usage.wall:.2f}", "-", f"{usage.memory:.0f}"))])
        for family in options.families:
            for size in options.sizes:
                print(f"{family} {size} ...", file=sys.stderr, flush=True)
                onnx.save(FAMILIES[family](size), source)
                row = [family, str(size)]
                for converter in available:
                    try:
                        usage = run(converter.command(source, output / "model.xml"))
                    except ConverterFailed as failure:
                        print(f"{family} {size}: {converter.name} failed: {failure}", file=sys.stderr)
                        row += ["failed", "-", "-"]
                        status = 1 if converter.name == "moir" else status
                        continue
                    each = 1e6 * (usage.wall - empty[converter.name].wall) / size
                    row += [f"{usage.wall:.2f}", f"{each:.0f}", f"{usage.memory:.0f}"]
                rows.append(row)
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
