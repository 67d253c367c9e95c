"""The lists of operations in `docs`: the operations of each framework that are lowered, from the tables of lowerings.

The script writes the files, or compares them with the tables:

    python -m scripts.coverage              writes the files
    python -m scripts.coverage --check      exit status 1 if a file is not up to date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scripts import (
    former_frameworks_coverage,
    keras_and_stablehlo_coverage,
    onnx_coverage,
    paddle_coverage,
    plugin_faults,
    pytorch_coverage,
    tensorflow_coverage,
    tflite_coverage,
)

FOLDER = Path(__file__).parents[1] / "docs"

DOCUMENTS: Mapping[str, Callable[[], str]] = {
    "caffe-coverage.md": former_frameworks_coverage.caffe_document,
    "keras-coverage.md": keras_and_stablehlo_coverage.keras_document,
    "mxnet-coverage.md": former_frameworks_coverage.mxnet_document,
    "onnx-coverage.md": onnx_coverage.document,
    "paddle-coverage.md": paddle_coverage.document,
    "plugin-faults.md": plugin_faults.document,
    "pytorch-coverage.md": pytorch_coverage.document,
    "stablehlo-coverage.md": keras_and_stablehlo_coverage.stablehlo_document,
    "tensorflow-coverage.md": tensorflow_coverage.document,
    "tflite-coverage.md": tflite_coverage.document,
}
"""The files, with the functions that return their text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.coverage", description="Write which operations are lowered.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file is not up to date")
    checks: bool = parser.parse_args(arguments).check
    is_current = True
    for name, document in DOCUMENTS.items():
        path, text = FOLDER / name, document()
        if not checks:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path} is not up to date: run python -m scripts.coverage", file=sys.stderr)
            is_current = False
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main())
