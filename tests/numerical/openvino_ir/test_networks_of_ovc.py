"""IR of OpenVINO's own converter: after reading and writing, the model is the same; after a conversion, it is not
larger.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from moir.emit.weights import ALIGNMENT
from tests.numerical.onnx.test_networks import NETWORKS, samples
from tests.numerical.openvino_ir.equality import computing, differences, information_lost, serialized
from tests.numerical.runtime import core

NETWORKS_OF_MANY_KINDS = ("iterated", "llama", "lstm", "quantized", "shuffle_net", "super_resolution")
CASES = [(name, is_half) for name in NETWORKS_OF_MANY_KINDS for is_half in (False, True)]
TENSORFLOW = Path(__file__).parents[2] / "fixtures" / "tensorflow"
OF_TENSORFLOW = ("keras_3", "convolution.pbtxt")


def made_by_ovc(source: Path, folder: Path, is_half: bool) -> Path:
    """The IR of a model file, its weights in half precision or not."""
    path = folder / "ovc.xml"
    openvino.save_model(openvino.convert_model(source), path, compress_to_fp16=is_half)
    return path


def check_round_trip(path: Path) -> None:
    """Check that the runtime reads the same model from a file and from the IR that moir writes of it."""
    again = path.with_name("again.xml")
    moir.save_model(moir.convert_model(path, passes="none"), again)
    first, second = (openvino.Core().read_model(each) for each in (path, again))
    assert list(differences(first, second)) == []
    assert serialized(first) == serialized(second)
    assert list(information_lost(first, second)) == []


@pytest.mark.parametrize(("name", "is_half"), CASES)
def test_what_is_read_is_written(name: str, is_half: bool, tmp_path: Path) -> None:
    check_round_trip(made_by_ovc(NETWORKS / f"{name}.onnx", tmp_path, is_half))


@pytest.mark.parametrize("is_half", [False, True])
@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_what_is_read_of_tensorflow_is_written(name: str, is_half: bool, tmp_path: Path) -> None:
    check_round_trip(made_by_ovc(TENSORFLOW / name, tmp_path, is_half))


@pytest.mark.parametrize(("name", "is_half"), CASES)
def test_a_conversion_does_no_harm(name: str, is_half: bool, tmp_path: Path) -> None:
    path = made_by_ovc(NETWORKS / f"{name}.onnx", tmp_path, is_half)
    written = moir.save_model(moir.convert_model(path), tmp_path / "again.xml")
    first, second = (core().read_model(each) for each in (path, written.xml_path))
    assert computing(second) <= computing(first)
    constants = sum(op.get_type_name() == "Constant" for op in second.get_ops())
    assert written.weights_bytes <= path.with_suffix(".bin").stat().st_size + 2 * constants * ALIGNMENT
    assert all(one.get_names() <= other.get_names() for one, other in zip(first.outputs, second.outputs, strict=True))
    compiled = [core().compile_model(model, "CPU") for model in (first, second)]
    for inputs, _ in samples(name):
        given = {port.any_name: np.array(inputs[port.any_name], order="C") for port in compiled[0].inputs}
        results = [list(each(given).values()) for each in compiled]
        for expected, actual in zip(*results, strict=True):
            assert actual.shape == expected.shape
            assert actual.dtype == expected.dtype
            assert np.max(np.abs(actual.astype(np.float64) - expected), initial=0) <= 1e-4 * np.max(np.abs(expected), initial=1e-6)
