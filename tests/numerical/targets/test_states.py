"""States that nothing reads: the runtime refuses a model with one, which its form erases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
import pytest
from xdsl.parser import Parser

import moir
from moir.conversion import save_model
from moir.dialects.context import MoirContext
from tests.numerical.runtime import run

MODEL = """
builtin.module {
  moir.model @written {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %0 = opset6.ReadValue(%x) {variable_type = f32, variable_id = "written", variable_shape = "2"} : tensor<2xf32>
    %1 = opset1.Relu(%x) : tensor<2xf32>
    %2 = opset6.Assign(%1) {variable_id = "written"} : tensor<2xf32>
    opset1.Result(%1) {name = "y"}
  }
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The IR as it is, without forms of the target."""
    save_model(Parser(MoirContext(), MODEL).parse_module(), tmp_path / "model.xml")
    return tmp_path / "model.xml"


def test_the_runtime_does_not_read_it(model: Path) -> None:
    with pytest.raises(RuntimeError, match="map::at"):
        openvino.Core().read_model(model)


def test_the_state_is_erased(model: Path) -> None:
    converted = moir.to_openvino(moir.convert_model(model))
    assert not converted.get_variables()
    [result] = run(converted, {"x": np.array([-1, 2], np.float32)})
    np.testing.assert_array_equal(result, [0, 2])
