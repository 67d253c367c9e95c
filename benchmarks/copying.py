"""Conversion of a `.caffemodel` of 244 MB against copying the file: time, and peak memory.

    python benchmarks/copying.py [--repetitions 5]

The network is CaffeNet (Jia et al., "Caffe", 2014) with random weights, made in a temporary folder. `cp` flushes its
copy to the disk, as the conversion does its files; both read the model from the page cache. The conversion of the same
layers with hardly any weights is what start-up takes.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from processes import Usage, converters, median, print_table, run


class ConvolutionSizes(NamedTuple):
    """A convolution: filters, channels, size of the kernel, stride, padding, groups."""

    filters: int
    channels: int
    kernel: int
    stride: int
    padding: int
    groups: int


CONVOLUTIONS = {
    "conv1": ConvolutionSizes(96, 3, 11, 4, 0, 1),
    "conv2": ConvolutionSizes(256, 96, 5, 1, 2, 2),
    "conv3": ConvolutionSizes(384, 256, 3, 1, 1, 1),
    "conv4": ConvolutionSizes(384, 384, 3, 1, 1, 2),
    "conv5": ConvolutionSizes(256, 384, 3, 1, 1, 2),
}
POOLED = ("conv1", "conv2", "conv5")
PRODUCTS = {"fc6": (4096, 9216), "fc7": (4096, 4096), "fc8": (1000, 4096)}


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    head = b""
    while number > 127:
        head += bytes([number & 127 | 128])
        number >>= 7
    return head + bytes([number])


def field(number: int, content: bytes) -> bytes:
    """A field with bytes, text or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def blob(*shape: int) -> bytes:
    """A blob of random numbers."""
    numbers = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    dimensions = b"".join(struct.pack("B", 8) + varint(size) for size in shape)
    return field(7, field(7, dimensions) + field(5, numbers.tobytes()))


def layer(kind: str, name: str, source: str, target: str, parameters: str = "") -> str:
    """A layer of the `.prototxt`."""
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{source}" top: "{target}" {parameters} }}\n'


def write_model(path: Path, divisor: int = 1) -> None:
    """Write CaffeNet, all of its sizes divided by a number."""
    text = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 227 dim: 227 } } }\n'
    content, source = field(1, b"CaffeNet"), "data"
    for name, each in CONVOLUTIONS.items():
        filters, channels = each.filters // divisor, each.channels // divisor if name != "conv1" else each.channels
        sizes = f"num_output: {filters} kernel_size: {each.kernel} stride: {each.stride} pad: {each.padding} group: {each.groups}"
        text += layer("Convolution", name, source, name, f"convolution_param {{ {sizes} }}") + layer("ReLU", f"{name}/relu", name, name)
        blobs = blob(filters, channels // each.groups, each.kernel, each.kernel) + blob(filters)
        content += field(100, field(1, name.encode()) + field(2, b"Convolution") + blobs)
        source = name
        if name in POOLED:
            source = f"{name}/pool"
            text += layer("Pooling", source, name, source, "pooling_param { pool: MAX kernel_size: 3 stride: 2 }")
    for name, (outputs, inputs) in PRODUCTS.items():
        text += layer("InnerProduct", name, source, name, f"inner_product_param {{ num_output: {outputs // divisor} }}")
        text += layer("ReLU", f"{name}/relu", name, name)
        blobs = blob(outputs // divisor, inputs // divisor) + blob(outputs // divisor)
        content += field(100, field(1, name.encode()) + field(2, b"InnerProduct") + blobs)
        source = name
    path.write_bytes(content)
    path.with_suffix(".prototxt").write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the conversion of a large .caffemodel against copying it.")
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each command (default: 5)")
    options = parser.parse_args(arguments)
    converter = converters(("moir",))[0]
    with tempfile.TemporaryDirectory() as folder:
        large, small, target = (Path(folder) / name for name in ("large.caffemodel", "small.caffemodel", "target/model.xml"))
        target.parent.mkdir()
        write_model(large)
        write_model(small, 8)
        commands = {
            "cp": ["sh", "-c", 'cp "$1" "$2" && sync "$2"', "sh", str(large), str(target.with_suffix(".bin"))],
            "moir": converter.command(large, target),
            "moir, hardly any weights": converter.command(small, target),
        }
        usages: dict[str, list[Usage]] = {name: [] for name in commands}
        for _ in range(options.repetitions):
            for name, command in commands.items():
                for path in target.parent.iterdir():
                    path.unlink()
                usages[name].append(run(command))
        size = large.stat().st_size
    medians = {name: median(each) for name, each in usages.items()}
    print(f"{size / 1e6:.0f} MB, medians of {options.repetitions}")
    rows = [["command", "wall s", "cpu s", "peak MB", "wall of cp"]]
    for name, usage in medians.items():
        ratio = usage.wall / medians["cp"].wall
        rows.append([name, f"{usage.wall:.2f}", f"{usage.cpu:.2f}", f"{usage.memory:.0f}", f"{ratio:.1f}"])
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
