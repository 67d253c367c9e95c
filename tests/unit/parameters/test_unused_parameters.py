"""A conversion without layouts and preprocessing neither runs nor imports what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from moir.options import ConversionOptions
from moir.pipeline import pipeline_names
from tests.unit.small_models import loop_model

PASSES = {"set-layouts", "preprocess-inputs", "fold-channel-order"}
MODULES = {
    "moir.passes.interface.set_layouts",
    "moir.passes.interface.preprocess_inputs",
    "moir.passes.fold.fold_channel_order",
    "moir.parameters.notation",
    "moir.parameters.layouts",
    "moir.parameters.tensor_layouts",
    "moir.parameters.channel_values",
    "moir.rewriting.rearrangement",
    "moir.analysis.model_ports",
    "moir.analysis.port_layouts",
    "moir.passes.interface.channels",
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, set[str]()),
        ({"compress_to_fp16": True}, set[str]()),
        ({"layout": "nchw"}, {"set-layouts"}),
        ({"target_layout": {"x": "nchw"}}, {"set-layouts"}),
        ({"mean_values": [1, 2, 3]}, PASSES - {"set-layouts"}),
        ({"scale": 255, "source_layout": "nchw"}, PASSES),
        ({"reverse_input_channels": True}, PASSES - {"set-layouts"}),
    ],
)
def test_passes_run_where_they_are_asked_for(given: dict[str, object], expected: set[str]) -> None:
    assert set(pipeline_names("onnx", ConversionOptions(**given))) & PASSES == expected


def test_layouts_of_channel_first_models_are_changed_by_the_layout_passes() -> None:
    assert "choose-layouts" not in pipeline_names("onnx", ConversionOptions(mean_values="1"))
    assert "choose-layouts" in pipeline_names("onnx", ConversionOptions(layout="nchw->nhwc"))
    assert "choose-layouts" not in pipeline_names("onnx", ConversionOptions(layout="nchw->nhwc", layout_change="none"))


@pytest.mark.parametrize("call", ["moir.interface.convert_model('m.onnx')", "moir.tools.convert.main(['m.onnx', '--silent'])"])
def test_nothing_of_it_is_imported(call: str, tmp_path: Path) -> None:
    onnx.save(loop_model(), tmp_path / "m.onnx")
    program = f"import sys, moir.interface, moir.tools.convert; {call}; print('\\n'.join(sys.modules))"
    imported = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "moir.conversion" in imported.stdout.split()
    assert sorted(MODULES.intersection(imported.stdout.split())) == []
