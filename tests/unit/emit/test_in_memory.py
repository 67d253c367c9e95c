"""Models of OpenVINO Runtime without files."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import Any

import numpy as np
import openvino
import pytest

from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import strings_attribute
from moir.emit import serialize, to_openvino
from moir.errors import EmissionError

MODEL = """
    %0 = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>, name = "w"} : tensor<3xf32>
    %2 = opset1.Multiply(%0, %1) {name = "product"} : tensor<?x3xf32>
    opset1.Result(%2) {name = "y"}
"""


@pytest.mark.usefixtures("frozen_objects")
def test_model_computes_after_the_module_is_gone(parse: Any, run: Any) -> None:
    model = to_openvino(parse(MODEL))
    gc.collect()
    (result,) = run(model, np.full((2, 3), 2, np.float32))
    np.testing.assert_array_equal(result, [[2, 4, 6], [2, 4, 6]])


def test_model_without_constants(parse: Any, run: Any) -> None:
    text = '%0 = opset1.Parameter() {name = "x"} : tensor<2xf32> %1 = opset1.Add(%0, %0) {} : tensor<2xf32> opset1.Result(%1)'
    (result,) = run(to_openvino(parse(text)), np.ones(2, np.float32))
    np.testing.assert_array_equal(result, [2, 2])


def test_parts_of_the_ir(parse: Any) -> None:
    xml, weights = serialize(parse(MODEL), conversion_parameters={"framework": "onnx"})
    assert b'<framework value="onnx"/>' in xml
    assert weights.size == 12


def test_model_the_runtime_refuses(parse: Any) -> None:
    text = MODEL.replace("opset1.Multiply(%0, %1)", "opset1.Multiply(%0, %1, %1)")
    with pytest.raises(EmissionError, match="OpenVINO Runtime refuses the model"):
        to_openvino(parse(text, verify=False))


def test_runtime_not_installed(parse: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(EmissionError, match="install the package openvino"):
        to_openvino(parse(MODEL))


def test_extensions_of_the_runtime(parse: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package with the operations is imported before the core; a core that is given has them already."""
    module = parse(MODEL)
    [model] = models_of(module)
    model.attributes[ModuleLevel.RUNTIME_EXTENSIONS] = strings_attribute(["extension_of_a_test"])
    assert b'<runtime_extensions value="extension_of_a_test"/>' in serialize(module)[0]
    with pytest.raises(EmissionError, match="needs the extension extension_of_a_test of the runtime; install the package"):
        to_openvino(module)
    assert to_openvino(module, core=openvino.Core()) is not None
    monkeypatch.setitem(sys.modules, "extension_of_a_test", ModuleType("extension_of_a_test"))
    assert to_openvino(module) is not None
