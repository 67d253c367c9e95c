"""Converts a program of PyTorch whose weights are in `*.safetensors`, in a process of limited anonymous memory.

    python benchmarks/pytorch_weights.py FOLDER [--gigabytes 20] [--limit 1] [-- OPTIONS OF MOIR]

The program is a row of linear layers, made in the folder; its weights are sparse files in which only the first element
of each weight is written, so that they take no space on the disk. The IR does. The limit in gigabytes is RLIMIT_DATA:
the heap and private writable memory, without mapped files.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

WIDTH = 5120
"""Rows and columns of a weight: 100 MiB of f32."""

LAYERS_OF_FILE = 40


def write_program(folder: Path, layers: int) -> None:
    """The program without weights, and its weights in sparse files with their index."""
    from tests.numerical.pytorch.programs import Program, archive

    program = Program()
    # A view of one element, as nothing of it is written.
    weight = np.broadcast_to(np.float32(0), (WIDTH, WIDTH))
    value = program.input("x", "f32", [1, WIDTH])
    for layer in range(layers):
        held = program.weight(f"layers.{layer}.weight", weight)
        value = program.node("aten.linear.default", [("input", value), ("weight", held)], "f32", [1, WIDTH])
    program.output(value)
    for meta in program.tensors.values():
        meta["strides"] = [{"as_int": WIDTH}, {"as_int": 1}]
    program.weights = {}
    (folder / "model.pt2").write_bytes(archive(program.records()))
    size, places = 4 * WIDTH * WIDTH, dict[str, str]()
    for number, start in enumerate(range(0, layers, LAYERS_OF_FILE)):
        names = [f"layers.{layer}.weight" for layer in range(start, min(start + LAYERS_OF_FILE, layers))]
        header = {
            name: {"dtype": "F32", "shape": [WIDTH, WIDTH], "data_offsets": [index * size, (index + 1) * size]}
            for index, name in enumerate(names)
        }
        text = json.dumps(header).encode()
        path = folder / f"model-{number:05}.safetensors"
        places |= dict.fromkeys(names, path.name)
        with path.open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            begin = file.tell()
            file.truncate(begin + len(names) * size)
            for index in range(len(names)):
                file.seek(begin + index * size)
                file.write(np.float32(start + index + 1).tobytes())
    index = {"metadata": {"total_size": layers * size}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--limit", type=float, default=1, metavar="GIGABYTES")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    options, further = parser.parse_args(given[:end]), given[end + 1 :]
    options.folder.mkdir(parents=True, exist_ok=True)
    layers = max(1, round(options.gigabytes * 2**30 / (4 * WIDTH * WIDTH)))
    write_program(options.folder, layers)
    limit = int(options.limit * 2**30)
    command = [sys.executable, "-m", "moir", str(options.folder / "model.pt2"), "-o", str(options.folder / "model.xml")]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--weights", str(options.folder), *further],
        check=False,
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )
    size = sum(path.stat().st_size for path in options.folder.glob("model.bin"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    took = f"{layers} layers, {time.perf_counter() - start:.1f} s"
    print(f"{took}, model.bin {size / 2**30:.2f} GB, {peak / 1024:.0f} MB resident (mapped files too)")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
