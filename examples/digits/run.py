"""The demo: converts `digits.onnx`, runs the IR and the ONNX model on held-out images, and compares the logits.

    python examples/digits/run.py [--output DIR]

Writes `digits.xml`, `digits.bin` and the dumps of every stage into DIR, by default `build/digits` of the checkout. The
exit status is 1 if the conversion fails or the logits differ by more than 0.001.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import openvino

HERE = Path(__file__).parent
LIMIT = 1e-3


def convert(output: Path) -> Path:
    """Convert the model with the command line, with a dump of every stage; returns the path of the `.xml`."""
    xml, dumps = output / "digits.xml", output / "dumps"
    arguments = [str(HERE / "digits.onnx"), "-o", str(xml), "--dump-ir", str(dumps)]
    print("$", shlex.join(["moir", *arguments]), flush=True)
    status = subprocess.run([sys.executable, "-m", "moir", *arguments], check=False).returncode
    if status:
        raise SystemExit(1)
    print(f"\nThe IR: {xml}\nThe stages, as text: {dumps}")
    for dump in sorted(dumps.iterdir()):
        print(f"  {dump.name:40s} {dump.stat().st_size:8d} bytes")
    return xml


def logits_of_openvino(xml: Path, images: np.ndarray) -> np.ndarray:
    """Logits [N, 10] of the IR on the CPU, computed in f32."""
    compiled = openvino.Core().compile_model(xml, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled({"image": images})["logits"]


def logits_of_onnxruntime(images: np.ndarray) -> np.ndarray:
    """Logits [N, 10] of the ONNX model."""
    session = onnxruntime.InferenceSession(HERE / "digits.onnx", providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["logits"], {"image": images})[0])


def main() -> int:
    parser = argparse.ArgumentParser(description="Convert a classifier of digits and compare it with the ONNX model.")
    parser.add_argument("--output", type=Path, default=HERE.parents[1] / "build" / "digits", help="where to write")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    xml = convert(output)
    with np.load(HERE / "held_out.npz") as held_out:
        images, labels = held_out["images"].astype(np.float32) / 16, held_out["labels"]
    ours, theirs = logits_of_openvino(xml, images), logits_of_onnxruntime(images)
    difference = float(np.max(np.abs(ours - theirs)))
    print(f"\nOn {len(labels)} held-out images:")
    for name, logits in (("OpenVINO, converted IR", ours), ("ONNX Runtime, ONNX model", theirs)):
        right = int((logits.argmax(1) == labels).sum())
        print(f"  {name:26s} accuracy {right / len(labels):.4f} ({right} right)")
    agrees = difference <= LIMIT
    print(f"  largest difference of logits {difference:.2e}: {'agreed' if agrees else f'MORE THAN {LIMIT}'}")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
