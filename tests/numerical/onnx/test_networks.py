"""Networks that PyTorch exported, converted from end to end: OpenVINO Runtime computes what PyTorch computed.

The networks and what is expected of them are files in `networks`, written by `networks/build.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.processors import NEEDS_WIDE_SUMS

NETWORKS = Path(__file__).parent / "networks"
NAMES = sorted(path.stem for path in NETWORKS.glob("*.onnx"))

TOLERANCE = 1e-3


def samples(name: str) -> list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """The sets of inputs of a network, and the outputs for each, by name."""
    results: dict[str, tuple[dict[str, np.ndarray], dict[str, np.ndarray]]] = {}
    with np.load(NETWORKS / f"{name}.npz") as arrays:
        for key in arrays.files:
            number, role, tensor = key.split(".", 2)
            results.setdefault(number, ({}, {}))[role == "output"][tensor] = arrays[key]
    return [results[number] for number in sorted(results)]


def check(name: str, xml: Path) -> None:
    """Run the IR on each set of inputs and compare: differences are relative to the largest value of an output."""
    compiled = openvino.Core().compile_model(xml, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for inputs, outputs in samples(name):
        present = {port.any_name for port in compiled.inputs}
        results = compiled({key: np.array(value, order="C") for key, value in inputs.items() if key in present})
        assert {key for port in compiled.outputs for key in port.names} >= set(outputs)
        for key, expected in outputs.items():
            assert results[key].shape == expected.shape
            assert results[key].dtype == expected.dtype
            difference = np.max(np.abs(results[key] - expected))
            assert difference <= TOLERANCE * np.max(np.abs(expected)), f"{key}: {difference}"


def test_the_networks_are_all_there() -> None:
    assert len(NAMES) == 17
    assert sum(len(samples(name)) > 1 for name in NAMES) >= 10
    assert sum(path.stat().st_size for path in NETWORKS.iterdir() if path.is_file()) < 2_000_000


@pytest.mark.parametrize("name", [pytest.param(each, marks=NEEDS_WIDE_SUMS if each == "quantized" else ()) for each in NAMES])
def test_outputs_are_those_of_the_framework(name: str, tmp_path: Path) -> None:
    module = moir.convert_model(NETWORKS / f"{name}.onnx")
    module.verify()
    moir.save_model(module, tmp_path / "network.xml")
    check(name, tmp_path / "network.xml")


@pytest.mark.parametrize("name", ["bert", "iterated"])
def test_the_module_in_memory_is_the_same_model(name: str, tmp_path: Path) -> None:
    model = moir.to_openvino(moir.convert_model(NETWORKS / f"{name}.onnx"))
    openvino.save_model(model, tmp_path / "network.xml", compress_to_fp16=False)
    check(name, tmp_path / "network.xml")


def test_the_command_line_converts_a_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "moir", str(NETWORKS / "mobilenet.onnx"), "-o", str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert "mobilenet.xml" in finished.stdout
    check("mobilenet", tmp_path / "mobilenet.xml")
