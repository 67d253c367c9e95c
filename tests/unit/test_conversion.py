"""The Python interface: `moir.convert_model`, `save_model`, `read_model`, `to_openvino`."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.conversion import Observer, collection_paused
from moir.dialects.data import DataAttr
from moir.errors import ConversionError, EmissionError, UnsupportedOperationError, UsageError
from moir.files.source_files import is_mapped
from moir.lowering.onnx.table import onnx
from moir.passes.fold.fold_constants import FoldConstantsPass
from moir.pipeline import load_pass, pipeline_names
from tests.unit.small_models import loop_model, matmul_model, save


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(loop_model(), tmp_path / "m.onnx")


def kinds(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()}


def test_read_model_gives_the_framework_dialect(model: Path) -> None:
    assert "onnx.Loop" in kinds(moir.read_model(model))


def test_convert_and_save(model: Path) -> None:
    module = moir.convert_model(model)
    assert not any(kind.startswith("onnx.") for kind in kinds(module))
    written = moir.save_model(module, model.with_suffix(".xml"))
    assert written.weights_bytes == model.with_suffix(".bin").stat().st_size
    x = np.ones((2, 4), np.float32)
    from_file = openvino.Core().compile_model(written.xml_path, "CPU")([x])
    in_memory = openvino.Core().compile_model(moir.to_openvino(module), "CPU")([x])
    np.testing.assert_array_equal(from_file[0], in_memory[0])


def test_weights_are_views_of_the_model_file(tmp_path: Path) -> None:
    module = moir.convert_model(save(matmul_model(), tmp_path / "m.onnx"))
    values = [op.properties["value"] for op in module.walk() if op.name == "opset1.Constant"]
    assert [isinstance(value, DataAttr) and value.array.flags.owndata for value in values] == [False]


def test_passes_as_text_and_as_objects(model: Path) -> None:
    text = moir.convert_model(model, passes="lower-onnx,fold-constants{static-shape=true}")
    objects = moir.convert_model(model, passes=[load_pass("lower-onnx")(), FoldConstantsPass(static_shape=True)])
    assert text.is_structurally_equivalent(objects)
    assert "onnx.Loop" in kinds(moir.convert_model(model, passes=[]))


def test_save_compressed_leaves_the_module_alone(model: Path) -> None:
    module = moir.convert_model(model)
    before = str(module)
    moir.save_model(module, model.with_name("half.xml"), compress_to_fp16=True)
    assert str(module) == before
    moir.save_model(moir.convert_model(model, compress_to_fp16=True), model.with_name("other.xml"))
    half, full = model.with_name("half.bin").stat().st_size, moir.save_model(module, model.with_name("full.xml")).weights_bytes
    assert half == model.with_name("other.bin").stat().st_size < full


def test_options_are_recorded(model: Path) -> None:
    moir.save_model(moir.convert_model(model, compress_to_fp16=True), model.with_suffix(".xml"))
    text = model.with_suffix(".xml").read_text("utf-8")
    assert '<input_model value="DIR/m.onnx"/>' in text
    assert '<compress_to_fp16 value="True"/>' in text
    assert str(model.parent) not in text


def test_observers_are_told_about_every_stage(model: Path) -> None:
    class Recorder(Observer):
        def __init__(self) -> None:
            self.told: list[object] = []

        def begin(self, stages: object) -> None:
            self.told.append(stages)

        def start(self, number: int, stage: str) -> None:
            self.told.append(("start", number, stage))

        def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
            assert seconds >= 0
            self.told.append(("finish", number, stage, "onnx.Loop" in kinds(module)))

    recorder = Recorder()
    moir.convert_model(model, passes="front-start,lower-onnx", observers=[recorder])
    assert recorder.told == [
        ["import", "front-start", "lower-onnx"],
        ("start", 0, "import"),
        ("finish", 0, "import", True),
        ("start", 1, "front-start"),
        ("finish", 1, "front-start", True),
        ("start", 2, "lower-onnx"),
        ("finish", 2, "lower-onnx", False),
    ]


def test_observers_are_told_which_stages_changed_nothing(model: Path) -> None:
    class Recorder(Observer):
        def __init__(self) -> None:
            self.texts = [""]
            self.unchanged: list[str] = []

        def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
            self.texts.append(str(module))

        def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
            assert str(module) == self.texts[-1]
            self.unchanged.append(stage)

    recorder = Recorder()
    moir.convert_model(model, observers=[recorder])
    assert {"front-start", "fuse-attention", "back-finish"} <= {*recorder.unchanged}
    assert "lower-onnx" not in recorder.unchanged


def test_an_operation_without_lowering_is_expanded_by_its_definition(tmp_path: Path) -> None:
    kind = "NegativeLogLikelihoodLoss"
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", "labels"], ["y"], reduction="none")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]), helper.make_tensor_value_info("labels", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    path = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    assert kind not in set(onnx.kinds())
    model = moir.to_openvino(moir.convert_model(path))
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    result = openvino.Core().compile_model(model, "CPU")([x, np.array([2, 0], np.int64)])[0]
    np.testing.assert_allclose(result, [-3, -4])


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_as_it_was(model: Path, enabled: bool) -> None:
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        moir.convert_model(model)
        with pytest.raises(ConversionError):
            moir.convert_model(model.with_name("absent.onnx"))
        assert gc.isenabled() == enabled
        assert gc.get_freeze_count() == 0
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_what_was_built_while_collection_is_paused_is_old() -> None:
    with collection_paused():
        built: list[list[int]] = [[]]
    assert gc.is_tracked(built)
    assert not any(each is built for each in gc.get_objects(generation=0))


def test_errors(tmp_path: Path, model: Path) -> None:
    with pytest.raises(UnsupportedOperationError, match="Mystery"):
        moir.convert_model(save(matmul_model("Mystery", "com.acme"), tmp_path / "mystery.onnx"))
    with pytest.raises(UsageError, match="no pass 'nothing'"):
        moir.convert_model(model, passes="nothing")
    with pytest.raises(UsageError, match=r"m\.bin: .* must end in \.xml; did you mean .*m\.xml\?"):
        moir.save_model(moir.convert_model(model), tmp_path / "m.bin")
    with pytest.raises(EmissionError, match=r"onnx\.Loop"):
        moir.save_model(moir.read_model(model), tmp_path / "m.xml")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = moir.nothing


def test_the_example_of_an_observer_runs(model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (Observer.__doc__ or "").splitlines()
    example = dedent("\n".join(line for line in lines[1:] if line.startswith(" " * 8) or not line))
    assert "class Sizes(moir.Observer)" in example
    monkeypatch.chdir(model.parent)
    save(loop_model(), model.parent / "model.onnx")
    exec(example, {"moir": moir})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("000 import: ")
    assert len(printed) == 1 + len(pipeline_names("onnx"))
    assert all(re.fullmatch(r"\d{3} [\w-]+: \d+ operations, \d\.\d{3} s", line) for line in printed)


def test_a_model_is_saved_over_one_that_the_runtime_has_open(tmp_path: Path) -> None:
    matrix = np.arange(16384, dtype=np.float32).reshape(128, 128)
    product = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 128])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 128])],
        [numpy_helper.from_array(matrix, "w")],
    )
    model, path = helper.make_model(product, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.xml"
    moir.save_model(moir.convert_model(model), path)
    opened = openvino.Core().read_model(path)
    assert is_mapped(path.with_suffix(".bin"))
    moir.save_model(moir.convert_model(model), path)
    assert len(opened.get_ops()) == 4


@pytest.mark.parametrize("shape", [{"batch": 4}, {"input": "x[4,2,3]"}, {"input_shape": "[4,2,3]"}])
def test_a_model_for_one_shape_says_so_when_it_gets_another(tmp_path: Path, shape: dict[str, Any]) -> None:
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", [1, 2, 3]), ("y", [1, 6]))]
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], "flat")
    graph = helper.make_graph([node], "g", tensors[:1], tensors[1:], [numpy_helper.from_array(np.array([1, 6]), "shape")])
    path = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    with pytest.raises(ConversionError, match=r"onnx\.Reshape 'flat': 24 elements .*; the model may .* other shapes of its inputs"):
        moir.convert_model(path, **shape)
